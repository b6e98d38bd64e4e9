"""More elements around those of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, need_choice
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, need_ndim, same_dtype
from .given import numbers


def pairs_of(paddings: Any, ndim: Any, cuts: Any = False) -> Any:
    """Paddings before and after each dimension.

    Args:
        paddings: before and after, for one dimension behind the other.
        ndim: how many dimensions there are.
        cuts: whether one may be below zero.

    Raises:
        ShapeError: there is another number of them, or one is below zero.
    """
    if len(paddings) != 2 * ndim or (not cuts and any(n < 0 for n in paddings)):
        raise ShapeError(
            f"expected {2 * ndim} paddings{'' if cuts else ' of at least 0'}, two for each of "
            f"{ndim} dimensions, got {list(paddings)}"
        )
    return list(zip(paddings[::2], paddings[1::2]))


def padded(xp: Any, x: Array, pairs: list[Any], value: float) -> Array:
    """``x`` with ``value`` around it."""
    if value:
        return xp.pad(x, pairs, constant_values=value)
    sizes = [n + sum(pair) for n, pair in zip(x.shape, pairs)]
    place = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, pairs))
    return xp.add_at(xp.zeros(sizes, x.dtype), place, x)


def bordered(
    xp: Any,
    x: Array,
    pairs: list[Any] | tuple[Shape, ...],
    value: float = 0.0,
    mode: str = "constant",
) -> Array:
    """``x`` with more elements around it, and with fewer where a padding is below zero.

    The adjoint of a border of zeros is the border of the opposite numbers.
    """
    added, cut = parted(pairs)
    if mode != "constant":
        x = xp.pad(x, added, mode=mode)
    elif any(map(any, added)):
        x = padded(xp, x, added, value)
    if not any(map(any, cut)):
        return x
    return x[tuple(slice(a, n - b) for n, (a, b) in zip(x.shape, cut))]


def parted(pairs: list[Any] | tuple[Shape, ...]) -> list[Any]:
    """How many elements are added before and after each dimension, and how many are cut off."""
    return [[tuple(max(s * n, 0) for n in pair) for pair in pairs] for s in (1, -1)]


class pad(Op):
    """Out = X with ``pad_value`` before and after its elements along each dimension.

    Out: a larger variable.
    paddings: how many before and how many after, for one dimension behind the other.
    pad_value: the number that is added.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    paddings: list[int] = REQUIRED
    pad_value: float = 0.0

    def infer(self, X: Spec) -> Spec:
        pairs = zip(X.shape, pairs_of(self.paddings, X.ndim))
        return X.with_shape(-1 if n == -1 else n + sum(pair) for n, pair in pairs)

    def run(self, xp: Any, X: Any) -> Any:
        return padded(xp, X, pairs_of(self.paddings, X.ndim), self.pad_value)

    def part(self, inputs: Sequence[Spec], cuts: Sequence[slice]) -> int | str | None:
        (inner,) = inputs
        begins = self.paddings[::2]
        if all(c == slice(b, b + n, 1) for c, b, n in zip(cuts, begins, inner.shape)):
            return 0
        spans = zip(cuts, begins, inner.shape)
        outside = any(c.stop <= b or c.start >= b + n for c, b, n in spans)
        return "zero" if outside and not self.pad_value else None

    def grad(self, f: Any, dOut: Value) -> Rules:
        def inner():
            pairs = pairs_of(self.paddings, len(dOut.shape))
            sizes = [n - sum(pair) for n, pair in zip(dOut.shape, pairs)]
            return f.crop(dOut, offsets=self.paddings[::2], shape=sizes)

        return dict(X=inner)


class pad_constant_like(Op):
    """Out = Y with ``pad_value`` behind its elements until it has the shape of X.

    X: no size is below that of Y; the values do not matter.
    Y: a variable that is not larger.
    pad_value: the number that is added.
    """

    signature = "X!, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    pad_value: float = 0.0

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_dtype(X=X, Y=Y)
        pairs = list(zip(X.shape, Y.shape))
        if X.ndim != Y.ndim or any(n < m for n, m in pairs if n != -1):
            raise ShapeError(
                f"expected X to be at least as large as Y, got {list(X.shape)} and {list(Y.shape)}"
            )
        return Y.with_shape(X.shape)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        pairs = [(0, n - m) for n, m in zip(X.shape, Y.shape, strict=True)]
        return padded(xp, Y, pairs, self.pad_value)

    def grad(self, f: Any, Y: Value, dOut: Value) -> Rules:
        return dict(Y=lambda: f.crop(dOut, shape=Y.shape))


