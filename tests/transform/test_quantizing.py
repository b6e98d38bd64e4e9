"""Programs whose products are of numbers rounded to few bits."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers, transform
from fluidlite.errors import ArgumentError, PassError, ShapeError


@pytest.fixture
def net():
    """A program, its input, its output, an executor with values, and what is fed."""
    x = fluid.data("x", [None, 1, 6, 6], "float32")
    maps = layers.conv2d(x, 3, 3, act="relu")
    out = layers.fc(maps, 4)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.random.default_rng(0).normal(size=(5, 1, 6, 6)).astype("float32")}
    return fluid.default_main_program(), out, exe, feed


def scales_of(program, exe, feed):
    names = transform.quantizable(program)
    return {n: np.abs(v).max() for n, v in zip(names, exe.run(program, feed, names))}


def rounded(values, scale, most=127):
    return np.rint(values * most / scale).clip(-most - 1, most) * scale / most


def test_products_read_rounded_numbers(net):
    program, out, exe, feed = net
    scales = scales_of(program, exe, feed)
    assert len(scales) == 4
    quantized = transform.quantize(program, scales=scales)
    types = [op.type for op in quantized.global_block().ops]
    assert types.count("quantize_linear") == types.count("dequantize_linear") == 4
    (before,), (after,) = (exe.run(p, feed, [out.name]) for p in (program, quantized))
    assert 0 < np.abs(after - before).max() < 0.05
    read = next(op for op in quantized.global_block().ops if op.type == "mul").input_arg_names
    found = exe.run(quantized, feed, read)
    (maps, weight) = list(scales)[2:]
    values = exe.run(quantized, feed, [maps, weight])
    for one, value, name in zip(found, values, (maps, weight)):
        np.testing.assert_allclose(one, rounded(value, scales[name]), rtol=1e-5, atol=1e-6)


def test_slices_of_parameters_have_scales(net):
    program, out, exe, feed = net
    _, filters, _, weight = transform.quantizable(program)
    values = exe.run(program, feed, [filters, weight])
    scales = {filters: np.abs(values[0]).max((1, 2, 3)), weight: np.abs(values[1]).max(0)}
    quantized = transform.quantize(program, scales=scales)
    ops = [op for op in quantized.global_block().ops if op.type == "quantize_linear"]
    assert [op.attr("quant_axis") for op in ops] == [0, 1]
    (before,), (after,) = (exe.run(p, feed, [out.name]) for p in (program, quantized))
    assert 0 < np.abs(after - before).max() < 0.05


def test_a_quantized_program_goes_to_onnx(net, tmp_path):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    program, out, exe, feed = net
    quantized = transform.quantize(program, scales=scales_of(program, exe, feed))
    path = str(tmp_path / "quantized.onnx")
    fluid.onnx.export(quantized, path, ["x"], [out.name])
    types = [node.op_type for node in onnx.load(path).graph.node]
    assert types.count("QuantizeLinear") == 4, "weights are parameters here"
    (found,) = runtime.InferenceSession(path).run(None, feed)
    (expected,) = exe.run(quantized, feed, [out.name])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_mistakes_are_refused(net):
    program, out, _, _ = net
    with pytest.raises(ArgumentError, match="got 'y'"):
        transform.quantize(program, scales={"y": 1.0})
    with pytest.raises(ShapeError, match="one scale for 'x'"):
        transform.quantize(program, scales={"x": [1.0, 2.0]})
    fluid.optimizer.SGD(0.1).minimize(layers.mean(out))
    with pytest.raises(PassError, match="gradient"):
        transform.quantize(program, scales={"x": 1.0})
