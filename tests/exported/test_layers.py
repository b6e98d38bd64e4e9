"""Layers that ONNX has an operator of: recurrent ones, and numbers rounded to 8 bits."""

import numpy as np
import pytest
from exported.models import assert_same, onnx, run

import fluidlite as fluid
from fluidlite import layers

LENGTHS = [3, 5, 1, 4]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.onnx")


@pytest.fixture
def program():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            yield fluid.default_main_program()


def started():
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return executor


def types_in(path):
    """The types of the nodes in a file."""
    return [node.op_type for node in onnx.load(path).graph.node]


def assert_runs_the_same(program, path, feed, out, like=None):
    """What a file computes is what the executor does."""
    fluid.onnx.export(program, path, feeds=like, fetches=[out])
    (right,) = fluid.Executor().run(program, feed=feed, fetch_list=[out], return_numpy=False)
    assert_same(run(path, feed)[out.name], right)


def sequences(width):
    rows = np.random.default_rng(0).normal(size=(sum(LENGTHS), width)).astype("float32")
    return {"x": fluid.create_lod_tensor(rows, [LENGTHS], None)}


@pytest.mark.parametrize("peepholes", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_a_memory_over_sequences_is_one_lstm(program, path, peepholes, reverse):
    x = fluid.data("x", [-1, 24], "float32", lod_level=1)
    h0, c0 = (layers.create_parameter([4, 6], "float32", name=n) for n in ("h0", "c0"))
    hidden, _ = layers.dynamic_lstm(
        x,
        24,
        h_0=h0,
        c_0=c0,
        use_peepholes=peepholes,
        is_reverse=reverse,
        bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal()),
    )
    started()
    feed = sequences(24)
    assert_runs_the_same(program, path, feed, hidden, feed)
    assert types_in(path).count("LSTM") == 1


@pytest.mark.parametrize("origin", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_a_gated_unit_over_sequences_is_one_gru(program, path, origin, reverse):
    x = fluid.data("x", [-1, 15], "float32", lod_level=1)
    bias = fluid.ParamAttr(initializer=fluid.initializer.Normal())
    hidden = layers.dynamic_gru(x, 5, is_reverse=reverse, origin_mode=origin, bias_attr=bias)
    started()
    feed = sequences(15)
    assert_runs_the_same(program, path, feed, hidden, feed)
    assert types_in(path).count("GRU") == 1


def test_what_else_a_memory_gives_is_written_step_by_step(program, path):
    x = fluid.data("x", [-1, 24], "float32", lod_level=1)
    _, cell = layers.dynamic_lstm(x, 24)
    started()
    feed = sequences(24)
    assert_runs_the_same(program, path, feed, cell, feed)
    assert "LSTM" not in types_in(path)


@pytest.mark.parametrize("both_ways", [True, False])
def test_layers_of_memories_keep_steps_and_batch_unknown(program, path, both_ways):
    ways = 2 if both_ways else 1
    x = fluid.data("x", [-1, -1, 3], "float32")
    h, c = (fluid.data(name, [2 * ways, -1, 4], "float32") for name in "hc")
    outs = layers.lstm(x, h, c, 9, 4, 2, is_bidirec=both_ways, is_test=True)
    started()
    fluid.onnx.export(program, path, fetches=list(outs))
    assert types_in(path).count("LSTM") == 2
    rng = np.random.default_rng(0)
    for steps, count in ((5, 2), (7, 3)):
        feed = {"x": rng.normal(size=(steps, count, 3)).astype("float32")}
        for name in "hc":
            feed[name] = rng.normal(size=(2 * ways, count, 4)).astype("float32")
        right = fluid.Executor().run(program, feed=feed, fetch_list=list(outs))
        found = run(path, feed)
        for out, value in zip(outs, right, strict=True):
            assert_same(found[out.name], value)


def fake(block, type, x, out, scale, **attrs):
    """Append a rounding whose scale is known."""
    inputs = {"X": [x], "InScale": [scale]}
    outputs = {"Out": [out], "OutScale": [scale]}
    block.append_op(type=type, inputs=inputs, outputs=outputs, attrs={"is_test": True, **attrs})


@pytest.fixture
def scale(program):
    made = layers.create_parameter([1], "float32", name="scale")
    made.stop_gradient = True
    fluid.global_scope().var("scale").get_tensor().set(np.array([1.5], "float32"))
    return made


def test_a_rounding_there_and_back_is_a_pair(program, path, scale):
    block, x = program.global_block(), fluid.data("x", [-1, 3], "float32")
    out = block.create_var(name="out", dtype="float32", shape=[-1, 3])
    fake(block, "fake_quantize_dequantize_moving_average_abs_max", x, out, scale)
    value = np.random.default_rng(0).normal(size=(50, 3)).astype("float32")
    assert_runs_the_same(program, path, {"x": value}, out)
    assert types_in(path) == ["Clip", "QuantizeLinear", "DequantizeLinear"]


@pytest.mark.parametrize(
    "type", ["fake_quantize_moving_average_abs_max", "fake_quantize_range_abs_max"]
)
def test_a_rounding_and_what_undoes_it_are_a_pair(program, path, scale, type):
    block, x = program.global_block(), fluid.data("x", [-1, 3], "float32")
    whole, out = (
        block.create_var(name=name, dtype="float32", shape=[-1, 3]) for name in ("whole", "out")
    )
    fake(block, type, x, whole, scale)
    block.append_op(
        type="fake_dequantize_max_abs",
        inputs={"X": [whole], "Scale": [scale]},
        outputs={"Out": [out]},
        attrs={"max_range": 127.0},
    )
    value = np.random.default_rng(0).normal(size=(50, 3)).astype("float32")
    assert_runs_the_same(program, path, {"x": value}, whole)
    assert_runs_the_same(program, path, {"x": value}, out)
    assert "Cast" not in types_in(path)