class pad2d(Op):
    """Out = images X with further rows and columns; with fewer where a padding is below zero.

    Paddings: the paddings as a tensor; goes before ``paddings``.
    paddings: how many rows above and below, and how many columns left and right.
    pad_value: what ``constant`` adds.
    mode: what is added: constant, a number; reflect, the image mirrored at its outermost elements;
        edge, these elements repeated.
    data_format: the order of the dimensions, NCHW or NHWC.
    X: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
    """

    signature = "X, Paddings?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    paddings: list[int] = REQUIRED
    pad_value: float = 0.0
    mode: str = "constant"
    data_format: str = "NCHW"

    @property
    def axes(self) -> Shape:
        """The dimensions of rows and columns."""
        return (1, 2) if self.data_format == "NHWC" else (2, 3)

    def infer(self, X: Spec, Paddings: Spec | None) -> Spec:
        need_ndim(4, X=X)
        need_choice(self, "mode", "constant", "reflect", "edge")
        need_choice(self, "data_format", "NCHW", "NHWC")
        shape = list(X.shape)
        pairs = self.pairs(shape, self.paddings) if Paddings is None else [(0, 0)] * 4
        for axis in self.axes:
            unknown = Paddings is not None or shape[axis] == -1
            shape[axis] = -1 if unknown else shape[axis] + sum(pairs[axis])
            if not unknown and shape[axis] < 1:
                raise ShapeError(f"paddings {list(self.paddings)} leave nothing of {list(X.shape)}")
        return X.with_shape(shape)

    def run(self, xp: Any, X: Any, Paddings: Any) -> Any:
        pairs = self.pairs(X.shape, numbers(self.paddings, Paddings, None))
        return bordered(xp, X, pairs, self.pad_value, self.mode)

    def grad(self, f: Any, X: Value, Paddings: Value, dOut: Value) -> Rules:
        def inner():
            pairs = self.pairs(X.shape, numbers(self.paddings, Paddings, None))
            added, cut = parted(pairs)
            flow = dOut
            if any(map(any, cut)):
                flow = f.pad(flow, paddings=[n for pair in cut for n in pair])
            for axis in self.axes:
                flow = folded(f, flow, axis, *added[axis], self.mode)
            return flow

        return dict(X=inner)

    def pairs(self, shape: Any, paddings: Any) -> Any:
        """Paddings before and after each dimension."""
        pads = [(0, 0)] * 4
        for axis, pair in zip(self.axes, pairs_of(paddings, 2, cuts=True)):
            pads[axis] = pair
            if self.mode == "reflect" and shape[axis] != -1 and max(pair) >= shape[axis]:
                raise ShapeError(
                    f"expected paddings below the size {shape[axis]} that is mirrored along axis "
                    f"{axis}, got {list(pair)}"
                )
        return pads


def folded(f: Any, g: Value, axis: int, before: int, after: int, mode: str) -> Value:
    """What flows back through the padding of one dimension.

    Args:
        f: the interpreter.
        g: the cotangent of the padded tensor.
        axis: the dimension.
        before, after: how many elements were added there.
        mode: that of `pad2d`.
    """
    size = g.shape[axis] - before - after

    def part(start, length):
        offsets = [start if i == axis else 0 for i in range(4)]
        sizes = [length if i == axis else n for i, n in enumerate(g.shape)]
        return f.crop(g, offsets=offsets, shape=sizes)

    def at(start, length, value):
        paddings = [0] * 8
        paddings[2 * axis : 2 * axis + 2] = [start, size - start - length]
        return f.pad(value, paddings=paddings)

    parts = [part(before, size)]
    sides = ((before, 0, 1, 0), (after, before + size, size - 1 - after, size - 1))
    for count, start, mirrored, outermost in sides:
        if count and mode == "reflect":
            parts.append(at(mirrored, count, f.reverse(part(start, count), axis=[axis])))
        elif count and mode == "edge":
            total = f.reduce_sum(part(start, count), dim=[axis], keep_dim=True)
            parts.append(at(outermost, 1, total))
    return f.sum(parts) if len(parts) > 1 else parts[0]
