"""Maxima with their places, elements put back to such places, and pyramids of poolings."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice, need_each, need_range
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, need_float, need_integer, need_ndim, need_shape
from .elementwise import indicator
from .pool import Windowed


def flat_maps(f: Any, x: Value) -> Value:
    """Images as [sample, channel, place]."""
    return f.reshape(x, shape=[*x.shape[:2], math.prod(x.shape[2:])])


class MaxWithIndex(Windowed, abstract=True):
    """The maximum under each position of a window, and where it is.

    Mask: the number of the element in its image, by rows; of several that are as large the first.
    """

    signature = "X -> Out, Mask!"
    lod: ClassVar[str | None] = None
    use_cudnn: bool = attr(False, inert=True, local=True)

    def infer(self, X: Spec) -> Specs:
        self.check(X)
        self.need_elements(X)
        out = X.with_shape(self.pooled(X.shape))
        return out, out.with_dtype(DType.INT32)

    def need_elements(self, X: Array) -> None:
        """Check that every window has an element, whose place Mask can tell."""
        for windows in self.windows(X.shape):
            if not isinstance(windows, int) and any(windows.empty):
                raise ShapeError(
                    f"expected windows with elements, got some of {list(self.ksize)} in the "
                    f"padding of {list(self.paddings)} alone: images are {list(X.shape)}"
                )

    def run(self, xp, X):
        self.need_elements(X)
        largest, places = self.max_places(xp, X)
        mask = 0
        for place, size in zip(places, X.shape[2:]):
            mask = mask * size + place
        return largest, mask.astype("int32")

    def grad(self, f: Any, X: Value, Mask: Value, dOut: Value) -> Rules:
        def dx():
            size = math.prod(X.shape[2:])
            spread = f.add_along(flat_maps(f, Mask), flat_maps(f, dOut), axis=2, size=size)
            return f.reshape(spread, shape=X.shape)

        return dict(X=dx)


class max_pool2d_with_index(MaxWithIndex):
    """Out = the maximum of X under each position of a window."""


class max_pool3d_with_index(MaxWithIndex):
    """Out = the maximum of X under each position of a window over volumes."""

    rank = 3
    strides: list[int] = (1, 1, 1)
    paddings: list[int] = (0, 0, 0)


class Unpooling(Op, abstract=True):
    """Out = zeros, and the elements of X where Indices says: max pooling undone.

    ksize, strides, paddings: of the pooling, which made ``height`` of
        ``(height - 1) * stride - 2 * padding + ksize``.
    """

    signature = "X, Indices! -> Out"
    lod: ClassVar[str | None] = None
    ksize: list[int] = REQUIRED
    strides: list[int] = ()
    paddings: list[int] = ()
    output_size: list[int] = attr((), local=True)
    rank: ClassVar[int] = 2

    def infer(self, X: Spec, Indices: Spec) -> Specs:
        need_float(X=X)
        need_ndim(self.rank + 2, X=X)
        need_integer(Indices=Indices)
        need_shape("Indices", Indices, X.shape, "as X")
        need_choice(self, "unpooling_type", "max")
        need_choice(self, "data_format", "NCHW" if self.rank == 2 else "NCDHW")
        need_each(self, self.rank, 1, "ksize", "strides")
        need_each(self, self.rank, 0, "paddings")
        return X.with_shape(self.unpooled(X.shape))

    def unpooled(self, shape: Shape) -> Shape:
        """The shape of Out."""
        if any(self.output_size):
            need_each(self, self.rank, 1, "output_size")
            return (*shape[:2], *self.output_size)
        sizes = [
            -1 if n == -1 else (n - 1) * stride - 2 * pad + k
            for n, k, stride, pad in zip(shape[2:], self.ksize, self.strides, self.paddings)
        ]
        if any(n != -1 and n < 1 for n in sizes):
            raise ShapeError(
                f"expected images of at least one element, ksize={list(self.ksize)}, "
                f"strides={list(self.strides)} and paddings={list(self.paddings)} make them "
                f"{sizes}"
            )
        return (*shape[:2], *sizes)

    def run(self, xp: Any, X: Array, Indices: Array) -> Array:
        shape = self.unpooled(X.shape)
        places = flat_places(xp, Indices, math.prod(shape[2:]))
        zeros = xp.zeros(math.prod(shape), X.dtype)
        return xp.reshape(xp.scatter_set(zeros, places, xp.reshape(X, -1)), shape)

    def grad(self, f: Any, X: Value, Indices: Value, dOut: Value, Out: Value = None) -> Rules:
        def dx():
            stays = f.is_last_in_map(Indices, size=math.prod(dOut.shape[2:]))
            taken = f.take_along(flat_maps(f, dOut), flat_maps(f, Indices), axis=2)
            return f.reshape(taken, shape=X.shape) * indicator(f, stays, dOut)

        return dict(X=dx)


class unpool(Unpooling):
    """Out = zeros, and the elements of X where Indices says: max pooling undone.

    Indices: numbers of elements of an image of Out, by rows; of those named twice the last stays.
    unpooling_type: max.
    output_size: height and width of Out; 0 where they follow from the pooling.
    data_format: NCHW.
    """

    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0)
    unpooling_type: str = REQUIRED
    output_size: list[int] = attr((0, 0), local=True)
    data_format: str = attr("NCHW", local=True)


class unpool3d(Unpooling):
    """Out = zeros, and the elements of volumes X where Indices says: max pooling undone.

    Indices: numbers of elements of a volume of Out, by planes and rows; of those named twice the
        last stays.
    unpooling_type: max.
    output_size: depth, height and width of Out; 0 where they follow from the pooling.
    data_format: NCDHW.
    """

    rank: ClassVar[int] = 3
    unpooling_type: str = "max"
    strides: list[int] = (1, 1, 1)
    paddings: list[int] = (0, 0, 0)
    output_size: list[int] = (0, 0, 0)
    data_format: str = "NCDHW"


class is_last_in_map(Op):
    """Out = whether no later element of the same image of Index is as large.

    Index: numbers below ``size``, in images [sample, channel, row, column].
    size: the bound of the numbers.
    """

    signature = "Index! -> Out"
    size: int = REQUIRED
    grad = None

    def infer(self, Index: Spec) -> Specs:
        need_integer(Index=Index)
        return Index.with_dtype(DType.BOOL)

    def run(self, xp: Any, Index: Array) -> Array:
        places = flat_places(xp, Index, self.size)
        numbers = xp.arange(len(places))
        count = self.size * math.prod(Index.shape[:2])
        last = xp.scatter_set(xp.zeros(count, numbers.dtype), places, numbers)
        return xp.reshape(last[places] == numbers, Index.shape)


def flat_places(xp: Any, index: Array, size: int) -> Array:
    """Numbers within images as numbers within all of them, in one dimension."""
    maps = xp.arange(math.prod(index.shape[:2]), dtype="int64")
    each = math.prod(index.shape[2:])
    index = xp.reshape(xp.in_range(index, size, "an index"), (len(maps), each))
    return xp.reshape(maps[:, None] * size + index, -1)


class spp(Op):
    """Out = X pooled over 1, 4, 16, ... windows that cover its images, side by side.

    (He, Zhang, Ren and Sun, Spatial pyramid pooling, ECCV 2014.)

    pyramid_height: how many poolings there are.
    pooling_type: max or avg.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    pyramid_height: int = REQUIRED
    pooling_type: str = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        need_range(self, 1, 16, "pyramid_height")
        need_choice(self, "pooling_type", "max", "avg")
        n, c, *sizes = X.shape
        if -1 not in sizes:
            self.geometries(X.shape)
        windows = sum(4**k for k in range(self.pyramid_height))
        return X.with_shape((n, -1 if c == -1 else c * windows))

    def geometries(self, shape: Shape) -> list[Any]:
        """The windows of each pooling."""
        geometries = []
        for k in range(self.pyramid_height):
            bins = 2**k
            sizes = [-(-n // bins) for n in shape[2:]]
            pads = [(size * bins - n + 1) // 2 for size, n in zip(sizes, shape[2:])]
            if any(size == 0 or pad >= size for size, pad in zip(sizes, pads)):
                raise ShapeError(
                    f"expected images of which each of {bins} x {bins} windows covers a part, got "
                    f"X of shape {list(shape)} with pyramid_height={self.pyramid_height}"
                )
            geometries.append(dict(ksize=sizes, strides=sizes, paddings=pads))
        return geometries

    def expand(self, f: Any, X: Value) -> Value:
        parts = [
            f.pool2d(X, pooling_type=self.pooling_type, exclusive=True, **windows)
            for windows in self.geometries(X.shape)
        ]
        return f.concat([f.flatten(p, axis=1) for p in parts], axis=1)

    def grad(self, f: Any, X: Value, dOut: Value, Out: Value = None) -> Rules:
        def dx():
            n, c = X.shape[:2]
            sides = [2**k for k in range(self.pyramid_height)]
            flows = f.split(dOut, sections=[c * side * side for side in sides], axis=1)
            flows = flows if isinstance(flows, list) else [flows]
            total = []
            for side, flow, windows in zip(sides, flows, self.geometries(X.shape)):
                flow = f.reshape(flow, shape=[n, c, side, side])
                if self.pooling_type == "avg":
                    total.append(f.pool2d_adjoint(flow, size=X.shape, **windows))
                else:
                    positions = f.pool2d_positions(X, **windows)
                    total.append(f.put_elements(flow, positions, size=X.shape))
            return f.sum(total)

        return dict(X=dx)
