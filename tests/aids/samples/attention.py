"""Samples of the operators in fluidlite/ops/attention.py."""

import numpy as np

from .form import Sample, samples


def three(rng, names, query, key):
    return dict(zip(names, (rng.normal(size=shape) for shape in (query, key, key))))


@samples("flash_attn")
def flash_attn(rng):
    ins = three(rng, "qkv", [1, 3, 2, 4], [1, 5, 2, 4])
    yield Sample(dict(ins, attn_mask=rng.normal(size=[1, 2, 3, 5])), dict(return_softmax=True))
    yield Sample(ins, dict(causal=True), "causal")


@samples("flash_attn_unpadded")
def flash_attn_unpadded(rng):
    ins = three(rng, "qkv", [5, 2, 3], [6, 2, 3])
    ins.update(cu_seqlens_q=np.array([0, 2, 5]), cu_seqlens_k=np.array([0, 2, 6]))
    sizes = dict(max_seqlen_q=3, max_seqlen_k=4, scale=0.5)
    yield Sample(ins, dict(**sizes, return_softmax=True))
    yield Sample(ins, dict(**sizes, causal=True), "causal")


@samples("in_one_sequence")
def in_one_sequence(rng):
    ins = dict(X=np.array([0, 2, 5]), Y=np.array([0, 2, 6]))
    yield Sample(ins, dict(rows=5, columns=6, causal=True))


@samples("memory_efficient_attention")
def memory_efficient_attention(rng):
    ins = three(rng, ("query", "key", "value"), [1, 3, 2, 4], [1, 5, 2, 4])
    attrs = dict(max_seqlen_q=-1, max_seqlen_k=-1, dropout_p=0.0, is_test=True)
    bias = rng.normal(size=[1, 2, 3, 5])
    yield Sample(dict(ins, bias=bias), dict(**attrs, scale=0.3, causal=False))
    yield Sample(ins, dict(**attrs, scale=-1.0, causal=True), "causal")


@samples("variable_length_memory_efficient_attention")
def variable_length(rng):
    ins = three(rng, ("query", "key", "value"), [2, 2, 3, 4], [2, 2, 5, 4])
    ins.update(seq_lens=np.array([[2], [3]]), kv_seq_lens=np.array([[5], [4]]))
    mask = rng.normal(size=[2, 1, 3, 5])
    yield Sample(dict(ins, mask=mask), dict(scale=0.5, causal=False, pre_cache_length=0))
    yield Sample(ins, dict(scale=0.5, causal=True, pre_cache_length=1), "causal")


@samples("self_dp_attention")
def self_dp_attention(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3, 3, 2, 4])), dict(alpha=0.5, head_number=2))


@samples("multihead_matmul")
def multihead_matmul(rng):
    ins = dict(Input=rng.normal(size=[2, 3, 4]), W=rng.normal(size=[4, 3, 4]))
    ins.update(Bias=rng.normal(size=[3, 4]), BiasQK=rng.normal(size=[2, 2, 3, 3]))
    yield Sample(ins, dict(alpha=0.5, head_number=2))


@samples("fused_rotary_position_embedding")
def rotary(rng):
    q, k = rng.normal(size=[2, 3, 2, 4]), rng.normal(size=[2, 3, 2, 4])
    yield Sample(dict(q=q, k=k))
    angles = rng.normal(size=[5, 4])
    ins = dict(q=q, sin=np.sin(angles), cos=np.cos(angles))
    ins.update(position_ids=np.array([[0, 4, 1], [2, 2, 3]]))
    yield Sample(ins, dict(use_neox_rotary_style=False), "halves")


@samples("rotary_angles")
def rotary_angles(rng):
    yield Sample({}, dict(rows=3, width=4, neighbours=False))
