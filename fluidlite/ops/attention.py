"""Attention in one operator, as passes and functions of Paddle 2 write it into programs.

(Vaswani et al., Attention is all you need, NeurIPS 2017.)
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Specs, Value, Values
from ..opdef.attribute import REQUIRED, Double, Long, attr
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, need_float, need_integer, need_ndim, need_shape, same_float, spec

HIDDEN = -1e9  #: what is added to the score of what may not be seen


class Attends(Op, abstract=True):
    """Values weighted by how well keys fit queries."""

    lod: ClassVar[str | None] = None

    def need_no_dropout(self, rate: float, is_test: bool) -> None:
        """Refuse weights that are set to 0 by chance: no operator keeps which ones."""
        if rate and not is_test:
            raise AttributeValueError(
                f"expected no dropout of weights, got {rate}; scaled_dot_product_attention has it"
            )

    def scores(self, f: Any, q: Value, k: Value, scale: float, mask: Value | None) -> Value:
        """How well keys fit queries, [..., T, S]."""
        fits = f.matmul(q * scale, k, transpose_Y=True)
        return fits if mask is None else f.elementwise_add(fits, mask)

    def hidden(self, f: Any, seen: Value, like: Value) -> Value:
        """A mask of truth values as what is added to scores."""
        dtype = as_dtype(like.dtype)
        shown = f.cast(seen, in_dtype=DType.BOOL, out_dtype=dtype)
        return f.scale(shown, scale=-HIDDEN, bias=HIDDEN)

    def later(self, f: Any, like: Value, before: int = 0) -> Value:
        """What hides keys behind the place of a query from it, for scores [..., T, S], with some
        keys before the first query.
        """
        dtype = as_dtype(like.dtype)
        ones = f.fill_constant(shape=like.shape[-2:], dtype=dtype, value=1.0)
        shown = f.tril_triu(ones, lower=True, diagonal=before)
        return f.scale(shown, scale=-HIDDEN, bias=HIDDEN)


def by_heads(f: Any, *values: Value) -> list[Value]:
    """[N, T, heads, D] as [N, heads, T, D], and back."""
    return [f.transpose(v, axis=[0, 2, 1, 3]) for v in values]


def need_heads(q: Spec, k: Spec, v: Spec, ndim: int = 4) -> None:
    """Check that queries, keys and values go together."""
    same_float(q=q, k=k, v=v)
    need_ndim(ndim, q=q, k=k, v=v)
    if -1 not in (q.shape[-1], k.shape[-1]) and q.shape[-1] != k.shape[-1]:
        raise ShapeError(
            f"expected queries and keys of one width, got shapes {list(q.shape)} and "
            f"{list(k.shape)}"
        )


class Flash(Attends, abstract=True):
    """Values weighted by how well keys fit queries, in the form that paddle 2 has for GPUs.

    dropout: of the weights, in training; 0.
    causal: a query sees no key behind its place.
    return_softmax, is_test: whether the weights are there, and nothing is dropped.
    """

    dropout: float = 0.0
    causal: bool = False
    return_softmax: bool = False
    is_test: bool = False
    rng_name: str = attr("", inert=True)


class flash_attn(Flash):
    """out = the values v weighted by how well the keys k fit the queries q.

    q: [N, T, heads, D].
    k, v: [N, S, heads, D].
    fixed_seed_offset: of random numbers; not read.
    attn_mask: added to the scores, [N, heads, T, S].
    softmax: the weights, [N, heads, T, S], where ``return_softmax`` asks for them.
    softmax_lse: the logarithms of the sums of exp(scores), [N, heads, T].
    seed_offset: of random numbers; absent.
    """

    signature = (
        "q, k, v, fixed_seed_offset?!, attn_mask?! -> out, softmax?~, softmax_lse?~, seed_offset?~"
    )

    def infer(self, q: Spec, k: Spec, v: Spec) -> Specs:
        need_heads(q, k, v)
        self.need_no_dropout(self.dropout, self.is_test)
        rows = (q.shape[0], q.shape[2], q.shape[1])
        weights = q.with_shape([*rows, k.shape[1]]) if self.return_softmax else None
        return q.with_dim(3, v.shape[3]), weights, q.with_shape(rows), None

    def expand(self, f: Any, q: Value, k: Value, v: Value, attn_mask: Value) -> Values:
        queries, keys, values = by_heads(f, q, k, v)
        scores = self.scores(f, queries, keys, 1 / math.sqrt(q.shape[-1]), attn_mask)
        if self.causal:
            scores = f.elementwise_add(scores, self.later(f, scores))
        weights = f.softmax(scores)
        (out,) = by_heads(f, f.matmul(weights, values))
        return out, weights if self.return_softmax else None, log_sums(f, scores), None


def log_sums(f: Any, scores: Value) -> Value:
    """The logarithms of the sums of exp(scores) along the last dimension."""
    most = f.reduce_max(scores, dim=[-1], keep_dim=True)
    sums = f.reduce_sum(f.exp(scores - most), dim=[-1], zero_d=True)
    return f.log(sums) + f.reshape(most, shape=sums.shape)


class flash_attn_unpadded(Flash):
    """out = ``flash_attn`` of sequences that lie one after the other.

    q, k, v: [rows, heads, D].
    cu_seqlens_q, cu_seqlens_k: where sequences begin, and where the last one ends.
    fixed_seed_offset, attn_mask: not read.
    softmax, softmax_lse, seed_offset: the weights of all rows, where ``return_softmax`` asks for
        them; absent.
    max_seqlen_q, max_seqlen_k: the lengths of the longest ones.
    scale: of the scores.
    """

    signature = (
        "q, k, v, cu_seqlens_q!, cu_seqlens_k!, fixed_seed_offset?!, attn_mask?! -> "
        "out, softmax?~, softmax_lse?~, seed_offset?~"
    )
    max_seqlen_q: Long = REQUIRED
    max_seqlen_k: Long = REQUIRED
    scale: float = REQUIRED

    def infer(self, q: Spec, k: Spec, v: Spec, cu_seqlens_q: Spec, cu_seqlens_k: Spec) -> Specs:
        need_heads(q, k, v, 3)
        need_integer(cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
        self.need_no_dropout(self.dropout, self.is_test)
        weights = q.with_shape([q.shape[1], q.shape[0], k.shape[0]])
        return q.with_dim(2, v.shape[2]), weights if self.return_softmax else None, None, None

    def expand(
        self, f: Any, q: Value, k: Value, v: Value, cu_seqlens_q: Value, cu_seqlens_k: Value
    ) -> Values:
        queries, keys, values = (f.transpose(each, axis=[1, 0, 2]) for each in (q, k, v))
        rows = dict(rows=q.shape[0], columns=k.shape[0], causal=self.causal)
        seen = f.in_one_sequence(cu_seqlens_q, cu_seqlens_k, **rows)
        mask = self.hidden(f, seen, q)
        weights = f.softmax(self.scores(f, queries, keys, self.scale, mask))
        out = f.transpose(f.matmul(weights, values), axis=[1, 0, 2])
        return out, weights if self.return_softmax else None, None, None


class in_one_sequence(Detached):
    """Out = whether a row and a column are of the same of several sequences.

    X, Y: where the sequences of rows and of columns begin, and where the last one ends.
    rows, columns: how many there are.
    causal: and the column stands in its sequence not behind where the row does.
    """

    signature = "X, Y -> Out"
    rows: int = REQUIRED
    columns: int = REQUIRED
    causal: bool = False

    def infer(self, X: Spec, Y: Spec) -> Specs:
        return spec([self.rows, self.columns], DType.BOOL)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        rows, columns = xp.arange(self.rows)[:, None], xp.arange(self.columns)[:, None]
        of_row, of_column = (xp.sum(n >= b[1:], axis=1) for n, b in ((rows, X), (columns, Y)))
        same = of_row[:, None] == of_column
        if not self.causal:
            return same
        inside = [
            n[:, 0] - xp.take(b, xp.minimum(of, b.shape[0] - 1))
            for n, b, of in ((rows, X, of_row), (columns, Y, of_column))
        ]
        return same & (inside[1] <= inside[0][:, None])


class memory_efficient_attention(Attends):
    """output = the values weighted by how well keys fit queries.

    query: [N, T, heads, D].
    key, value: [N, S, heads, D].
    bias: added to the scores, [N, heads, T, S].
    cu_seqlens_q, cu_seqlens_k, causal_diagonal, seqlen_k: of sequences without padding; absent.
    MaxSeqlenQTensor, MaxSeqlenKTensor: not read.
    logsumexp: the logarithms of the sums of exp(scores), [N, heads, T].
    seed_and_offset: of random numbers; absent.
    max_seqlen_q, max_seqlen_k: not read.
    causal: a query sees no key behind its place.
    dropout_p: of the weights, in training; 0.
    scale: of the scores; below 0 for 1 / sqrt(D).
    is_test: nothing is dropped.
    """

    signature = (
        "query, key, value, bias?, cu_seqlens_q?!, cu_seqlens_k?!, causal_diagonal?!, seqlen_k?!, "
        "MaxSeqlenQTensor?!, MaxSeqlenKTensor?! -> output, logsumexp?~, seed_and_offset?~"
    )
    max_seqlen_q: float = REQUIRED
    max_seqlen_k: float = REQUIRED
    causal: bool = REQUIRED
    dropout_p: Double = REQUIRED
    scale: float = REQUIRED
    is_test: bool = REQUIRED

    def infer(self, query: Spec, key: Spec, value: Spec, *others: Spec | None) -> Specs:
        need_heads(query, key, value)
        self.need_no_dropout(self.dropout_p, self.is_test)
        if any(of_sequences is not None for of_sequences in others[1:5]):
            raise AttributeValueError(
                "expected sequences of one length; flash_attn_unpadded takes others"
            )
        rows = query.with_shape([query.shape[0], query.shape[2], query.shape[1]])
        return query.with_dim(3, value.shape[3]), rows, None

    def expand(self, f: Any, query: Value, key: Value, value: Value, bias: Value) -> Values:
        queries, keys, values = by_heads(f, query, key, value)
        scale = 1 / math.sqrt(query.shape[-1]) if self.scale < 0 else self.scale
        scores = self.scores(f, queries, keys, scale, bias)
        if self.causal:
            scores = f.elementwise_add(scores, self.later(f, scores))
        (out,) = by_heads(f, f.matmul(f.softmax(scores), values))
        return out, log_sums(f, scores), None


class variable_length_memory_efficient_attention(Attends):
    """out = the values weighted by how well keys fit queries, of sequences of several lengths; what
    lies behind an end is 0.

    query: [N, heads, T, D].
    key, value: [N, heads, S, D].
    seq_lens, kv_seq_lens: how many queries and keys of each row count, [N, 1].
    mask: added to the scores, [N, 1, T, S].
    scale: of the scores.
    causal: a query sees no key behind its place.
    pre_cache_length: of keys that lie before the first query.
    """

    signature = "query, key, value, seq_lens!, kv_seq_lens!, mask? -> out"
    scale: float = REQUIRED
    causal: bool = REQUIRED
    pre_cache_length: int = REQUIRED

    def infer(
        self, query: Spec, key: Spec, value: Spec, seq_lens: Spec, kv_seq_lens: Spec
    ) -> Specs:
        need_heads(query, key, value)
        need_integer(seq_lens=seq_lens, kv_seq_lens=kv_seq_lens)
        return query.with_dim(3, value.shape[3])

    def expand(
        self,
        f: Any,
        query: Value,
        key: Value,
        value: Value,
        seq_lens: Value,
        kv_seq_lens: Value,
        mask: Value | None,
    ) -> Value:
        scores = self.scores(f, query, key, self.scale, mask)
        steps, seen = scores.shape[-2:]
        scores = scores + self.hidden(f, below(f, kv_seq_lens, [1, 1, 1, seen]), scores)
        if self.causal:
            scores = f.elementwise_add(scores, self.later(f, scores, self.pre_cache_length))
        out = f.matmul(f.softmax(scores), value)
        there = below(f, seq_lens, [1, 1, steps, 1])
        return out * f.cast(there, in_dtype=DType.BOOL, out_dtype=as_dtype(out.dtype))


def below(f: Any, lengths: Value, shape: list[int]) -> Value:
    """Whether places lie before the lengths of rows."""
    places = f.strided_places(dims=[math.prod(shape)], stride=[1])
    rows = f.cast(lengths, in_dtype=as_dtype(lengths.dtype), out_dtype=DType.INT64)
    rows = f.reshape(rows, shape=[math.prod(lengths.shape), 1, 1, 1])
    wide = f.broadcast_tensors([f.reshape(places, shape=shape), rows])
    return f.less_than(*wide)


class self_dp_attention(Attends):
    """Out = the attention of each sequence to itself.

    X: queries, keys and values, [N, T, 3, heads, D].
    alpha: the scale of the scores.
    head_number: how many heads there are.
    """

    signature = "X -> Out"
    alpha: float = 1.0
    head_number: int = 1

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_shape("X", X, (*X.shape[:2], 3, self.head_number, X.shape[-1]))
        return X.with_shape([*X.shape[:2], *X.shape[3:]])

    def expand(self, f: Any, X: Value) -> Value:
        q, k, v = f.unstack(f.transpose(X, axis=[2, 0, 3, 1, 4]), axis=0, num=3)
        out = f.matmul(f.softmax(self.scores(f, q, k, self.alpha, None)), v)
        return by_heads(f, out)[0]


class multihead_matmul(Attends):
    """Out = the attention of each sequence to itself, projections included.

    Input: [N, T, hidden].
    W: of queries, keys and values, [hidden, 3, hidden].
    Bias: [3, hidden].
    BiasQK: added to the scores, [N, heads, T, T] or what spreads to it.
    transpose_Q, transpose_K, transpose_V: False, True and False.
    alpha: the scale of the scores.
    head_number: how many heads there are; divides hidden.
    """

    signature = "Input, W, Bias, BiasQK? -> Out"
    transpose_Q: bool = False
    transpose_K: bool = True
    transpose_V: bool = False
    alpha: float = 1.0
    head_number: int = 1

    def infer(self, Input: Spec, W: Spec, Bias: Spec, BiasQK: Spec | None) -> Specs:
        same_float(Input=Input, W=W, Bias=Bias, BiasQK=BiasQK)
        need_ndim(3, Input=Input)
        hidden = Input.shape[2]
        if hidden != -1 and hidden % self.head_number:
            raise ShapeError(f"expected {self.head_number} heads to divide {hidden} elements")
        if (self.transpose_Q, self.transpose_K, self.transpose_V) != (False, True, False):
            raise AttributeValueError("expected keys alone to be transposed")
        if -1 not in (hidden, *W.shape) and math.prod(W.shape) != hidden * 3 * hidden:
            raise ShapeError(f"expected W of {hidden} x 3 x {hidden} elements, got {list(W.shape)}")
        return Input

    def expand(self, f: Any, Input: Value, W: Value, Bias: Value, BiasQK: Value) -> Value:
        n, steps, hidden = Input.shape
        rows = f.matmul(Input, f.reshape(W, shape=[hidden, 3 * hidden]))
        rows = f.elementwise_add(rows, f.reshape(Bias, shape=[3 * hidden]))
        heads = f.reshape(rows, shape=[n, steps, 3, self.head_number, hidden // self.head_number])
        q, k, v = f.unstack(f.transpose(heads, axis=[2, 0, 3, 1, 4]), axis=0, num=3)
        weights = f.softmax(self.scores(f, q, k, self.alpha, BiasQK))
        (out,) = by_heads(f, f.matmul(weights, v))
        return f.reshape(out, shape=[n, steps, hidden])


class fused_rotary_position_embedding(Op):
    """out_q, out_k, out_v = queries, keys and values turned by angles of their positions (Su et
    al., RoFormer, arXiv 2104.09864).

    q, k, v: [N, T, heads, D].
    sin, cos: of the angles, [T, D] or [1, T, 1, D]; those of 10000^(-2 i / D) where absent.
    position_ids: which row of them each step takes, [N, T]; its number where absent.
    use_neox_rotary_style: turn neighbours; else the two halves.
    """

    signature = "q, k?, v?, sin?!, cos?!, position_ids?! -> out_q, out_k?~, out_v?~"
    lod: ClassVar[str | None] = None
    use_neox_rotary_style: bool = True

    def infer(
        self,
        q: Spec,
        k: Spec | None,
        v: Spec | None,
        sin: Spec | None,
        cos: Spec | None,
        position_ids: Spec | None,
    ) -> Specs:
        same_float(q=q, k=k, v=v)
        need_ndim(4, q=q)
        need_integer(position_ids=position_ids)
        if (sin is None) != (cos is None) or (q.shape[3] % 2 and q.shape[3] != -1):
            raise ShapeError(
                f"expected both of sin and cos or none, and vectors of an even size; got q of "
                f"shape {list(q.shape)}"
            )
        return q, k, v

    def expand(
        self,
        f: Any,
        q: Value,
        k: Value | None,
        v: Value | None,
        sin: Value | None,
        cos: Value | None,
        position_ids: Value | None,
    ) -> Values:
        n, steps, _, width = q.shape
        if sin is None or cos is None:
            how = dict(neighbours=self.use_neox_rotary_style, dtype=as_dtype(q.dtype))
            angles = f.rotary_angles(rows=steps, width=width, **how)
            sin, cos = f.sin(angles), f.cos(angles)
        tables = [f.reshape(t, shape=[math.prod(t.shape) // width, width]) for t in (sin, cos)]
        if position_ids is None:
            tables = [f.slice(t, axes=[0], starts=[0], ends=[steps]) for t in tables]
            shape = [1, steps, 1, width]
        else:
            places = f.reshape(position_ids, shape=[n * steps])
            tables, shape = [f.gather(t, places) for t in tables], [n, steps, 1, width]
        sines, cosines = (f.reshape(t, shape=shape) for t in tables)

        def turned(x: Value | None) -> Value | None:
            if x is None:
                return None
            across = self.across(f, x)
            return f.elementwise_mul(x, cosines) + f.elementwise_mul(across, sines)

        return turned(q), turned(k), turned(v)

    def across(self, f: Any, x: Value) -> Value:
        """Vectors turned by a right angle."""
        *lead, width = x.shape
        pairs = [width // 2, 2] if self.use_neox_rotary_style else [2, width // 2]
        axis = len(lead) + (1 if self.use_neox_rotary_style else 0)
        first, second = f.unstack(f.reshape(x, shape=[*lead, *pairs]), axis=axis, num=2)
        turned = f.stack([f.scale(second, scale=-1.0), first], axis=axis)
        return f.reshape(turned, shape=x.shape)


class rotary_angles(Detached):
    """Out = the angles of positions, [rows, width].

    rows, width: the sizes.
    neighbours: whether neighbours have the same angle; else the two halves have the same.
    dtype: the element type.
    """

    signature = "-> Out"
    rows: int = REQUIRED
    width: int = REQUIRED
    neighbours: bool = True
    dtype: DType = DType.FP32

    def infer(self) -> Specs:
        return spec([self.rows, self.width], self.dtype)

    def run(self, xp: Any) -> Array:
        speeds = 10000.0 ** (-xp.arange(0, self.width, 2, dtype="float64") / self.width)
        angles = xp.arange(self.rows, dtype="float64")[:, None] * speeds
        wide = xp.repeat(angles, 2, 1) if self.neighbours else xp.concatenate([angles] * 2, 1)
        return xp.asarray(wide, self.dtype.dtype)
