"""What moves along a dimension: sums of all that went before, and elements that change places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError, UnsupportedError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_numbers, normal_axis, size_of
from .given import numbers


class cumsum(Op):
    """Out = the sums of X up to each element, along ``axis``.

    X: a variable of numbers.
    axis: the dimension; may count from the end.
    exclusive: leave each element out of its own sum.
    reverse: sum from the end.
    flatten: of all elements in a row.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    axis: int = -1
    exclusive: bool = False
    reverse: bool = False
    flatten: bool = attr(False, local=True)
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        if self.flatten:
            return X.with_shape([size_of(X.shape)])
        normal_axis(self.axis, X.ndim)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        if self.flatten:
            whole = cumsum(dict(axis=0, exclusive=self.exclusive, reverse=self.reverse))
            return whole.run(xp, xp.reshape(X, (-1,)))
        X = xp.flip(X, self.axis) if self.reverse else X
        out = xp.cumsum(X, axis=self.axis, dtype=X.dtype)
        if self.exclusive and X.shape[self.axis]:
            rows = xp.moveaxis(out, self.axis, 0)
            rows = xp.concatenate([xp.zeros_like(rows[:1]), rows[:-1]])
            out = xp.moveaxis(rows, 0, self.axis)
        return xp.flip(out, self.axis) if self.reverse else out

    def grad(self, f: Any, dOut: Value, X: Value | None = None) -> Rules:
        attrs = dict(exclusive=self.exclusive, reverse=not self.reverse)
        if not self.flatten:
            return dict(X=lambda: f.cumsum(dOut, axis=self.axis, **attrs))
        if X is None:
            raise UnsupportedError("cumsum: no gradient with flatten=True; reshape X first")
        return dict(X=lambda: f.reshape(f.cumsum(dOut, axis=0, **attrs), shape=X.shape))


class roll(Op):
    """Out = X with its elements moved, those that fall off one end coming back at the other.

    ShiftsTensor: how far, as a vector; goes before ``shifts``.
    shifts: how far, for each dimension; a single one without dimensions moves along all as one.
    dims: the dimensions; may count from the end.
    axis: the same, as paddle 2 calls them.
    """

    signature = "X, ShiftsTensor?! -> Out"
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(newer=("ShiftsTensor",))
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    shifts: list[Long] = ()
    dims: list[Long] = ()
    axis: list[Long] = attr((), local=True)

    @property
    def along(self) -> Sequence[int]:
        """The dimensions."""
        return self.axis or self.dims

    def check(self, shifts: Sequence[int]) -> None:
        """Refuse another number of shifts than there are dimensions."""
        if len(shifts) != (len(self.along) or 1) and (shifts or self.along):
            raise AttributeValueError(
                f"expected one of shifts for each of dims, got {list(shifts)} and "
                f"{list(self.along)}"
            )

    def infer(self, X: Spec, ShiftsTensor: Spec | None) -> Specs:
        if ShiftsTensor is None:
            self.check(self.shifts)
        for d in self.along:
            normal_axis(d, X.ndim, "dims")
        return X

    def run(self, xp: Any, X: Array, ShiftsTensor: Array | None) -> Array:
        shifts = numbers(self.shifts, ShiftsTensor, None)
        self.check(shifts)
        if not shifts:
            return X
        return xp.roll(X, shifts, self.along) if self.along else xp.roll(X, shifts[0])

    def grad(self, f: Any, X: Value, ShiftsTensor: Value, dOut: Value) -> Rules:
        back = [-n for n in numbers(self.shifts, ShiftsTensor, None)]
        return dict(X=lambda: f.roll(dOut, shifts=back, dims=self.along))


class cumprod(Op):
    """Out = the products of X up to each element, along ``dim``.

    dim: the dimension; may count from the end.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    dim: int = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        normal_axis(self.dim, max(X.ndim, 1), "dim")
        return X

    def expand(self, f: Any, X: Value) -> Value:
        axis = normal_axis(self.dim, max(len(X.shape), 1), "dim")
        size, step = X.shape[axis] if X.shape else 1, 1
        while step < size:  # each one is made of twice as many elements as before
            first, rest, before = (
                f.slice(X, axes=[axis], starts=[begin], ends=[end])
                for begin, end in ((0, step), (step, size), (0, size - step))
            )
            X = f.concat([first, rest * before], axis=axis)
            step *= 2
        return f.assign(X) if size < 2 else X
