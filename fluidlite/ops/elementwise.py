"""Arithmetic on two tensors, element by element, and how they are aligned."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import DTypeError
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.values import SelectedRows
from ..kernels.samples_last import SamplesLast
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import attr
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex, is_complex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.prepared import Prepared
from ..opdef.spec import (
    Shape,
    Spec,
    broadcast,
    known,
    need_float,
    need_integer,
    need_numbers,
    need_shape,
    same_dtype,
    size_of,
)
from ..opdef.structure import Epilogue
from .inert_attributes import UseMkldnn


def aligned(shape: Shape, ndim: int, axis: int) -> Shape:
    """``shape`` between dimensions of 1, so that it starts at ``axis`` of ``ndim`` dimensions.

    With ``axis`` -1 it ends where they end.  Where it would reach beyond, it loses dimensions of 1.
    """
    if len(shape) == ndim:
        return tuple(shape)
    lead = ndim - len(shape) if axis == -1 else axis
    inside = tuple(shape[: ndim - lead])
    return (1,) * lead + inside + (1,) * (ndim - lead - len(inside))


def align(xp: Any, X: Array, Y: Array, axis: int) -> Arrays:
    """X and Y with shapes that broadcast as arrays do."""
    if axis == -1 or X.ndim == Y.ndim:
        return X, Y
    if X.ndim > Y.ndim:
        return X, xp.reshape(Y, aligned(Y.shape, X.ndim, axis))
    return xp.reshape(X, aligned(X.shape, Y.ndim, axis)), Y


def following(function: str, x: Spec, y: Spec, axis: int) -> Any:
    """The epilogue that combines each element of X with one of Y."""
    if len(y.shape) > len(x.shape):
        return None
    return Epilogue(function, shape=aligned(y.shape, len(x.shape), axis))


def aligned_ufunc(ufunc: Any, X: Spec, Y: Spec, axis: int) -> Any:
    """A ufunc prepared for operands of these specs, aligned at ``axis``."""
    if X.kind is not Kind.LOD_TENSOR or Y.kind is not Kind.LOD_TENSOR:
        return None
    if axis == -1 or X.ndim == Y.ndim:
        return Prepared(ufunc, out=True, over=(0, 1))
    if X.ndim < Y.ndim:
        return None
    shape = () if size_of(Y.shape) == 1 else aligned(Y.shape, X.ndim, axis)
    if shape and shape[X.ndim - Y.ndim :] == Y.shape:
        return Prepared(ufunc, out=True, over=(0, 1))
    return Prepared(lambda x, y, out=None: ufunc(x, y.reshape(shape), out=out), out=True, over=(0,))


def per_channel_ufunc(ufunc: Any, X: Spec, Y: Spec) -> Any:
    """A ufunc prepared for images and a number for each of their channels; None for others."""
    is_image = X.kind is Kind.LOD_TENSOR and X.ndim > 2 and 0 not in X.shape and X.dtype.is_float
    if not is_image or X.with_shape((*X.shape[:2], *[1] * (X.ndim - 2))) != Y:
        return None
    last = SamplesLast(X.shape)

    def run(x: Any, y: Any, out: Any = None) -> Any:
        if not last.holds(x):
            return ufunc(x, y, out=out)
        result, lines = last.new(out, x.dtype)
        ufunc(last.lined(x), last.repeated(y.reshape(X.shape[:2]).T), out=lines)
        return result

    return Prepared(run, out=True, over=(0,))


def as_real_as(f: Any, g: Any, like: Any) -> Any:
    """What flows back, or the real part of it where ``like`` is real: so much of a complex result
    depends on it.

    Args:
        f: the interpreter, or an array namespace.
        g: what flows back.
        like: what it flows to.
    """
    return f.real(g) if is_complex(g) and not is_complex(like) else g


def sum_like(f: Any, g: Any, like: Any, axis: int = -1) -> Any:
    """``g`` summed over the dimensions along which ``like`` was broadcast."""
    g = as_real_as(f, g, like)
    shape = tuple(like.shape)
    if tuple(g.shape) == shape:
        return g
    full = aligned(shape, len(g.shape), axis)
    dims = [i for i, n in enumerate(full) if n == 1 and g.shape[i] != 1]
    left = tuple(n for i, n in enumerate(full) if i not in dims)
    if dims and left and left == shape:
        return f.reduce_sum(g, dim=dims)
    g = f.reduce_sum(g, dim=dims, keep_dim=True) if dims else g
    return f.reshape(g, shape=list(shape)) if tuple(g.shape) != shape else g


def sum_to(xp: Any, g: Array, shape: Shape, axis: int) -> Array:
    """The same on arrays."""
    if g.shape == shape:
        return g
    full = aligned(shape, g.ndim, axis)
    dims = tuple(i for i, n in enumerate(full) if n == 1 and g.shape[i] != 1)
    found = xp.add.reduce(g, axis=dims) if dims else g
    return found if found.shape == shape else found.reshape(shape)


def indicator(f: Any, condition: Value, like: Any) -> Value:
    """1 where a condition holds and 0 elsewhere, in the element type of ``like``."""
    return f.cast(condition, in_dtype=condition.dtype, out_dtype=like.dtype)


def product_dtype(X: Spec, Y: Spec) -> DType:
    """The element type of what X and Y make: real numbers beside complex ones become complex."""
    if X.dtype.is_complex != Y.dtype.is_complex and X.dtype.is_continuous and Y.dtype.is_continuous:
        return as_dtype(np.promote_types(X.dtype, Y.dtype))
    same_dtype(X=X, Y=Y)
    return X.dtype


class Elementwise(UseMkldnn, Op, abstract=True):
    """An operator on pairs of elements.

    axis: the dimension of the operand with more dimensions at which the other one starts; with -1
        their last dimensions meet.  Sizes of 1 stretch.
    """

    signature = "X, Y -> Out"
    axis: int = -1
    x_data_format: str = attr("", inert=True)
    y_data_format: str = attr("", inert=True)

    def infer(self, X: Spec, Y: Spec) -> Spec:
        dtype = product_dtype(X, Y)
        if dtype is DType.BOOL:
            raise DTypeError(f"expected numbers, got X and Y of type {dtype}")
        return X.with_dtype(dtype).with_shape(broadcast(X.shape, Y.shape, self.axis))

    def run(self, xp, X, Y):
        return getattr(xp, self.ufunc.__name__)(*align(xp, X, Y, self.axis))

    def prepare(self, X: Spec, Y: Spec) -> Prepared | None:
        if self.ufunc is None:
            return None
        per_channel = per_channel_ufunc(self.ufunc, X, Y)
        return per_channel or aligned_ufunc(self.ufunc, X, Y, self.axis)

    def likewise(self, f: Any, X: Any, Y: Any, dX: Any, dY: Any) -> dict[str, Any]:
        """A rule's result from functions that give the cotangents in the shape of Out."""
        return dict(
            X=lambda: sum_like(f, dX(), X, self.axis), Y=lambda: sum_like(f, dY(), Y, self.axis)
        )


