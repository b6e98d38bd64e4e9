"""Elements of images moved between channels, places and frames; windows laid out in columns.

All of these are linear and move or copy numbers only, so that gradients move them back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr, need_choice, need_each, need_range
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import Spec, covering, need_float, need_ndim, need_shape, pooled
from .pad import bordered


def need_factor(what: str, number: int, channels: int, times: int, X: Spec) -> None:
    """Check that a number is at least 1 and that ``times`` divides the channels of X."""
    if number < 1:
        raise AttributeValueError(f"expected {what} of at least 1, got {number}")
    if channels != -1 and channels % times:
        raise ShapeError(
            f"expected channels that {times} divides, for {what}={number}; got {channels} in X "
            f"of shape {list(X.shape)}"
        )


def times(size: int, factor: int) -> int:
    """A size times a factor, as far as it is known."""
    return -1 if size == -1 else size * factor


class InEitherLayout(Op, abstract=True):
    """An operator on the channels and places of images.

    data_format: NCHW, or NHWC for channels in the last dimension.
    """

    signature = "X -> Out"
    data_format: str = "NCHW"

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        need_choice(self, "data_format", "NCHW", "NHWC")
        if self.data_format == "NCHW":
            return X.with_shape(self.moved(X, X.shape))
        n, h, w, c = X.shape
        n, c, h, w = self.moved(X, (n, c, h, w))
        return X.with_shape((n, h, w, c))

    def expand(self, f: Any, X: Value) -> Value:
        if self.data_format == "NCHW":
            return self.rearranged(f, X)
        out = self.rearranged(f, f.transpose(X, axis=[0, 3, 1, 2]))
        return f.transpose(out, axis=[0, 2, 3, 1])

    def moved(self, X: Spec, shape: Any) -> Any:
        """The shape of Out, channels first, from that of X."""
        raise NotImplementedError

    def rearranged(self, f: Any, x: Value) -> Value:
        """Out of images with their channels first."""
        raise NotImplementedError


class pixel_shuffle(InEitherLayout):
    """Larger images of fewer channels: each square of channels is spread over a square of places.

    (Shi et al., Real-time single image super-resolution, CVPR 2016.)

    X: images, [N, C, H, W].
    Out: of shape [N, C / r^2, H * r, W * r].
    upscale_factor: the side of the squares, by which images get higher and wider; its square
        divides C.
    """

    upscale_factor: int = 1
    data_format: str = attr("NCHW", local=True)

    def moved(self, X: Spec, shape: Any) -> Any:
        n, c, h, w = shape
        r = self.upscale_factor
        need_factor("upscale_factor", r, c, r * r, X)
        return n, -1 if c == -1 else c // (r * r), times(h, r), times(w, r)

    def rearranged(self, f: Any, x: Value) -> Value:
        n, c, h, w = x.shape
        r = self.upscale_factor
        squares = f.reshape(x, shape=[n, c // (r * r), r, r, h, w])
        spread = f.transpose(squares, axis=[0, 1, 4, 2, 5, 3])
        return f.reshape(spread, shape=[n, c // (r * r), h * r, w * r])

    def grad(self, f: Any, dOut: Value) -> Rules:
        attrs = dict(downscale_factor=self.upscale_factor, data_format=self.data_format)
        return dict(X=lambda: f.pixel_unshuffle(dOut, **attrs))


class shuffle_channel(Op):
    """Images with their channels dealt out: the first of each group, then the second, and so on.

    (Zhang, Zhou, Lin and Sun, ShuffleNet, CVPR 2018.)

    X: images, [N, C, H, W].
    group: how many groups of neighbouring channels there are; divides C.
    """

    signature = "X -> Out"
    group: int = 1

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        need_factor("group", self.group, X.shape[1], self.group, X)
        return X

    def expand(self, f: Any, X: Value) -> Value:
        n, c, h, w = X.shape
        rows = f.reshape(X, shape=[n, self.group, c // self.group, h, w])
        return f.reshape(f.transpose(rows, axis=[0, 2, 1, 3, 4]), shape=[n, c, h, w])

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.shuffle_channel(dOut, group=dOut.shape[1] // self.group))


class space_to_depth(Op):
    """Smaller images of more channels, in the order of Darknet's "reorg" layer.

    Numbers go where ``pixel_shuffle`` would put them, with the squares of channels outermost, into
    larger images whose memory is then cut into smaller ones.

    X: images, [N, C, H, W].
    Out: of shape [N, C * b^2, H / b, W / b].
    blocksize: how many times lower and narrower they get; divides H and W, its square C.
    """

    signature = "X -> Out"
    blocksize: Long = 2

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        n, c, *sizes = X.shape
        b = self.blocksize
        need_factor("blocksize", b, c, b * b, X)
        if any(size != -1 and size % b for size in sizes):
            raise ShapeError(
                f"expected height and width that blocksize={b} divides, got X of shape "
                f"{list(X.shape)}"
            )
        return X.with_shape([n, times(c, b * b), *(-1 if s == -1 else s // b for s in sizes)])

    def expand(self, f: Any, X: Value) -> Value:
        n, c, h, w = X.shape
        b = self.blocksize
        squares = f.reshape(X, shape=[n, b, b, c // (b * b), h, w])
        large = f.transpose(squares, axis=[0, 3, 4, 1, 5, 2])
        return f.reshape(large, shape=[n, c * b * b, h // b, w // b])

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            n, c, h, w = X.shape
            b = self.blocksize
            large = f.reshape(dOut, shape=[n, c // (b * b), h, b, w, b])
            squares = f.transpose(large, axis=[0, 3, 5, 1, 2, 4])
            return f.reshape(squares, shape=X.shape)

        return dict(X=dx)


class temporal_shift(Op):
    """Out = X with some channels taken from the frame before, and some from the one after.

    (Lin, Gan and Han, TSM: temporal shift module, ICCV 2019.)

    X: frames of clips, one after the other: [clips * seg_num, C, H, W].
    seg_num: how many frames a clip has; beyond its ends are zeros.
    shift_ratio: which part of the channels comes from before, and which from after.
    data_format: NCHW or NHWC.
    """

    signature = "X -> Out"
    seg_num: int = REQUIRED
    shift_ratio: float = 0.25
    data_format: str = attr("NCHW", local=True)

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        need_range(self, 0, 0.5, "shift_ratio")
        if self.seg_num < 1 or (X.shape[0] != -1 and X.shape[0] % self.seg_num):
            raise ShapeError(
                f"expected clips of seg_num={self.seg_num} frames, got X of shape {list(X.shape)}"
            )
        return X

    def shifted(self, f: Any, x: Value, step: int) -> Value:
        """Channels taken from ``step`` frames before and after."""
        last = self.data_format == "NHWC"
        x = f.transpose(x, axis=[0, 3, 1, 2]) if last else x
        bounds = [int(x.shape[1] * self.shift_ratio), int(x.shape[1] * 2 * self.shift_ratio)]
        out = f.shift_frames(x, frames=self.seg_num, bounds=bounds, step=step)
        return f.transpose(out, axis=[0, 2, 3, 1]) if last else out

    def expand(self, f: Any, X: Value) -> Value:
        return self.shifted(f, X, 1)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: self.shifted(f, dOut, -1))


class shift_frames(Op):
    """Out = X, the first channels taken from ``step`` frames before, the next from as many after.

    frames: how many frames a clip has.
    bounds: where the first channels end, and the next.
    step: 1 or -1.
    """

    signature = "X -> Out"
    frames: int = REQUIRED
    bounds: list[int] = REQUIRED
    step: int = REQUIRED

    def run(self, xp: Any, X: Array) -> Array:
        clips = xp.reshape(X, (X.shape[0] // self.frames, self.frames, *X.shape[1:]))
        first, second = self.bounds
        parts = [
            moved(xp, clips[:, :, :first], self.step),
            moved(xp, clips[:, :, first:second], -self.step),
            clips[:, :, second:],
        ]
        return xp.reshape(xp.concatenate(parts, axis=2), X.shape)

    def grad(self, f: Any, dOut: Value) -> Rules:
        back = dict(frames=self.frames, bounds=self.bounds, step=-self.step)
        return dict(X=lambda: f.shift_frames(dOut, **back))


def moved(xp: Any, clips: Array, step: int) -> Array:
    """Frames moved by one place forwards or backwards."""
    nothing = xp.zeros_like(clips[:, :1])
    parts = [nothing, clips[:, :-1]] if step > 0 else [clips[:, 1:], nothing]
    return xp.concatenate(parts, axis=1)


class Unfolding(Op, abstract=True):
    """How a window moves over images, each of whose positions gives a column.

    kernel_sizes: height and width of the window.
    strides, dilations: steps of the window, and of its elements, down and across.
    paddings: zeros above, left, below and right of the image; one below zero takes so many rows or
        columns away.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    kernel_sizes: list[int] = REQUIRED
    strides: list[int] = REQUIRED
    paddings: list[int] = REQUIRED
    dilations: list[int] = REQUIRED

    @property
    def geometry(self) -> Any:
        """The attributes that an adjoint takes over."""
        return {name: getattr(self, name) for name in Unfolding.attributes}

    @property
    def spans(self) -> list[int]:
        """Height and width of what the window covers."""
        return [(k - 1) * dilation + 1 for k, dilation in zip(self.kernel_sizes, self.dilations)]

    def pads(self, sizes: Sequence[int]) -> list[Any]:
        """Padding before and after an image of these sizes, down and across."""
        top, left, bottom, right = self.paddings
        given = (top, bottom), (left, right)
        return [*map(covering, given, sizes, self.spans, self.strides)]

    def positions(self, sizes):
        """How many positions there are, down and across."""
        return [
            pooled(size, span, *pad, stride)
            for size, span, pad, stride in zip(sizes, self.spans, self.pads(sizes), self.strides)
        ]

    def check(self) -> None:
        """Check the attributes."""
        for name, count, least in (
            ("kernel_sizes", 2, 1),
            ("strides", 2, 1),
            ("dilations", 2, 1),
            ("paddings", 4, None),
        ):
            numbers = getattr(self, name)
            if len(numbers) != count or (least is not None and min(numbers) < least):
                at = "" if least is None else f" from {least}"
                raise AttributeValueError(
                    f"expected {name} of {count} numbers{at}, got {list(numbers)}"
                )

    def columns(self, shape: Any) -> Any:
        """The shape of the columns of images of this shape."""
        down, across = self.positions(shape[2:])
        height = times(shape[1], self.kernel_sizes[0] * self.kernel_sizes[1])
        return [shape[0], height, -1 if -1 in (down, across) else down * across]


