"""Gradient operators stand in the name scope of the operators that they are of, as in fluid 1.8."""

import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.ir.operator import OpRole


@pytest.fixture
def block():
    """The loss of a network whose parts stand in scopes, and its gradients."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        with fluid.name_scope("a"):
            h = layers.fc(fluid.data("x", [4, 3]), 4, act="relu")
            with fluid.name_scope("b"):
                g = layers.fc(h, 4)
        with fluid.name_scope("loss"):
            loss = layers.mean(g + h)
        fluid.backward.append_backward(loss)
    return main.global_block()


def test_gradient_operators_stand_in_the_scope_of_their_operators(block):
    scopes = [(op.type, op.namescope) for op in block.ops if op.role & OpRole.BACKWARD]
    assert scopes == [
        ("fill_constant", "/"),
        ("mean_grad", "/"),
        ("elementwise_add_grad", "/loss/"),
        ("elementwise_add_grad", "/a/b/"),
        ("mul_grad", "/a/b/"),
        ("sum", "/"),
        ("relu_grad", "/a/"),
        ("elementwise_add_grad", "/a/"),
        ("mul_grad", "/a/"),
    ]


def test_operators_that_backward_writes_itself_have_no_scope(block):
    (total,) = (op for op in block.ops if op.type == "sum")
    assert total.attr("op_namescope") == "/" and total.attr("op_role_var") == []
    total._set_attr("op_namescope", "/c/")
    assert total.attr("op_namescope") == "/c/"


def test_loops_have_gradients_in_their_scope():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [4, 3])
        x.stop_gradient = False
        with fluid.name_scope("loop"):
            start, end = (layers.fill_constant([1], "int64", n) for n in (0, 2))
            _, y = layers.while_loop(
                lambda i, y: layers.less_than(i, end),
                lambda i, y: [i + 1, layers.fc(y, 3)],
                [start, x],
            )
        fluid.backward.append_backward(layers.mean(y))
    ops = [op for block in main.blocks for op in block.ops]
    scopes = {op.type: op.namescope for op in ops if op.type.endswith("_grad")}
    assert scopes["while_grad"] == scopes["mul_grad"] == "/loop/" and scopes["mean_grad"] == "/"
