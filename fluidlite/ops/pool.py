"""Pooling: the largest element or the average under a window that moves over an image.

A window is some rows times some columns, so pooling is done along one dimension at a time, and
volumes are pooled as images are.  The
average is a linear map and has an adjoint.  The gradient of the maximum finds the positions of the
largest elements again, and takes or puts elements there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice
from ..opdef.definition import Op
from ..opdef.spec import (
    Shape,
    Spec,
    need_float,
    need_integer,
    need_ndim,
    need_shape,
    pooled,
    window_padding,
)
from .inert_attributes import UseCudnn, UseMkldnn, UseQuantizer

#: windows and paddings are no wider; images are padded by as much
WIDEST = 2**16
#: the maximum of no elements, of every element type, as in fluid
OF_NONE = float(np.finfo("float32").min)


class WindowStep(NamedTuple):
    """How windows of one size follow each other."""

    kernel: int
    stride: int
    before: int  #: padding before the image


class AxisWindows(NamedTuple):
    """The windows along one dimension of an image.

    Where there are several and they have a step, a loop goes over the elements of the window, for
    all windows at once; else over the windows.
    """

    axis: int
    size: int  #: of the image
    ranges: list[tuple[int, int]]  #: begin and end of each window with elements, inside the image
    step: WindowStep | None  #: None where a loop over the windows is meant
    #: of the windows that lie in the padding alone, before those with elements and behind them, the
    #: numbers of elements as fluid counts them: 0, or less where they are further outside
    empty: tuple[list[int], list[int]] = ([], [])

    @property
    def lengths(self) -> list[int]:
        """How many elements each window has; 0 or less where it lies in the padding alone."""
        before, behind = self.empty
        return [*before, *(end - begin for begin, end in self.ranges), *behind]

    def around(self, xp: Any, x: Array, value: float) -> Array:
        """What windows with elements give, with a value where the others are."""
        if not any(self.empty):
            return x
        rim = [x.shape[: self.axis] + (len(k),) + x.shape[self.axis + 1 :] for k in self.empty]
        before, behind = (xp.zeros(n, dtype=x.dtype) + xp.asarray(value, x.dtype) for n in rim)
        return xp.concatenate([before, x, behind], axis=self.axis)

    def within(self, x: Array) -> Array:
        """Of what all windows give that of those with elements."""
        first = len(self.empty[0])
        return x[self.at(slice(first, first + len(self.ranges)))]

    def at(self, index: slice) -> tuple[slice, ...]:
        """The index of an image that is ``index`` along this dimension."""
        return (slice(None),) * self.axis + (index,)

    def each(self, x: Array) -> list[Array]:
        """What lies under each window."""
        return [x[self.at(slice(begin, end))] for begin, end in self.ranges]

    def under(self, k):
        """Where element ``k`` of all windows lies in the padded image."""
        stride = self.step.stride
        return self.at(slice(k, k + (len(self.ranges) - 1) * stride + 1, stride))

    def elements(self, xp, x, mode):
        """For each element of the window, what lies under it in all windows.

        Args:
            xp: the array namespace.
            x: the image.
            mode: how to pad it: "constant" zeros, or repeat its "edge".
        """
        before, after = self.padding
        if before or after:
            pads = [(0, 0)] * x.ndim
            pads[self.axis] = (before, after)
            x = xp.pad(x, pads, mode=mode)
        return [x[self.under(k)] for k in range(self.step.kernel)]

    @property
    def padding(self):
        """The padding that the windows reach into."""
        kernel, stride, before = self.step
        return before, max((len(self.ranges) - 1) * stride + kernel - before - self.size, 0)

    def reduced(self, xp: Any, x: Array, pair: Any, whole: Any, mode: str) -> Array:
        """What a function of pairs, or of whole parts, makes of the elements under each window."""
        if self.step:
            return functools.reduce(pair, self.elements(xp, x, mode))
        if not self.ranges:
            return x[self.at(slice(0, 0))]
        found = [whole(part, axis=self.axis, keepdims=True) for part in self.each(x)]
        return xp.concatenate(found, axis=self.axis)

    def sum(self, xp: Any, x: Array) -> Array:
        """The sum under each window."""
        return self.reduced(xp, x, xp.add, xp.sum, "constant")

    def spread(self, xp: Any, g: Array) -> Array:
        """The adjoint of ``sum``."""
        shape = list(g.shape)
        if self.step is None:
            shape[self.axis] = self.size
            out = xp.zeros(shape, dtype=g.dtype)
            for i, (begin, end) in enumerate(self.ranges):
                out = xp.add_at(out, self.at(slice(begin, end)), g[self.at(slice(i, i + 1))])
            return out
        before, after = self.padding
        shape[self.axis] = before + self.size + after
        out = xp.zeros(shape, dtype=g.dtype)
        for k in range(self.step.kernel):
            out = xp.add_at(out, self.under(k), g)
        return out[self.at(slice(before, before + self.size))]

    def max(self, xp: Any, x: Array) -> Array:
        """The largest element under each window."""
        return self.reduced(xp, x, xp.maximum, xp.max, "edge")

    def first_max(
        self, xp: Any, x: Array, codes: Array, span: int
    ) -> list[Array] | tuple[Array, ...]:
        """The largest element under each window, and where the first that is as large lies in it.

        Args:
            xp: the array namespace.
            x: the image.
            codes: a whole number below ``span`` for each element of it.
            span: what one element further along this dimension counts.

        Returns:
            the largest elements, and ``k * span + codes`` of each, which is its element ``k``.
        """
        if not self.ranges:
            return x[self.at(slice(0, 0))], codes[self.at(slice(0, 0))]
        if self.step is None:
            maxima = []
            for part, code in zip(self.each(x), self.each(codes)):
                k = xp.expand_dims(xp.argmax(part, axis=self.axis), self.axis)
                part, code = (xp.take_along_axis(a, k, self.axis) for a in (part, code))
                maxima.append((part, k * span + code))
            return [xp.concatenate(parts, axis=self.axis) for parts in zip(*maxima)]
        numbered = enumerate(zip(self.elements(xp, x, "edge"), self.elements(xp, codes, "edge")))
        _, (largest, places) = next(numbered)
        for k, (element, code) in numbered:
            larger = (element > largest) | ((element != element) & (largest == largest))
            largest = xp.maximum(largest, element)  # NaN is larger than any number
            # a later element has a higher number, so the maximum is a choice without branches
            places = xp.maximum(places, larger * (code + xp.asarray(k * span, dtype=codes.dtype)))
        return largest, places

    @property
    def reach(self) -> int:
        """The number of elements under the largest window."""
        if self.step:
            return self.step.kernel
        return max((end - begin for begin, end in self.ranges), default=1)

    def places(self, xp: Any, k: Array) -> Array:
        """The positions along this dimension of element ``k`` of each window."""
        if self.step is None:
            begins = [begin for begin, _ in self.ranges]
        else:
            begins = [i * self.step.stride - self.step.before for i in range(len(self.ranges))]
        along = [1] * k.ndim
        along[self.axis] = len(begins)
        places = k + xp.reshape(xp.asarray(begins, dtype="int64"), along)
        if self.step and any(self.padding):
            places = xp.minimum(xp.maximum(places, 0), self.size - 1)
        return places


class Windowed(Op, abstract=True):
    """What operators on windows over an image have in common.

    ksize: sizes of the window; with ``adaptive``, those of Out.
    global_pooling: one window, the whole image.
    strides: steps of the window along each dimension.
    paddings: a number for each dimension, or those before and after; below zero, the image is cut.
    adaptive: windows divide the image as evenly as can be.
    """

    ksize: list[int] = REQUIRED
    global_pooling: bool = False
    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0)
    adaptive: bool = False
    # of those without a choice
    ceil_mode = False
    padding_algorithm = "EXPLICIT"
    rank = 2  #: the dimensions of an image

    @property
    def axes(self) -> range:
        """The dimensions that the window moves along."""
        return range(2, self.rank + 2)

    def check(self, X: Spec) -> None:
        """Check the attributes, and that X is a batch of images."""
        need_float(X=X)
        need_ndim(self.rank + 2, X=X)
        for name in ("ksize", "strides"):
            numbers = getattr(self, name)
            unused = self.global_pooling or (self.adaptive and name == "strides")
            if not unused and (len(numbers) != self.rank or min(numbers) < 1):
                raise AttributeValueError(
                    f"expected {name} of {self.rank} numbers from 1, got {list(numbers)}"
                )
        if max(*self.ksize, *self.paddings, 0) > WIDEST:
            raise AttributeValueError(
                f"expected ksize and paddings of at most {WIDEST}, got {list(self.ksize)} and "
                f"{list(self.paddings)}"
            )

    def pooled(self, shape: Any) -> Any:
        """The shape of Out for an image of this shape."""
        out = list(shape)
        for axis, windows in zip(self.axes, self.windows(shape)):
            out[axis] = windows if isinstance(windows, int) else len(windows.lengths)
        return tuple(out)

    def windows(self, shape: Any) -> Any:
        """The windows along each dimension; only their number where the size there is unknown."""
        sizes = [shape[axis] for axis in self.axes]
        if 0 in sizes:
            raise ShapeError(f"expected images with elements to pool, got shape {list(shape)}")
        if self.global_pooling:
            return [whole(axis, size) for axis, size in zip(self.axes, sizes)]
        if self.adaptive:
            return [adaptive(*each) for each in zip(self.axes, sizes, self.ksize)]
        pads = window_padding(
            sizes, self.ksize, self.strides, self.paddings, self.padding_algorithm
        )
        return [
            moving(axis, size, WindowStep(kernel, stride, pad[0]), pad[1], self.ceil_mode)
            for axis, size, kernel, stride, pad in zip(
                self.axes, sizes, self.ksize, self.strides, pads
            )
        ]

    def max_places(self, xp: Any, X: Array) -> tuple[Any, ...]:
        """The largest element under each position of the window, and its place in the image: a
        number along each of ``axes``, of arrays that broadcast.
        """
        windows = self.windows(X.shape)
        reach = math.prod(w.reach for w in windows)
        largest, codes = X, xp.zeros(X.shape, dtype="uint8" if reach <= 256 else "int64")
        span = 1
        for w in reversed(windows):
            largest, codes = w.first_max(xp, largest, codes, span)
            span *= w.reach
        places = []
        for w in windows:
            span //= w.reach
            k = codes // span
            places.append(w.places(xp, k))
            codes = codes - k * span
        return largest, places


class Pool(Windowed, abstract=True):
    """What pooling and its adjoints have in common: the windows over an image.

    exclusive: averages count no padding.
    ceil_mode: a last window may reach beyond the padded image.
    data_format: NCHW, or NHWC for images whose channels come last; NCDHW or NDHWC for volumes.
    padding_algorithm: EXPLICIT, VALID (no padding), or SAME (ceil(size / stride) windows).
    clips: paddle 2's form: averages that are not exclusive count behind the image as much padding
        as before it, and nothing beyond.
    """

    exclusive: bool = True
    ceil_mode: bool = False
    data_format: str = "NCHW"
    padding_algorithm: str = "EXPLICIT"
    clips: bool = attr(False, edition=True)
    formats = ("NCHW", "NHWC")  #: with the channels first, and last

    @property
    def geometry(self) -> dict[str, Any]:
        """The attributes that an adjoint takes over."""
        return {name: getattr(self, name) for name in Pool.attributes}

    @property
    def axes(self) -> range:
        """The dimensions that the window moves along."""
        first = 1 if self.data_format == self.formats[1] else 2
        return range(first, first + self.rank)

    def check(self, X: Spec) -> None:
        """Check the attributes, and that X is a batch of images."""
        super().check(X)
        need_choice(self, "data_format", *self.formats, known=("AnyLayout",))

    def counts(self, xp: Any, shape: Any, dtype: Any) -> Mapping[str, Callable[[], Any]]:
        """What averages divide by, for each window."""
        counts = []
        for axis, sizes in zip(self.axes, self.divisors(shape)):
            along = [-1 if i == axis else 1 for i in range(len(shape))]
            counts.append(xp.reshape(xp.asarray(sizes, dtype=dtype), along))
        return math.prod(counts)

    def divisors(self, shape: Shape) -> list[list[int]]:
        """How many elements averages count along each dimension of an image, for each window."""
        lengths = [windows.lengths for windows in self.windows(shape)]
        if self.exclusive or self.adaptive or self.global_pooling:
            return lengths
        if not self.clips:
            return [[kernel] * len(each) for kernel, each in zip(self.ksize, lengths)]
        sizes = [shape[axis] for axis in self.axes]
        pads = window_padding(
            sizes, self.ksize, self.strides, self.paddings, self.padding_algorithm
        )
        return [
            [min(kernel, size + 2 * before - i * stride) for i in range(len(each))]
            for each, size, kernel, stride, (before, _) in zip(
                lengths, sizes, self.ksize, self.strides, pads
            )
        ]

    def within(self, f: Any, shape: Shape, values: Any) -> Any:
        """Of what all windows over images of a shape have that of those with elements."""
        windows = [w for w in self.windows(shape) if any(w.empty)]
        if not windows:
            return values
        starts = [len(w.empty[0]) for w in windows]
        ends = [start + len(w.ranges) for start, w in zip(starts, windows)]
        return f.slice(values, axes=[w.axis for w in windows], starts=starts, ends=ends)

    def kind(self, f: Any, which: str) -> Any:
        """The operator of this many dimensions that has to do with pooling."""
        return getattr(f, f"pool{self.rank}d{which}")


def whole(axis: int, size: int) -> Any:
    """One window, all of the image."""
    return 1 if size == -1 else AxisWindows(axis, size, [(0, size)], None)


def adaptive(axis: int, size: int, count: int) -> Any:
    """So many windows that divide an image as evenly as can be, and cover all of it."""
    if size == -1:
        return count
    if size % count == 0:
        return moving(axis, size, WindowStep(size // count, size // count, 0), 0, False)
    ranges = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    return AxisWindows(axis, size, ranges, None)


def moving(axis: int, size: int, step: Any, after: int, ceil_mode: bool) -> Any:
    """Windows that follow each other by a step; some may lie in the padding alone."""
    count = pooled(size, step.kernel, step.before, after, step.stride, ceil_mode)
    if count == -1:
        return count
    begins = [i * step.stride - step.before for i in range(count)]
    ranges = [(max(begin, 0), min(begin + step.kernel, size)) for begin in begins]
    filled = [(begin, end) for begin, end in ranges if begin < end]
    lengths = [end - begin for begin, end in ranges]
    front = next((i for i, length in enumerate(lengths) if length > 0), count)
    empty = (lengths[:front], lengths[front + len(filled) :])
    step = step._replace(before=step.before - front * step.stride)
    return AxisWindows(
        axis, size, filled, step if len(filled) > 1 and step.before >= 0 else None, empty
    )


class Pooling(UseCudnn, UseMkldnn, Pool, abstract=True):
    """The maximum or the average under each position of a window.

    pooling_type: max or avg.
    """

    signature = "X -> Out"
    pooling_type: str = REQUIRED

    def infer(self, X: Spec) -> Spec:
        need_choice(self, "pooling_type", "max", "avg")
        self.check(X)
        return X.with_shape(self.pooled(X.shape))

    def run(self, xp: Any, X: Array) -> Array:
        out = X
        for windows in reversed(self.windows(X.shape)):
            if self.pooling_type == "max":
                out = windows.around(xp, windows.max(xp, out), OF_NONE)
            else:
                out = windows.around(xp, windows.sum(xp, out), 0.0)
        return out if self.pooling_type == "max" else out / self.counts(xp, X.shape, X.dtype)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            if self.pooling_type == "avg":
                return self.kind(f, "_adjoint")(dOut, size=X.shape, **self.geometry)
            if not all(windows.ranges for windows in self.windows(X.shape)):
                return f.fill_zeros_like(X)
            positions = self.kind(f, "_positions")(X, **self.geometry)
            return f.put_elements(self.within(f, X.shape, dOut), positions, size=X.shape)

        return dict(X=dx)


class pool2d(UseQuantizer, Pooling):
    """Out = the maximum or the average of X under each position of a window."""

    is_test: bool = attr(False, inert=True)

    def selects_maximum(self) -> bool:
        return self.pooling_type == "max"


class PoolAdjoint(Pool, abstract=True):
    """The map from the average's Out to the cotangent of its X.

    G: the cotangent of an average.
    size: the shape of the image that was pooled.
    """

    signature = "G -> Out"
    size: list[int] = REQUIRED

    def infer(self, G: Spec) -> Specs:
        self.check(G)
        wanted = self.pooled(self.size)
        need_shape("G", G, wanted)
        return G.with_shape(self.size)

    def run(self, xp: Any, G: Any) -> Any:
        out, counts = G, self.counts(xp, self.size, G.dtype)
        for windows in self.windows(self.size):
            out, counts = windows.within(out), windows.within(counts)
        out = out / counts
        for windows in self.windows(self.size):
            out = windows.spread(xp, out)
        return out

    def grad(self, f: Any, dOut: Value) -> Rules:
        def back():
            gradient = self.kind(f, "")(dOut, pooling_type="avg", **self.geometry)
            if not all(windows.ranges for windows in self.windows(self.size)):
                return f.fill_zeros_like(gradient)
            inside = self.within(f, self.size, gradient)
            if inside is gradient:
                return gradient
            pads = [0] * (2 * len(self.size))
            for windows in self.windows(self.size):
                pads[2 * windows.axis : 2 * windows.axis + 2] = map(len, windows.empty)
            return f.pad(inside, paddings=pads)

        return dict(G=back)


class pool2d_adjoint(PoolAdjoint):
    """Out = the map from the average's Out to the cotangent of its X, at G."""


