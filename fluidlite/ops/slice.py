"""Parts of a tensor, and its elements in reverse order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, need_shape, normal_axis
from .families import OneNumber
from .given import foretold, numbers


def cut(
    size: int, start: int, end: int, stride: int, axis: int, may_be_empty: bool = False
) -> slice:
    """What a slice takes from ``size`` elements, as a slice without negative numbers.  One that
    runs backwards to -1 ends with the first element.

    Raises:
        ShapeError: nothing, unless it may be empty.
    """
    if stride == 0:
        raise AttributeValueError(f"expected strides other than 0, got 0 for axis {axis}")
    taken = slice(start, None if end == -1 and stride < 0 else end, stride)
    first, last, _ = taken.indices(size)
    if not range(first, last, stride):
        if may_be_empty:
            return slice(first, first, stride)
        raise ShapeError(
            f"expected a slice of at least one element along axis {axis}, got start {start}, "
            f"end {end} and stride {stride} for size {size}"
        )
    return slice(first, None if last < 0 else last, stride)


def length(taken: slice, size: int) -> int:
    """How many of ``size`` elements a slice takes."""
    return len(range(*taken.indices(size)))


class Cutting(Op, abstract=True):
    """A part of a tensor, by where it begins and ends along some dimensions.

    axes: the dimensions that are cut.
    starts: where the part begins along each of them; may count from the end.
    ends: where it stops, before that place; may count from the end, or lie beyond it.
    may_be_empty: paddle 2's form: a part without elements is no error.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    axes: list[int] = REQUIRED
    starts: list[int] = ()
    ends: list[int] = ()
    may_be_empty: bool = attr(False, edition=True)

    @property
    def lod(self) -> str | None:
        """Rows that are cut belong to other sequences than before."""
        return None if 0 in self.axes else "first"

    def check(self, starts: Any, ends: Any, strides: Any) -> Any:
        """Refuse bounds of another number than there are axes."""
        if not len(starts) == len(ends) == len(strides) == len(self.axes):
            raise AttributeValueError(
                f"expected one start, end and stride for each of the axes {list(self.axes)}, "
                f"got {list(starts)}, {list(ends)} and {list(strides)}"
            )

    def cut(self, size: int, bounds: Sequence[int], axis: int) -> slice:
        """What :func:`cut` gives for the start, the end and the stride along a dimension."""
        start, end, stride = bounds
        return cut(size, start, end, stride, axis, self.may_be_empty)

    def cuts(self, shape, starts, ends, strides):
        """A slice for each dimension of ``shape``."""
        self.check(starts, ends, strides)
        slices = [slice(0, n, 1) for n in shape]
        for axis, *bounds in zip(self.axes, starts, ends, strides):
            axis = normal_axis(axis, len(shape), "axes")
            slices[axis] = self.cut(shape[axis], bounds, axis)
        return slices


class Slicing(OneNumber, Cutting, abstract=True):
    """What the slices have in common.

    StartsTensor: the starts as a vector; goes before ``starts``.
    EndsTensor: the ends as a vector; goes before ``ends``.
    StartsTensorList: the starts as one number each; goes before StartsTensor.
    EndsTensorList: the ends as one number each; goes before EndsTensor.
    infer_flags: -1 for each of ``axes`` whose bounds only tensors say, 1 for the others.
    decrease_axis: dimensions, cut to one element, that Out does not have; where none is left, Out
        has shape [1].
    """

    infer_flags: list[int] = ()
    decrease_axis: list[int] = ()

    def spec(self, Input, given, *bounds):
        """The spec of Out.

        Args:
            Input: its spec.
            given: the specs of the tensors that say bounds.
            bounds: starts, ends and strides, as far as attributes say them.
        """
        if not any(given):
            self.check(*bounds)
            flags = (1,) * len(self.axes)
        elif any(len(some) != len(self.axes) for some in (*bounds, self.infer_flags)):
            flags = (-1,) * len(self.axes)
        else:
            flags = self.infer_flags
        axes = [normal_axis(axis, Input.ndim, "axes") for axis in self.axes]
        certain = [i for i, flag in enumerate(flags) if flag == 1 and Input.shape[axes[i]] != -1]
        shape = [-1 if i in axes else n for i, n in enumerate(Input.shape)]
        for i in certain:
            n = Input.shape[axes[i]]
            shape[axes[i]] = length(self.cut(n, [some[i] for some in bounds], axes[i]), n)
        lod_level = 0 if self.lod is None else Input.lod_level
        return Input.with_shape(self.decreased(shape))._replace(lod_level=lod_level)

    def decreased(self, shape: Sequence[int]) -> Shape:
        """A shape without ``decrease_axis``."""
        dropped = {normal_axis(axis, len(shape), "decrease_axis") for axis in self.decrease_axis}
        if any(shape[axis] not in (1, -1) for axis in dropped):
            raise ShapeError(
                f"expected one element along each of decrease_axis {list(self.decrease_axis)}, "
                f"got a slice of shape {list(shape)}"
            )
        return tuple(n for i, n in enumerate(shape) if i not in dropped) or self.one

    def taken(self, Input: Array, cuts: list[slice]) -> Array:
        """Out."""
        out = Input[tuple(cuts)]
        return out.reshape(self.decreased(out.shape)) if self.decrease_axis else out

    def undropped(self, f: Any, dOut: Value, shape: Shape, cuts: list[slice]) -> Value:
        """The cotangent of Out with the dimensions that Out does not have."""
        if not self.decrease_axis:
            return dOut
        return f.reshape(dOut, shape=[length(c, n) for c, n in zip(cuts, shape)])


