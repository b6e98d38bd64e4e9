"""Elements at indices as Paddle 2 has them: written, chosen by a mask, repeated."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import ValueShaped
from ..opdef.spec import Spec, agree, broadcast, need_integer, normal_axis
from .gather import rows_added
from .item import TENSOR, put_item


def by_tensors(count: int) -> list[int]:
    """The index that is made of so many tensors."""
    return [TENSOR, 0, 0, 0] * count


class index_put(ValueShaped):
    """out = x with value written, or added, at places.

    indices: a tensor of places for each of the first dimensions, or one of truth values.
    value: what is written; spreads over the places.
    accumulate: add; what is named twice gets both.
    """

    signature = "x, indices*!, value -> out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    accumulate: bool = False

    def infer(self, x: Spec, indices: list[Spec], value: Spec) -> Specs:
        return put_item(dict(item=by_tensors(len(indices)))).infer(x, value, indices)

    def expand(self, f: Any, x: Value, indices: list[Value], value: Value) -> Value:
        item = by_tensors(len(indices))
        if not self.accumulate:
            return f.put_item(x, value, indices, item=item)
        there = f.fill_zeros_like(f.take_item(x, indices, item=item))
        return x + f.add_item(there + value, indices, item=item, size=x.shape)


class masked_select(ValueShaped):
    """Y = the elements of X where Mask holds, in a row.

    Mask: truth values; shapes spread over each other's.
    """

    signature = "X, Mask! -> Y"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    def infer(self, X: Spec, Mask: Spec) -> Specs:
        if Mask.dtype is not DType.BOOL:
            raise DTypeError(f"expected Mask to hold truth values (bool), got {Mask.dtype}")
        broadcast(X.shape, Mask.shape)
        return X.with_shape([-1])

    def expand(self, f: Any, X: Value, Mask: Value) -> Value:
        if tuple(X.shape) != tuple(Mask.shape):
            X, Mask = f.broadcast_tensors([X, Mask])
        return f.take_item(X, [Mask], item=by_tensors(1))


class repeat_interleave(ValueShaped):
    """Out = X with each slice along ``dim`` repeated, one beside the other.

    RepeatsTensor: how often each slice is; wins over ``Repeats``.
    Repeats: how often all are.
    dim: the dimension; may count from the end.
    """

    signature = "X, RepeatsTensor?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    Repeats: int = 0
    dim: int = 0

    def infer(self, X: Spec, RepeatsTensor: Spec | None) -> Specs:
        need_integer(RepeatsTensor=RepeatsTensor)
        axis = normal_axis(self.dim, X.ndim, "dim")
        size = X.shape[axis]
        if RepeatsTensor is None:
            if self.Repeats < 1:
                raise AttributeValueError(f"expected Repeats from 1, got {self.Repeats}")
            return X.with_dim(axis, -1 if size == -1 else size * self.Repeats)
        if RepeatsTensor.ndim != 1 or not (
            agree(RepeatsTensor.shape[0], size) or RepeatsTensor.shape[0] == 1
        ):
            raise ShapeError(
                f"expected RepeatsTensor of one number, or of one for each of {size} slices, got "
                f"shape {list(RepeatsTensor.shape)}"
            )
        return X.with_dim(axis, -1)

    def run(self, xp: Any, X: Array, RepeatsTensor: Array | None) -> Array:
        times = self.Repeats if RepeatsTensor is None else RepeatsTensor
        return xp.repeat(X, times, axis=self.dim)

    def grad(self, f: Any, X: Value, RepeatsTensor: Value, dOut: Value) -> Rules:
        def dx():
            ndim, size = len(X.shape), X.shape[self.dim]
            numbers = f.strided_places(dims=[size], stride=[1])
            places = f.repeat_interleave(numbers, RepeatsTensor, Repeats=self.Repeats)
            return rows_added(f, places, dOut, size, normal_axis(self.dim, ndim))

        return dict(X=dx)
