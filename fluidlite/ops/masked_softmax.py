"""Probabilities of attention: the softmax of scores that a mask leaves."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, broadcast, need_float, need_rank, need_shape, same_float
from .loss import softmax_cotangent


class fused_softmax_mask(Op):
    """Out = the softmax of X + Mask along the last dimension.

    X: scores, [B, heads, N, M].
    Mask: what fits X by broadcasting, as [B, 1, N, M]: a large negative number where nothing stays.
    """

    signature = "X, Mask! -> Out"

    def infer(self, X: Spec, Mask: Spec) -> Specs:
        same_float(X=X, Mask=Mask)
        need_shape("Mask", X.with_shape(broadcast(X.shape, Mask.shape)), X.shape, "to fit X")
        return X

    def expand(self, f: Any, X: Value, Mask: Value) -> Value:
        return f.softmax(f.elementwise_add(X, Mask), axis=-1)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: softmax_cotangent(f, Out, dOut, -1))


class fused_softmax_mask_upper_triangle(Op):
    """Out = the softmax of the elements of X that are not above the diagonal, along the last
    dimension; 0 above it.

    X: scores, [B, heads, N, N].
    """

    signature = "X -> Out"

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_rank("X", X, 2)
        if not agree(X.shape[-1], X.shape[-2]):
            raise ShapeError(f"expected X to be square matrices, got shape {list(X.shape)}")
        return X

    def run(self, xp: Any, X: Array) -> Array:
        if not X.size:
            return X
        kept = xp.tril(xp.ones(X.shape[-2:], bool))
        scores = xp.where(kept, X, xp.asarray(-xp.inf, X.dtype))
        e = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        return e / xp.sum(e, axis=-1, keepdims=True)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: softmax_cotangent(f, Out, dOut, -1))
