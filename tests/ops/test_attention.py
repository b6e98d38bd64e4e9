"""Attention, and what stands around it, against NumPy: Paddle has kernels for GPUs alone."""

import math

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
RNG = np.random.default_rng(0)
Q, K, V = (RNG.normal(size=[1, n, 2, 4]) for n in (3, 5, 5))


def attended(q, k, v, scale, seen=None):
    """What each query of each head finds, one after the other."""
    out = np.zeros([*q.shape[:3], v.shape[3]])
    for n, t, h in np.ndindex(*q.shape[:3]):
        scores = np.array([scale * q[n, t, h] @ key[h] for key in k[n]])
        if seen is not None:
            scores = np.where(seen[t], scores, -np.inf)
        weights = np.exp(scores - scores.max())
        out[n, t, h] = weights / weights.sum() @ v[n, :, h]
    return out


def test_a_query_finds_the_values_of_the_keys_that_fit():
    right = attended(Q, K, V, 0.5)
    np.testing.assert_allclose(f.flash_attn(Q, K, V), right)
    attrs = dict(max_seqlen_q=-1, max_seqlen_k=-1, causal=False, dropout_p=0.0, is_test=True)
    np.testing.assert_allclose(f.memory_efficient_attention(Q, K, V, scale=-1.0, **attrs), right)
    first = [np.swapaxes(each, 1, 2) for each in (Q, K, V)]
    lengths = np.array([[3]]), np.array([[5]])
    attrs = dict(scale=0.5, causal=False, pre_cache_length=0)
    out = f.variable_length_memory_efficient_attention(*first, *lengths, **attrs)
    np.testing.assert_allclose(np.swapaxes(out, 1, 2), right)


def test_a_query_sees_no_key_behind_its_place():
    right = attended(Q, K, V, 0.5, np.tri(3, 5, dtype=bool))
    np.testing.assert_allclose(f.flash_attn(Q, K, V, causal=True), right)


def test_what_lies_behind_an_end_is_not_seen_and_finds_nothing():
    first = [np.swapaxes(each, 1, 2) for each in (Q, K, V)]
    attrs = dict(scale=0.5, causal=False, pre_cache_length=0)
    lengths = np.array([[2]]), np.array([[4]])
    out = f.variable_length_memory_efficient_attention(*first, *lengths, **attrs)
    right = attended(Q[:, :2], K[:, :4], V[:, :4], 0.5)
    np.testing.assert_allclose(np.swapaxes(out, 1, 2)[:, :2], right)
    assert not out[:, :, 2:].any()


def test_sequences_one_behind_the_other_do_not_see_each_other():
    q, k = np.array([0, 1, 3]), np.array([0, 3, 5])
    attrs = dict(max_seqlen_q=2, max_seqlen_k=3, scale=0.5)
    out = f.flash_attn_unpadded(Q[0], K[0], V[0], q, k, **attrs)
    parts = [
        attended(Q[:, a:b], K[:, c:d], V[:, c:d], 0.5)
        for a, b, c, d in ((0, 1, 0, 3), (1, 3, 3, 5))
    ]
    np.testing.assert_allclose(out, np.concatenate(parts, axis=1)[0])


def test_projections_are_part_of_multihead_matmul():
    x, w, b = (RNG.normal(size=shape) for shape in ([1, 3, 4], [4, 3, 4], [3, 4]))
    q, k, v = (np.reshape(x @ w[:, i] + b[i], [1, 3, 2, 2]) for i in range(3))
    right = np.reshape(attended(q, k, v, 0.5), [1, 3, 4])
    np.testing.assert_allclose(f.multihead_matmul(x, w, b, alpha=0.5, head_number=2), right)


def test_vectors_are_turned_by_the_angle_of_their_place():
    (out, *_) = f.fused_rotary_position_embedding.all(Q).values()
    for t, pair in np.ndindex(3, 2):
        angle = t * 10000 ** (-2 * pair / 4)
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        part = slice(2 * pair, 2 * pair + 2)
        np.testing.assert_allclose(out[0, t, :, part], Q[0, t, :, part] @ turn)


def test_a_root_of_squares_normalises():
    x, residual, weight = (RNG.normal(size=shape) for shape in ([2, 4], [2, 4], [4]))
    attrs = dict(epsilon=0.5, begin_norm_axis=1, quant_scale=-1.0, quant_round_type=0)
    attrs.update(quant_max_bound=0.0, quant_min_bound=0.0)
    out, both = f.rms_norm(x, None, residual, weight, **attrs)
    size = np.sqrt(((x + residual) ** 2).mean(axis=1, keepdims=True) + 0.5)
    np.testing.assert_allclose(both, x + residual)
    np.testing.assert_allclose(out, (x + residual) / size * weight)


def test_layers_are_normalised_behind_a_sum():
    x, y = RNG.normal(size=[2, 3]), RNG.normal(size=[2, 3])
    ones, zeros = np.ones(3), np.zeros(3)
    both = x + y
    right = (both - both.mean(axis=1, keepdims=True)) / both.std(axis=1, keepdims=True)
    attrs = dict(epsilon=0.0, begin_norm_axis=1)
    np.testing.assert_allclose(f.skip_layernorm(x, y, ones, zeros, **attrs), right)
    attrs = dict(is_test=True, ln_epsilon=0.0, dropout_implementation="upscale_in_train")
    found = f.fused_bias_dropout_residual_layer_norm(x, y, **attrs)
    np.testing.assert_allclose(found, right)


@pytest.mark.parametrize(
    "error, type, attrs, shapes, said",
    [
        (AttributeValueError, "flash_attn", dict(dropout=0.5), [[1, 2, 2, 4]] * 3, "no dropout"),
        (ShapeError, "flash_attn", {}, [[1, 2, 2, 4], [1, 2, 2, 3], [1, 2, 2, 3]], "one width"),
        (ShapeError, "self_dp_attention", {}, [[1, 2, 4, 2, 4]], "expected X of shape"),
    ],
)
def test_what_does_not_fit_is_refused(error, type, attrs, shapes, said):
    slots = ("q", "k", "v") if type == "flash_attn" else ("X",)
    with pytest.raises(error, match=said):
        infer(type, attrs, **{s: (shape, "float32") for s, shape in zip(slots, shapes)})