class Slice(Slicing, type="slice"):
    """Out = Input from ``starts`` to ``ends`` along ``axes``."""

    signature = "Input, StartsTensor?!, EndsTensor?!, StartsTensorList?*!, EndsTensorList?*! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    is_view: ClassVar[bool] = True

    def infer(self, Input, StartsTensor, EndsTensor, StartsTensorList, EndsTensorList):
        given = (StartsTensor, EndsTensor, StartsTensorList, EndsTensorList)
        return self.spec(Input, given, self.starts, self.ends, (1,) * len(self.axes))

    def run(self, xp, Input, StartsTensor, EndsTensor, StartsTensorList, EndsTensorList):
        starts = numbers(self.starts, StartsTensor, StartsTensorList)
        ends = numbers(self.ends, EndsTensor, EndsTensorList)
        return self.taken(Input, self.cuts(Input.shape, starts, ends, (1,) * len(self.axes)))

    def slices(self, x: Spec) -> list[list[slice]] | None:
        ones = (1,) * len(self.axes)
        cuts = self.cuts(x.shape, self.starts, self.ends, ones)
        return [[slice(*cut.indices(size)) for cut, size in zip(cuts, x.shape)]]

    def grad(self, f, Input, StartsTensor, EndsTensor, StartsTensorList, EndsTensorList, dOut):
        def placed():
            starts = numbers(self.starts, StartsTensor, StartsTensorList)
            ends = numbers(self.ends, EndsTensor, EndsTensorList)
            cuts = self.cuts(Input.shape, starts, ends, (1,) * len(self.axes))
            flow = self.undropped(f, dOut, Input.shape, cuts)
            pairs = zip(cuts, Input.shape)
            return f.pad(flow, paddings=[n for c, m in pairs for n in (c.start, m - c.stop)])

        return dict(Input=placed)


class strided_slice(Slicing):
    """Out = Input from ``starts`` to ``ends`` in steps of ``strides`` along ``axes``.

    StridesTensor: the strides as a vector; goes before ``strides``.
    StridesTensorList: the strides as one number each; goes before StridesTensor.
    strides: the steps; below zero where a slice runs backwards.
    """

    signature = (
        "Input, StartsTensor?!, EndsTensor?!, StridesTensor?!, StartsTensorList?*!, "
        "EndsTensorList?*!, StridesTensorList?*! -> Out"
    )
    strides: list[int] = ()

    def infer(self, Input, *bounds):
        return self.spec(Input, bounds, self.starts, self.ends, self.strides)

    def run(self, xp: Any, Input: Array, *bounds: Any) -> Array:
        found = self.bounds(bounds[:3], bounds[3:])
        return self.taken(Input, self.cuts(Input.shape, **found))

    def grad(
        self,
        f,
        Input,
        StartsTensor,
        EndsTensor,
        StridesTensor,
        StartsTensorList,
        EndsTensorList,
        StridesTensorList,
        dOut,
    ):
        def placed():
            bounds = self.bounds(
                (StartsTensor, EndsTensor, StridesTensor),
                (StartsTensorList, EndsTensorList, StridesTensorList),
            )
            cuts = self.cuts(Input.shape, **bounds)
            flow = self.undropped(f, dOut, Input.shape, cuts)
            bounds.update(axes=self.axes, may_be_empty=self.may_be_empty)
            return f.strided_slice_adjoint(flow, size=Input.shape, **bounds)

        return dict(Input=placed)

    def bounds(self, tensors: Any, lists: Any) -> Any:
        """Starts, ends and strides by name."""
        attributes = (self.starts, self.ends, self.strides)
        found = map(numbers, attributes, tensors, lists)
        return dict(zip(("starts", "ends", "strides"), found))


