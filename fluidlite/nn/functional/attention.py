"""Attention, and masks of lengths."""

from __future__ import annotations

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
    q, k, v = (transpose(each, [0, 2, 1, 3]) for each in (query, key, value))
    scores = matmul(multiply(q, 1 / sqrt(+query.array.shape[-1])), k, transpose_y=True)
    if is_causal:
        steps, seen = +query.array.shape[1], +key.array.shape[1]
        later = np.triu(np.full([1, 1, steps, seen], _HIDDEN, scores.array.dtype), 1)
        scores = add(scores, scores.results(later))
    elif attn_mask is not None:
        scores = add(scores, added_mask(attn_mask, scores))
    weights = softmax(scores)
    if dropout_p:
        weights = dropout(weights, dropout_p, training=training)
    return transpose(matmul(weights, v), [0, 2, 1, 3])


def added_mask(mask: Tensor, scores: Tensor) -> Tensor:
    """A mask as what is added to scores.

    Args:
        mask: false where something may not be seen, or numbers that are added.
        scores: give the element type.
    """
    if mask.array.dtype.kind == "f":
        return mask
    seen: Any = cast(mask, str(scores.array.dtype))
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
