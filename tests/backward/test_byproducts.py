"""Gradients of operators that lack the outputs which their gradients read."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.byproducts import declare_byproducts

OPERATORS = {
    "reshape2": ("Out", {"shape": [4, 6]}, ["XShape"]),
    "flatten_contiguous_range": ("Out", {"start_axis": 1, "stop_axis": 3}, ["XShape"]),
    "squeeze2": ("Out", {"axes": [1]}, ["XShape"]),
    "instance_norm": ("Y", {}, ["SavedMean", "SavedVariance"]),
}


def built(type, out, attrs, byproducts):
    x = fluid.data("x", [2, 1, 3, 4], "float32")
    x.stop_gradient = False
    block = x.block
    y = block.create_var(name="y", dtype="float32")
    outputs = {slot: [block.create_var(name=slot)] for slot in byproducts}
    block.append_op(type, {"X": [x]}, {out: [y], **outputs}, attrs)
    return fluid.layers.reduce_sum(y * y * y), x


def gradient(type, out, attrs, byproducts):
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        (dx,) = fluid.gradients(*built(type, out, attrs, byproducts))
        feed = {"x": np.random.RandomState(0).rand(2, 1, 3, 4).astype("float32")}
        return fluid.Executor().run(feed=feed, fetch_list=[dx])[0]


@pytest.mark.parametrize("type", OPERATORS)
def test_an_operator_without_byproducts_has_the_same_gradient(type):
    out, attrs, byproducts = OPERATORS[type]
    expected = gradient(type, out, attrs, byproducts)
    assert np.array_equal(gradient(type, out, attrs, []), expected)


def test_an_error_takes_declared_byproducts_back():
    def fail(block, context):
        assert block.ops[0].output("XShape") == ["y.xshape"]
        raise KeyError("callback")

    loss, _ = built("reshape2", *OPERATORS["reshape2"][:2], [])
    before = str(fluid.default_main_program())
    with pytest.raises(KeyError):
        fluid.backward.append_backward(loss, callbacks=[fail])
    assert str(fluid.default_main_program()) == before
    assert "XShape" not in loss.block.ops[0].outputs


def test_byproducts_get_names_and_shapes_of_their_own():
    loss, _ = built("instance_norm", "Y", {}, [])
    block = loss.block
    block.create_var(name="y.savedmean")
    assert declare_byproducts(block.program)
    assert not declare_byproducts(block.program)
    assert block.ops[0].output("SavedMean") == ["y.savedmean_0"]
    assert block.var("y.savedvariance").shape == (2,)
