"""Elements at indices along one dimension, which may be fewer than there are along the others."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import as_dtype
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, need_choice
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_integer, need_shape, normal_axis, same_dtype

#: ways to put values where others are -> the operator of two that meet
_MET = {"mul": "mul", "multiply": "mul", "amin": "min", "amax": "max"}


def need_places(values: Spec, Index: Spec, axis: int) -> None:
    """Check that indices lie within a tensor, but for the dimension ``axis``."""
    need_integer(Index=Index)
    along = normal_axis(axis, values.ndim, "Axis")
    pairs = enumerate(zip(Index.shape, values.shape))
    if Index.ndim != values.ndim or any(m > n != -1 for i, (m, n) in pairs if i != along):
        raise ShapeError(
            f"expected Index of at most the sizes {list(values.shape)} of the tensor except along "
            f"{along}, got {list(Index.shape)}"
        )


def within(f: Any, values: Value, Index: Value, axis: int) -> Value:
    """The part of a tensor with the sizes of the indices, but for the dimension ``axis``."""
    along = axis % len(values.shape)
    pairs = enumerate(zip(Index.shape, values.shape))
    cut = [i for i, (m, n) in pairs if i != along and m != n]
    if not cut:
        return values
    ends = [Index.shape[i] for i in cut]
    return f.slice(values, axes=cut, starts=[0] * len(cut), ends=ends)


class take_along_axis(Op):
    """Result = the elements of Input at Index along ``Axis``.

    Index: as many dimensions as Input has, each but ``Axis`` of at most its size.
    Axis: the dimension; may count from the end.
    Result: of the shape of Index.
    """

    signature = "Input, Index! -> Result"
    lod: ClassVar[str | None] = None
    Axis: int = REQUIRED

    def infer(self, Input: Spec, Index: Spec) -> Specs:
        need_places(Input, Index, self.Axis)
        return Input.with_shape(Index.shape)

    def expand(self, f: Any, Input: Value, Index: Value) -> Value:
        return f.take_along(within(f, Input, Index, self.Axis), Index, axis=self.Axis)


class put_along(Op):
    """Out = X with Value at Index along ``axis``; of places named twice the last one stays.

    With ``adds`` Value is added there; places named twice get both.

    Index: as many dimensions as X has, each but ``axis`` of at most its size.
    Value: of the shape of Index.
    axis: the dimension; may count from the end.
    adds: whether Value is added to what is there.
    """

    signature = "X, Index!, Value -> Out"
    lod: ClassVar[str | None] = None
    axis: int = REQUIRED
    adds: bool = False

    def infer(self, X: Spec, Index: Spec, Value: Spec) -> Specs:
        need_places(X, Index, self.axis)
        same_dtype(X=X, Value=Value)
        need_shape("Value", Value, Index.shape, "as Index")
        return X

    def run(self, xp: Any, X: Array, Index: Array, Value: Array) -> Array:
        axis = normal_axis(self.axis, X.ndim)
        place = list(xp.indices(Index.shape, sparse=True))
        place[axis] = xp.in_range(Index, X.shape[axis], "Index")
        return (xp.scatter_add if self.adds else xp.scatter_set)(X, tuple(place), Value)

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        def rest():
            if self.adds:
                return dOut
            nothing = f.fill_any_like(Index, value=0.0, dtype=dOut.dtype)
            return f.put_along(dOut, Index, nothing, axis=self.axis)

        def value():
            flow = f.take_along_axis(dOut, Index, Axis=self.axis)
            if self.adds:
                return flow
            # a place that is named again holds the later value
            ones = f.fill_any_like(Index, value=1.0, dtype=dOut.dtype)
            numbers = f.cumsum(ones, axis=self.axis)
            marks = f.put_along(f.scale(dOut, scale=0.0), Index, numbers, axis=self.axis)
            last = f.equal(f.take_along_axis(marks, Index, Axis=self.axis), numbers)
            return flow * f.cast(last, in_dtype=last.dtype, out_dtype=dOut.dtype)

        return dict(X=rest, Value=value)


class put_along_axis(Op):
    """Result = Input with Value at Index along ``Axis``.

    Index: as many dimensions as Input has, each but ``Axis`` of at most its size.
    Value: of the shape of Index.
    Axis: the dimension; may count from the end.
    Reduce: "assign"; or what is made of the values that meet at a place and of what is there:
        "add", "mul" or "multiply", "mean", "amin" or "amax".
    Include_self: whether what is there takes part.
    """

    signature = "Input, Index!, Value -> Result"
    fluid: ClassVar[FluidForm] = FluidForm(carried=("Result",))
    lod: ClassVar[str | None] = None
    Axis: int = REQUIRED
    Reduce: str = "assign"
    Include_self: bool = True

    def infer(self, Input: Spec, Index: Spec, Value: Spec) -> Specs:
        need_choice(self, "Reduce", "assign", "add", "mean", *_MET)
        need_places(Input, Index, self.Axis)
        same_dtype(Input=Input, Value=Value)
        need_shape("Value", Value, Index.shape, "as Index")
        return Input

    def expand(self, f: Any, Input: Value, Index: Value, Value: Value) -> Value:
        if self.Reduce == "assign":
            return f.put_along(Input, Index, Value, axis=self.Axis)
        base = Input
        if self.Reduce in _MET:
            return self.met(f, base, Index, Value)
        if not self.Include_self:
            nothing = f.fill_any_like(Value, value=0.0)
            base = f.put_along(base, Index, nothing, axis=self.Axis)
        total = f.put_along(base, Index, Value, axis=self.Axis, adds=True)
        if self.Reduce == "add":
            return total
        ones, initial = f.fill_any_like(Value, value=1.0), float(self.Include_self)
        counts = f.fill_any_like(Input, value=initial)
        counts = f.put_along(counts, Index, ones, axis=self.Axis, adds=True)
        if not self.Include_self:
            counts = f.elementwise_max(counts, f.fill_any_like(Input, value=1.0))
        whole = not as_dtype(Input.dtype).is_float
        return (f.elementwise_floordiv if whole else f.elementwise_div)(total, counts)

    def met(self, f: Any, out: Value, Index: Value, Value: Value) -> Value:
        """What is there combined with one value after another."""
        combine = getattr(f, f"elementwise_{_MET[self.Reduce]}")
        along = self.Axis % len(out.shape)
        if not self.Include_self:  # the first of the values that meet stands for what is there
            backwards = [f.reverse(each, axis=[along]) for each in (Index, Value)]
            first = f.put_along(out, *backwards, axis=along)
            numbers = f.cumsum(f.fill_any_like(Index, value=1.0, dtype=out.dtype), axis=along)
            marks = f.scale(out, scale=0.0)
            turned = f.reverse(numbers, axis=[along])
            marks = f.put_along(marks, backwards[0], turned, axis=along)
            is_first = f.equal(f.take_along_axis(marks, Index, Axis=along), numbers)
            out = first
        for k in range(Index.shape[along]):
            piece = dict(axes=[along], starts=[k], ends=[k + 1])
            index, value = f.slice(Index, **piece), f.slice(Value, **piece)
            there = f.take_along_axis(out, index, Axis=along)
            combined = combine(there, value)
            if not self.Include_self:
                combined = f.where(f.slice(is_first, **piece), there, combined)
            out = f.put_along(out, index, combined, axis=along)
        return out
