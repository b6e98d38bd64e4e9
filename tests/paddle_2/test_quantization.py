"""``paddle.quantization`` and ``paddle.nn.quant``: against what paddle 2.6.2 computes."""

import json
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, ShapeError, UsageError
from fluidlite.paddle.nn.quant.format import LinearDequanter, LinearQuanter
from fluidlite.paddle.quantization import PTQ, QAT, QuantConfig
from fluidlite.paddle.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver
from fluidlite.paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

DATA = Path(__file__).parents[1] / "data" / "paddle_2"
RECORDED = json.loads((DATA / "quantization.json").read_text())


@pytest.fixture(scope="module")
def recorder():
    """The script that wrote the records, with paddle's face in paddle's place."""
    text = (DATA / "record_quantization.py").read_text()
    text = text.replace("import paddle\n", "from fluidlite import paddle\n")
    text = text.replace("from paddle", "from fluidlite.paddle")
    space = {"__name__": "recorder"}
    exec(compile(text, "record_quantization.py", "exec"), space)
    return space


def close(found, expected):
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("bits", [8, 4])
def test_training_with_roundings_goes_as_in_paddle(recorder, bits):
    found, expected = recorder["of_training"](bits), RECORDED["training"][str(bits)]
    assert found["state"] == expected["state"]
    for name in ("losses", "trained", "converted"):
        close(found[name], expected[name])
    close(np.concatenate(found["scales"]), np.concatenate(expected["scales"]))
    for one, other in zip(found["weights"], expected["weights"]):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bits", [8, 4])
def test_rounding_after_training_goes_as_in_paddle(recorder, bits):
    found, expected = recorder["of_calibration"](bits), RECORDED["calibration"][str(bits)]
    for name, values in expected.items():
        close(found[name], values)


X = np.array([[0.5, -1.5, 2.5], [-3, 0.25, 1]], "float32")


def small():
    return paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.ReLU())


def both(quanter):
    return QuantConfig(activation=quanter, weight=quanter)


@pytest.mark.parametrize("bits, most", [(8, 127), (4, 7)])
def test_whole_numbers_and_back(bits, most):
    scale = paddle.to_tensor([3.0])
    whole = LinearQuanter(scale, bit_length=bits)(paddle.to_tensor(X))
    np.testing.assert_array_equal(whole.numpy(), np.rint(X * most / 3))
    back = LinearDequanter(scale, bit_length=bits)(whole)
    np.testing.assert_allclose(back.numpy(), np.rint(X * most / 3) * 3 / most, rtol=1e-6)


def test_groups_of_rows_have_scales():
    weight = np.random.default_rng(0).normal(size=(6, 2)).astype("float32")
    observer = GroupWiseWeightObserver(quant_bits=4, group_size=3)._instance(None)
    assert observer(paddle.to_tensor(weight)).tolist() == weight.tolist()
    scales = np.abs(weight).reshape(2, 3, 2).max(1)
    np.testing.assert_array_equal(observer.scales().numpy(), scales)
    whole = LinearQuanter.from_quanter(observer)(paddle.to_tensor(weight))
    rows = scales.repeat(3, 0)
    np.testing.assert_array_equal(whole.numpy(), np.rint(weight / rows * 7))
    back = LinearDequanter.from_quanter(observer)(whole)
    np.testing.assert_allclose(back.numpy(), whole.numpy() * rows / 7, rtol=1e-6)
    with pytest.raises(ArgumentError, match="groups of 3, got 2"):
        observer(paddle.to_tensor(X))
    with pytest.raises(ArgumentError, match="two dimensions"):
        observer(paddle.ones([3]))


