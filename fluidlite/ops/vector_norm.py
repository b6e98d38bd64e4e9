"""Lengths of vectors, and vectors divided by them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Double, attr
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, need_float, normal_axis, reduced, spec
from .elementwise import indicator
from .reduce import Reduce
from .unary import power


class WholeNorm(Op, abstract=True):
    """A length of all of X, of shape [1]."""

    signature = "X -> Out"
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        return spec([1], X.dtype)


class l1_norm(WholeNorm):
    """Out = the sum of |X|."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(xp.sum(xp.abs(X), dtype=X.dtype), (1,))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.sign(X) * dOut)


class squared_l2_norm(WholeNorm):
    """Out = the sum of X^2."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(xp.sum(X * X, dtype=X.dtype), (1,))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: X * dOut * 2.0)


class norm(Op):
    """Out = X / Norm, with Norm = sqrt(the sum of X^2 along ``axis`` + ``epsilon``).

    axis: the dimension of the vectors; may count from the end.
    epsilon: keeps Norm away from 0.
    """

    signature = "X -> Norm~, Out"
    lod: ClassVar[str | None] = None
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    axis: int = REQUIRED
    epsilon: float = 1e-10

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        return X.with_dim(normal_axis(self.axis, X.ndim), 1), X

    def run(self, xp: Any, X: Array) -> Arrays:
        length = xp.sqrt(xp.sum(X * X, axis=self.axis, keepdims=True) + self.epsilon)
        return length, X / length

    def grad(self, f: Any, X: Value, Norm: Value, dOut: Value, dNorm: Value = None) -> Rules:
        def dx():
            unit = X / Norm
            along = f.reduce_sum(unit * dOut, dim=[self.axis], keep_dim=True)
            g = (dOut - unit * along) / Norm
            return g if dNorm is None else g + unit * dNorm

        return dict(X=dx)


def power_norm(xp: Any, X: Array, order: float, axis: Any, keepdims: bool) -> Array:
    """The sum of |X| to the power of ``order``, to the power of 1 / ``order``.

    For 0 that is the number of elements that are not 0; for inf the largest and for -inf the
    smallest of |X|.
    """
    size = xp.abs(X)
    if order == 0:
        return xp.asarray(xp.sum(X != 0, axis=axis, keepdims=keepdims), X.dtype)
    if math.isinf(order):
        return (xp.max if order > 0 else xp.min)(size, axis=axis, keepdims=keepdims)
    if order == 1:
        return xp.sum(size, axis=axis, dtype=X.dtype, keepdims=keepdims)
    if order == 2:
        return xp.sqrt(xp.sum(X * X, axis=axis, dtype=X.dtype, keepdims=keepdims))
    total = xp.sum(size**order, axis=axis, dtype=X.dtype, keepdims=keepdims)
    return total ** (1 / order)


def power_norm_cotangent(f: Any, X: Value, out: Value, dout: Value, order: float) -> Value:
    """The cotangent of X from that of ``power_norm``; 0 where the norm is 0.

    Args:
        out, dout: the norm and its cotangent; sizes of 1 stretch to those of X.
    """
    if order == 0:
        return f.fill_zeros_like(X)
    if order == 1:
        return f.sign(X) * dout
    if math.isinf(order):
        size = f.abs(X)
        spread = f.elementwise_add(f.fill_zeros_like(X), out)
        return f.sign(X) * indicator(f, f.equal(size, spread), X) * dout
    out = out + indicator(f, f.equal(out, f.fill_zeros_like(out)), out)
    if order == 2:
        return X * (dout / out)
    # |X|^(order - 1) has no slope at 0 below an order of 2; there sign(X) is 0, and 1 does as well
    size = f.abs(X)
    size = size + indicator(f, f.equal(size, f.fill_zeros_like(size)), size)
    return f.sign(X) * power(f, size, order - 1) * (dout * power(f, out, 1 - order))


class p_norm(Op):
    """Out = (the sum of |X|^porder along ``axis``)^(1 / porder).

    porder: 0 counts what is not 0; inf and -inf give the largest and the smallest of |X|.
    axis: the dimension of the vectors; may count from the end.
    epsilon: not read: the gradient at 0 is 0 without it.
    keepdim: the dimension stays, with size 1.
    asvector: X is one vector, whatever ``axis`` says.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    porder: float = 2.0
    axis: int = -1
    epsilon: float = 1e-12
    keepdim: bool = False
    asvector: bool = attr(False, local=True)

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        if math.isnan(self.porder):
            raise AttributeValueError(f"expected porder to be a number, got {self.porder}")
        axes = self.axes(X.ndim)
        if math.isinf(self.porder) and 0 in [X.shape[axis] for axis in axes]:
            raise ShapeError(
                f"expected an element to choose along axis={self.axis}, got X of shape "
                f"{list(X.shape)}"
            )
        out = X.with_shape(reduced(X.shape, axes, self.keepdim) if X.ndim else ())
        return out._replace(lod_level=0) if 0 in axes and not self.keepdim else out

    def axes(self, ndim: int) -> Shape:
        """The dimensions of the vectors, counted from the front."""
        return tuple(range(ndim)) if self.asvector else (normal_axis(self.axis, ndim),)

    def run(self, xp: Any, X: Array) -> Array:
        return power_norm(xp, X, self.porder, self.axes(X.ndim), self.keepdim)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            axes = self.axes(len(X.shape))
            kept = [1 if i in axes else n for i, n in enumerate(X.shape)]
            along = lambda v: v if self.keepdim else f.reshape(v, shape=kept)
            return power_norm_cotangent(f, X, along(Out), along(dOut), self.porder)

        return dict(X=dx)


class frobenius_norm(Reduce):
    """Out = the root of the sum of X^2 over ``dim``; its gradient at 0 is 0."""

    def check(self, X: Spec) -> None:
        need_float(X=X)
        if self.out_dtype != -1 and not self.out_dtype.is_float:
            raise DTypeError(f"expected out_dtype to be a float type, got {self.out_dtype}")

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        return power_norm(xp, X, 2, axis, keepdims)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            kept = (self.kept(f, v, X) for v in (Out, dOut))
            return power_norm_cotangent(f, X, *kept, 2)

        return dict(X=dx)


class renorm(Op):
    """Out = X with each slice along ``axis`` shrunk until its p-norm is at most ``max_norm``.

    p: of the norm.
    axis: the dimension of the slices; may count from the end.
    max_norm: the bound.
    """

    signature = "X -> Out"
    p: Double = REQUIRED
    axis: int = REQUIRED
    max_norm: Double = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        normal_axis(self.axis, X.ndim)
        if not self.p:
            raise AttributeValueError("expected p other than 0")
        return X

    def expand(self, f: Any, X: Value) -> Value:
        ndim = len(X.shape)
        others = [k for k in range(ndim) if k != normal_axis(self.axis, ndim)]
        powers = power(f, f.abs(X), self.p)
        powers = f.reduce_sum(powers, dim=others, keep_dim=True) if others else powers
        length = power(f, powers, 1 / self.p)
        most = f.fill_zeros_like(length) + self.max_norm
        shrunk = most / (length + 1e-7)
        factor = f.where(f.greater_than(length, most), shrunk, f.fill_any_like(length, value=1.0))
        return X * factor
