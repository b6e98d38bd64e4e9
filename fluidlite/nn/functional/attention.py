"""Attention, and masks of lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import add, matmul, multiply
from ...functions.elementary import cast
from ...functions.shaping import transpose
from ...ground.dtypes import as_dtype
from ...opdef.operand import Operand
from .activation import softmax
from .gpu_only import gpu_only
from .projection import dropout

if TYPE_CHECKING:
    from ...functions.arguments import DTypeLike

_HIDDEN = -1e9  #: what is added to the score of what may not be seen


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """Values weighted by how well keys fit queries (Vaswani et al. 2017, "Attention is all you
    need").

    Args:
        query: [N, T, heads, D].
        key, value: [N, S, heads, D].
        attn_mask: for [N, heads, T, S]: false where a key may not be seen; or numbers that are
            added to the scores.
        dropout_p: of the weights, in training.
        is_causal: a query sees no key behind its place.
        training: False: nothing is dropped.

    Raises:
        ArgumentError: ``attn_mask`` and ``is_causal`` are both given.

    >>> x = fluid.ones([2, 5, 2, 4])
    >>> fluid.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).shape
    [2, 5, 2, 4]
    """
    if attn_mask is not None and is_causal:
        raise ArgumentError("expected attn_mask or is_causal, and not both")
    return _attended(query, key, value, attn_mask, dropout_p, is_causal, training)[0]


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    training: bool,
) -> tuple[Tensor, Tensor]:
    """What the queries find, and the weights."""
    q, k, v = (transpose(each, [0, 2, 1, 3]) for each in (query, key, value))
    scores = matmul(multiply(q, 1 / sqrt(+query.array.shape[-1])), k, transpose_y=True)
    if is_causal:
        if -1 in scores.array.shape[-2:]:
            hidden = eager.fill_any_like(scores, value=_HIDDEN)
        else:  # one number: a program would have an attribute with those of all places
            steps, seen = +query.array.shape[1], +key.array.shape[1]
            hidden = scores.results(np.full([1, 1, steps, seen], _HIDDEN, scores.array.dtype))
        scores = add(scores, eager.tril_triu(hidden, diagonal=1, lower=False))
    elif attn_mask is not None:
        scores = add(scores, added_mask(attn_mask, scores.array.dtype))
    weights = softmax(scores)
    if dropout_p:
        weights = dropout(weights, dropout_p, training=training)
    return transpose(matmul(weights, v), [0, 2, 1, 3]), weights


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: object = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """:func:`scaled_dot_product_attention`, and the weights if they are requested.

    Args:
        query: [N, T, heads, D].
        key, value: [N, S, heads, D].
        dropout: of the weights, in training.
        causal: a query sees no key behind its place.
        return_softmax: give the weights, too, [N, heads, T, S].
        fixed_seed_offset, rng_name: accepted.
        training: False: nothing is dropped.

    >>> x = fluid.ones([2, 5, 2, 4])
    >>> out, weights = fluid.nn.functional.flash_attention(x, x, x, return_softmax=True)
    >>> out.shape, weights.shape
    ([2, 5, 2, 4], [2, 2, 5, 5])
    """
    out, weights = _attended(query, key, value, None, dropout, causal, training)
    return out, weights if return_softmax else None


flash_attn_unpadded: Callable[..., tuple[Tensor, Tensor | None]] = gpu_only(
    """
    flash_attn_unpadded(
        query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q: int, max_seqlen_k: int,
        scale: float, dropout=0.0, causal=False, return_softmax=False,
        fixed_seed_offset: object = None, rng_name="", training=True, name: str | None = None)

    Args:
        query, key, value: [rows, heads, D].
        cu_seqlens_q, cu_seqlens_k: where sequences begin.
        max_seqlen_q, max_seqlen_k: the longest ones.
        scale: of scores.
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as of
            :func:`flash_attention`.
    """,
    "scaled_dot_product_attention with a mask, after padding the sequences",
    "tuple[Tensor, Tensor | None]",
)


@contextmanager
def sdp_kernel(
    enable_math: bool = False, enable_flash: bool = True, enable_mem_efficient: bool = True
) -> Iterator[None]:
    """Accepted: there is one way to compute attention.

    Args:
        enable_math, enable_flash, enable_mem_efficient: which ways may be taken on a GPU.
    """
    yield


sparse_attention: Callable[..., Tensor] = gpu_only(
    """
    sparse_attention(
        query, key, value, sparse_csr_offset, sparse_csr_columns, key_padding_mask=None,
        attn_mask=None, name: str | None = None)

    Args:
        query, key, value: [N, heads, T, D].
        sparse_csr_offset, sparse_csr_columns: which keys each query sees.
        key_padding_mask, attn_mask: masks that hide further keys.

    >>> x = fluid.ones([1, 1, 2, 4])
    >>> fluid.nn.functional.sparse_attention(x, x, x, fluid.ones([3]), fluid.ones([2]))
    Traceback (most recent call last):
    ...
    fluidlite.errors.UnsupportedError: ...
    """,
    "scaled_dot_product_attention with a mask",
)


def added_mask(mask: Tensor | None, dtype: DTypeLike) -> Any:
    """A mask as what is added to scores; None for none.

    Args:
        mask: false where something may not be seen, or numbers that are added.
        dtype: the element type of the scores.
    """
    if mask is None:
        return None
    kind = str(as_dtype(dtype).dtype)
    seen: Any = mask if str(mask.array.dtype) == kind else cast(mask, kind)
    if mask.array.dtype.kind == "f":
        return seen
    return multiply(add(seen, -1.0), -_HIDDEN)


def sequence_mask(
    x: Tensor,
    maxlen: int | Tensor | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """1 at the places below a length, and 0 behind them.

    Args:
        x: lengths, of any shape.
        maxlen: how many places there are; the largest length when None.
        dtype: the element type of the result.

    >>> fluid.nn.functional.sequence_mask(fluid.to_tensor([1, 3])).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    if isinstance(maxlen, Operand):
        return eager.sequence_mask(x, maxlen, out_dtype=as_dtype(dtype))
    longest = -1 if maxlen is None else int(maxlen)
    return eager.sequence_mask(x, None, maxlen=longest, out_dtype=as_dtype(dtype))
