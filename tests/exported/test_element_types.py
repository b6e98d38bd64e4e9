"""Element types of ONNX that variables have not are held in wider ones."""

import numpy as np
import pytest
from exported.graphs_of_nodes import helper, model, node, run
from exported.models import onnx, runtime

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import FileFormatError, UnsupportedError

ml_dtypes = pytest.importorskip("ml_dtypes", reason="onnx brings it")
load = fluid.onnx.load
TYPES = onnx.TensorProto


@pytest.fixture(autouse=True)
def fresh():
    with fluid.scope_guard(fluid.Scope()):
        yield


def made(nodes, ins, outs, tensors=(), types=(), **arrays):
    """A model with further initializers, and element types of some ends."""
    found = model(nodes, ins, outs, opset=21, **arrays)
    found.graph.initializer.extend(tensors)
    kinds = dict(types)
    for end in (*found.graph.input, *found.graph.output):
        if end.name in kinds:
            end.type.tensor_type.elem_type = kinds[end.name]
    return found


def session(message):
    return runtime.InferenceSession(message.SerializeToString())


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("type", [TYPES.INT4, TYPES.UINT4])
def test_weights_of_four_bits_are_dequantised_by_blocks(type, raw):
    rng = np.random.default_rng(0)
    numbers = rng.integers(-8, 8, (4, 3)) if type == TYPES.INT4 else rng.integers(0, 16, (4, 3))
    scale = rng.uniform(0.1, 1, (2, 3)).astype("float32")
    weights = helper.make_tensor("w", type, [4, 3], numbers.reshape(-1))
    if raw:
        packed = [a & 15 | (b & 15) << 4 for a, b in numbers.reshape(-1, 2).tolist()]
        weights = helper.make_tensor("w", type, [4, 3], bytes(packed), raw=True)
    nodes = [
        node("DequantizeLinear", "w scale", "v", axis=0, block_size=2),
        node("MatMul", "x v", "y"),
    ]
    message = made(nodes, "x:float32[n,4]", "y", [weights], scale=scale)
    x = rng.normal(size=(2, 4)).astype("float32")
    right = x @ (numbers * np.repeat(scale, 2, axis=0)).astype("float32")
    np.testing.assert_allclose(run(load(message), x=x)[0], right, rtol=1e-5)


def test_numbers_of_sixteen_bits_go_there_and_back_as_in_a_runtime():
    nodes = [
        node("QuantizeLinear", "x scale zero", "q"),
        node("DequantizeLinear", "q scale zero", "y"),
    ]
    zero = helper.make_tensor("zero", TYPES.UINT16, [], [3000])
    message = made(nodes, "x:float32[50]", "y:float32[50]", [zero], scale=np.float32(0.001))
    x = np.random.default_rng(0).normal(size=50, scale=30).astype("float32")
    (right,) = session(message).run(None, {"x": x})
    np.testing.assert_allclose(run(load(message), x=x)[0], right, rtol=1e-6)


def test_what_is_fed_and_fetched_in_a_wider_type_is_told():
    types = dict(x=TYPES.UINT16, y=TYPES.UINT16)
    loaded = load(made([node("Add", "x x", "y")], "x:int32[2]", "y:int32[2]", types=types))
    assert loaded.wider == {"x": "uint16", "y": "uint16"}
    (found,) = run(loaded, x=np.array([40000, 7], "int32"))
    assert found.dtype == np.int32 and found.tolist() == [80000 - 65536, 14]


def test_weights_of_bfloat16_are_parameters_that_learn():
    weights = np.array([[1.5], [-2.25]], ml_dtypes.bfloat16)
    tensor = onnx.numpy_helper.from_array(weights, "w")
    nodes = [node("Cast", "x", "short", to=TYPES.BFLOAT16), node("MatMul", "short w", "z")]
    nodes += [node("Cast", "z", "y", to=TYPES.FLOAT)]
    loaded = load(made(nodes, "x:float32[n,2]", "y", [tensor]))
    x = np.array([[1, 2], [3, 4]], "float32")
    np.testing.assert_allclose(run(loaded, x=x)[0], x @ weights.astype("float32"))
    with fluid.program_guard(loaded.program, loaded.startup):
        loss = layers.reduce_sum(loaded.fetches[0])
        ((_, slope),) = fluid.backward.append_backward(loss)
        (found,) = fluid.Executor().run(loaded.program, {"x": x}, [slope])
    assert found.tolist() == [[4], [6]]


SHORT = {
    TYPES.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TYPES.FLOAT8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
    TYPES.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TYPES.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
    TYPES.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("type", SHORT, ids=TYPES.DataType.Name)
def test_numbers_are_rounded_to_short_floats_halves_to_the_even_one(type):
    codes = np.arange(256 if type != TYPES.FLOAT4E2M1 else 16, dtype="uint8").view(SHORT[type])
    values = np.unique(codes.astype("float32"))
    values = values[np.isfinite(values)]
    halves = (values[1:] + values[:-1]) / 2
    x = np.concatenate([values, halves, np.nextafter(halves, np.float32(np.inf))])
    nodes = [node("Cast", "x", "s", to=type), node("Cast", "s", "y", to=TYPES.FLOAT)]
    loaded = load(made(nodes, "x:float32[n]", "y"))
    right = x.astype(SHORT[type]).astype("float32")
    np.testing.assert_array_equal(run(loaded, x=x)[0], right)


def test_packed_elements_are_counted():
    tensor = helper.make_tensor("w", TYPES.INT4, [5], b"\x12\x34\x05", raw=True)
    tensor.raw_data = tensor.raw_data[:2]
    message = made([node("Cast", "w", "y", to=TYPES.FLOAT)], "x:float32[1]", "y", [tensor])
    with pytest.raises(FileFormatError, match=r"initializer 'w': expected 3 bytes for int4\[5\]"):
        load(message)


def test_what_would_be_rounded_otherwise_is_refused():
    tensor = helper.make_tensor("w", TYPES.FLOAT8E5M2, [1], [1.0])
    with pytest.raises(UnsupportedError, match="element type float8e5m2: it cannot be computed"):
        load(made([node("Add", "w w", "y")], "x:float32[1]", "y", [tensor]))
    with pytest.raises(UnsupportedError, match="no element type uint64"):
        load(made([node("Neg", "x", "y")], "x:int64[1]", "y", types=dict(x=TYPES.UINT64)))


@pytest.mark.parametrize("type", [*SHORT, TYPES.FLOAT8E8M0], ids=TYPES.DataType.Name)
def test_all_codes_of_short_floats_mean_what_they_should(type):
    kind = SHORT.get(type, ml_dtypes.float8_e8m0fnu)
    codes = np.arange(16 if type == TYPES.FLOAT4E2M1 else 256, dtype="uint8")
    tensor = onnx.numpy_helper.from_array(codes.view(kind), "w")
    loaded = load(made([node("Cast", "w", "y", to=TYPES.FLOAT)], "x:float32[1]", "y", [tensor]))
    (found,) = run(loaded, x=np.zeros(1, "float32"))
    np.testing.assert_array_equal(found, codes.view(kind).astype("float32"))
