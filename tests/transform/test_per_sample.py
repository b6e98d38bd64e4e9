"""Gradients of the loss of each example of a batch."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError, UnknownVariableError
from fluidlite.transform import per_sample_gradients

RANDOM = np.random.default_rng(0)


def network(data_format="NCHW", groups=1):
    """The loss of a convolution net on a batch of images."""
    shape = [None, 2, 8, 7] if data_format == "NCHW" else [None, 8, 7, 2]
    x, y = fluid.data("x", shape, "float64"), fluid.data("y", [None, 1], "int64")
    how = dict(act="relu", groups=groups, data_format=data_format)
    maps = layers.conv2d(x, 4, 3, padding=1, stride=(1, 2), **how)
    maps = layers.pool2d(maps, 2, "max", 2, data_format=data_format)
    scores = layers.fc(maps, 5)
    return layers.mean(layers.softmax_with_cross_entropy(scores, y))


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("form", [{}, {"groups": 2}, {"data_format": "NHWC"}])
def test_gradients_are_those_of_batches_of_one(form, size):
    loss = network(**form)
    made = per_sample_gradients(loss, ["x", "y"], size=size)
    assert "recurrent" not in [op.type for op in made.program.global_block().ops]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    shape = [3, *loss.block.var("x").shape[1:]]
    feed = {"x": RANDOM.normal(size=shape), "y": np.array([[1], [0], [4]])}
    found = exe.run(made.program, feed, list(made.outputs))
    pairs = fluid.append_backward(loss)
    wanted = [loss, *(gradient for _, gradient in pairs)]
    for k in range(3):
        one = {name: value[k : k + 1] for name, value in feed.items()}
        expected = exe.run(fluid.default_main_program(), one, wanted)
        for got, each in zip(found, expected, strict=True):
            np.testing.assert_allclose(got[k], each, rtol=1e-9, atol=1e-12)


def test_their_mean_is_the_gradient_of_the_batch_and_the_optimizer_is_left_out():
    x = fluid.data("x", [None, 3], "float64")
    loss = layers.mean(layers.square(layers.fc(x, 2, param_attr="w", bias_attr=False)))
    fluid.optimizer.SGD(0.0).minimize(loss)
    made = per_sample_gradients(loss, [x], ["w"])
    assert [v.shape for v in made.outputs] == [(-1, 1), (-1, 3, 2)]
    assert "sgd" not in [op.type for op in made.program.global_block().ops]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": RANDOM.normal(size=[5, 3])}
    losses, each = exe.run(made.program, feed, list(made.outputs))
    whole, gradient = exe.run(fluid.default_main_program(), feed, [loss, "w@GRAD"])
    np.testing.assert_allclose(losses.mean(0), whole)
    np.testing.assert_allclose(each.mean(0), gradient)


def test_wrong_arguments_are_named():
    x, number = fluid.data("x", [None, 3], "float64"), fluid.data("number", [], "float64")
    loss = layers.mean(layers.fc(x, 1, param_attr="w") + number)
    with pytest.raises(ArgumentError, match="the loss to be a variable, got 'loss'"):
        per_sample_gradients("loss", [x])
    with pytest.raises(UnknownVariableError, match="no variable 'v'"):
        per_sample_gradients(loss, [x], ["v"])
    with pytest.raises(ShapeError, match="'number' to have a dimension of examples"):
        per_sample_gradients(loss, [x, number])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("padding", [None, 2])
def test_gradients_of_a_table_are_those_of_each_example(is_sparse, padding):
    ids = fluid.data("ids", [None, 4], "int64")
    rows = fluid.embedding(ids, [6, 3], is_sparse, padding_idx=padding, param_attr="table")
    loss = layers.reduce_sum(layers.square(rows * 3.0))
    made = per_sample_gradients(loss, [ids])
    assert "recurrent" not in [op.type for op in made.program.global_block().ops]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    value = np.array([[0, 2, 5, 0], [1, 1, 2, 3], [5, 5, 5, 5]])
    _, found = exe.run(made.program, {"ids": value}, list(made.outputs))
    table = np.array(fluid.global_scope().find_var("table").get_tensor())
    expected = np.zeros([3, 6, 3], "float32")
    for k, row in enumerate(value):
        for n in row[row != padding]:
            expected[k, n] += 18 * table[n]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_one_input_and_one_parameter_need_no_list():
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="w"))
    alone, listed = per_sample_gradients(loss, x, "w"), per_sample_gradients(loss, [x], ["w"])
    assert [v.name for v in alone.inputs] == [v.name for v in listed.inputs] == ["x"]
    assert [v.shape for v in alone.outputs] == [v.shape for v in listed.outputs]
    assert alone.outputs[1].name == "w@GRAD"


def test_an_input_that_is_named_twice_is_refused():
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    with pytest.raises(ArgumentError, match=r"expected each input once, got \['x', 'x'\]"):
        per_sample_gradients(loss, [x, "x"])


def test_a_loss_of_several_elements_for_an_example_is_refused():
    x = fluid.data("x", [None, 3], "float32")
    with pytest.raises(ShapeError, match=r"expected a loss of one element.*shape \[1, 2\]"):
        per_sample_gradients(fluid.layers.fc(x, 2), [x])
    assert per_sample_gradients(fluid.layers.fc(x, 1), [x]).outputs[0].shape == (-1, 1, 1)
