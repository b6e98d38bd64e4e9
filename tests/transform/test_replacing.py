"""Operators read another variable, as far as it is there and fits."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import (
    ArgumentError,
    DTypeError,
    ShapeError,
    UnknownVariableError,
    UnsupportedError,
)
from fluidlite.transform import ValueAt, replace

X = np.array([[-1.0, 2.0, -3.0]], "float32")


def ran(program, *fetch):
    return fluid.Executor().run(program, feed={"x": X}, fetch_list=list(fetch))


def test_readers_behind_the_new_variable_read_it_and_what_computes_it_reads_the_old_one():
    x = fluid.data("x", [None, 3], "float32")
    y = layers.relu(x)
    probe = layers.scale(layers.exp(y), 2.0)
    z, w = layers.square(y), layers.reduce_sum(y)
    program = fluid.default_main_program()
    before = str(program)
    changed = replace(program, y, probe)
    expected = 2 * np.exp(np.maximum(X, 0))
    found = ran(changed, z, w, y)
    np.testing.assert_allclose(found[0], expected**2, rtol=1e-6)
    np.testing.assert_allclose(found[1], expected.sum(), rtol=1e-6)
    np.testing.assert_array_equal(found[2], np.maximum(X, 0))
    assert str(program) == before
    assert str(replace(program, y, y)) == before


def test_a_reader_in_front_of_the_new_variable_is_named():
    x = fluid.data("x", [None, 3], "float32")
    y = layers.relu(x)
    layers.square(y)
    z = layers.tanh(x)
    with pytest.raises(ArgumentError, match=r"square \(operator 1 .*test_replacing.* before 'tanh"):
        replace(fluid.default_main_program(), y, z)


def test_variables_that_differ_are_refused():
    x = fluid.data("x", [None, 3], "float32")
    y, z = layers.cast(x, "int64"), layers.reduce_sum(x, dim=1)
    program = fluid.default_main_program()
    with pytest.raises(DTypeError, match="expected the dtype FP32, got INT64"):
        replace(program, x, y)
    with pytest.raises(ShapeError, match=r"expected the shape \[-1, 3\], got \[-1\]"):
        replace(program, x, z)
    with pytest.raises(UnknownVariableError, match="no variable 'ww'"):
        replace(program, x, "ww")


def test_one_of_several_values_is_replaced():
    program = Program.parse("""
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  y: float32[-1, 3]
    var  z: float32[-1, 3]
    var  w: float32[-1, 3]

    z = square(X=x)
    y = relu(X=x)
    w = exp(X=y)
    y = tanh(X=y)
    w = elementwise_add(X=w, Y=y)
  }
}""")
    with pytest.raises(ArgumentError, match="'y' holds 2 values in turn"):
        replace(program, "y", "z")
    changed = replace(program, ValueAt("y", after="relu"), "z")
    assert [op.input("X") for op in changed.global_block().ops[2:4]] == [["z"], ["z"]]
    last = replace(program, ValueAt("y", after="tanh"), "z")
    assert last.global_block().ops[4].input("Y") == ["z"]
    expected = np.exp(np.maximum(X, 0)) + X * X
    np.testing.assert_allclose(ran(last, "w")[0], expected, rtol=1e-6)


def test_gradients_are_not_left_behind():
    x = fluid.data("x", [None, 3], "float32")
    other = fluid.data("other", [None, 3], "float32")
    h = layers.fc(x, 3)
    y = layers.relu(h)
    z = layers.tanh(h)
    loss = layers.mean(y)
    fluid.optimizer.SGD(0.1).minimize(loss)
    program = fluid.default_main_program()
    with pytest.raises(UnsupportedError, match=r"has the gradient 'relu_0.tmp_0@GRAD'"):
        replace(program, y, z)
    fed = replace(program, "x", other)
    assert [op.input("X")[0] for op in fed.global_block().ops if op.type.startswith("mul")] == [
        "other",
        "other",
    ]
    forward = replace(program.clone(for_test=True), y, z)
    assert next(op for op in forward.global_block().ops if op.type == "mean").reads(z.name)


def test_blocks_read_the_new_variable_too():
    x = fluid.data("x", [None, 3], "float32")
    y = layers.square(x)
    truth = layers.fill_constant([1], "bool", True)
    out = layers.cond(truth, lambda: layers.scale(x, 2.0), lambda: layers.scale(x, 3.0))
    changed = replace(fluid.default_main_program(), x, y)
    np.testing.assert_allclose(ran(changed, out)[0], 2 * X * X)
    assert not any(op.reads("x") for op in changed.global_block().ops[1:])


def test_a_loop_that_knows_a_variable_by_its_name_is_named():
    x = fluid.data("x", [4, 2, 3], "float32")
    y = layers.square(x)
    rnn = layers.StaticRNN()
    with rnn.step():
        rnn.step_output(layers.scale(rnn.step_input(x), 2.0))
    rnn()
    with pytest.raises(ArgumentError, match=r"recurrent .* knows 'x' by its name"):
        replace(fluid.default_main_program(), x, y)
