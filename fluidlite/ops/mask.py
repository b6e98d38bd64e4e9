"""Rows divided by a mask, and put together again: each the adjoint of the other."""

from __future__ import annotations

import functools

from ..dtypes import DType
from ..errors import AttributeValueError, DTypeError, ShapeError
from ..opdef.definition import Op
from ..opdef.spec import agree, known, same_dtype, size_of


class Masked(Op, abstract=True):
    """An operator on the rows that a mask names, and on the others.

    Mask: one truth for each row, of shape [n, 1] or [n].
    level: 0, the rows; sequences are not divided.
    """

    level: int = 0
    direct = True
    lod = None

    def count(self, Mask):
        """How many rows the mask is for."""
        if self.level:
            raise AttributeValueError(f"expected level 0, the rows; got {self.level}")
        if Mask.dtype is not DType.BOOL:
            raise DTypeError(f"expected Mask to be bool, got {Mask.dtype}")
        if Mask.ndim == 0 or not agree(size_of(Mask.shape[1:]), 1):
            raise ShapeError(f"expected Mask of shape [n, 1], got {list(Mask.shape)}")
        return Mask.shape[0]


class split_lod_tensor(Masked):
    """OutTrue = the rows of X where Mask holds, OutFalse = the others."""

    signature = "X, Mask! -> OutTrue, OutFalse"
    host = True

    def infer(self, X, Mask):
        count = self.count(Mask)
        if X.ndim == 0 or not agree(X.shape[0], count):
            raise ShapeError(
                f"expected one row of X for each of Mask, got shapes {list(X.shape)} and "
                f"{list(Mask.shape)}"
            )
        return X.with_dim(0, -1), X.with_dim(0, -1)

    def run(self, xp, X, Mask):
        chosen = xp.reshape(Mask, -1)
        return X[chosen], X[~chosen]

    def grad(self, f, X, Mask, dOutTrue, dOutFalse):
        return dict(X=lambda: f.merge_lod_tensor(X, Mask, dOutTrue, dOutFalse, level=self.level))


class merge_lod_tensor(Masked):
    """Out = the rows of InTrue where Mask holds, and those of InFalse where it does not.

    X: not read.
    InTrue: as many rows as Mask has truths, in their order.
    InFalse: one row for each other entry of Mask.
    """

    signature = "X!, Mask!, InTrue, InFalse -> Out"

    def infer(self, X, Mask, InTrue, InFalse):
        count = self.count(Mask)
        same_dtype(InTrue=InTrue, InFalse=InFalse)
        rows = [one.shape[1:] for one in (InTrue, InFalse)]
        together = len(rows[0]) == len(rows[1]) and all(map(agree, *rows))
        if InTrue.ndim == 0 or not together:
            raise ShapeError(
                f"expected rows of one shape, got InTrue {list(InTrue.shape)} and InFalse "
                f"{list(InFalse.shape)}"
            )
        parts = (InTrue.shape[0], InFalse.shape[0])
        if count != -1 and -1 not in parts and sum(parts) != count:
            raise ShapeError(
                f"expected {count} rows, as many as Mask has; got {parts[0]} in InTrue and "
                f"{parts[1]} in InFalse"
            )
        return InTrue.with_shape((count, *map(known, *rows)))

    def run(self, xp, Mask, InTrue, InFalse):
        chosen = xp.reshape(Mask, -1)
        count = int(xp.sum(chosen))
        if (len(InTrue), len(InFalse)) != (count, len(chosen) - count):
            raise ShapeError(
                f"expected {count} rows of InTrue and {len(chosen) - count} of InFalse, as Mask "
                f"says; got {len(InTrue)} and {len(InFalse)}"
            )
        place = xp.where(chosen, xp.cumsum(chosen) - 1, count + xp.cumsum(~chosen) - 1)
        return xp.take(xp.concatenate([InTrue, InFalse]), place, axis=0)

    def grad(self, f, Mask, dOut):
        parts = functools.cache(lambda: f.split_lod_tensor(dOut, Mask, level=self.level))
        return dict(InTrue=lambda: parts()[0], InFalse=lambda: parts()[1])


class merge_lod_tensor_infer(merge_lod_tensor):
    """Out = the rows of InTrue where Mask holds, and those of InFalse where it does not; no
    gradient flows.
    """

    direct = False
    grad = None
