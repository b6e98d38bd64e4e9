"""``paddle.save`` and ``paddle.load``, and models in paddle 2's files."""

import io
import pickle
from collections import OrderedDict

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
    [{"epoch": 3, "nested": {"w": [1.5, "text", None, True]}}, [1, 2.5, "three"], (4, {"five": 6})],
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


#: what paddle 2.6.2 writes for {"a": [tensor([1.0, 2.0]), None], 1: 2} and for tensor([1.0])
NESTED, BARE = (
    bytes.fromhex(each)
    for each in (
        "80027d71002858010000006171015d710228635f5f6275696c74696e5f5f0a7475706c650a71"
        "03581200000067656e6572617465645f74656e736f725f307104636e756d70792e636f72652e"
        "6d756c746961727261790a5f7265636f6e7374727563740a7105636e756d70790a6e64617272"
        "61790a71064b00857107635f636f646563730a656e636f64650a710858010000006271095806"
        "0000006c6174696e31710a86710b52710c87710d52710e284b014b0285710f636e756d70790a"
        "64747970650a71105802000000663471118988877112527113284b0358010000003c71144e4e"
        "4e4affffffff4affffffff4b007471156289680858090000000000c2803f000000407116680a"
        "8671175271187471196286711a85711b52711c4e654b014b02752e",
        "8002635f5f6275696c74696e5f5f0a7475706c650a7100581200000067656e6572617465645f"
        "74656e736f725f317101636e756d70792e636f72652e6d756c746961727261790a5f7265636f"
        "6e7374727563740a7102636e756d70790a6e6461727261790a71034b00857104635f636f6465"
        "63730a656e636f64650a7105580100000062710658060000006c6174696e3171078671085271"
        "0987710a52710b284b014b0185710c636e756d70790a64747970650a710d5802000000663471"
        "0e898887710f527110284b0358010000003c71114e4e4e4affffffff4affffffff4b00747112"
        "6289680558050000000000c2803f71136807867114527115747116628671178571185271192e",
    )
)


def test_files_of_paddle_2_are_read():
    found = paddle.load(io.BytesIO(NESTED))
    assert found["a"][0].tolist() == [1.0, 2.0] and found["a"][1] is None and found[1] == 2
    bare = paddle.load(io.BytesIO(BARE))
    assert isinstance(bare, paddle.Tensor) and bare.tolist() == [1.0]


def test_data_goes_through_memory():
    buffer = io.BytesIO()
    x = paddle.to_tensor([[1.0, 2.0]])
    paddle.save({"x": x, "y": x}, buffer)
    buffer.seek(0)
    found = paddle.load(buffer, keep_name_table=True)
    assert found["y"].tolist() == [[1.0, 2.0]]
    assert found["StructuredToParameterName@@"] == {"x": x.name, "y": x.name}


def test_nothing_and_numbers_are_keys_and_values(tmp_path):
    for data in (None, True, {1: 2.5}, ("a", None)):
        paddle.save(data, tmp_path / "data")
        assert paddle.load(tmp_path / "data") == data


@pytest.mark.parametrize(
    "value", [np.float32(0.1), np.int64(3), np.bool_(True), 1j, {1, "a"}, set(), {"rate": {2.5}}]
)
def test_numbers_of_numpy_complex_numbers_and_sets_keep_their_types(tmp_path, value):
    paddle.save({"value": value, "x": paddle.ones([1])}, tmp_path / "data")
    found = paddle.load(tmp_path / "data")["value"]
    assert type(found) is type(value) and found == value
    assert pickle.loads((tmp_path / "data").read_bytes())["value"] == value