class elementwise_add(Elementwise):
    """``X + Y``, for each element."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    ufunc: ClassVar[Callable[..., Any] | None] = np.add

    whole: ClassVar[bool] = False

    def epilogue(self, x: Spec, y: Spec) -> Epilogue | None:
        return following("add", x, y, self.axis)

    def grad_numpy(self, xp: Any, X: Array, Y: Array, dOut: Array) -> Arrays:
        return {
            slot: lambda like=like: sum_to(xp, as_real_as(xp, dOut, like), like.shape, self.axis)
            for slot, like in (("X", X), ("Y", Y))
        }

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return self.likewise(f, X, Y, lambda: dOut, lambda: dOut)


class grad_add(elementwise_add):
    """Out = X + Y, what gradients of two orders of a value come to."""


class elementwise_sub(Elementwise):
    """``X - Y``, for each element."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    ufunc: ClassVar[Callable[..., Any] | None] = np.subtract

    def epilogue(self, x: Spec, y: Spec) -> Epilogue | None:
        return following("subtract", x, y, self.axis)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return self.likewise(f, X, Y, lambda: dOut, lambda: -dOut)


class minus(Op):
    """Out = X - Y, of one shape."""

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, numbers=("X", "Y"))
    ufunc: ClassVar[Callable[..., Any] | None] = np.subtract

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_dtype(X=X, Y=Y)
        need_shape("Y", Y, X.shape, "as X")
        return X.with_shape(map(known, X.shape, Y.shape))

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.scale(dOut, scale=1.0), Y=lambda: f.scale(dOut, scale=-1.0))