class unfold(Unfolding):
    """Y[n, :, i] = what lies under position i of a window over X[n], by channels and then rows."""

    signature = "X -> Y"
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        self.check()
        return X.with_shape(self.columns(X.shape))

    def run(self, xp: Any, X: Array) -> Array:
        image = bordered(xp, X, ((0, 0), (0, 0), *self.pads(X.shape[2:])))
        view = xp.windows(image, self.kernel_sizes, self.strides, self.dilations)
        return xp.reshape(xp.transpose(view, (0, 1, 4, 5, 2, 3)), self.columns(X.shape))

    def grad(self, f: Any, X: Value, dY: Value) -> Rules:
        return dict(X=lambda: f.unfold_adjoint(dY, size=X.shape, **self.geometry))


class unfold_adjoint(Unfolding):
    """Out = the map from unfold's Y to the cotangent of its X, at G.

    G: the cotangent of a Y.
    size: the shape of its X.
    """

    signature = "G -> Out"
    size: list[int] = REQUIRED

    def infer(self, G: Spec) -> Specs:
        self.check()
        wanted = self.columns(self.size)
        need_shape("G", G, wanted)
        return G.with_shape(self.size)

    def run(self, xp: Any, G: Array) -> Array:
        n, (_, c, *sizes) = G.shape[0], self.size
        down, across = self.positions(sizes)
        columns = xp.reshape(G, (n, c, *self.kernel_sizes, down, across))
        (top, bottom), (left, right) = self.pads(sizes)
        out = xp.zeros((n, c, sizes[0] + top + bottom, sizes[1] + left + right), G.dtype)
        for element in itertools.product(*map(range, self.kernel_sizes)):
            under = [
                slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride)
                for k, dilation, count, stride in zip(
                    element, self.dilations, (down, across), self.strides
                )
            ]
            out = xp.add_at(out, (..., *under), columns[:, :, element[0], element[1]])
        return bordered(xp, out, ((0, 0), (0, 0), (-top, -bottom), (-left, -right)))

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(G=lambda: f.unfold(dOut, **self.geometry))


