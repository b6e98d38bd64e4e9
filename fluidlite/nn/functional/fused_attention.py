"""Attention and what belongs to it in one call, as ``paddle.incubate.nn.functional`` has it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, UnsupportedError
from ...functions.arithmetic import add, matmul, multiply
from ...functions.elementary import scale as scaled
from ...functions.selection import gather
from ...functions.shaping import concat, reshape, stack, transpose, unbind
from .activation import softmax
from .attention import added_mask
from .fused import fused_feedforward, normed
from .gpu_only import gpu_only
from .projection import dropout, linear

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


def fused_multi_head_attention(
    x: Tensor,
    qkv_weight: Tensor,
    linear_weight: Tensor,
    pre_layer_norm: bool = False,
    pre_ln_scale: Tensor | None = None,
    pre_ln_bias: Tensor | None = None,
    ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None,
    pre_ln_epsilon: float = 1e-5,
    qkv_bias: Tensor | None = None,
    linear_bias: Tensor | None = None,
    cache_kv: Tensor | None = None,
    attn_mask: Tensor | None = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Attention of a sequence to itself, with projections, dropout, a residual and a normalisation.

    Args:
        x: [N, T, D].
        qkv_weight, qkv_bias: [3, heads, D / heads, D] and [3, heads, D / heads]; [D, 3 D] and
            [3 D] with ``transpose_qkv_wb``.
        linear_weight, linear_bias: [D, D] and [D].
        pre_layer_norm: normalise in front, not behind.
        pre_ln_scale, pre_ln_bias, pre_ln_epsilon: of the normalisation in front.
        ln_scale, ln_bias, ln_epsilon: of the normalisation behind.
        cache_kv: keys and values of earlier steps, [2, N, heads, S, D / heads]; then a pair is
            given, the result and the next cache.
        attn_mask: for [N, heads, T, S]: false where a key may not be seen; or numbers that are
            added to the scores.
        dropout_rate, attn_dropout_rate: of the result and of the weights.
        training: False: nothing is dropped.
        mode: as of dropout.
        ring_id: accepted: there is one process.
        add_residual: add ``x``.
        num_heads: how many, with ``transpose_qkv_wb``.
        transpose_qkv_wb: whether weights have the other form.

    Raises:
        ArgumentError: ``num_heads`` is not given where it is needed.
    """
    width = +x.array.shape[-1]
    if transpose_qkv_wb:
        if num_heads < 1:
            raise ArgumentError(f"expected num_heads with transpose_qkv_wb, got {num_heads}")
        heads, weight, bias = num_heads, qkv_weight, qkv_bias
    else:
        heads = +qkv_weight.array.shape[1]
        weight = transpose(reshape(qkv_weight, [-1, width]), [1, 0])
        bias = None if qkv_bias is None else reshape(qkv_bias, [-1])
    inner = normed(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    mapped = reshape(linear(inner, weight, bias), [0, 0, 3, heads, -1])
    q, k, v = unbind(transpose(mapped, [2, 0, 3, 1, 4]), 0)
    if cache_kv is not None:
        before = unbind(cache_kv, 0)
        k, v = concat([before[0], k], 2), concat([before[1], v], 2)
        cache_kv = stack([k, v], 0)
    scores = matmul(multiply(q, 1 / sqrt(+q.array.shape[-1])), k, transpose_y=True)
    if attn_mask is not None:
        scores = add(scores, added_mask(attn_mask, scores.array.dtype))
    weights = softmax(scores)
    weights = dropout(weights, attn_dropout_rate, training=training, mode=mode)
    met = reshape(transpose(matmul(weights, v), [0, 2, 1, 3]), [0, 0, -1])
    out = dropout(linear(met, linear_weight, linear_bias), dropout_rate, None, training, mode)
    out = add(x, out) if add_residual else out
    out = out if pre_layer_norm else normed(out, ln_scale, ln_bias, ln_epsilon)
    return out if cache_kv is None else (out, cache_kv)


def fused_rotary_position_embedding(
    q: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    sin: Tensor | None = None,
    cos: Tensor | None = None,
    position_ids: Tensor | None = None,
    use_neox_rotary_style: bool = True,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Queries, keys and values turned by angles of their positions (Su et al. 2021, "RoFormer").

    Args:
        q, k, v: [N, T, heads, D]; None stays.
        sin, cos: of the angles, [T, D] or [1, T, 1, D]; those of ``10000^(-2 i / D)`` when None.
        position_ids: [N, T], which row of them each step takes; its number when None.
        use_neox_rotary_style: turn neighbours; else the two halves.
    """
    steps, width = +q.array.shape[1], +q.array.shape[3]
    if sin is None or cos is None:
        angles = np.arange(steps)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
        angles = np.repeat(angles, 2, 1) if use_neox_rotary_style else np.tile(angles, 2)
        sin, cos = (q.results(f(angles).astype(q.array.dtype)) for f in (np.sin, np.cos))
    tables = [reshape(each, [-1, width]) for each in (sin, cos)]
    if position_ids is None:
        rows = [reshape(each[:steps], [1, steps, 1, width]) for each in tables]
    else:
        places = reshape(position_ids, [-1])
        rows = [reshape(gather(each, places), [-1, steps, 1, width]) for each in tables]

    def turned(x: Any) -> Any:
        if x is None:
            return None
        if use_neox_rotary_style:
            pairs = [scaled(x[:, :, :, 1::2], -1.0), x[:, :, :, 0::2]]
            across = reshape(stack(pairs, -1), [0, 0, 0, width])
        else:
            half = width // 2
            across = concat([scaled(x[:, :, :, half:], -1.0), x[:, :, :, :half]], -1)
        return add(multiply(x, rows[1]), multiply(across, rows[0]))

    return turned(q), turned(k), turned(v)


def variable_length_memory_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seq_lens: Tensor,
    kv_seq_lens: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    causal: bool = False,
    pre_cache_length: int = 0,
) -> Tensor:
    """Attention of sequences of several lengths; what lies behind an end is 0.

    Args:
        query: [N, heads, T, D].
        key, value: [N, heads, S, D].
        seq_lens, kv_seq_lens: how many queries and keys of each row count, [N, 1].
        mask: added to the scores, [N, 1, T, S].
        scale: of scores; ``1 / sqrt(D)`` when None.
        causal: a query sees no key behind its place.
        pre_cache_length: of keys that lie before the first query.
    """
    factor = 1 / sqrt(+query.array.shape[-1]) if scale is None else scale
    scores: Any = matmul(multiply(query, factor), key, transpose_y=True)
    steps, seen = +query.array.shape[2], +key.array.shape[2]
    scores = scores if mask is None else add(scores, mask)
    scores = add(scores, added_mask(_below(kv_seq_lens, [1, 1, 1, seen], 3), scores.array.dtype))
    if causal:
        shown = np.tril(np.ones([1, 1, steps, seen], bool), pre_cache_length)
        scores = add(scores, added_mask(scores.results(shown), scores.array.dtype))
    found = matmul(softmax(scores), value)
    return multiply(found, _below(seq_lens, [1, 1, steps, 1], 2).cast(str(found.array.dtype)))


def _below(lengths: Any, shape: list[int], axis: int) -> Any:
    """Whether places along a dimension lie before the lengths of rows."""
    places = np.arange(prod(shape), dtype=lengths.array.dtype).reshape(shape)
    return lengths.results(places) < reshape(lengths, [-1, 1, 1, 1])


masked_multihead_attention: Callable[..., Tensor] = gpu_only(
    """
    masked_multihead_attention(
        x, cache_kv=None, bias=None, src_mask=None, cum_offsets=None, sequence_lengths=None,
        rotary_tensor=None, beam_cache_offset=None, qkv_out_scale=None, out_shift=None,
        out_smooth=None, seq_len=1, rotary_emb_dims=0, use_neox_rotary_style=False,
        compute_dtype="default", out_scale: float = -1, quant_round_type=1, quant_max_bound=127.0,
        quant_min_bound=-127.0)
    """,
    "nn.MultiHeadAttention with a cache",
)
block_multihead_attention: Callable[..., Tensor] = gpu_only(
    """
    block_multihead_attention(
        qkv, key_cache, value_cache, seq_lens_encoder, seq_lens_decoder, seq_lens_this_time,
        padding_offsets, cum_offsets, cu_seqlens_q, cu_seqlens_k, block_tables, pre_key_cache=None,
        pre_value_cache=None, cache_k_quant_scales=None, cache_v_quant_scales=None,
        cache_k_dequant_scales=None, cache_v_dequant_scales=None, qkv_out_scale=None,
        qkv_bias=None, out_shift=None, out_smooth=None, rope_emb=None, mask=None, tgt_mask=None,
        max_seq_len=-1, block_size=64, use_neox_style=False, use_dynamic_cachekv_quant=False,
        quant_round_type=1, quant_max_bound=127.0, quant_min_bound=-127.0, out_scale: float = -1,
        compute_dtype="default")
    """,
    "nn.MultiHeadAttention with a cache",
)
fused_ec_moe: Callable[..., Tensor] = gpu_only(
    "fused_ec_moe(x, gate, bmm0_weight, bmm0_bias, bmm1_weight, bmm1_bias, act_type: str)",
    "nn.Linear for each expert",
)


def fused_multi_transformer(
    x: Tensor,
    ln_scales: list[Tensor],
    ln_biases: list[Tensor],
    qkv_weights: list[Tensor],
    qkv_biases: list[Tensor] | None,
    linear_weights: list[Tensor],
    linear_biases: list[Tensor] | None,
    ffn_ln_scales: list[Tensor],
    ffn_ln_biases: list[Tensor],
    ffn1_weights: list[Tensor],
    ffn1_biases: list[Tensor] | None,
    ffn2_weights: list[Tensor],
    ffn2_biases: list[Tensor] | None,
    pre_layer_norm: bool = True,
    epsilon: float = 1e-5,
    cache_kvs: list[Tensor] | None = None,
    pre_caches: list[Tensor] | None = None,
    seq_lens: Tensor | None = None,
    rotary_embs: Tensor | None = None,
    time_step: Tensor | None = None,
    attn_mask: Tensor | None = None,
    dropout_rate: float = 0.0,
    rotary_emb_dims: int = 0,
    activation: str = "gelu",
    training: bool = False,
    mode: str = "upscale_in_train",
    trans_qkvw: bool = True,
    ring_id: int = -1,
    name: str | None = None,
) -> Tensor:
    """Layers of an encoder one after the other: :func:`fused_multi_head_attention` and
    :func:`fused_feedforward` of each.

    Args:
        x: [N, T, D].
        ln_scales, ln_biases: of the normalisations of the attentions.
        qkv_weights, qkv_biases, linear_weights, linear_biases: of the attentions.
        ffn_ln_scales, ffn_ln_biases: of the normalisations of the other parts.
        ffn1_weights, ffn1_biases, ffn2_weights, ffn2_biases: of these.
        pre_layer_norm: normalise in front, not behind.
        epsilon: added to variances.
        cache_kvs, pre_caches, seq_lens, rotary_embs, time_step: None: they have kernels for GPUs.
        attn_mask: as of the attention.
        dropout_rate: of all parts.
        rotary_emb_dims: accepted: it counts where rotary_embs are given.
        activation: gelu or relu.
        training: False: nothing is dropped.
        mode: as of dropout.
        trans_qkvw: True: weights are [3, heads, D / heads, D].
        ring_id: accepted: there is one process.

    Raises:
        UnsupportedError: a cache, angles or lengths are given, or weights have the other form.
    """
    given = (cache_kvs, pre_caches, seq_lens, rotary_embs, time_step)
    if any(each is not None for each in given) or not trans_qkvw:
        raise UnsupportedError(
            "fused_multi_transformer with caches, lengths, angles or trans_qkvw=False has a kernel "
            "for GPUs alone; use nn.TransformerEncoder"
        )

    def of(listed: Any, layer: int) -> Any:
        return listed[layer] if listed else None

    out: Any = x
    for k in range(len(qkv_weights)):
        norm = (of(ln_scales, k), of(ln_biases, k))
        norms: dict[str, Any] = dict(zip(("pre_ln_scale", "pre_ln_bias"), norm))
        if not pre_layer_norm:
            norms = dict(zip(("ln_scale", "ln_bias"), norm))
        out = fused_multi_head_attention(
            out, qkv_weights[k], linear_weights[k], pre_layer_norm, **norms,
            pre_ln_epsilon=epsilon, qkv_bias=of(qkv_biases, k), linear_bias=of(linear_biases, k),
            attn_mask=attn_mask, dropout_rate=dropout_rate, attn_dropout_rate=dropout_rate,
            ln_epsilon=epsilon, training=training, mode=mode,
        )  # fmt: skip
        norm = (of(ffn_ln_scales, k), of(ffn_ln_biases, k))
        part = "ln1" if pre_layer_norm else "ln2"
        norms = dict(zip((f"{part}_scale", f"{part}_bias"), norm))
        out = fused_feedforward(
            out, ffn1_weights[k], ffn2_weights[k], of(ffn1_biases, k), of(ffn2_biases, k), **norms,
            dropout1_rate=dropout_rate, dropout2_rate=dropout_rate, activation=activation,
            ln1_epsilon=epsilon, ln2_epsilon=epsilon, pre_layer_norm=pre_layer_norm,
            training=training, mode=mode,
        )  # fmt: skip
    result: Tensor = out
    return result