class strided_slice_adjoint(Cutting):
    """Out = zeros with G at the places that ``strided_slice`` would take.

    G: of the shape of what it would take, with all dimensions.
    size: the shape of Out.
    strides: the steps; below zero where a slice runs backwards.
    """

    signature = "G -> Out"
    strides: list[int] = ()
    size: list[int] = REQUIRED

    def infer(self, G):
        cuts = self.cuts(self.size, self.starts, self.ends, self.strides)
        part = [length(c, n) for c, n in zip(cuts, self.size)]
        need_shape("G", G, part)
        return G.with_shape(self.size)

    def run(self, xp, G):
        cuts = self.cuts(self.size, self.starts, self.ends, self.strides)
        return xp.add_at(xp.zeros(self.size, G.dtype), tuple(cuts), G)

    def grad(self, f: Any, dOut: Value) -> Rules:
        bounds: Any = dict(starts=self.starts, ends=self.ends, strides=self.strides)
        bounds.update(axes=self.axes, may_be_empty=self.may_be_empty)
        return dict(G=lambda: f.strided_slice(dOut, **bounds))


def given_offsets(offsets: Sequence[int]) -> Sequence[int]:
    """The offsets that attributes give, none of which may be negative."""
    if min(offsets, default=0) < 0:
        raise AttributeValueError(f"expected offsets from 0, got {list(offsets)}")
    return offsets


