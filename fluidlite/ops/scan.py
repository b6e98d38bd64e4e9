"""What moves along a dimension: sums of all that went before, and elements that change places."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import AttributeValueError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import Long
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_numbers, normal_axis


class cumsum(Op):
    """Out = the sums of X up to each element, along ``axis``.

    X: a variable of numbers.
    axis: the dimension; may count from the end.
    exclusive: leave each element out of its own sum.
    reverse: sum from the end.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    axis: int = -1
    exclusive: bool = False
    reverse: bool = False
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        normal_axis(self.axis, X.ndim)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        X = xp.flip(X, self.axis) if self.reverse else X
        out = xp.cumsum(X, axis=self.axis, dtype=X.dtype)
        if self.exclusive and X.shape[self.axis]:
            rows = xp.moveaxis(out, self.axis, 0)
            rows = xp.concatenate([xp.zeros_like(rows[:1]), rows[:-1]])
            out = xp.moveaxis(rows, 0, self.axis)
        return xp.flip(out, self.axis) if self.reverse else out

    def grad(self, f: Any, dOut: Value) -> Rules:
        attrs = dict(axis=self.axis, exclusive=self.exclusive, reverse=not self.reverse)
        return dict(X=lambda: f.cumsum(dOut, **attrs))


class roll(Op):
    """Out = X with its elements moved, those that fall off one end coming back at the other.

    shifts: how far, for each of ``dims``.
    dims: the dimensions; may count from the end.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    shifts: list[Long] = ()
    dims: list[Long] = ()

    def infer(self, X: Spec) -> Specs:
        if len(self.shifts) != len(self.dims):
            raise AttributeValueError(
                f"expected one of shifts for each of dims, got {list(self.shifts)} and "
                f"{list(self.dims)}"
            )
        for d in self.dims:
            normal_axis(d, X.ndim, "dims")
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return xp.roll(X, self.shifts, self.dims) if self.dims else X

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        back = [-n for n in self.shifts]
        return dict(X=lambda: f.roll(dOut, shifts=back, dims=self.dims))
