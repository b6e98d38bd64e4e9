"""Lengths of sequences as masks."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, DTypeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Detached, DetachedValues
from ..opdef.spec import Spec, need_one


class sequence_mask(DetachedValues):
    """Y[..., j] = 1 where j < X[...], else 0.

    X: lengths.
    MaxLenTensor: how many j there are, one integer; wins over ``maxlen``.
    maxlen: likewise; below 0 for the largest length.
    out_dtype: the element type of Y.
    """

    signature = "X, MaxLenTensor? -> Y"
    maxlen: int = -1
    out_dtype: DType = REQUIRED

    def infer(self, X: Spec, MaxLenTensor: Spec) -> Specs:
        if X.dtype is DType.BOOL:
            raise DTypeError(f"expected X to hold lengths, got {X.dtype}")
        width = -1
        if MaxLenTensor is not None:
            need_one(MaxLenTensor=MaxLenTensor)
        elif self.maxlen == 0:
            raise AttributeValueError(
                "expected maxlen of at least 1, or below 0 for the largest length, got 0"
            )
        elif self.maxlen > 0:
            width = self.maxlen
        return X.with_shape([*X.shape, width]).with_dtype(self.out_dtype)

    def expand(self, f: Any, X: Value, MaxLenTensor: Value) -> Value:
        if MaxLenTensor is not None:
            width = int(MaxLenTensor.item())
            if width < 1:
                raise AttributeValueError(f"expected MaxLenTensor of at least 1, got {width}")
        elif self.maxlen > 0:
            width = self.maxlen
        else:
            width = max(int(f.longest(X).item()), 0)
        return f.positions_below(X, width=width, out_dtype=self.out_dtype)


class positions_below(Detached):
    """Out[..., j] = 1 where j < X[...], else 0; for j below ``width``.

    X: lengths.
    out_dtype: the element type of Out.
    """

    signature = "X -> Out"
    width: int = REQUIRED
    out_dtype: DType = REQUIRED

    def infer(self, X: Spec) -> Specs:
        return X.with_shape([*X.shape, self.width]).with_dtype(self.out_dtype)

    def run(self, xp: Any, X: Array) -> Array:
        return (xp.arange(self.width) < X[..., None]).astype(self.out_dtype.dtype)


class longest(Detached):
    """Out = the largest element of X, of shape [1]; 0 if there is none.

    X: lengths.
    """

    signature = "X -> Out"

    def infer(self, X: Spec) -> Specs:
        return X.with_shape([1])

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(X.max(initial=0), (1,))
