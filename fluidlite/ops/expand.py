"""Repetition."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, agree, broadcast, need_ndim, same_dtype
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
    of_bfloat16: ClassVar[bool] = True
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
        return copies(xp, X, numbers(self.expand_times, ExpandTimes, expand_times_tensor))

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
    of_bfloat16: ClassVar[bool] = True
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
        return copies(xp, X, [m // max(n, 1) for n, m in pairs]).reshape(target_tensor.shape)

    def grad(self, f: Any, X: Value, target_tensor: Value, dOut: Value) -> Rules:
        return dict(X=lambda: sum_of_tiles(f, dOut, X.shape))


class tile(Op):
    """Out = X repeated along its dimensions, of which there may become more.

    RepeatTimes: the numbers as a vector; goes before ``repeat_times``.
    repeat_times_tensor: the numbers as one each; goes before RepeatTimes.
    repeat_times: how often, along the last dimensions of Out; -1 where only an input says.
    """

    signature = "X, RepeatTimes?!, repeat_times_tensor?*! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    repeat_times: list[int] = ()

    def infer(
        self, X: Spec, RepeatTimes: Spec | None, repeat_times_tensor: list[Spec] | None
    ) -> Spec | None:
        times = foretold(self.repeat_times, RepeatTimes, repeat_times_tensor)
        if times is None:
            return None
        if RepeatTimes is None and not repeat_times_tensor:
            self.check(times)
        return X.with_shape(repeated(*aligned(X.shape, times)))

    def check(self, times: Sequence[int]) -> None:
        """Refuse numbers below 1."""
        if any(t < 1 for t in times):
            raise ShapeError(f"expected repeat_times of at least 1, got {list(times)}")

    def run(self, xp: Any, X: Array, RepeatTimes: Any, repeat_times_tensor: Any) -> Array:
        times = numbers(self.repeat_times, RepeatTimes, repeat_times_tensor)
        self.check(times)
        shape, times = aligned(X.shape, times)
        return copies(xp, X.reshape(shape), times)

    def grad(
        self, f: Any, X: Value, dOut: Value, RepeatTimes: Value, repeat_times_tensor: Value
    ) -> Rules:
        def total():
            shape = aligned(X.shape, dOut.shape)[0]
            return f.reshape(sum_of_tiles(f, dOut, shape), shape=list(X.shape))

        return dict(X=total)


def aligned(shape: Shape, times: Sequence[int]) -> tuple[Shape, Shape]:
    """A shape and numbers for its dimensions, with as many 1 in front as the other one is longer
    by.
    """
    ndim = max(len(shape), len(times))
    return tuple((1,) * (ndim - len(each)) + tuple(each) for each in (shape, times))  # type: ignore[return-value]


class Spreading(Op, abstract=True):
    """X with its sizes of 1 stretched, and repeated along new dimensions in front."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    lod: ClassVar[str | None] = None

    def spread(self, shape: Shape, wanted: Sequence[int]) -> Shape:
        """The shape of Out.

        Args:
            shape: that of X.
            wanted: the sizes; -1 where they are unknown.

        Raises:
            ShapeError: X has a size that does not stretch to what is there.
        """
        fill = len(wanted) - len(shape)
        full = (*(1,) * max(fill, 0), *shape)
        if fill < 0 or not all(n == 1 or agree(n, m) for n, m in zip(full, wanted)):
            raise ShapeError(
                f"expected a shape that X of shape {list(shape)} stretches to, got {list(wanted)}"
            )
        return tuple(n if m == -1 and n != 1 else m for n, m in zip(full, wanted))

    def summed(self, f: Any, X: Value, dOut: Value) -> Value:
        """What flows to X."""
        return f.reshape(sum_like(f, dOut, X), shape=list(X.shape))


class expand_v2(Spreading):
    """Out = X in the shape ``shape``, with sizes of 1 stretched, and new dimensions in front.

    Shape: the shape as a vector; goes before ``shape``.
    expand_shapes_tensor: the sizes as one each; goes before Shape.
    shape: the sizes; -1 leaves that of X.
    """

    signature = "X, Shape?!, expand_shapes_tensor?*! -> Out"
    shape: list[int] = ()

    def infer(
        self, X: Spec, Shape: Spec | None, expand_shapes_tensor: list[Spec] | None
    ) -> Spec | None:
        if Shape is None and not expand_shapes_tensor:
            return X.with_shape(self.spread(X.shape, self.kept(X.shape, self.shape)))
        sizes = foretold(self.shape, Shape, expand_shapes_tensor)
        return None if sizes is None else X.with_shape(max(n, -1) for n in sizes)

    def kept(self, shape: Shape, wanted: Sequence[int]) -> Shape:
        """The sizes, those of X in place of -1."""
        fill = len(wanted) - len(shape)
        if min(wanted, default=0) < -1 or -1 in wanted[: max(fill, 0)]:
            raise ShapeError(
                f"expected sizes of at least 0, or -1 for those of X, got {list(wanted)} for X of "
                f"shape {list(shape)}"
            )
        return tuple(shape[i - fill] if m == -1 else m for i, m in enumerate(wanted))

    def run(self, xp: Any, X: Array, Shape: Any, expand_shapes_tensor: Any) -> Array:
        wanted = self.kept(X.shape, numbers(self.shape, Shape, expand_shapes_tensor))
        return xp.broadcast_to(X, self.spread(X.shape, wanted))

    def grad(
        self, f: Any, X: Value, dOut: Value, Shape: Value, expand_shapes_tensor: Value
    ) -> Rules:
        return dict(X=lambda: self.summed(f, X, dOut))


class expand_as_v2(Spreading):
    """Out = X in the shape of Y, with sizes of 1 stretched, and new dimensions in front.

    Y: its shape counts, goes before ``target_shape``.
    target_shape: the shape, where there is no Y.
    """

    signature = "X, Y?! -> Out"
    target_shape: list[int] = ()

    def infer(self, X: Spec, Y: Spec | None) -> Spec:
        return X.with_shape(self.spread(X.shape, self.target_shape if Y is None else Y.shape))

    def run(self, xp: Any, X: Array, Y: Array | None) -> Array:
        wanted = self.target_shape if Y is None else Y.shape
        return xp.broadcast_to(X, self.spread(X.shape, wanted))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: self.summed(f, X, dOut))


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


def copies(xp: Any, value: Array, times: Sequence[int]) -> Array:
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
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
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