def test_what_is_said_of_a_layer_goes_before_its_class_and_that_before_all():
    quanter, observer = FakeQuanterWithAbsMaxObserver(), AbsmaxObserver()
    net = paddle.nn.Sequential(small(), small(), small())
    config = both(None)
    config.add_type_config(paddle.nn.Linear, weight=quanter)
    config.add_layer_config(net[1], activation=observer, weight=observer)
    config.add_name_config(net[2][0].full_name(), activation=observer)
    model = QAT(config).quantize(net)
    kinds = [
        [type(quanter).__name__ for quanter in (lin.weight_quanter, lin.activation_quanter)]
        for lin in (model[0][0], model[1][0], model[2][0])
    ]
    fake, seen = "FakeQuanterWithAbsMaxObserverLayer", "AbsmaxObserverLayer"
    assert kinds == [[fake, "NoneType"], [fake, "NoneType"], ["NoneType", seen]]
    wrapped = [type(part[1]).__name__ for part in (model[0], model[1], model[2])]
    assert wrapped == ["ReLU", "ObserveWrapper", "ReLU"]
    assert type(net[0][0]) is paddle.nn.Linear, "the model itself stays"


def test_models_in_the_wrong_mode_and_mistakes_are_refused():
    config, net = both(AbsmaxObserver()), small()
    with pytest.raises(UsageError, match=r"call model.eval\(\) first"):
        PTQ(config).quantize(net)
    net.eval()
    with pytest.raises(UsageError, match=r"call model.train\(\) first"):
        QAT(config).quantize(net)
    model = PTQ(config).convert(PTQ(config).convert(PTQ(config).quantize(net)))
    with pytest.raises(UsageError, match="converted already"):
        model[0]._convert()
    for mistake in (
        lambda: QAT(3),
        lambda: QAT(config).quantize(3),
        lambda: config.add_layer_config("a"),
        lambda: config.add_name_config(3),
        lambda: config.add_type_config(3),
        lambda: config.add_qat_layer_mapping(3, paddle.nn.ReLU),
        lambda: config.add_customized_leaf(int),
        lambda: paddle.quantization.quanter(3),
    ):
        with pytest.raises(ArgumentError, match="expected"):
            mistake()


def test_gradients_go_through_roundings_as_if_there_were_none():
    net = QAT(both(FakeQuanterWithAbsMaxObserver())).quantize(small()[:1])
    net(paddle.to_tensor(X)).sum().backward()
    rounded = net[0].activation_quanter.eval() or net[0].activation_quanter(paddle.to_tensor(X))
    expected = rounded.numpy().sum(0)[:, None].repeat(2, 1)
    np.testing.assert_allclose(net[0].weight.grad.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("algo", ["weight_only_int8", "weight_only_int4", "llm.int8"])
def test_weights_go_to_whole_numbers_and_back(algo):
    quant = paddle.nn.quant
    weight = np.random.default_rng(1).normal(size=(6, 4)).astype("float32")
    whole, scale = quant.weight_quantize(paddle.to_tensor(weight), algo)
    most = 7 if "4" in algo else 127
    np.testing.assert_allclose(scale.numpy(), np.abs(weight).max(0) / most, rtol=1e-6)
    assert whole.shape == [2 if "4" in algo else 4, 6]
    back = quant.weight_dequantize(whole, scale, algo, "float32").numpy()
    np.testing.assert_allclose(back, np.rint(weight / scale.numpy()) * scale.numpy(), rtol=1e-6)
    x = paddle.to_tensor(np.random.default_rng(2).normal(size=(3, 6)).astype("float32"))
    x.stop_gradient = False
    if algo == "llm.int8":
        out = quant.llm_int8_linear(x, whole, paddle.ones([4]), scale, threshold=1.0)
        np.testing.assert_allclose(out.numpy(), x.numpy() @ back + 1, atol=0.05)
        return
    kind = algo.removeprefix("weight_only_")
    out = quant.weight_only_linear(x, whole, paddle.ones([4]), scale, kind)
    np.testing.assert_allclose(out.numpy(), x.numpy() @ back + 1, rtol=1e-5)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), back.sum(1)[None].repeat(3, 0), rtol=1e-5)


def test_mistakes_with_weights_are_refused():
    quant, ones = paddle.nn.quant, paddle.ones([2, 2])
    with pytest.raises(ArgumentError, match="algo to be one of"):
        quant.weight_quantize(ones, "int3")
    with pytest.raises(ShapeError, match=r"\[in, out\]"):
        quant.weight_quantize(paddle.ones([2]))
    with pytest.raises(ArgumentError, match="numbers of int8"):
        quant.weight_dequantize(ones, paddle.ones([2]))
    with pytest.raises(ArgumentError, match="weight_scale"):
        quant.weight_only_linear(ones, ones)
    whole, _ = quant.weight_quantize(ones)
    with pytest.raises(ShapeError, match=r"scale to be \[2\]"):
        quant.weight_dequantize(whole, paddle.ones([3]))


