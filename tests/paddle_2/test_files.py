"""``paddle.save`` and ``paddle.load``, and models in paddle 2's files."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import FileError


def test_states_come_back(tmp_path):
    net = paddle.nn.Linear(3, 2)
    paddle.save(net.state_dict(), tmp_path / "net.pdparams")
    other = paddle.nn.Linear(3, 2)
    other.set_state_dict(paddle.load(tmp_path / "net.pdparams"))
    np.testing.assert_array_equal(other.weight.numpy(), net.weight.numpy())


@pytest.mark.parametrize(
    "data",
    [
        {"epoch": 3, "nested": {"w": [1.5, "text", None, True]}},
        [1, 2.5, "three"],
        (4, {"five": 6}),
    ],
)
def test_plain_data_comes_back(tmp_path, data):
    paddle.save(data, tmp_path / "data")
    assert paddle.load(tmp_path / "data") == data


def test_tensors_come_back_wherever_they_stand(tmp_path):
    x = paddle.to_tensor([1.0, 2.0])
    paddle.save({"a": [x, {"b": x}]}, tmp_path / "data")
    found = paddle.load(tmp_path / "data")
    assert isinstance(found["a"][0], paddle.Tensor)
    assert found["a"][1]["b"].tolist() == [1.0, 2.0]
    arrays = paddle.load(tmp_path / "data", return_numpy=True)
    assert isinstance(arrays["a"][0], np.ndarray)
    paddle.save(x, tmp_path / "x")
    assert paddle.load(tmp_path / "x").tolist() == [1.0, 2.0]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        paddle.load(tmp_path / "nothing")


def test_programs_are_written_and_bytes_that_are_not_there_are_named(tmp_path):
    program = paddle.static.Program()
    paddle.save(program, tmp_path / "p")
    data = paddle.static.load_from_file(tmp_path / "p")
    assert paddle.static.deserialize_program(data).num_blocks == 1
    with pytest.raises(FileError):
        paddle.static.load_from_file(tmp_path / "nothing")
    with pytest.raises(FileError):
        paddle.static.save_to_file(tmp_path, b"bytes")


@pytest.fixture
def model():
    """A program of one layer, its executor and what it computes."""
    paddle.enable_static()
    x = paddle.static.data("x", [None, 3])
    y = paddle.static.nn.fc(x, 2)
    paddle.disable_static()
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"x": np.ones([2, 3], "float32")}
    return x, y, exe, feed, exe.run(feed=feed, fetch_list=[y])[0]


def test_models_come_back(tmp_path, model):
    x, y, exe, feed, expected = model
    paddle.static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdiparams", "m.pdmodel"]
    program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "m"), exe)
    assert feeds == ["x"]
    np.testing.assert_array_equal(exe.run(program, feed=feed, fetch_list=fetches)[0], expected)


def test_models_are_bytes(tmp_path, model):
    x, y, exe, feed, expected = model
    static = paddle.static
    static.save_to_file(tmp_path / "p", static.serialize_program([x], [y]))
    static.save_to_file(tmp_path / "w", static.serialize_persistables([x], [y], exe))
    program = static.deserialize_program(static.load_from_file(tmp_path / "p"))
    with static.scope_guard(type(static.global_scope())()):
        weights = static.load_from_file(tmp_path / "w")
        static.deserialize_persistables(program, weights, exe)
        fetches = [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]
        (found,) = exe.run(program, feed=feed, fetch_list=fetches)
    np.testing.assert_array_equal(found, expected)
    assert static.normalize_program(y.block.program, [x], [y]).global_block().ops[0].type == "feed"
