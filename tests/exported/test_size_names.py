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


@pytest.fixture
def named_model(tmp_path):
    """A model of three inputs, the third without names."""
    x, y = fluid.data("x", ["batch", "time", 4]), fluid.data("y", ["batch", "time", 4])
    z = fluid.data("z", [None, 4])
    path = tmp_path / "named.onnx"
    fetches = [x * y, L.reduce_sum(z, dim=1)]
    fluid.onnx.export(fluid.default_main_program(), path, feeds=["x", "y", "z"], fetches=fetches)
    return path


def names_of(loaded):
    variables = loaded.program.global_block()
    return [variables.var(n).size_names for n in "xyz"]


def test_names_of_a_file_are_taken_and_flow(named_model):
    loaded = fluid.onnx.load(named_model)
    assert names_of(loaded) == [("batch", "time", None), ("batch", "time", None), ()]
    assert [v.size_names for v in loaded.fetches] == [("batch", "time", None), ()]
    sizes = {"x": [None, 3, 4]}
    assert names_of(fluid.onnx.load(named_model, feeds=sizes))[0] == ("batch", None, None)


def test_names_of_a_file_that_an_operator_refuses_are_left_out(named_model):
    message = onnx.load(named_model)
    dims = message.graph.input[1].type.tensor_type.shape.dim
    dims[1].dim_param = "steps"
    assert names_of(fluid.onnx.load(message)) == [
        ("batch", "time", None),
        ("batch", None, None),
        (),
    ]
    dims[0].dim_param, dims[1].dim_param = "N + 1", "time"
    assert names_of(fluid.onnx.load(message)) == [("batch", "time", None), (None, "time", None), ()]
