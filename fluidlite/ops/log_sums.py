"""Logarithms of sums of exponentials, without overflow."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, need_float, normal_axis, reduced
from .families import OneNumber


class logsumexp(OneNumber):
    """Out = the logarithm of the sum of ``exp(X)`` over ``axis``.

    axis: the dimensions; may count from the end.
    keepdim: they stay, with size 1.
    reduce_all: all dimensions, whatever ``axis`` says.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    axis: list[int] = (0,)
    keepdim: bool = False
    reduce_all: bool = False

    def axes(self, ndim: int) -> Shape:
        """The dimensions, counted from the front."""
        if self.reduce_all or not self.axis or not ndim:
            return tuple(range(ndim))
        return tuple(sorted({normal_axis(each, ndim) for each in self.axis}))

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        return X.with_shape(self.out_shape(X.shape))

    def out_shape(self, shape: Shape) -> Shape:
        """The shape of Out."""
        return (reduced(shape, self.axes(len(shape)), self.keepdim) if shape else ()) or self.one

    def run(self, xp: Any, X: Array) -> Array:
        axes = self.axes(X.ndim)
        top = xp.max(X, axis=axes, keepdims=True, initial=-np.inf)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = xp.log(xp.sum(xp.exp(X - top), axis=axes, keepdims=True)) + top
        return total if self.keepdim and X.ndim else total.reshape(self.out_shape(X.shape))

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dX():
            kept = list(reduced(X.shape, self.axes(len(X.shape)), True)) if X.shape else []
            out, slope = (f.reshape(v, shape=kept) for v in (Out, dOut))
            # nothing flows to elements whose sum is 0
            below = f.equal(out, f.fill_zeros_like(out) - np.inf)
            out = f.where(below, f.fill_zeros_like(out), out)
            return slope * f.exp(X - out)

        return dict(X=dX)


class logcumsumexp(Op):
    """Out = the logarithms of the sums of ``exp(X)`` up to each element.

    axis: along which dimension; may count from the end.
    flatten: X is made a vector first.
    exclusive: up to the element before.
    reverse: from the end.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    axis: int = -1
    flatten: bool = False
    exclusive: bool = False
    reverse: bool = False

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        if self.flatten:
            return X.with_shape((-1 if -1 in X.shape else int(np.prod(X.shape)),))
        normal_axis(self.axis, max(X.ndim, 1))
        return X

    def expand(self, f: Any, X: Value) -> Value:
        if self.flatten:
            X = f.reshape(X, shape=[-1])
        if not X.shape:
            return f.assign(X)
        axis = normal_axis(self.axis, len(X.shape))
        part = lambda v, first, last: f.slice(v, axes=[axis], starts=[first], ends=[last])
        size, out = X.shape[axis], X
        if self.exclusive and size:
            none = f.fill_zeros_like(part(X, 0, 1)) - np.inf
            ends = [part(X, 1, size), none] if self.reverse else [none, part(X, 0, size - 1)]
            out = f.concat(ends, axis=axis)
        step = 1
        while step < size:  # each one is made of twice as many elements as before
            sums = _log_of_sum(f, part(out, step, size), part(out, 0, size - step))
            if self.reverse:
                out = f.concat([sums, part(out, size - step, size)], axis=axis)
            else:
                out = f.concat([part(out, 0, step), sums], axis=axis)
            step *= 2
        return f.assign(out) if out is X else out


def _log_of_sum(f: Any, x: Value, y: Value) -> Value:
    """log(e^x + e^y)"""
    top = f.maximum(x, y)
    same = f.equal(x, y)  # infinite ones among them
    apart = f.abs(f.where(same, f.fill_zeros_like(x), x - y))
    return top + f.log1p(f.exp(-apart))
