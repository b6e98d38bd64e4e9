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
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    surrounds: ClassVar[bool] = True
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


class Bordering(Op, abstract=True):
    """Images or volumes with more elements around them; with fewer where a padding is below zero.

    Paddings: the paddings as a tensor; goes before ``paddings``.
    """

    signature = "X, Paddings?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    paddings: list[int] = REQUIRED
    layouts: ClassVar[tuple[str, str]] = ("NCHW", "NHWC")
    modes: ClassVar[dict[str, str]] = {}  #: mode -> NumPy's name of it
    mode: str = "constant"

    @property
    def axes(self) -> Shape:
        """The dimensions that grow, in the order of their paddings."""
        raise NotImplementedError

    @property
    def added_value(self) -> float:
        """What ``constant`` adds."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """NumPy's name of the mode."""
        return self.modes[self.mode]

    def infer(self, X: Spec, Paddings: Spec | None) -> Spec:
        need_ndim(len(self.layouts[0]), X=X)
        need_choice(self, "mode", *self.modes)
        need_choice(self, "data_format", *self.layouts)
        shape = list(X.shape)
        pairs = [(0, 0)] * X.ndim if Paddings is not None else self.pairs(shape, self.paddings)
        for axis in self.axes:
            unknown = Paddings is not None or shape[axis] == -1
            shape[axis] = -1 if unknown else shape[axis] + sum(pairs[axis])
            if not unknown and shape[axis] < 1:
                raise ShapeError(f"paddings {list(self.paddings)} leave nothing of {list(X.shape)}")
        return X.with_shape(shape)

    def run(self, xp: Any, X: Any, Paddings: Any) -> Any:
        pairs = self.pairs(X.shape, numbers(self.paddings, Paddings, None))
        return bordered(xp, X, pairs, self.added_value, self.kind)

    def grad(self, f: Any, X: Value, Paddings: Value, dOut: Value) -> Rules:
        def inner():
            pairs = self.pairs(X.shape, numbers(self.paddings, Paddings, None))
            added, cut = parted(pairs)
            flow = dOut
            if any(map(any, cut)):
                flow = f.pad(flow, paddings=[n for pair in cut for n in pair])
            for axis in self.axes:
                flow = folded(f, flow, axis, *added[axis], self.kind)
            return flow

        return dict(X=inner)

    def pairs(self, shape: Any, paddings: Any) -> Any:
        """Paddings before and after each dimension."""
        pads = [(0, 0)] * len(shape)
        for axis, pair in zip(self.axes, pairs_of(paddings, len(self.axes), cuts=True)):
            pads[axis] = pair
            if self.mode == "reflect" and shape[axis] != -1 and max(pair) >= shape[axis]:
                raise ShapeError(
                    f"expected paddings below the size {shape[axis]} that is mirrored along axis "
                    f"{axis}, got {list(pair)}"
                )
        return pads


class pad2d(Bordering):
    """Out = images X with further rows and columns; with fewer where a padding is below zero.

    paddings: how many rows above and below, and how many columns left and right.
    pad_value: what ``constant`` adds.
    mode: what is added: constant, a number; reflect, the image mirrored at its outermost elements;
        edge, these elements repeated.
    data_format: the order of the dimensions, NCHW or NHWC.
    X: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
    """

    pad_value: float = 0.0
    mode: str = "constant"
    data_format: str = "NCHW"
    modes: ClassVar[dict[str, str]] = {kind: kind for kind in ("constant", "reflect", "edge")}

    @property
    def axes(self) -> Shape:
        return (1, 2) if self.data_format == "NHWC" else (2, 3)

    @property
    def added_value(self) -> float:
        return self.pad_value


class pad3d(Bordering):
    """Out = volumes X with further columns, rows and planes; with fewer where a padding is below
    zero.

    paddings: how many columns left and right, how many rows above and below, and how many planes in
        front and behind.
    mode: what is added: constant, a number; reflect, the volume mirrored at its outermost elements;
        replicate, these elements repeated; circular, the volume over again.
    value: what ``constant`` adds.
    data_format: the order of the dimensions, NCDHW or NDHWC.
    X: volumes, [N, C, D, H, W], or [N, D, H, W, C] with ``data_format`` NDHWC.
    """

    mode: str = "constant"
    value: float = 0.0
    data_format: str = "NCDHW"
    layouts: ClassVar[tuple[str, str]] = ("NCDHW", "NDHWC")
    modes: ClassVar[dict[str, str]] = {
        "constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap",
    }  # fmt: skip

    @property
    def axes(self) -> Shape:
        return (3, 2, 1) if self.data_format == "NDHWC" else (4, 3, 2)

    @property
    def added_value(self) -> float:
        return self.value


def folded(f: Any, g: Value, axis: int, before: int, after: int, kind: str) -> Value:
    """What flows back through the padding of one dimension.

    Args:
        f: the interpreter.
        g: the cotangent of the padded tensor.
        axis: the dimension.
        before, after: how many elements were added there.
        kind: NumPy's name of the mode.
    """
    ndim, size = len(g.shape), g.shape[axis] - before - after

    def part(start, length):
        offsets = [start if i == axis else 0 for i in range(ndim)]
        sizes = [length if i == axis else n for i, n in enumerate(g.shape)]
        return f.crop(g, offsets=offsets, shape=sizes)

    def at(start, length, value):
        paddings = [0] * 2 * ndim
        paddings[2 * axis : 2 * axis + 2] = [start, size - start - length]
        return f.pad(value, paddings=paddings)

    if kind == "wrap":
        begins = sorted({0, *range(before % size, g.shape[axis], size)})
        ends = [*begins[1:], g.shape[axis]]
        parts = [
            at((begin - before) % size, end - begin, part(begin, end - begin))
            for begin, end in zip(begins, ends)
        ]
        return f.sum(parts) if len(parts) > 1 else parts[0]
    parts = [part(before, size)]
    sides = ((before, 0, 1, 0), (after, before + size, size - 1 - after, size - 1))
    for count, start, mirrored, outermost in sides:
        if count and kind == "reflect":
            parts.append(at(mirrored, count, f.reverse(part(start, count), axis=[axis])))
        elif count and kind == "edge":
            total = f.reduce_sum(part(start, count), dim=[axis], keep_dim=True)
            parts.append(at(outermost, 1, total))
    return f.sum(parts) if len(parts) > 1 else parts[0]
