"""Repetition."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, broadcast, need_ndim, same_dtype
from .elementwise import sum_like
from .given import foretold, numbers


class expand(Op):
    """Out = X repeated ``expand_times[i]`` times along each dimension i.

    ExpandTimes: the numbers as a vector; goes before ``expand_times``.
    expand_times_tensor: the numbers as one each; goes before ExpandTimes.
    expand_times: how often X is repeated along each dimension; -1 where only an input says.
    """

    signature = "X, ExpandTimes?!, expand_times_tensor?*! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    expand_times: list[int] = ()

    def infer(
        self, X: Spec, ExpandTimes: Spec | None, expand_times_tensor: list[Spec] | None
    ) -> Spec:
        times = foretold(self.expand_times, ExpandTimes, expand_times_tensor)
        if times is None:
            return X.with_shape((-1,) * X.ndim)
        least = 1 if ExpandTimes is None and not expand_times_tensor else -1
        if any(t == 0 or t < least for t in times):
            raise ShapeError(f"expected expand_times of at least 1, got {list(times)}")
        return X.with_shape(repeated(X.shape, times))

    def run(self, xp: Any, X: Any, ExpandTimes: Any, expand_times_tensor: Any) -> Any:
        return tile(xp, X, numbers(self.expand_times, ExpandTimes, expand_times_tensor))

    def grad(
        self, f: Any, X: Value, ExpandTimes: Value, expand_times_tensor: Value, dOut: Value
    ) -> Rules:
        return dict(X=lambda: sum_of_tiles(f, dOut, X.shape))


class expand_as(Op):
    """Out = X repeated along each dimension until it has the shape of target_tensor.

    target_tensor: its sizes are multiples of those of X; its values do not matter.
    Out: of the shape of target_tensor.
    """

    signature = "X, target_tensor! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, target_tensor: Spec) -> Spec:
        pairs = zip(X.shape, target_tensor.shape)
        if X.ndim != target_tensor.ndim or any(
            n != -1 and m != -1 and m % max(n, 1) for n, m in pairs
        ):
            raise ShapeError(
                f"expected sizes of target_tensor that are multiples of those of X, "
                f"got {list(target_tensor.shape)} for {list(X.shape)}"
            )
        return X.with_shape(target_tensor.shape)

    def run(self, xp: Any, X: Array, target_tensor: Array) -> Array:
        pairs = zip(X.shape, target_tensor.shape, strict=True)
        return tile(xp, X, [m // max(n, 1) for n, m in pairs]).reshape(target_tensor.shape)

    def grad(self, f: Any, X: Value, target_tensor: Value, dOut: Value) -> Rules:
        return dict(X=lambda: sum_of_tiles(f, dOut, X.shape))


class meshgrid(Op):
    """The coordinates of all points of a grid: ``Out[k]`` is ``X[k]`` along dimension k, repeated
    along the dimensions of the other X.

    X: a vector of coordinates for each dimension.
    Out: a variable for each dimension, whose shape has the sizes of all vectors.
    """

    signature = "X* -> Out*"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None

    def width(self, X: Spec) -> Any:
        return len(X)

    def infer(self, X: list[Spec]) -> Specs:
        for i, one in enumerate(X):
            need_ndim(1, **{f"X[{i}]": one})
        same_dtype(**{f"X[{i}]": one for i, one in enumerate(X)})
        return [one.with_shape(each.shape[0] for each in X) for one in X]

    def run(self, xp: Any, X: list[Array]) -> Arrays:
        shape = [len(one) for one in X]
        along = [[-1 if i == k else 1 for i in range(len(X))] for k in range(len(X))]
        return [xp.broadcast_to(xp.reshape(one, a), shape) for one, a in zip(X, along, strict=True)]

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def part(k):
            others = [i for i in range(len(X)) if i != k]
            return f.reduce_sum(dOut[k], dim=others) if others else dOut[k]

        return dict(X=lambda: [part(k) for k in range(len(X))])


def repeated(shape: Shape, times: Shape) -> Shape:
    """A shape after repetition; unknown numbers are -1."""
    if len(times) != len(shape):
        raise ShapeError(
            f"expected one of expand_times for each dimension of X, got {list(times)} "
            f"for shape {list(shape)}"
        )
    return tuple(-1 if -1 in (n, t) else n * t for n, t in zip(shape, times))


def tile(xp: Any, value: Array, times: list[int]) -> Array:
    """``value`` repeated along each dimension; a view where only sizes of 1 are."""
    out = tuple(n * t for n, t in zip(value.shape, times, strict=True))
    if all(n == 1 or t == 1 for n, t in zip(value.shape, times)):
        return xp.broadcast_to(value, out)
    ones = tuple(m for n in value.shape for m in (1, n))
    pairs = tuple(m for n, t in zip(value.shape, times) for m in (t, n))
    return xp.broadcast_to(value.reshape(ones), pairs).reshape(out)


def sum_of_tiles(f: Any, tiled: Any, shape: Shape) -> Any:
    """The sum of the copies of a tensor of ``shape`` that ``tiled`` consists of."""
    times = [m // n if n else 1 for m, n in zip(tiled.shape, shape)]
    several = [i for i, t in enumerate(times) if t != 1]
    if not several:
        return f.scale(tiled, scale=1.0)
    if all(shape[i] == 1 for i in several):
        return f.reduce_sum(tiled, dim=several, keep_dim=True)
    pairs = [m for n, t in zip(shape, times) for m in (t, n)]
    apart = f.reshape(tiled, shape=pairs)
    total = f.reduce_sum(apart, dim=[2 * i for i in several], keep_dim=True)
    return f.reshape(total, shape=shape)


class broadcast_tensors(Op):
    """Out[i] = X[i] in the shape that all X spread to."""

    signature = "X* -> Out*"
    lod: ClassVar[str | None] = None

    def width(self, X: list[Any]) -> int:
        return len(X)

    def infer(self, X: list[Spec]) -> Specs:
        if not X:
            raise ShapeError("expected at least one X, got none")
        shape = functools.reduce(broadcast, [x.shape for x in X])
        return [x.with_shape(shape) for x in X]

    def run(self, xp: Any, X: list[Array]) -> Arrays:
        shape = functools.reduce(broadcast, [x.shape for x in X])
        return [xp.broadcast_to(x, shape) for x in X]

    def grad(self, f: Any, X: list[Value], dOut: list[Value]) -> Rules:
        return dict(X=lambda: [sum_like(f, g, x) for g, x in zip(dOut, X)])