@pytest.fixture(scope="module")
def converted(recorder):
    """A model of whole numbers, an input and what it gives."""
    model = recorder["net"]()
    recorder["fill"](model, 3)
    model.eval()
    model = PTQ(both(AbsmaxObserver())).quantize(model)
    x = paddle.to_tensor(recorder["inputs"](5))
    model(x)
    model = PTQ(both(None)).convert(model)
    return model, x, model(x).numpy()


FEED = [paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")]


def test_a_converted_model_is_saved_and_loaded(converted, tmp_path):
    model, x, expected = converted
    paddle.jit.save(model, str(tmp_path / "whole"), FEED)
    loaded = paddle.jit.load(str(tmp_path / "whole"))
    np.testing.assert_array_equal(loaded(x).numpy(), expected)
    types = [op.type for op in loaded.program().global_block().ops]
    assert types.count("quantize_linear") == 9 and types.count("dequantize_linear") == 12


def test_a_converted_model_goes_to_onnx_with_weights_of_8_bits(converted, tmp_path):
    onnx = pytest.importorskip("onnx")
    model, x, expected = converted
    paddle.onnx.export(model, str(tmp_path / "whole"), FEED)
    graph = onnx.load(tmp_path / "whole.onnx").graph
    types = [node.op_type for node in graph.node]
    assert types.count("QuantizeLinear") == 9 and types.count("DequantizeLinear") == 12
    shapes = [tuple(t.dims) for t in graph.initializer if t.data_type == onnx.TensorProto.INT8]
    assert {(3, 1, 3, 3), (12, 5), (5, 2)} <= {*shapes}
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(tmp_path / "whole.onnx"))
    np.testing.assert_allclose(session.run(None, {"x": x.numpy()})[0], expected, atol=1e-6)


def test_slices_of_a_weight_have_scales_in_onnx(tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    scales = paddle.to_tensor([3.0, 1.5, 2.5])
    there = LinearQuanter(scales, quant_axis=1)
    net = paddle.nn.Sequential(there, LinearDequanter(scales, quant_axis=1))
    net.eval()
    paddle.onnx.export(
        net, str(tmp_path / "slices"), [paddle.static.InputSpec([None, 3], "float32", "x")]
    )
    session = runtime.InferenceSession(str(tmp_path / "slices.onnx"))
    expected = net(paddle.to_tensor(X)).numpy()
    np.testing.assert_allclose(session.run(None, {"x": X})[0], expected, rtol=1e-6)


def test_a_traced_model_moves_its_scales_as_an_eager_one_does(recorder):
    quanter = FakeQuanterWithAbsMaxObserver()
    eager, traced = (QAT(both(quanter)).quantize(net) for net in [small()] * 2)
    paddle.jit.to_static(traced)
    for step in range(2):
        x = paddle.to_tensor(X * (step + 1))
        np.testing.assert_allclose(traced(x).numpy(), eager(x).numpy(), rtol=1e-6)
        for one, other in zip(traced.sublayers(), eager.sublayers()):
            if hasattr(one, "scales"):
                np.testing.assert_allclose(one.scales().numpy(), other.scales().numpy())


def test_a_layer_in_two_places_is_converted_once():
    paddle.seed(3)
    linear = paddle.nn.Linear(3, 3)
    net = paddle.nn.Sequential(linear, paddle.nn.Sequential(linear))
    net.eval()
    model = PTQ(both(AbsmaxObserver())).quantize(net)
    assert model[0] is model[1][0]
    observed = model(paddle.to_tensor(X)).numpy()
    converted = PTQ(both(None)).convert(model)(paddle.to_tensor(X)).numpy()
    np.testing.assert_allclose(converted, observed, atol=0.1)
    assert np.abs(observed).max() > 0.2
