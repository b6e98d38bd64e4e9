"""What JAX has left on a device is written to files, exported and looked at as any other value."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import DTypeError, ShapeError

FEED = {"x": np.random.default_rng(1).normal(size=[4, 3]).astype("float32")}


@pytest.fixture
def trained():
    """A network whose parameters and states lie on the device, and what it gives."""
    x = fluid.data("x", [None, 3], "float32")
    out = layers.batch_norm(layers.fc(x, 2, act="tanh"))
    loss = layers.mean(out * out)
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    for _ in range(3):
        exe.run(feed=FEED, fetch_list=[loss])
    held = fluid.global_scope().find_var("fc_0.w_0").value
    assert not isinstance(held, np.ndarray)  # or nothing is shown here
    return exe, out


def state(scope):
    program = fluid.default_main_program()
    return {
        v.name: np.array(scope.host_value(v.name)) for v in program.list_vars() if v.persistable
    }


def saved_by_save(exe, path):
    fluid.save(fluid.default_main_program(), path)
    return lambda: fluid.load(fluid.default_main_program(), path, exe)


def saved_by_save_persistables(exe, path):
    fluid.io.save_persistables(exe, path)
    return lambda: fluid.io.load_persistables(exe, path)


def saved_in_one_file(exe, path):
    fluid.io.save_persistables(exe, path, filename="all")
    return lambda: fluid.io.load_persistables(exe, path, filename="all")


def saved_as_checkpoint(exe, path):
    fluid.checkpoint.save(path, executor=exe)
    return lambda: fluid.checkpoint.load(path, fluid.default_main_program(), executor=exe)


@pytest.mark.parametrize(
    "save", [saved_by_save, saved_by_save_persistables, saved_in_one_file, saved_as_checkpoint]
)
def test_a_state_on_the_device_is_saved_and_loaded(trained, save, tmp_path):
    exe, _ = trained
    before = state(fluid.global_scope())
    load = save(exe, str(tmp_path / "state"))
    with fluid.scope_guard(fluid.Scope()):
        exe.run(fluid.default_startup_program())
        load()
        after = state(fluid.global_scope())
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)


def test_a_model_that_ran_on_jax_is_saved_again(trained, tmp_path):
    exe, out = trained
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    fluid.io.save_inference_model(first, ["x"], [out], exe)
    found = []
    for path, then in ((first, second), (second, None)):
        with fluid.scope_guard(fluid.Scope()):
            program, names, fetches = fluid.io.load_inference_model(path, exe)
            for _ in range(2):
                found += exe.run(program, feed=FEED, fetch_list=fetches)
            if then is not None:
                fluid.io.save_inference_model(then, names, fetches, exe, program)
    for each in found:
        np.testing.assert_array_equal(each, found[0])


def test_an_operator_refuses_on_jax_what_it_refuses_on_numpy():
    a, b = fluid.data("a", [2], "float32"), fluid.data("b", [2], "int64")
    with pytest.warns(UserWarning, match="expected one element type"):
        c = layers.elementwise_add(a, b)
    exe = fluid.Executor(backend="jax")
    for _ in range(2):
        with pytest.raises(DTypeError, match="expected one element type, got X float32, Y int64"):
            exe.run(feed={"a": np.ones(2, "float32"), "b": np.ones(2, "int64")}, fetch_list=[c])


def test_a_loss_of_several_elements_is_refused_on_jax_in_the_words_of_numpy():
    x = fluid.data("x", [None, 3], "float32")
    ((_, gradient), *_) = fluid.backward.append_backward(layers.fc(x, 2))
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    for _ in range(2):
        with pytest.raises(ShapeError, match="expected a loss of one element"):
            exe.run(feed=FEED, fetch_list=[gradient])