class Cropping(Op, abstract=True):
    """What the crops have in common.

    Offsets: the offsets as a vector; goes before ``offsets``.
    offsets: where Out begins along each dimension; at 0 if there are none.
    shape: the shape of Out; -1 for all that is left behind the offset.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    offsets: list[int] = ()
    shape: list[int] = ()
    lod: ClassVar[str | None] = None

    def cropped(self, shape: Shape, offsets: Sequence[int], sizes: Sequence[int]) -> Shape:
        """The shape of Out.

        Args:
            shape: that of X.
            offsets: where Out begins, -1 where that is unknown.
            sizes: the requested shape.

        Raises:
            ShapeError: X does not reach that far.
        """
        if not len(shape) == len(offsets) == len(sizes):
            raise ShapeError(
                f"expected an offset and a size for each dimension of X, got offsets "
                f"{list(offsets)} and sizes {list(sizes)} for shape {list(shape)}"
            )
        if min(*sizes, *offsets, -1) < -1:
            raise AttributeValueError(
                f"expected offsets from 0 and sizes from 0, or -1 for all that is left, got "
                f"offsets {list(offsets)} and sizes {list(sizes)}"
            )
        result = []
        for n, start, size in zip(shape, offsets, sizes):
            if n != -1 and max(start, 0) + max(size, 0) > n:
                raise ShapeError(
                    f"expected a part of X of shape {list(shape)}, got offsets {list(offsets)} "
                    f"and sizes {list(sizes)}"
                )
            rest = -1 if n == -1 or start == -1 else n - start
            result.append(rest if size == -1 else size)
        return tuple(result)

    def begin(self, ndim: int, offsets: Sequence[int]) -> Sequence[int]:
        """The offsets where none may be given."""
        return offsets or (0,) * ndim

    def taken(self, X: Array, offsets: list[int], sizes: Sequence[int]) -> Array:
        """Out."""
        offsets = self.begin(X.ndim, offsets)
        sizes = self.cropped(X.shape, given_offsets(offsets), sizes)
        return X[tuple(slice(start, start + n) for start, n in zip(offsets, sizes))]

    def placed(self, f: Any, X: Value, offsets: list[int], dOut: Value) -> Value:
        """The cotangent of X."""
        offsets = self.begin(len(X.shape), offsets)
        ends = [n - start - m for n, start, m in zip(X.shape, offsets, dOut.shape)]
        return f.pad(dOut, paddings=[n for pair in zip(offsets, ends) for n in pair])


class crop(Cropping):
    """Out = the part of X that begins at ``offsets``.

    Y: has the shape of Out; goes before ``shape``, its values do not matter.
    """

    signature = "X, Y?!, Offsets?! -> Out"

    def infer(self, X: Spec, Y: Spec | None, Offsets: Spec) -> Specs:
        offsets = (-1,) * X.ndim if Offsets is not None else given_offsets(self.offsets)
        sizes = self.shape if Y is None else Y.shape
        part = self.cropped(X.shape, self.begin(X.ndim, offsets), sizes)
        return X.with_shape(part if Y is None else sizes)

    def run(self, xp: Any, X: Array, Y: Array, Offsets: Array) -> Arrays:
        offsets = numbers(self.offsets, Offsets, None)
        return self.taken(X, offsets, self.shape if Y is None else Y.shape)

    def grad(self, f: Any, X: Any, Offsets: Any, dOut: Any) -> Any:
        return dict(X=lambda: self.placed(f, X, numbers(self.offsets, Offsets, None), dOut))


class crop_tensor(Cropping):
    """Out = the part of X that begins at ``offsets``.

    Shape: the shape of Out as a vector; goes before ``shape``.
    ShapeTensor: the shape of Out as one number each; goes before Shape.
    OffsetsTensor: the offsets as one number each; goes before Offsets.
    """

    signature = "X, Shape?!, Offsets?!, ShapeTensor?*!, OffsetsTensor?*! -> Out"

    def infer(self, X, Shape, Offsets, ShapeTensor, OffsetsTensor):
        unknown = (-1,) * X.ndim
        given = OffsetsTensor or Offsets is not None
        offsets = unknown if given else given_offsets(self.offsets)
        if Shape is None and not ShapeTensor:
            sizes = self.shape
            return X.with_shape(self.cropped(X.shape, self.begin(X.ndim, offsets), sizes))
        sizes = foretold(self.shape, Shape, ShapeTensor)
        if sizes is None:
            return X.with_shape(unknown)
        return X.with_shape(n if n > 0 else -1 for n in sizes)  # programs have 0 for a tensor's

    def run(self, xp, X, Shape, Offsets, ShapeTensor, OffsetsTensor):
        offsets = numbers(self.offsets, Offsets, OffsetsTensor)
        return self.taken(X, offsets, numbers(self.shape, Shape, ShapeTensor))

    def grad(self, f: Any, X: Any, Offsets: Any, OffsetsTensor: Any, dOut: Any) -> Any:
        offsets = numbers(self.offsets, Offsets, OffsetsTensor)
        return dict(X=lambda: self.placed(f, X, offsets, dOut))


class Mirror(Op, abstract=True):
    """X with its elements in reverse order along some dimensions."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    along = ""  #: the attribute that names them

    def axes(self, ndim: Any) -> Any:
        """The dimensions, counted from the front."""
        named = getattr(self, self.along)
        if not named:
            raise AttributeValueError(
                f"expected {self.along} to name at least one dimension, got none"
            )
        return tuple({normal_axis(axis, ndim, self.along) for axis in named})

    def infer(self, X: Spec) -> Specs:
        self.axes(X.ndim)
        return X

    def run(self, xp: Any, X: Array) -> Arrays:
        return xp.flip(X, self.axes(X.ndim))

    def grad(self, f: Any, dOut: Value) -> Rules:
        attrs = {self.along: getattr(self, self.along)}
        return dict(X=lambda: getattr(f, self.type)(dOut, **attrs))


class reverse(Mirror):
    """Out = X with its elements in reverse order along each dimension of ``axis``.

    axis: a dimension or a list of them; may count from the end.
    """

    lod: ClassVar[str | None] = None
    axis: list[int] = REQUIRED
    along = "axis"


class flip(Mirror):
    """Out = X with its elements in reverse order along each dimension of ``dims``.

    dims: a list of dimensions; may count from the end.
    axis: the same, as paddle 2 calls them.
    """

    lod: ClassVar[str | None] = "X"
    dims: list[int] = REQUIRED
    axis: list[int] = attr((), local=True)
    along = "dims"

    def __init__(self, attrs: Mapping[str, Any] | None = None) -> None:
        super().__init__({"dims": attrs["axis"], **attrs} if attrs and "axis" in attrs else attrs)
