"""Names of sizes in ONNX files."""

import numpy as np
import pytest

import fluidlite as fluid

onnx = pytest.importorskip("onnx")
L = fluid.layers


def sizes_of(info):
    return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]


def test_names_of_sizes_are_those_of_the_file(tmp_path):
    x = fluid.data("x", ["batch", "time", None, 4])
    y = fluid.data("y", ["batch", "time", None, 4])
    total = L.reduce_sum(x + x, dim=[3])
    joined = L.concat([x, y], axis=1)
    path = tmp_path / "named.onnx"
    program = fluid.default_main_program()
    fluid.onnx.export(program, path, feeds=["x", "y"], fetches=[total, joined])
    graph = onnx.load(path).graph
    assert [sizes_of(i) for i in graph.input] == [
        ["batch", "time", "x_2", 4],
        ["batch", "time", "y_2", 4],
    ]
    first, second = (sizes_of(o) for o in graph.output)
    assert first[:2] == ["batch", "time"]
    assert second[0] == "batch" and second[1] != "time" and second[3] == 4

    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    value = np.arange(24.0, dtype="float32").reshape(1, 2, 3, 4)
    given = session.run(None, {"x": value, "y": value})
    np.testing.assert_allclose(given[0], (value + value).sum(3))
    assert given[1].shape == (1, 4, 3, 4)


def test_a_file_with_names_is_loaded_with_plain_unknown_sizes(tmp_path):
    x, y = fluid.data("x", ["batch", 4]), fluid.data("y", ["batch", 4])
    path = tmp_path / "named.onnx"
    fluid.onnx.export(fluid.default_main_program(), path, feeds=["x", "y"], fetches=[x * y])
    loaded = fluid.onnx.load(path)
    variables = loaded.program.global_block()
    assert [variables.var(n).shape for n in "xy"] == [(-1, 4)] * 2
    assert not any(v.size_names for v in loaded.program.list_vars())