class PoolPositions(Pool, abstract=True):
    """Where the largest elements are, of the windows that have elements.

    Of several that are as large it is the first, by rows.
    """

    signature = "X -> Out"
    grad = None

    def infer(self, X: Spec) -> Spec:
        self.check(X)
        shape = list(self.pooled(X.shape))
        for axis, windows in zip(self.axes, self.windows(X.shape)):
            shape[axis] = windows if isinstance(windows, int) else len(windows.ranges)
        return X.with_shape(shape).with_dtype("int64")

    def run(self, xp: Any, X: Array) -> Array:
        _, along = self.max_places(xp, X)
        places = [
            xp.reshape(xp.arange(n), [-1 if i == a else 1 for i in range(X.ndim)])
            for a, n in enumerate(X.shape)
        ]
        for axis, place in zip(self.axes, along):
            places[axis] = place
        return sum(place * math.prod(X.shape[i + 1 :]) for i, place in enumerate(places))


class pool2d_positions(PoolPositions):
    """Out = the positions in X, flattened, of the largest element under each window."""


class take_elements(Op):
    """Out = the elements of X, flattened, at Index.

    Index: positions from 0, in any shape, which Out gets.
    """

    signature = "X, Index! -> Out"

    def infer(self, X: Spec, Index: Spec) -> Specs:
        need_integer(Index=Index)
        return X.with_shape(Index.shape)

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        return xp.reshape(X, (-1,))[xp.in_range(Index, X.size, "a position")]

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.put_elements(dOut, Index, size=X.shape))


class put_elements(Op):
    """Out = zeros of shape ``size``, with X added to their elements, flattened, at Index.

    The adjoint of ``take_elements``.

    Index: positions from 0, in the shape of X.
    size: the shape of Out.
    """

    signature = "X, Index! -> Out"
    size: list[int] = REQUIRED

    def infer(self, X: Spec, Index: Spec) -> Spec:
        need_integer(Index=Index)
        need_shape("Index", Index, X.shape)
        return X.with_shape(self.size)

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        zeros = xp.zeros(math.prod(self.size), dtype=X.dtype)
        index = xp.in_range(xp.reshape(Index, (-1,)), len(zeros), "a position")
        return xp.reshape(xp.scatter_add(zeros, index, xp.reshape(X, (-1,))), self.size)

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.take_elements(dOut, Index))