class elementwise_mul(Elementwise):
    """``X * Y``, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True

    ufunc: ClassVar[Callable[..., Any] | None] = np.multiply
    fluid: ClassVar[FluidForm] = FluidForm(rows=("X",))

    def epilogue(self, x: Spec, y: Spec) -> Epilogue | None:
        return following("multiply", x, y, self.axis)

    def infer(self, X: Spec, Y: Spec) -> Spec:
        found = super().infer(X, Y)
        return found if size_of(Y.shape) == 1 else found._replace(kind=Kind.LOD_TENSOR)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        if isinstance(X, SelectedRows):
            if Y.size == 1:
                return X.with_value(xp.multiply(X.value, xp.reshape(Y, (1,))))
            X = X.to_dense()
        return xp.multiply(*align(xp, X, Y, self.axis))

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        times = lambda v: f.elementwise_mul(dOut, v, axis=self.axis)
        return self.likewise(f, X, Y, lambda: times(Y), lambda: times(X))


class elementwise_div(Elementwise):
    """``X / Y``, for each element, rounded towards zero for integers."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        X, Y = align(xp, X, Y, self.axis)
        return truncated_quotient(xp, X, Y) if X.dtype.kind in "iu" else X / Y

    def prepare(self, X: Spec, Y: Spec) -> Prepared | None:
        return aligned_ufunc(np.divide, X, Y, self.axis) if X.dtype.is_float else None

    def grad(self, f: Any, X: Value, Y: Value, Out: Value, dOut: Value) -> Rules:
        over = lambda g: f.elementwise_div(g, Y, axis=self.axis)
        return self.likewise(f, X, Y, lambda: over(dOut), lambda: over(-dOut * Out))


class Chosen(Elementwise, abstract=True):
    """One of two elements; where they are equal the gradient goes to Y."""

    of_bfloat16: ClassVar[bool] = True
    wins: ClassVar[tuple[str, str]]  #: the comparisons that hold where X and Y are chosen

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        def where(wins):
            return dOut * indicator(f, getattr(f, wins)(X, Y, axis=self.axis), dOut)

        return self.likewise(f, X, Y, *(functools.partial(where, each) for each in self.wins))


class elementwise_max(Chosen):
    """The larger of X and Y, for each element; where they are equal the gradient goes to Y."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.maximum
    wins = "greater_than", "less_equal"


class elementwise_min(Chosen):
    """The smaller of X and Y, for each element; where they are equal the gradient goes to Y."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.minimum
    wins = "less_than", "greater_equal"


class Shared(Elementwise, abstract=True):
    """One of two elements; where they are equal, each gets half of the gradient."""

    wins = ""  #: the comparison that holds where X is chosen and differs from Y

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        def share(winner, loser):
            half = indicator(f, f.equal(X, Y, axis=self.axis), dOut) * 0.5
            chosen = getattr(f, self.wins)(winner, loser, axis=self.axis)
            return dOut * (indicator(f, chosen, dOut) + half)

        return self.likewise(f, X, Y, lambda: share(X, Y), lambda: share(Y, X))


class maximum(Shared):
    """Out = max(X, Y); where they are equal, each gets half of the gradient."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.maximum
    wins = "greater_than"


class minimum(Shared):
    """Out = min(X, Y); where they are equal, each gets half of the gradient."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.minimum
    wins = "less_than"


class elementwise_pow(Elementwise):
    """Out = X to the power of Y, rounded towards zero for integers."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        X, Y = align(xp, X, Y, self.axis)
        return integer_power(xp, X, Y) if X.dtype.kind == "i" else X**Y

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        """At X = 0 the terms X^(Y-1) Y and X^Y log X are continued by 0 instead of 0 * inf."""
        times = lambda a, b: f.elementwise_mul(a, b, axis=self.axis)
        power = lambda a, b: f.elementwise_pow(a, b, axis=self.axis)
        zero = lambda v: indicator(f, v == 0.0, dOut)

        def dx():
            exponent = f.elementwise_add(times(zero(X), zero(Y)), Y - 1.0, axis=self.axis)
            return dOut * times(power(X, exponent), Y)

        return self.likewise(f, X, Y, dx, lambda: dOut * times(power(X, Y), f.log(X + zero(X))))


class elementwise_mod(Elementwise):
    """The remainder of ``X / Y``, with the sign of X for integers and that of Y for floats.

    floored: paddle 2's form: the sign of Y for integers, too.
    """

    fluid: ClassVar[FluidForm] = FluidForm(lacks_gradient=True)
    grad = None
    floored: bool = attr(False, edition=True)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        X, Y = align(xp, X, Y, self.axis)
        truncates = X.dtype.kind == "i" and not self.floored
        return xp.fmod(X, Y) if truncates else xp.mod(X, Y)


class elementwise_floordiv(Elementwise):
    """``X / Y`` of integers, rounded towards zero, for each element.

    X: a variable of integers.
    floored: paddle 2's form: of any numbers, rounded down.
    """

    grad = None
    of_bfloat16: ClassVar[bool] = True
    floored: bool = attr(False, edition=True)

    def infer(self, X: Spec, Y: Spec) -> Specs:
        if not self.floored:
            need_integer(X=X, Y=Y)
        return super().infer(X, Y)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        x, y = align(xp, X, Y, self.axis)
        return xp.floor_divide(x, y) if self.floored else truncated_quotient(xp, x, y)


class floor_divide(Elementwise):
    """Out = X / Y, rounded down."""

    of_bfloat16: ClassVar[bool] = True
    ufunc: ClassVar[Callable[..., Any] | None] = np.floor_divide
    grad = None


class remainder(Elementwise):
    """Out = X less the multiple of Y that is next below: it has the sign of Y."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.remainder

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        quotient = lambda: f.floor_divide(X, Y, axis=self.axis)
        return self.likewise(f, X, Y, lambda: dOut, lambda: -dOut * quotient())


