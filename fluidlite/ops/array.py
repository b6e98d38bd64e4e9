"""Arrays of tensors: writing, reading, length.

An array is immutable: writing an element gives a new array under the old name.
"""

from __future__ import annotations

from ..dtypes import DType, Kind
from ..errors import OutOfRangeError, ShapeError
from ..opdef.definition import Op
from ..opdef.spec import need_integer, size_of
from ..values import LoDTensorArray


def position(I):
    """A position in an array, from a tensor of one element."""
    return int(I.reshape(()))


def need_position(I):
    """Check that ``I`` says one position."""
    need_integer(I=I)
    if size_of(I.shape) not in (1, -1):
        raise ShapeError(f"expected I to hold one position, got shape {list(I.shape)}")


class write_to_array(Op):
    """Out = the array Out with X at position I.

    I: one position; the array grows as far as needed.
    """

    signature = "X, I! -> Out"
    updates = ("Out",)
    direct = True
    lod = None

    def infer(self, X, I):
        need_position(I)
        return X

    def run(self, xp, X, I, Out):
        return (Out or LoDTensorArray()).with_item(position(I), X)

    def grad(self, f, X, I, dOut):
        return dict(
            X=lambda: f.read_from_array(dOut, I, X_W=X),
            Out=lambda: f.array_without(dOut, I),
        )


class read_from_array(Op):
    """Out = the element of the array X at position I.

    I: one position.
    X_W: where X has no element there, Out is 0 in the form of this: so gradients are read.
    """

    signature = "X, I!, X_W?! -> Out"
    direct = True
    lod = None

    def infer(self, X, I, X_W):
        need_position(I)
        return (X if X_W is None else X_W)._replace(kind=Kind.LOD_TENSOR)

    def run(self, xp, X, I, X_W):
        found = X.item(position(I))
        if found is not None:
            return found
        if X_W is not None:
            return xp.zeros_like(X_W)
        raise OutOfRangeError(
            f"expected a position that has been written, one below {len(X)}, got {position(I)}"
        )

    def grad(self, f, I, dOut):
        return dict(X=lambda: f.write_to_array(dOut, I))


class array_without(Op):
    """Out = the array X without the element at position I.

    The gradient of an array before an element was written over.

    I: one position.
    """

    signature = "X, I! -> Out"
    direct = True
    lod = None

    def run(self, xp, X, I):
        at = position(I)
        return X.with_item(at, None) if at < len(X) else X

    def grad(self, f, I, dOut):
        return dict(X=lambda: f.array_without(dOut, I))


class lod_array_length(Op):
    """Out = how many elements the array X has."""

    signature = "X! -> Out"
    grad = None
    lod = None

    def infer(self, X):
        return X.with_shape([1]).with_dtype(DType.INT64)

    def run(self, xp, X):
        return xp.asarray([len(X)], "int64")
