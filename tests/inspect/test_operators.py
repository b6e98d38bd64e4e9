"""What is told about an operator."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.inspect import explain

from specimens import evil, lenet, parsed


def main():
    return fluid.default_main_program()


def find(type):
    return next(op for op in main().global_block().ops if op.type == type)


def test_an_operator_is_told_with_its_neighbours():
    lenet()
    text = str(explain(find("pool2d")))
    for wanted in (
        "pool2d_0.tmp_0 = pool2d(X=conv2d_0.tmp_2",
        "built at:\n  ",
        "X: conv2d_0.tmp_2 [-1, 4, 12, 12], from relu  # ",
        "Out: pool2d_0.tmp_0 [-1, 4, 6, 6], read by mul, mul_grad, pool2d_grad",
        "ksize = (2, 2)",
        "exclusive = True, its default",
        "in this program: conv2d_0.tmp_2@GRAD = pool2d_grad(",
    ):
        assert wanted in text


def test_a_gradient_operator_names_its_forward_operator():
    lenet()
    text = str(explain(find("tanh_grad")))
    assert "it is the gradient of: fc_0.tmp_2 = tanh(X=fc_0.tmp_1)" in text
    assert "role: backward" in text


def test_where_there_is_no_gradient_the_reason_is_told():
    x = fluid.data("x", [None, 3], "float32")
    fluid.layers.relu(x)
    fluid.layers.argmax(x)
    relu, argmax = main().global_block().ops
    assert "relu_grad, derived from its own rule" in str(explain(relu))
    assert "none: " in str(explain(argmax))


def test_strange_operators_are_told_too():
    program = parsed("{Out=y} = strange(X=nowhere, depth=3)")
    text = str(explain(program.global_block().ops[0]))
    assert "nobody has defined operators of type 'strange'" in text
    assert "X: nowhere, which is not declared" in text and "depth = 3" in text
    html = explain(evil().global_block().ops[0])._repr_html_()
    assert "<script" not in html and "<img" not in html


def test_what_is_no_operator_of_a_program_is_refused():
    lenet()
    op = find("tanh")
    with pytest.raises(ArgumentError, match="expected an operator, got 'tanh'"):
        explain("tanh")
    main().global_block().remove_op(op.idx)
    with pytest.raises(ArgumentError, match="does not hold the operator any more"):
        explain(op)
