"""Layers under ``contrib``: parts of matrices, and trees of items."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.contrib import layers
from fluidlite.errors import ArgumentError, AttributeValueError

from building import data, refused, run

A = np.arange(12, dtype="float32").reshape(3, 4)
TRAVEL = np.array([[1, 3], [1, 4], [2, 5], [2, 6], [2, 0]], "int32")


def holding(name, values):
    return fluid.ParamAttr(name, fluid.initializer.NumpyArrayInitializer(values))


def test_columns_of_several_matrices():
    x, y = data(shape=[3, 4]), data("y", [3, 4])
    found = run(layers.partial_concat([x, y], 1, 2), layers.partial_sum([x, y], 1), x=A, y=-2 * A)
    np.testing.assert_array_equal(found[0], np.hstack([A[:, 1:3], -2 * A[:, 1:3]]))
    np.testing.assert_array_equal(found[1], -A[:, 1:])


def test_fused_operators():
    x, y = data(shape=[3, 4]), data("y", [3, 4])
    out = layers.fused_elemwise_activation(x, y, ["elementwise_add", "relu"])
    np.testing.assert_array_equal(run(out, x=A, y=5 - A), A + np.maximum(5 - A, 0))


def test_children_in_a_tree():
    tree = np.array([[0, 0, 0, 1, 2], [0, 1, 0, 3, 0], [5, 1, 0, 0, 0], [6, 2, 1, 0, 0]], "int32")
    x = data("x", [None, 1], "int32")
    found = run(*layers.tdm_child(x, 4, 2, holding("tree", tree)), x=np.array([[1], [2]], "int32"))
    assert [v.tolist() for v in found] == [[[[3, 0]], [[0, 0]]], [[[1, 0]], [[0, 0]]]]


def sampled(counts=(1, 2), x=None, **more):
    x = data("x", [None, 1], "int32") if x is None else x
    nodes = np.arange(1, 7, dtype="int32").reshape(6, 1)
    trees = holding("travel", TRAVEL), holding("layer", nodes)
    return layers.tdm_sampler(x, list(counts), [2, 4], 5, *trees, **more)


def test_samples_of_a_tree_layer_by_layer():
    found = run(*[v for each in sampled() for v in each], x=np.array([[0], [3], [4]], "int32"))
    assert [v.shape for v in found] == [(3, 2, 1), (3, 3, 1)] * 3
    assert {v.dtype.name for v in found} == {"int32"}
    first, second, *labels, mask, other = [v[..., 0] for v in found]
    assert first.tolist() == [[1, 2], [2, 1], [2, 1]]
    assert second[:, 0].tolist() == [3, 6, 0]
    assert labels[0].tolist() == [[1, 0]] * 3
    assert labels[1].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert (mask.all(), other.tolist()) == (True, [[1] * 3, [1] * 3, [0] * 3])


def test_samples_of_a_tree_side_by_side():
    found = sampled(output_list=False, output_positive=False, dtype="int64")
    assert [(v.shape, str(v.dtype)) for v in found] == [((-1, 3), "int64")] * 3
    samples, labels, _ = run(*found, x=np.array([[1]], "int32"))
    assert samples[0, 0] == 2 and not labels.any()


def test_trees_that_do_not_fit_are_refused():
    x = data("x", [None, 1], "int32")
    with refused(ArgumentError, "expected a number for each layer"):
        sampled([1], x)
    with refused(AttributeValueError, "fewer numbers than the layers have nodes"):
        sampled([2, 1], x)


@pytest.mark.parametrize("name", layers.__all__)
def test_all_are_there(name):
    assert getattr(fluid.contrib.layers, name).__doc__
