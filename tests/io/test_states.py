"""States as paddle 2 saves and loads them, and data sets made of others."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FileError


def test_states_of_layers_and_optimizers_are_saved_and_loaded_by_their_paths(tmp_path):
    net = fluid.nn.Linear(2, 3)
    adam = fluid.optimizer.Adam(0.1, parameters=net.parameters())
    net(fluid.ones([1, 2])).sum().backward()
    adam.step()
    fluid.save(net.state_dict(), str(tmp_path / "net.pdparams"))
    fluid.save(adam.state_dict(), str(tmp_path / "of_any_name"))
    found = fluid.load(str(tmp_path / "net.pdparams"))
    assert sorted(found) == ["bias", "weight"] and isinstance(found["weight"], fluid.Tensor)
    other = fluid.nn.Linear(2, 3)
    other.set_state_dict(found)
    np.testing.assert_array_equal(other.weight.numpy(), net.weight.numpy())
    state = fluid.load(str(tmp_path / "of_any_name"))
    assert sorted(state) == sorted(adam.state_dict())
    adam.set_state_dict(state)


def test_what_is_no_state_is_refused(tmp_path):
    for wrong, kind, said in (
        (lambda: fluid.save({}, str(tmp_path / "a")), ArgumentError, "expected a state"),
        (lambda: fluid.save([1], str(tmp_path / "a")), ArgumentError, "or a dictionary"),
        (lambda: fluid.load(str(tmp_path / "none")), FileError, "there is no such file"),
        (lambda: fluid.load(fluid.Program()), ArgumentError, "expected model_path"),
        (lambda: fluid.load("a", "b"), ArgumentError, "expected a program and a path"),
    ):
        with pytest.raises(kind, match=said):
            wrong()


def test_data_sets_are_made_of_others():
    x, y = fluid.to_tensor(np.arange(6.0).reshape(3, 2)), np.array([0, 1, 2])
    rows = fluid.io.TensorDataset([x, y])
    first, second = fluid.io.random_split(rows, [2, 1])
    both = fluid.io.ConcatDataset([first, second])
    assert sorted(int(both[k][1]) for k in range(3)) == [0, 1, 2] and len(both) == 3
    batch, label = next(iter(fluid.io.DataLoader(rows, batch_size=3)))
    np.testing.assert_array_equal(batch.numpy(), x.numpy())
    assert label.tolist() == [0, 1, 2]
    assert int(both[-1][1]) == int(second[0][1])
    for wrong in (
        lambda: fluid.io.TensorDataset([x, y[:2]]),
        lambda: fluid.io.TensorDataset([]),
        lambda: fluid.io.ConcatDataset([]),
        lambda: fluid.io.random_split(rows, [1, 1]),
        lambda: fluid.io.random_split(rows, [2, 1], generator=1),
    ):
        with pytest.raises(ArgumentError):
            wrong()
    with pytest.raises(IndexError):
        both[3]


def test_layers_have_children():
    net = fluid.nn.Sequential(fluid.nn.Sequential(fluid.nn.Linear(1, 1)), fluid.nn.ReLU())
    assert [type(each).__name__ for each in net.children()] == ["Sequential", "ReLU"]
    assert [name for name, _ in net.named_children()] == ["0", "1"]
