"""Other shapes of the same elements, and other orders of the dimensions.

Operators that end in ``2`` have an output XShape, and their gradients read that in place of X: it
has the shape of X but no element, so that X need not be kept.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, flat, normal_axis, resolved, size_of, spec
from ..opdef.structure import Epilogue
from .families import OneNumber
from .given import foretold, numbers
from .inert_attributes import UseMkldnn, UseQuantizer


class KeepsShape(Op, abstract=True):
    """An operator with an output that keeps the shape of X.

    XShape: has the shape [0, *X.shape] and no element.
    """

    def infer(self, *ins: Any) -> Specs:
        return super().infer(*ins), ins[0].with_shape((0, *ins[0].shape))

    def run(self, xp: Any, *ins: Any) -> Arrays:
        return super().run(xp, *ins), xp.zeros((0, *ins[0].shape), ins[0].dtype)

    def grad(self, f: Any, XShape: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reshape(dOut, shape=XShape.shape[1:]))


class Reshape(Op, abstract=True):
    """What `reshape` and `reshape2` have in common.

    Shape: the new shape as a vector; goes before ``shape``.
    ShapeTensor: the new shape as one number each; goes before Shape.
    shape: the new shape; 0 copies the size of X there, one size may be -1 and takes what is left.
    """

    signature = "X, Shape?!, ShapeTensor?*! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    is_view: ClassVar[bool] = True
    exact = False  # whether 0 is a size of its own where there are no elements
    shape: list[int] = ()

    def infer(self, X, Shape, ShapeTensor):
        if Shape is None and not ShapeTensor:
            return X.with_shape(resolved(self.shape, X.shape, self.exact))
        known = foretold(self.shape, Shape, ShapeTensor)
        if known is None:
            return None
        return X.with_shape(X.shape[i] if n == 0 and i < X.ndim else n for i, n in enumerate(known))

    def reshapes(self) -> bool:
        return True

    def run(self, xp: Any, X: Any, Shape: Any, ShapeTensor: Any) -> Any:
        return X.reshape(resolved(numbers(self.shape, Shape, ShapeTensor), X.shape, self.exact))


class reshape(Reshape):
    """Out = the elements of X, in their order, in another shape."""

    exact = True  # gradient rules name the shapes of their inputs
    fluid: ClassVar[FluidForm] = FluidForm(unmade=("Shape@GRAD", "ShapeTensor@GRAD"))

    def grad(
        self, f: Any, X: Value, Shape: Value, ShapeTensor: Value, Out: Value, dOut: Value
    ) -> Rules:
        return dict(X=lambda: f.reshape(dOut, shape=X.shape))


class reshape2(KeepsShape, UseQuantizer, Reshape):
    """Out = the elements of X, in their order, in another shape."""

    signature = "X, Shape?!, ShapeTensor?*! -> Out, XShape!~"


class Unsqueeze(Op, abstract=True):
    """What `unsqueeze` and `unsqueeze2` have in common.

    AxesTensor: the places as a vector; goes before ``axes``.
    AxesTensorList: the places as one number each; goes before AxesTensor.
    axes: places of the new dimensions, each counted when those before it are there; may count from
        the end.
    """

    signature = "X, AxesTensor?!, AxesTensorList?*! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    axes: list[int] = ()

    def infer(self, X: Any, AxesTensor: Any, AxesTensorList: Any) -> Specs:
        if AxesTensor is None and not AxesTensorList:
            return X.with_shape(widened(X.shape, self.axes))
        known = foretold((), AxesTensor, AxesTensorList)
        return None if known is None else X.with_shape((-1,) * (X.ndim + len(known)))

    def run(self, xp: Any, X: Any, AxesTensor: Any, AxesTensorList: Any) -> Any:
        return X.reshape(widened(X.shape, numbers(self.axes, AxesTensor, AxesTensorList)))


def widened(shape, axes):
    """A shape with a size of 1 inserted at each of ``axes``, one after the other."""
    out = list(shape)
    for axis in axes:
        out.insert(normal_axis(axis, len(out) + 1, "axes"), 1)
    return tuple(out)


class unsqueeze(Unsqueeze):
    """Out = X with further dimensions of size 1."""

    is_view: ClassVar[bool] = True

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reshape(dOut, shape=X.shape))


class unsqueeze2(KeepsShape, Unsqueeze):
    """Out = X with further dimensions of size 1."""

    signature = "X, AxesTensor?!, AxesTensorList?*! -> Out, XShape!~"


class OtherShape(Op, abstract=True):
    """The elements of X in a shape that follows from that of X alone."""

    signature = "X -> Out"

    def target(self, shape: Any) -> Any:
        """The new shape, from that of X."""
        raise NotImplementedError

    def infer(self, X: Spec) -> Spec:
        return X.with_shape(self.target(X.shape))

    def run(self, xp: Any, X: Array) -> Array:
        return X.reshape(self.target(X.shape))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reshape(dOut, shape=X.shape))


class OtherShape2(KeepsShape, OtherShape, abstract=True):
    """The same, with XShape."""

    signature = "X -> Out, XShape!~"


class Squeeze(Op, abstract=True):
    """What `squeeze` and `squeeze2` have in common.

    axes: the dimensions to drop; may count from the end. Without any, all those whose size is known
        to be 1.
    skips_others: paddle 2's form: those of axes that have another size stay.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    axes: list[int] = ()
    skips_others: bool = attr(False, edition=True)

    def target(self, shape):
        """The new shape, from that of X."""
        if not self.axes:
            return tuple(n for n in shape if n != 1)
        dropped = {normal_axis(axis, len(shape), "axes") for axis in self.axes}
        if self.skips_others:
            dropped = {axis for axis in dropped if shape[axis] in (1, -1)}
        if any(shape[axis] not in (1, -1) for axis in dropped):
            raise ShapeError(
                f"expected X to have size 1 along each of the axes {list(self.axes)}, "
                f"got shape {list(shape)}"
            )
        return tuple(n for axis, n in enumerate(shape) if axis not in dropped)


