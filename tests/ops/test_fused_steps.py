"""Operators that passes put together, experts, strides and chances, against NumPy."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, NonFiniteError, OutOfRangeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
X = np.random.default_rng(0).normal(size=[3, 4])


FOLDED = dict(output_sizes=[3, 3], kernel_sizes=[2, 2], strides=[1, 1], dilations=[1, 1])
FOLDED["paddings"] = [0] * 4


def relu(x):
    return np.maximum(x, 0)


def test_an_activation_stands_behind_an_operator():
    assert np.array_equal(f.fused_elementwise_sub(X, X[0], fuse_activation="relu"), relu(X - X[0]))
    product = f.fused_matmul(X, X, trans_y=True, matmul_alpha=2.0, fuse_activation="relu")
    np.testing.assert_allclose(product, relu(2 * X @ X.T))
    np.testing.assert_allclose(f.fused_softplus(X, beta=2.0), np.log1p(np.exp(2 * X)) / 2)
    np.testing.assert_allclose(f.fused_bias_act(X, X[0], act_method="relu"), relu(X + X[0]))
    gated = f.fused_bias_act(X, act_method="swiglu")
    np.testing.assert_allclose(gated, X[:, :2] / (1 + np.exp(-X[:, :2])) * X[:, 2:])


def test_dimensions_move_before_and_behind():
    moved = f.fused_transpose(X[:, None], axis=[1, 0], fused_squeeze2_axes=[1])
    assert np.array_equal(moved, X.T)
    flat = dict(trans_axis=[1, 0], flatten_axis=1, concat_axis=0)
    joined = f.fusion_transpose_flatten_concat([X, X + 1], **flat)
    assert np.array_equal(joined, np.concatenate([X.T, X.T + 1]))


def test_channels_of_a_convolution_are_cut_into_parts():
    image, kernel = X.reshape(1, 3, 2, 2), np.eye(3)[:, :, None, None]
    out = f.fused_conv2d_add_act.all(image, kernel, activation="relu", split_channels=[1, 2])
    assert np.array_equal(out["Output"], relu(image))
    assert [each.shape[1] for each in out["Outputs"]] == [1, 2]


def test_an_expert_takes_what_it_can():
    counts = np.array([3, 1, 4, 5])  # of two workers for two experts
    assert f.limit_by_capacity(counts, np.array([5, 1]), n_worker=2).tolist() == [3, 1, 2, 0]
    gate, room = np.array([1, 0, 1, 1]), np.array([1, 2])
    assert f.prune_gate_by_capacity(gate, room, n_expert=2, n_worker=1).tolist() == [1, 0, 1, -1]
    places = f.assign_pos(np.array([1, 0, 1]), np.array([1, 3]), np.array([3]))
    assert places[0] == 1
    assert sorted(places[1:]) == [0, 2]
    values, chosen = np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([[0, 1], [1, 0]])
    routed = f.random_routing(np.array([0.5, 0.5]), values, chosen)
    assert routed.tolist() == [[0, -1], [1, 0]]
    assert f.number_count(np.array([1, 1, 3, -1]), upper_range=3).tolist() == [0, 2, 0]


def test_elements_are_taken_as_they_lie():
    assert f.as_strided(X, dims=[2, 2], stride=[4, 1], offset=8).tolist() == X[:2, 1:3].tolist()
    windows = f.tensor_unfold(X, axis=1, size=2, step=2)
    assert np.array_equal(windows, X.reshape(3, 2, 2))
    assert np.array_equal(f.index_select_strided(X, index=2, axis=1), X[:, 2])
    assert np.array_equal(f.view_shape(X, dims=[2, -1]), X.reshape(2, 6))
    assert np.array_equal(f.view_dtype(X, dtype="int64"), X.view("int64"))
    assert f.unzip(np.array([1.0, 2, 3]), np.array([0, 1, 3]), len=2).tolist() == [[1, 0], [2, 3]]


def test_numbers_are_drawn_as_often_as_they_are_likely():
    share = f.bernoulli(np.full(4000, 0.25)).mean()
    assert abs(share - 0.25) < 0.04
    assert abs(f.exponential(np.zeros(4000), **{"lambda": 4.0}).mean() - 0.25) < 0.03
    mixed = f.dirichlet(np.tile([0.5, 1.5], (2000, 1)))
    np.testing.assert_allclose(mixed.sum(axis=1), 1)
    assert abs(mixed[:, 0].mean() - 0.25) < 0.03
    chosen = f.gumbel_softmax(np.log(np.tile([0.2, 0.8], (3000, 1))), hard=True)
    assert set(np.unique(chosen)) == {0.0, 1.0}
    assert abs(chosen[:, 0].mean() - 0.2) < 0.04
    even = f.uniform_random_inplace(np.zeros(4000), min=2.0, max=4.0)
    assert 2 <= even.min() <= even.max() < 4
    assert abs(f.gaussian_inplace(np.zeros(4000), mean=3.0, std=0.5).std() - 0.5) < 0.03


def test_of_the_likeliest_places_one_is_drawn():
    rows = np.tile([0.5, 0.3, 0.2], (300, 1))
    out, ids = f.top_p_sampling(rows, np.full([300, 1], 0.7))
    assert set(np.unique(ids)) == {0, 1}
    assert np.array_equal(out[:, 0], rows[0][ids[:, 0]])


def test_what_is_not_finite_is_told():
    with pytest.raises(NonFiniteError, match="1 NaN and 0 infinite"):
        f.check_numerics(np.array([np.nan, 1.0]), op_type="relu", var_name="x")
    stats, _ = f.check_numerics(np.array([np.inf, 0.0]), check_nan_inf_level=1)
    assert stats.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "error, type, attrs, ins, said",
    [
        (ShapeError, "kthvalue", dict(k=5), dict(X=[4]), "k from 1 to the size 4, got 5"),
        (AttributeValueError, "as_strided", dict(dims=[3], stride=[2]), dict(input=[4]), "within"),
        (ShapeError, "tensor_unfold", dict(axis=0, size=5, step=1), dict(input=[4]), "size up to"),
        (ShapeError, "fill_diagonal", {}, dict(X=[2, 3, 2]), "of equal sizes"),
        (AttributeValueError, "histogram", dict(min=2, max=1), dict(X=[4]), "min up to max"),
        (AttributeValueError, "isclose", dict(rtol="x"), dict(Input=[2], Other=[2]), "a number"),
        (AttributeValueError, "fused_bias_act", dict(quant_scale=1.0), dict(x=[2, 3]), "floats"),
        (ShapeError, "fold", FOLDED, dict(X=[1, 3, 4]), "a multiple of 4"),
    ],
)
def test_what_does_not_fit_is_refused(error, type, attrs, ins, said):
    with pytest.raises(error, match=said):
        infer(type, attrs, **{slot: (shape, "float32") for slot, shape in ins.items()})


def test_counts_are_of_numbers_from_zero():
    with pytest.raises(OutOfRangeError, match="from 0, got -1"):
        f.bincount(np.array([1, -1]))
