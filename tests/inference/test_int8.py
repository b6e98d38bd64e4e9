"""Quantized models that are served in whole numbers: what is simulated, to rounding."""

import numpy as np
import pytest
from aids.served_nets import plan_source, save_net, third_run, types_of

import fluidlite as fluid
from fluidlite.backend import onednn
from fluidlite.contrib.slim import quantization as slim
from fluidlite.ops.quantize import quantize_linear
from fluidlite.paddle import inference
from fluidlite.paddle.static import quantization as static

layers = fluid.layers
needs_vnni = pytest.mark.skipif(
    not onednn.multiplies_int8(), reason="it takes oneDNN and a processor with VNNI"
)
X = np.random.default_rng(3).normal(size=[2, 3, 12, 12]).astype("float32")


def net():
    """A small net with a residual, groups, norms and a product of matrices."""
    x = fluid.data("x", [None, 3, 12, 12], "float32")
    first = layers.conv2d(x, 16, 3, padding=1, bias_attr=False)
    first = layers.batch_norm(first, act="relu", is_test=True)
    inner = layers.conv2d(first, 16, 1, act="relu")
    inner = layers.conv2d(inner, 16, 3, padding=1, bias_attr=False)
    inner = layers.relu(layers.batch_norm(inner, is_test=True) + first)
    inner = layers.conv2d(inner, 32, 3, groups=16, stride=2, act="relu")
    return layers.fc(layers.pool2d(inner, 5, "avg", 5), 4)


def save(folder, quantize, make=net, batch=X):
    """Write a net, rounded as a function does it."""
    save_net(folder / "plain", make, lambda exe: quantize(exe, folder, batch))
    return str(folder / "rounded")


def afterwards(types, library=slim, **how):
    """What rounds a saved model by scales that are found in samples."""

    def quantize(exe, folder, batch):
        passes = library.PostTrainingQuantization(
            executor=exe,
            sample_generator=lambda: ((row,) for row in batch),
            model_dir=str(folder / "plain"),
            batch_size=2,
            batch_nums=1,
            algo="abs_max",
            quantizable_op_type=types,
            **how,
        )
        passes.quantize()
        passes.save_quantized_model(str(folder / "rounded"))

    return quantize


ALL = ["conv2d", "depthwise_conv2d", "mul"]
WAYS = {
    "fluid, by channels": afterwards(ALL),
    "fluid, one scale": afterwards(ALL, weight_quantize_type="abs_max"),
    "paddle 2, frozen": afterwards(ALL, static),
    "paddle 2, as in ONNX": afterwards(ALL, static, onnx_format=True),
}


def run(folder, in_int8, types=(), config=None, x=X):
    """What a predictor gives in its third run, and the predictor."""
    config = config or fluid.core.AnalysisConfig(folder)
    if in_int8:
        config.enable_mkldnn_int8(types)
    return third_run(config, x)


@needs_vnni
@pytest.mark.filterwarnings("ignore:.*does not know the attribute")  # thresholds of results
@pytest.mark.parametrize("way", WAYS)
def test_whole_numbers_give_what_is_simulated(way, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder = save(tmp_path, WAYS[way])
    (right, _), (found, predictor) = run(folder, False), run(folder, True)
    scale = np.abs(right).max()
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-4 * scale)
    types = types_of(predictor)
    assert "batch_norm" not in types and not any(each.startswith("fake_") for each in types)
    assert "dequantize" not in plan_source(predictor)


def chain(data_format="NCHW"):
    """Convolutions one after the other, whose results nothing else reads."""
    shape = [None, 3, 12, 12] if data_format == "NCHW" else [None, 12, 12, 3]
    x = fluid.data("x", shape, "float32")
    for groups in (1, 16):
        x = layers.conv2d(x, 16, 3, padding=1, groups=groups, act="relu", data_format=data_format)
    x = layers.leaky_relu(layers.conv2d(x, 16, 1, data_format=data_format))
    x = layers.conv2d(x, 6, 3, data_format=data_format)
    return layers.fc(layers.fc(x, 8, act="relu"), 4)


@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
@pytest.mark.parametrize("way", WAYS)
def test_images_whose_channels_come_last_are_rounded_as_others(way, tmp_path):
    def two(data_format):
        shape = [None, 3, 12, 12] if data_format == "NCHW" else [None, 12, 12, 3]
        inner = layers.conv2d(fluid.data("x", shape, "float32"), 16, 3, data_format=data_format)
        return layers.conv2d(layers.relu(inner), 7, 3, data_format=data_format)

    found = []
    for data_format, turned in (("NCHW", (0, 1, 2, 3)), ("NHWC", (0, 2, 3, 1))):
        batch, folder = np.ascontiguousarray(X.transpose(turned)), tmp_path / data_format
        rounded = save(folder, WAYS[way], lambda it=data_format: two(it), batch)
        found.append(run(rounded, False, x=batch)[0])
    np.testing.assert_allclose(found[1].transpose(0, 3, 1, 2), found[0], rtol=1e-5, atol=1e-6)


