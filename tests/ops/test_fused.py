"""Several operators under one name against these operators."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, Y = rng.normal(size=[2, 3, 4]), rng.normal(size=[3])


@pytest.mark.parametrize(
    "functors, expected, within",
    [
        (["elementwise_add", "relu"], X + np.maximum(Y, 0)[:, None], np.maximum(Y, 0)),
        (["tanh", "elementwise_mul"], np.tanh(X * Y[:, None]), X * Y[:, None]),
        (["elementwise_mul", "scale"], X * 1.5 * Y[:, None], 1.5 * Y),
        (["relu", "elementwise_add"], np.maximum(X + Y[:, None], 0), X + Y[:, None]),
    ],
)
def test_an_operator_of_pairs_and_one_of_elements(functors, expected, within):
    attrs = dict(functor_list=functors, axis=1, scale=1.5)
    outs = f.fused_elemwise_activation.all(X, Y, save_intermediate_out=True, **attrs)
    np.testing.assert_allclose(outs["Out"], expected)
    np.testing.assert_allclose(outs["IntermediateOut"], within)
    assert f.fused_elemwise_activation.all(X, Y, **attrs)["IntermediateOut"] is None


def test_squared_matrices():
    x, y = rng.normal(size=[2, 3]), rng.normal(size=[3, 4])
    expected = 0.5 * ((x @ y) ** 2 - x**2 @ y**2)
    np.testing.assert_allclose(f.fusion_squared_mat_sub(x, y, scalar=0.5), expected)


def test_a_chain_of_layers():
    x = rng.normal(size=[2, 3])
    weights, biases = [rng.normal(size=[3, 5]), rng.normal(size=[5, 4])], [np.ones(5), np.ones(4)]
    hidden = np.maximum(x @ weights[0] + 1, 0)
    outs = f.fusion_repeated_fc_relu.all(x, weights, biases)
    np.testing.assert_allclose(outs["ReluOut"][0], hidden)
    np.testing.assert_allclose(outs["Out"], np.maximum(hidden @ weights[1] + 1, 0))


def test_tensors_in_a_row():
    tensors = [np.ones([2, 3], "float32"), np.arange(4, dtype="float32")]
    same, row = f.coalesce_tensor(tensors, dtype="float32", copy_data=True)
    np.testing.assert_array_equal(row, [1, 1, 1, 1, 1, 1, 0, 1, 2, 3])
    assert [t.shape for t in same] == [(2, 3), (4,)]
    _, row = f.coalesce_tensor(tensors, dtype="float32", set_constant=True, constant=2.5)
    np.testing.assert_array_equal(row, np.full(10, 2.5))


def test_children_of_nodes():
    tree = np.array([[0, 0, 0, 1, 2], [0, 1, 0, 3, 0], [5, 1, 0, 0, 0], [6, 2, 1, 0, 0]])
    children, leaves = f.tdm_child(np.array([1, 2, 0]), tree, child_nums=2)
    np.testing.assert_array_equal(children, [[3, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(leaves, [[1, 0], [0, 0], [0, 0]])
    with pytest.raises(OutOfRangeError, match=r"expected X in \[0, 4\), got 4"):
        f.tdm_child(np.array([4]), tree, child_nums=2)


TRAVEL = np.array([[1, 3], [1, 4], [2, 5], [2, 6], [2, 0]])
LAYERS = dict(neg_samples_num_list=[1, 2], layer_offset_lod=[0, 2, 6])


def test_nodes_of_items_and_others_by_chance():
    items = np.array([[0], [3], [4]] * 20)
    nodes = np.arange(1, 7).reshape(6, 1)
    out, labels, mask = f.tdm_sampler(items, TRAVEL, nodes, **LAYERS)
    assert (out.shape, out.dtype) == ((60, 5), "int32")
    seen = set()
    for item, row, label, there in zip(items[:, 0], out, labels, mask, strict=True):
        own = TRAVEL[item]
        assert [row[0], row[2]] == list(own)
        assert row[1] == 3 - own[0]
        if own[1]:
            others = {int(n) for n in row[3:]}
            assert len(others) == 2 and others < {3, 4, 5, 6} - {own[1]}
            seen.update(others)
            assert (label.tolist(), there.tolist()) == ([1, 0, 1, 0, 0], [1] * 5)
        else:
            assert not row[2:].any()
            assert (label.tolist(), there.tolist()) == ([1, 0, 0, 0, 0], [1, 1, 0, 0, 0])
    assert seen == {3, 4, 5, 6}
    out, labels, _ = f.tdm_sampler(
        items, TRAVEL, nodes, output_positive=False, dtype="int64", **LAYERS
    )
    assert (out.shape, out.dtype) == ((60, 3), "int64")
    assert not labels.any() and not (out[:, 0] == TRAVEL[items[:, 0], 0]).any()


@pytest.mark.parametrize(
    "attrs, message",
    [
        (dict(neg_samples_num_list=[2, 1]), r"fewer numbers than the layers have nodes, \[2, 4\]"),
        (dict(layer_offset_lod=[0, 2]), "expected layer_offset_lod of 3 rising numbers"),
        (dict(layer_offset_lod=[0, 4, 2]), "expected layer_offset_lod of 3 rising numbers"),
    ],
)
def test_a_tree_that_does_not_fit_is_refused(attrs, message):
    with pytest.raises(AttributeValueError, match=message):
        infer(
            "tdm_sampler",
            {**LAYERS, **attrs},
            X=((3, 1), "int64"),
            Travel=((5, 2), "int64"),
            Layer=((6, 1), "int64"),
        )


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            AttributeValueError,
            "expected functor_list of one of elementwise_add, elementwise_mul and one of",
            "fused_elemwise_activation",
            dict(functor_list=["relu", "tanh"]),
            dict(X=((2, 3), "float32"), Y=((2, 3), "float32")),
        ),
        (
            ShapeError,
            "as many columns in X as rows in Y",
            "fusion_squared_mat_sub",
            dict(),
            dict(X=((2, 3), "float32"), Y=((4, 5), "float32")),
        ),
        (
            ShapeError,
            "expected W[0] of 3 rows",
            "fusion_repeated_fc_relu",
            dict(),
            dict(X=((2, 3), "float32"), W=[((4, 5), "float32")], Bias=[((5,), "float32")]),
        ),
        (
            ShapeError,
            "expected Input[0] to be float32, as dtype says; got int64",
            "coalesce_tensor",
            dict(dtype="float32"),
            dict(Input=[((2, 3), "int64")]),
        ),
        (
            ShapeError,
            "TreeInfo of 5 columns",
            "tdm_child",
            dict(child_nums=2),
            dict(X=((2, 1), "int32"), TreeInfo=((4, 4), "int32")),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as raised:
        infer(type, attrs, **inputs)
    assert message in str(raised.value)
