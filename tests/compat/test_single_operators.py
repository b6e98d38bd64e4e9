"""Operators that are run on the variables of a scope, one at a time."""

import importlib

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.compat.modules.single_operators import get_grad_op_desc
from fluidlite.errors import ArgumentError, FluidError


@pytest.fixture
def Operator(alias):
    return importlib.import_module("paddle.fluid.op").Operator


def filled(**values):
    scope = fluid.Scope()
    for name, value in values.items():
        scope.var(name).get_tensor().set(np.asarray(value), fluid.CPUPlace())
    return scope


def held(scope, name):
    return np.array(scope.find_var(name).get_tensor())


def test_an_operator_reads_and_writes_a_scope(Operator):
    scope = filled(A=np.array([[1.0, 2.0]], "float32"), B=np.array([[3.0], [4.0]], "float32"))
    Operator("mul", X="A", Y="B", Out="C").run(scope, fluid.CPUPlace())
    assert held(scope, "C").tolist() == [[11.0]]
    Operator(type="scale", X="C", Out="C", scale=2.0, bias=1.0).run(scope, fluid.CPUPlace())
    assert held(scope, "C").tolist() == [[23.0]]


def test_a_slot_may_have_several_variables_and_a_gradient_is_an_operator_too(Operator):
    scope = filled(a=np.ones(2, "float32"), b=np.full(2, 2.0, "float32"))
    Operator("sum", X=["a", "b"], Out="c").run(scope, fluid.CPUPlace())
    assert held(scope, "c").tolist() == [3.0, 3.0]
    scope.var("d").get_tensor().set(np.ones(2, "float32"))
    gradient = Operator("square_grad", **{"X": "c", "Out@GRAD": "d", "X@GRAD": "e"})
    gradient.run(scope, fluid.CPUPlace())
    assert held(scope, "e").tolist() == [6.0, 6.0]


def test_sequences_and_rows_are_taken_from_the_scope(Operator):
    scope = fluid.Scope()
    scope.var("x").get_tensor().set(np.arange(6, dtype="float32").reshape(3, 2))
    scope.var("x").get_tensor().set_recursive_sequence_lengths([[2, 1]])
    Operator("sequence_pool", X="x", Out="y", MaxIndex="i", pooltype="SUM").run(scope, None)
    assert held(scope, "y").tolist() == [[2.0, 4.0], [4.0, 5.0]]
    rows = scope.var("g").get_selected_rows()
    rows.set_rows([1])
    rows.set_height(3)
    rows.get_tensor().set(np.ones([1, 2], "float32"))
    scope.var("rate").get_tensor().set(np.ones(1, "float32"))
    Operator("sgd", Param="x", Grad="g", LearningRate="rate", ParamOut="x").run(scope, None)
    assert held(scope, "x").tolist() == [[0.0, 1.0], [1.0, 2.0], [4.0, 5.0]]


def test_a_factory_knows_slots_and_attributes(Operator):
    assert "mul" in Operator.types() and "mul_grad" not in Operator.types()
    assert Operator.get_op_input_names("mul") == ["X", "Y"]
    assert Operator.get_op_output_names("mul") == ["Out"]
    assert "x_num_col_dims" in Operator.get_op_attr_names("mul")
    made = Operator("mul", X="A", Y="B", Out="C")
    assert (made.type(), made.input("X"), made.output("Out")) == ("mul", ["A"], ["C"])
    assert str(made) == "C = mul(X=A, Y=B)"


@pytest.mark.parametrize(
    "args, keywords, message",
    [
        (("no_such",), {}, "there is no operator 'no_such'"),
        ((), {}, "expected the type of an operator"),
        (("mul",), {"Z": "a"}, "mul: expected slots X, Y, Out or attributes .* got Z"),
    ],
)
def test_what_is_no_operator_is_refused(Operator, args, keywords, message):
    with pytest.raises(FluidError, match=message):
        Operator(*args, **keywords)


def test_the_operators_of_a_gradient_are_described():
    x = fluid.data("x", [2, 2])
    y = fluid.layers.tanh(x)
    before = str(fluid.default_main_program())
    op = fluid.default_main_program().global_block().ops[0]
    (found,), ends = get_grad_op_desc(op.desc, set(), [])
    assert found.type() == "tanh_grad"
    assert found.input("Out@GRAD") == [f"{y.name}@GRAD"] and found.output("X@GRAD") == ["x@GRAD"]
    assert ends == {"x@GRAD": "x", f"{y.name}@GRAD": y.name}
    assert get_grad_op_desc(op.desc, {"x@GRAD"}, []) == ([], {})
    assert str(fluid.default_main_program()) == before


def test_a_gradient_that_is_not_wanted_is_left_out():
    x, y = fluid.data("x", [2, 3]), fluid.data("y", [3, 2])
    fluid.layers.mul(x, y)
    op = fluid.default_main_program().global_block().ops[0]
    (found,), ends = get_grad_op_desc(op.desc, {"y@GRAD"}, [])
    assert found.output_arg_names() == ["x@GRAD"] and "y@GRAD" not in ends


def test_an_operator_that_drives_a_block_is_differentiated_in_its_program():
    i = fluid.layers.fill_constant([1], "int64", 0)
    fluid.layers.while_loop(lambda i: fluid.layers.less_than(i, i), lambda i: [i + 1], [i])
    (op,) = [o for o in fluid.default_main_program().global_block().ops if o.type == "while"]
    with pytest.raises(ArgumentError, match="while drives a block"):
        get_grad_op_desc(op.desc, set(), [])
