"""Attributes change in chosen operators, and in the operators of their gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import ArgumentError, AttributeValueError, FluidError, UnsupportedError
from fluidlite.transform import set_attributes

X = np.array([[-1.0, 2.0, -3.0]], "float32")


def leaky():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    y = layers.leaky_relu(x, 0.1)
    loss = layers.reduce_sum(layers.square(layers.scale(y, 2.0)))
    fluid.backward.append_backward(loss)
    return fluid.default_main_program(), y


def gradient(program):
    return fluid.Executor().run(program, feed={"x": X}, fetch_list=["x@GRAD"])[0]


def test_gradients_follow_the_attributes_of_their_operators():
    program, y = leaky()
    before = str(program)
    for where in ("leaky_relu", y, 0, y.op, lambda op: op.type == "leaky_relu", [0, y]):
        changed = set_attributes(program, where, {"alpha": 0.5})
        slope = np.where(X > 0, 1, 0.5)
        np.testing.assert_allclose(gradient(changed), 8 * X * slope * slope, rtol=1e-6)
        types = {op.type: op for op in changed.global_block().ops}
        assert types["leaky_relu_grad"].attr("alpha") == 0.5
    assert str(program) == before


def test_attributes_may_be_told_one_operator_at_a_time():
    program, _ = leaky()
    changed = set_attributes(program, lambda op: True, lambda op: {"op_device": f"for {op.type}"})
    assert all(op.device == f"for {op.type}" for op in changed.global_block().ops)


def test_a_gradient_in_which_the_value_is_written_out_is_a_reason_to_refuse():
    program, _ = leaky()
    with pytest.raises(UnsupportedError, match=r"'scale' of scale .*before append_backward"):
        set_attributes(program, 1, {"scale": 3.0})
    same = set_attributes(program, 1, {"scale": 2.0})
    assert str(same) == str(program)
    forward = program.clone(for_test=True)
    assert set_attributes(forward, 1, {"scale": 3.0}).global_block().ops[1].attr("scale") == 3.0


def test_shapes_follow_and_have_to_fit():
    x = fluid.data("x", [None, 4, 6], "float32")
    y = layers.concat([layers.reduce_sum(x, dim=2, keep_dim=True), x], axis=2)
    program = fluid.default_main_program()
    assert y.shape == (-1, 4, 7)
    with pytest.raises(FluidError, match="concat"):
        set_attributes(program, "reduce_sum", {"dim": [1]})
    both = set_attributes(program, ["reduce_sum", "concat"], lambda op: NEW[op.type])
    assert both.global_block().var(y.name).shape == (-1, 5, 6)


NEW = {"reduce_sum": {"dim": [1]}, "concat": {"axis": 1}}


def test_what_an_operator_does_not_have_is_refused():
    program, _ = leaky()
    before = str(program)
    with pytest.raises(AttributeValueError, match="alpa"):
        set_attributes(program, "leaky_relu", {"alpa": 0.5})
    with pytest.raises(AttributeValueError, match="alpha"):
        set_attributes(program, "leaky_relu", {"alpha": "much"})
    with pytest.raises(ArgumentError, match="no operator of the type 'dropout'"):
        set_attributes(program, "dropout", {"is_test": True})
    with pytest.raises(ArgumentError, match="chose none"):
        set_attributes(program, lambda op: False, {})
    with pytest.raises(ArgumentError, match="attributes of leaky_relu by name, got 3"):
        set_attributes(program, 0, lambda op: 3)
    assert str(program) == before


def test_operators_that_nobody_defined_take_values_of_the_kind_that_they_have():
    text = """program (seed=0) {
  block 0 {
    var x: float32[2]
    {Out=x} = magic(X=x, mode="fast", rate=0.5, seed=long 7, sizes=ints [1])
  }
}"""
    program = Program.parse(text)
    changed = set_attributes(program, 0, {"mode": "slow", "rate": 1, "seed": 8, "sizes": [2, 3]})
    op = changed.global_block().ops[0]
    assert [op.attr(n) for n in ("mode", "rate", "seed", "sizes")] == ["slow", 1.0, 8, [2, 3]]
    assert [op.attr_wire(n) for n in op.attrs] == ["STRING", "FLOAT", "LONG", "INTS"]
    with pytest.raises(AttributeValueError, match="has no attribute 'mod'.*'mode'"):
        set_attributes(program, 0, {"mod": "slow"})
    with pytest.raises(AttributeValueError, match="of the kind STRING, got 3"):
        set_attributes(program, 0, {"mode": 3})
    assert op.foreign == program.global_block().ops[0].foreign


def test_blocks_stay_those_of_their_operators():
    x = fluid.data("x", [None, 3], "float32")
    yes = layers.fill_constant([1], "bool", True)
    y = layers.cond(yes, lambda: layers.scale(x, 2.0), lambda: layers.scale(x, 3.0))
    program = fluid.default_main_program()
    with pytest.raises(AttributeValueError, match="names a block"):
        set_attributes(program, "conditional_block", {"sub_block": 2})
    inner = set_attributes(program, (1, 0), {"scale": 5.0})
    found = fluid.Executor().run(inner, feed={"x": X}, fetch_list=[y])
    np.testing.assert_array_equal(found[0], 5 * X)