class arctan2(Elementwise):
    """Out = the angle of the point (Y, X) seen from the origin: X is its height, Y its distance."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.arctan2

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X, Y=Y)
        return super().infer(X, Y)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        times = lambda a, b: f.elementwise_mul(a, b, axis=self.axis)
        part = lambda v: f.elementwise_div(
            times(dOut, v), f.elementwise_add(X * X, Y * Y, axis=self.axis), axis=self.axis
        )
        return self.likewise(f, X, Y, lambda: part(Y), lambda: -part(X))


class atan2(Op):
    """Out = the angle of the point (X2, X1) seen from the origin.

    X1: its height.
    X2: its distance to the right.
    """

    signature = "X1, X2 -> Out"

    def infer(self, X1: Spec, X2: Spec) -> Specs:
        need_float(X1=X1, X2=X2)
        same_dtype(X1=X1, X2=X2)
        return X1.with_shape(broadcast(X1.shape, X2.shape))

    def expand(self, f: Any, X1: Value, X2: Value) -> Value:
        return f.arctan2(X1, X2)


class lerp(Op):
    """Out = X + Weight (Y - X); shapes spread over each other's.

    Weight: 0 for X, 1 for Y, or what is between.
    """

    signature = "X, Y, Weight -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec, Y: Spec, Weight: Spec) -> Specs:
        specs = dict(X=X, Y=Y, Weight=Weight)
        need_float(**specs)
        same_dtype(**specs)
        return X.with_shape(broadcast(broadcast(X.shape, Y.shape), Weight.shape))

    def expand(self, f: Any, X: Value, Y: Value, Weight: Value) -> Value:
        return X + Weight * (Y - X)


class Paired(Op, abstract=True):
    """An operator of paddle 2 on pairs of elements; shapes spread over each other's."""

    signature = "X, Y -> Out"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_dtype(X=X, Y=Y)
        need_numbers("X", X)
        return X.with_shape(broadcast(X.shape, Y.shape))


class OfNumbers(Paired, abstract=True):
    """One of two elements, the one that is a number where the other one is none; where they are
    equal the gradient goes to X.
    """

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        chosen = lambda: indicator(f, f.equal(getattr(f, self.type)(X, Y), X), dOut)
        return dict(
            X=lambda: sum_like(f, dOut * chosen(), X),
            Y=lambda: sum_like(f, dOut * (1.0 - chosen()), Y),
        )


class elementwise_fmax(OfNumbers):
    """The larger of X and Y, for each element, or the one that is a number."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.fmax


class elementwise_fmin(OfNumbers):
    """The smaller of X and Y, for each element, or the one that is a number."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.fmin


class elementwise_heaviside(Paired):
    """0 where X is negative, 1 where it is positive, and Y where it is 0."""

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return xp.where(X == 0, Y, xp.asarray(X > 0, Y.dtype))

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.fill_zeros_like(X),
            Y=lambda: sum_like(f, dOut * indicator(f, X == 0.0, dOut), Y),
        )


def truncated_quotient(xp: Any, X: Array, Y: Array) -> Array:
    """X / Y of integers without its fraction."""
    return (X - xp.fmod(X, Y)) // Y


def integer_power(xp: Any, X: Array, Y: Array) -> Array:
    """X to the power of Y of integers without its fraction: mostly 0 for negative Y."""
    out = X ** xp.abs(Y)
    return xp.where((Y >= 0) | (xp.abs(out) == 1), out, 0)