class squeeze(Squeeze, OtherShape):
    """Out = X without dimensions of size 1."""

    is_view: ClassVar[bool] = True


class squeeze2(Squeeze, OtherShape2):
    """Out = X without dimensions of size 1.

    Out: with fewer dimensions.
    """


class Flatten(Op, abstract=True):
    """What `flatten` and `flatten2` have in common.

    axis: how many of the first dimensions make up the rows; the others make up the columns.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    axis: int = 1

    def target(self, shape):
        """The new shape, from that of X."""
        if not 0 <= self.axis <= len(shape):
            raise ShapeError(
                f"expected axis from 0 to {len(shape)}, the dimensions of X, got {self.axis}"
            )
        return flat(shape, self.axis)


class flatten(Flatten, OtherShape):
    """Out = X as a matrix."""


class flatten2(Flatten, OtherShape2):
    """Out = X as a matrix."""


class flatten_contiguous_range(OtherShape2):
    """X with some neighbouring dimensions as one.

    Out: a number has shape [1].
    start_axis, stop_axis: the first and the last of them; may count from the end.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    is_view: ClassVar[bool] = True
    start_axis: int = 1
    stop_axis: int = 1

    def target(self, shape: Any) -> Any:
        if not shape:
            return (1,)
        named = {"start_axis": self.start_axis, "stop_axis": self.stop_axis}
        first, last = (normal_axis(axis, len(shape), name) for name, axis in named.items())
        if last < first:
            raise ShapeError(
                f"expected start_axis not behind stop_axis, got {self.start_axis} and "
                f"{self.stop_axis} of {len(shape)} dimensions"
            )
        return (*shape[:first], size_of(shape[first : last + 1]), *shape[last + 1 :])


class Transpose(UseMkldnn, UseQuantizer, Op, abstract=True):
    """What `transpose` and `transpose2` have in common.

    axis: the order; each dimension of X once.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    is_view: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    axis: list[int] = REQUIRED
    data_format: str = attr("AnyLayout", inert=True)

    def infer(self, X: Spec) -> Specs:
        if sorted(d % max(X.ndim, 1) for d in self.axis) != list(range(X.ndim)):
            raise ShapeError(
                f"expected axis to name each of the {X.ndim} dimensions of X once, "
                f"got {list(self.axis)} for shape {list(X.shape)}"
            )
        return X.with_shape(X.shape[d] for d in self.axis)

    @property
    def order(self) -> list[int]:
        """``axis``, counted from the first dimension."""
        return [d % len(self.axis) for d in self.axis]

    @property
    def inverse(self) -> list[int]:
        """The order that undoes ``axis``."""
        return [self.order.index(d) for d in range(len(self.axis))]

    def run(self, xp: Any, X: Array) -> Arrays:
        return xp.transpose(X, self.axis)

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue("transpose", order=tuple(self.order))


class transpose(Transpose):
    """Out = X with its dimensions in the order ``axis``: dimension i of Out is axis[i] of X."""

    signature = "X -> Out"

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.transpose(dOut, axis=self.inverse))


class transpose2(KeepsShape, Transpose):
    """X with its dimensions in the order ``axis``: dimension i of Out is dimension ``axis[i]`` of
    X.

    Out: with the sizes of X in the order ``axis``.
    """

    signature = "X -> Out, XShape!~"

    def grad(self, f: Any, XShape: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.transpose(dOut, axis=self.inverse))


class Shape(Detached, type="shape"):
    """The sizes of Input along its dimensions, as they are when the program runs.

    Out: an int32 variable with an element for each dimension.
    """

    signature = "Input! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    reads_shapes: ClassVar[bool] = True

    def infer(self, Input: Spec) -> Spec:
        return spec([Input.ndim], DType.INT32)

    def run(self, xp: Any, Input: Array) -> Array:
        return xp.asarray(Input.shape, xp.int32)


class size(OneNumber, Detached):
    """The number of elements of Input, as it is when the program runs.

    Out: an int64 variable of one element.
    """

    signature = "Input! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    reads_shapes: ClassVar[bool] = True

    def infer(self, Input: Spec) -> Spec:
        return spec(self.one, DType.INT64)

    def run(self, xp: Any, Input: Array) -> Array:
        return xp.full(self.one, size_of(Input.shape), xp.int64)