@pytest.mark.parametrize(
    "beside, state",
    [({}, True), ({"c": 1}, True), ({"c": {"d": [1]}}, True), (1, False), ("a", False)]
    + [(None, False), (np.float32(2), False), ([], False), ({"c": paddle.ones([1])}, False)],
)
def test_a_state_has_tensors_and_dictionaries_without_tensors(tmp_path, beside, state):
    paddle.save(OrderedDict(x=paddle.ones([1]), beside=beside), tmp_path / "data")
    stored = pickle.loads((tmp_path / "data").read_bytes())
    assert ("StructuredToParameterName@@" in stored) is state
    assert isinstance(stored["x"], np.ndarray if state else tuple)
    assert type(paddle.load(tmp_path / "data")) is (dict if state else OrderedDict)


@pytest.mark.parametrize(
    "fault",
    [
        lambda file: paddle.save(1, file, protocol=5),
        lambda file: paddle.save(1, file, protocol="a"),
        lambda file: paddle.save(1, file, compression=3),
        lambda file: paddle.load(file, compression=3),
        lambda file: paddle.save(1, 3),
        lambda file: paddle.save({(1, 2)}, file),
        lambda file: paddle.save({paddle.ones([1])}, file),
        lambda file: paddle.save({(1, 2): 3}, file),
        lambda file: paddle.save(paddle.nn.Linear(2, 2), file),
    ],
)
def test_what_files_have_no_room_for_is_refused(tmp_path, fault):
    with pytest.raises(ValueError):
        fault(tmp_path / "data")
    assert not list(tmp_path.iterdir())


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


def test_arrays_beside_tensors_stay_arrays(tmp_path):
    def classes(obj):
        paddle.save(obj, str(tmp_path / "obj.pdparams"))
        found = paddle.load(str(tmp_path / "obj.pdparams"))
        return {key: type(each).__name__ for key, each in found.items()}

    array, tensor = np.ones(2), paddle.to_tensor([1.0])
    assert classes({"n": array}) == {"n": "Tensor"}
    assert classes({"n": array, "t": [tensor]}) == {"n": "ndarray", "t": "list"}
    assert classes({"n": array, "t": tensor}) == {"n": "ndarray", "t": "Tensor"}
    assert classes({"n": array, "t": tensor, "l": [1]}) == {
        "n": "ndarray", "t": "Tensor", "l": "list",
    }  # fmt: skip
    assert classes({"t": tensor, "l": [tensor]}) == {"t": "Tensor", "l": "list"}
    assert classes({"t": tensor, "d": {"w": tensor}}) == {"t": "Tensor", "d": "dict"}


def test_tensors_come_back_under_their_names(tmp_path):
    layer, path = paddle.nn.Linear(2, 2), str(tmp_path / "obj.pdparams")
    names = [layer.weight.name, layer.bias.name]
    for wrap, unwrap in ((lambda d: d, lambda d: d), (lambda d: {"m": d}, lambda d: d["m"])):
        paddle.save(wrap(layer.state_dict()), path)
        assert [each.name for each in unwrap(paddle.load(path)).values()] == names
    paddle.save(layer.weight, path)
    assert paddle.load(path).name == names[0]


def test_an_ordered_dictionary_is_read_as_one_unless_it_is_a_state(tmp_path):
    path = str(tmp_path / "some.pd")
    ordered = OrderedDict(b=[paddle.ones([1])], a=(OrderedDict(x=1), {"y": 2}))
    paddle.save(ordered, path)
    with open(path, "rb") as file:
        assert type(pickle.load(file)) is OrderedDict
    loaded = paddle.load(path)
    assert type(loaded) is OrderedDict and list(loaded) == ["b", "a"]
    assert [type(each) for each in loaded["a"]] == [OrderedDict, dict]
    paddle.save(OrderedDict(weight=paddle.ones([1])), path)
    assert type(paddle.load(path)) is dict


def test_an_ordered_dictionary_of_python_is_read(tmp_path):
    path = str(tmp_path / "some.pd")
    for protocol in (2, 4):
        with open(path, "wb") as file:
            pickle.dump(OrderedDict(b=1, a=OrderedDict()), file, protocol)
        assert paddle.load(path) == OrderedDict(b=1, a=OrderedDict())
        assert type(paddle.load(path)["a"]) is OrderedDict