class channel_shuffle(InEitherLayout):
    """Images with their channels dealt out: the first of each group, then the second, and so on.

    groups: how many groups of neighbouring channels there are; divides C.
    """

    groups: int = REQUIRED

    def moved(self, X: Spec, shape: Any) -> Any:
        need_factor("groups", self.groups, shape[1], self.groups, X)
        return shape

    def rearranged(self, f: Any, x: Value) -> Value:
        return f.shuffle_channel(x, group=self.groups)

    def grad(self, f: Any, dOut: Value) -> Rules:
        def dealt_back():
            channels = dOut.shape[1 if self.data_format == "NCHW" else 3]
            back = dict(groups=channels // self.groups, data_format=self.data_format)
            return f.channel_shuffle(dOut, **back)

        return dict(X=dealt_back)


class pixel_unshuffle(InEitherLayout):
    """Smaller images of more channels: squares of places laid out as channels, ``pixel_shuffle``
    undone.

    downscale_factor: the side of the squares; divides H and W.
    """

    downscale_factor: int = 1

    def moved(self, X: Spec, shape: Any) -> Any:
        n, c, *sizes = shape
        r = self.downscale_factor
        if r < 1 or any(size != -1 and size % r for size in sizes):
            raise ShapeError(
                f"expected height and width that downscale_factor={r} divides, got X of shape "
                f"{list(X.shape)}"
            )
        return n, times(c, r * r), *(-1 if s == -1 else s // r for s in sizes)

    def rearranged(self, f: Any, x: Value) -> Value:
        n, c, h, w = x.shape
        r = self.downscale_factor
        spread = f.reshape(x, shape=[n, c, h // r, r, w // r, r])
        squares = f.transpose(spread, axis=[0, 1, 3, 5, 2, 4])
        return f.reshape(squares, shape=[n, c * r * r, h // r, w // r])

    def grad(self, f: Any, dOut: Value) -> Rules:
        spread = dict(upscale_factor=self.downscale_factor, data_format=self.data_format)
        return dict(X=lambda: f.pixel_shuffle(dOut, **spread))


class fold(Unfolding):
    """Y = images of the columns of X, added up where they overlap: the adjoint of ``unfold``.

    X: [N, C * window, positions].
    output_sizes: height and width of the images.
    """

    signature = "X -> Y"
    lod: ClassVar[str | None] = None
    output_sizes: list[int] = REQUIRED

    def images(self, X: Any) -> list[int]:
        """The shape of Y."""
        window = math.prod(self.kernel_sizes)
        if X.shape[1] != -1 and X.shape[1] % window:
            raise ShapeError(
                f"expected columns of a multiple of {window} elements, the size of the window, "
                f"got X of shape {list(X.shape)}"
            )
        channels = -1 if X.shape[1] == -1 else X.shape[1] // window
        return [X.shape[0], channels, *self.output_sizes]

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(3, X=X)
        self.check()
        need_each(self, 2, 1, "output_sizes")
        need_shape("X", X, self.columns(self.images(X)), "the columns of such images")
        return X.with_shape(self.images(X))

    def expand(self, f: Any, X: Value) -> Value:
        return f.unfold_adjoint(X, size=self.images(X), **self.geometry)