@needs_vnni
@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize("way", WAYS)
def test_products_pass_whole_numbers_on(way, data_format, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    batch = X if data_format == "NCHW" else X.transpose(0, 2, 3, 1).copy()
    folder = save(tmp_path, WAYS[way], lambda: chain(data_format), batch)
    (right, _), (passed, predictor) = (run(folder, here, x=batch) for here in (False, True))
    assert plan_source(predictor).count("quantize_linear") == 2  # the input and the matrix
    monkeypatch.setattr(quantize_linear, "epilogue", lambda self, x, *others: None)
    apart, predictor = run(folder, True, x=batch)
    assert plan_source(predictor).count("quantize_linear") == 6
    np.testing.assert_array_equal(passed, apart)
    np.testing.assert_allclose(passed, right, rtol=0, atol=1e-4 * np.abs(right).max())


def linear_layers():
    """Products of rows in a stack and a weight, as layers of paddle 2 make them."""
    x = fluid.data("x", [None, 3, 12, 12], "float32")
    x = layers.reshape(x, [-1, 6, 72])
    for size in (16, 24, 8):
        weight = layers.create_parameter([x.shape[-1], size], "float32")
        bias = layers.create_parameter([size], "float32", is_bias=True)
        x = layers.relu(layers.matmul(x, weight) + bias)
    return x


@needs_vnni
@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
@pytest.mark.parametrize("way", ["paddle 2, frozen", "paddle 2, as in ONNX"])
def test_rows_of_a_stack_are_multiplied_in_whole_numbers(way, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    types = ["matmul", "matmul_v2"]
    folder = save(tmp_path, afterwards(types, static, onnx_format="ONNX" in way), linear_layers)
    (right, _), (found, predictor) = run(folder, False), run(folder, True)
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-4 * np.abs(right).max())
    assert plan_source(predictor).count("matmul, oneDNN") == 3
    assert plan_source(predictor).count("quantize_linear") == 1


def feed_forward():
    """Products with the exact gelu between them, as in transformers."""
    x = layers.reshape(fluid.data("x", [None, 3, 12, 12], "float32"), [-1, 6, 72])
    for size in (32, 24, 8):
        x = layers.fc(x, size, num_flatten_dims=2, act="gelu" if size > 8 else None)
    return x


@needs_vnni
@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
@pytest.mark.parametrize("way", WAYS)
def test_a_gelu_whose_result_is_rounded_is_part_of_the_product(way, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder = save(tmp_path, WAYS[way], feed_forward)
    (right, _), (found, predictor) = run(folder, False), run(folder, True)
    np.testing.assert_allclose(found, right, rtol=0, atol=0.02 * np.abs(right).max())
    assert "# gelu" not in plan_source(predictor)


def branches():
    """Values that are read in whole numbers, and as they are."""
    x = fluid.data("x", [None, 3, 12, 12], "float32")
    first = layers.conv2d(x, 16, 3, padding=1, act="relu")
    second = layers.conv2d(first, 16, 3, padding=1, act="relu")
    pooled = layers.pool2d(second, 12, "avg") + layers.pool2d(first, 12, "max")
    return layers.fc(pooled, 4) + layers.fc(layers.conv2d(second, 2, 1), 4)


@needs_vnni
@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
@pytest.mark.parametrize("way", WAYS)
def test_values_that_others_read_stay_as_they_are(way, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder = save(tmp_path, WAYS[way], branches)
    (right, _), (found, _) = run(folder, False), run(folder, True)
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-4 * np.abs(right).max())


@needs_vnni
def test_types_say_which_products_are_computed_in_whole_numbers(tmp_path):
    folder = save(tmp_path, WAYS["fluid, by channels"])
    _, predictor = run(folder, True, ["mul"])
    types = types_of(predictor)
    assert types.count("quantize_linear") == 1 and types.count("batch_norm") == 2


def test_a_model_that_is_not_rounded_is_served_as_it_is(tmp_path):
    save(tmp_path, lambda exe, folder, batch: None)
    config = inference.Config(str(tmp_path / "plain"))
    config.enable_mkldnn_int8()
    with pytest.warns(RuntimeWarning, match="enable_mkldnn_int8: the model runs in float32"):
        served = inference.create_predictor(config)._serving.served
    assert "quantize_linear" not in [op.type for op in served.program.global_block().ops]
