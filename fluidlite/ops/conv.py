"""Convolutions of images.  Three linear maps, each an adjoint of another, close the family at
every order.  ``conv3d.py`` has those of volumes: ``Conv`` does not mind how many dimensions an
image has, and calls the first of them rows.

Convolution is a product of matrices: the filters, one in each row, times the patches of the input
that they cover, one in each column (Chellapilla, Puri and Simard, High performance convolutional
neural networks for document processing, IWFHR 2006).  Inside, images are kept as [channel, row,
column, sample], so that patches are copied in long runs, and only a few are made at a time, so that
they stay in the cache.  Outputs are views of such arrays: NumPy's element-wise functions keep the
order of what they read, and the next convolution finds its input as it likes it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import ShapeError
from ..kernels import inside
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice, need_each, need_least
from ..opdef.definition import Op
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    covering,
    need_float,
    need_ndim,
    need_shape,
    pooled,
    same_dtype,
    window_padding,
)
from .inert_attributes import CHANNELS_FIRST, CHANNELS_LAST, UseCudnn, UseMkldnn, UseQuantizer
from .pad import bordered

PATCH_BYTES = 1 << 19  #: of the patches that are made at a time, more or less


class Conv(UseCudnn, UseMkldnn, Op, abstract=True):
    """What convolutions have in common: how a window moves over an image.

    strides, dilations: steps of the window, and of its elements, along each dimension.
    paddings: zeros around the image: a number for each dimension, or those before and after; one
        below zero takes so many rows or columns of the image away.
    padding_algorithm: EXPLICIT, VALID (no padding), or SAME (ceil(size / stride) positions; then
        ``dilations`` count as 1).
    groups: the channels are cut into so many groups, which do not mix.
    data_format: NCHW, or NHWC for images whose channels come last; NCDHW or NDHWC for volumes.
    """

    rank = 2  #: the dimensions of an image
    formats = ("NCHW", "NHWC")  #: with the channels first, and last
    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0)
    padding_algorithm: str = "EXPLICIT"
    dilations: list[int] = (1, 1)
    groups: int = 1
    data_format: str = "NCHW"

    @property
    def geometry(self) -> dict[str, Any]:
        """The attributes that an adjoint takes over."""
        return dict(
            strides=self.strides,
            paddings=self.paddings,
            padding_algorithm=self.padding_algorithm,
            dilations=self.dilations,
            groups=self.groups,
            data_format=self.data_format,
        )

    @property
    def channel_axis(self) -> int:
        """The dimension of the channels in an image."""
        return self.rank + 1 if self.channels_last else 1

    @property
    def channels_last(self) -> bool:
        """Whether the channels are the last dimension of images."""
        return self.data_format in CHANNELS_LAST

    def library(self, image: Any, filter: Any) -> Any:
        """What the convolution of an array library takes beside its operands' shapes."""
        return dict(
            strides=tuple(self.strides),
            pads=self.pads(self.nchw(image)[2:], filter[2:]),
            dilations=tuple(self.spacing),
            groups=self.groups,
            channels_last=self.channels_last,
        )

    def nchw(self, shape: Any) -> Any:
        """The shape of an image with its channels before its rows."""
        n, *rest = shape
        return (n, rest[-1], *rest[:-1]) if self.channels_last else tuple(shape)

    def stored(self, shape: Shape) -> Shape:
        """The shape of an image in ``data_format``."""
        n, c, *sizes = shape
        return (n, *sizes, c) if self.channels_last else (n, c, *sizes)

    @property
    def cuts(self) -> bool:
        """Whether a padding is below zero, for which only the plain kernels are made."""
        return self.padding_algorithm == "EXPLICIT" and min(self.paddings, default=0) < 0

    @property
    def spacing(self) -> Any:
        """The steps of the window's elements."""
        return (1,) * self.rank if self.padding_algorithm == "SAME" else self.dilations

    def spans(self, kernel: Sequence[int]) -> list[int]:
        """The sizes that a window of ``kernel`` elements covers."""
        return [(k - 1) * d + 1 for k, d in zip(kernel, self.spacing)]

    def given_pads(self, sizes: Sequence[int], kernel: Sequence[int]) -> list[Any]:
        """Padding that the attributes say, before and after each dimension of an image."""
        return window_padding(
            sizes, self.spans(kernel), self.strides, self.paddings, self.padding_algorithm
        )

    def pads(self, sizes: Sequence[int], kernel: Sequence[int]) -> list[Any]:
        """Padding before and after each dimension of an image of these sizes."""
        pads = self.given_pads(sizes, kernel)
        return [*map(covering, pads, sizes, self.spans(kernel), self.strides)]

    def check(self, **values: Spec) -> None:
        """Check the attributes, and that ``values`` (an image and a filter) fit an operator."""
        need_float(**values)
        same_dtype(**values)
        need_ndim(self.rank + 2, **values)
        need_each(self, self.rank, 1, "strides", "dilations")
        need_least(self, 1, "groups")
        known = (*CHANNELS_FIRST, *CHANNELS_LAST)  # of any rank, as fluid does
        need_choice(self, "data_format", *self.formats, known=known)

    def other_layout(self, image: Shape, channels: int) -> str:
        """What an error adds where the channels lie where the other format has them."""
        last = not self.channels_last
        place = self.rank + 1 if last else 1
        if image[place] != channels:
            return ""
        return (
            f"; data_format is {self.formats[not last]}, and dimension {place} has {channels}: "
            f"pass data_format={self.formats[last]!r}, or transpose the input"
        )

    def convolved(self, image, filter):
        """The shape that convolving an image of one shape with a filter of another gives."""
        n, c, *sizes = self.nchw(image)
        filters, depth, *kernel = filter
        if not agree(c, depth * self.groups if depth != -1 else -1):
            raise ShapeError(
                f"expected an input of {depth * self.groups} channels, {depth} for each filter "
                f"in {self.groups} groups, got {c}: input {list(image)}, filter {list(filter)}"
                + self.other_layout(image, depth * self.groups)
            )
        if 0 in filter:
            raise ShapeError(f"expected a filter with elements, got shape {list(filter)}")
        if filters % self.groups and filters != -1:
            raise ShapeError(
                f"expected a number of filters that {self.groups} groups divide, got {filters}"
            )
        spans, pads = self.spans(kernel), self.pads(sizes, kernel)
        positions = [
            pooled(size, span, *pad, stride) if k != -1 else -1
            for size, k, span, pad, stride in zip(sizes, kernel, spans, pads, self.strides)
        ]
        return self.stored((n, filters, *positions))

    def inner(self, xp: Any, image: Array) -> Array:
        """An image as [channel, row, column, sample]."""
        spatial = range(1, self.rank + 1) if self.channels_last else range(2, self.rank + 2)
        return xp.ascontiguousarray(xp.transpose(image, (self.channel_axis, *spatial, 0)))

    def outer(self, xp: Any, image: Array) -> Array:
        """The reverse of :meth:`inner`, but for the order in memory."""
        spatial = range(1, self.rank + 1)
        last = self.rank + 1
        order = (last, *spatial, 0) if self.channels_last else (last, 0, *spatial)
        return xp.transpose(image, order)

    def patches(self, xp: Any, image: Any, kernel: Any) -> Any:
        """Pairs of a slice of output rows and their patches: [group, patch element, position]."""
        rank = self.rank
        pads = self.pads(image.shape[1:-1], kernel)
        image = bordered(xp, image, ((0, 0), *pads, (0, 0)))
        view = xp.windows(xp.moveaxis(image, -1, 0), kernel, self.strides, self.spacing)
        elements, positions = range(rank + 2, 2 * rank + 2), range(2, rank + 2)
        view = xp.transpose(view, (1, *elements, *positions, 0))
        count = math.prod(view.shape[: rank + 1]) // self.groups
        every = (slice(None),) * (rank + 1)
        for rows in blocks(view.shape[rank + 1], view.size * view.dtype.itemsize):
            yield rows, xp.reshape(view[(*every, rows)], (self.groups, count, -1))

    def columns(self, xp: Any, image: Array) -> Array:
        """Some rows of an image as [group, channel, position]."""
        rest = math.prod(image.shape[1:])
        return xp.reshape(image, (self.groups, image.shape[0] // self.groups, rest))

    def matrices(self, xp: Any, filter: Array) -> Array:
        """The filters as [group, filter, patch element]."""
        return xp.reshape(filter, (self.groups, filter.shape[0] // self.groups, -1))


def blocks(count: int, size: int) -> list[slice]:
    """Slices of ``range(count)`` that cut something of ``size`` bytes into handy parts."""
    step = max(1, PATCH_BYTES * count // max(1, size))
    return [slice(i, i + step) for i in range(0, count, step)]


def check_bias(Filter: Spec, Bias: Spec | None, filters: int) -> None:
    """Check that ``Bias``, if there is one, holds a number for each filter."""
    same_dtype(Filter=Filter, Bias=Bias)
    need_shape("Bias", Bias, (filters,), "a number for each filter")


class Convolution(Conv, abstract=True):
    """What the convolutions by a filter have in common."""

    def bytes_of_convolving(self, Input: Spec, Filter: Spec) -> int:
        """What :meth:`convolve` makes: images and patches first, then parts that are joined."""
        made = math.prod(self.convolved(Input.shape, Filter.shape)) * Input.dtype.dtype.itemsize
        return max(made, self.bytes_of_patches(Input.shape, Filter.shape, Input.dtype))

    def bytes_of_patches(self, image: Any, filter: Any, dtype: Any) -> Any:
        """What an image with its border takes, and the patches that are made at a time."""
        n, channels, *sizes = self.nchw(image)
        _, _, rows, *columns = self.nchw(self.convolved(image, filter))
        kernel = filter[2:]
        padded = [size + sum(pair) for size, pair in zip(sizes, self.pads(sizes, kernel))]
        border = math.prod(padded) if padded != sizes else 0
        patches = math.prod([*kernel, rows, *columns])
        whole = n * channels * patches * dtype.dtype.itemsize
        at_once = blocks(rows, whole)[0].stop if rows else 0
        part = whole * min(rows, at_once) // max(rows, 1)
        return n * channels * border * dtype.dtype.itemsize + part

    def sliding(self, image: Any, filter: Any) -> Any:
        """How the window of a filter moves over an image, of their shapes."""
        sizes, kernel = self.nchw(image)[2:], filter[2:]
        positions = self.nchw(self.convolved(image, filter))[2:]
        before = [begin for begin, _ in self.pads(sizes, kernel)]
        return inside.Sliding(sizes, kernel, positions, self.strides, self.spacing, before)

    def convolve(self, xp: Any, Input: Array, Filter: Array) -> Array:
        """The product of filters and patches, as :meth:`inner` keeps it."""
        n, filters, *positions = self.nchw(self.convolved(Input.shape, Filter.shape))
        sliding = self.sliding(Input.shape, Filter.shape)
        if sliding.leaves_out(Filter):
            return inside.convolved(sliding, self.inner(xp, Input), Filter, self.groups)
        weights = self.matrices(xp, Filter)
        parts = [
            xp.matmul(weights, patches)
            for _, patches in self.patches(xp, self.inner(xp, Input), Filter.shape[2:])
        ]
        out = parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=2)
        return xp.reshape(out, (filters, *positions, n))

    def maps(self, f: Any) -> list[Any]:
        """The convolution of this many dimensions, and its adjoints by its input and its filter."""
        return [getattr(f, f"conv{self.rank}d{which}") for which in MAPS]

    def adjoints(self, f: Any, Input: Any, Filter: Any, dOutput: Any) -> dict[str, Any]:
        """The rules for Input and Filter."""
        _, by_input, by_filter = self.maps(f)
        return dict(
            Input=lambda: by_input(dOutput, Filter, size=list(Input.shape), **self.geometry),
            Filter=lambda: by_filter(Input, dOutput, size=list(Filter.shape), **self.geometry),
        )


MAPS = ("", "_adjoint_input", "_adjoint_filter")


class Conv2d(UseQuantizer, Convolution, abstract=True):
    """What the convolutions of images by a filter have in common.

    Input: images.
    Filter: [filters, channels / groups, height, width], whatever the images' format.
    Bias: a number for each filter.
    ResidualData: not read.
    """

    signature = "Input, Filter, Bias?, ResidualData?! -> Output"
    filtered = "Output"
    is_test: bool = attr(False, inert=True)
    fuse_relu_before_depthwise_conv: bool = attr(False, inert=True)
    fuse_relu: bool = attr(False, inert=True)
    fuse_brelu: bool = attr(False, inert=True)
    fuse_brelu_threshold: float = attr(6.0, inert=True)
    fuse_activation: str = attr("", inert=True)
    fuse_alpha: float = attr(0.0, inert=True)
    fuse_beta: float = attr(0.0, inert=True)
    fuse_residual_connection: bool = attr(False, inert=True)
    Scale_in: float = attr(1.0, inert=True)
    Scale_out: float = attr(1.0, inert=True)
    Scale_in_eltwise: float = attr(1.0, inert=True)
    Scale_weights: list[float] = attr((1.0,), inert=True)
    force_fp32_output: bool = attr(False, inert=True)
    workspace_size_MB: int = attr(512, inert=True)
    exhaustive_search: bool = attr(False, inert=True)

    def infer(self, Input: Spec, Filter: Spec, Bias: Spec | None) -> Spec:
        self.check(Input=Input, Filter=Filter)
        check_bias(Filter, Bias, Filter.shape[0])
        return Input.with_shape(self.convolved(Input.shape, Filter.shape))

    def temporaries(self, Input: Spec, Filter: Spec, Bias: Spec) -> int:
        return self.bytes_of_convolving(Input, Filter)

    def run(self, xp: Any, Input: Array, Filter: Array, Bias: Array) -> Array:
        out = self.convolve(xp, Input, Filter)
        if Bias is not None:
            out = out + xp.reshape(Bias, (-1, 1, 1, 1))
        return self.outer(xp, out)

    def run_jax(self, xp: Any, Input: Array, Filter: Array, Bias: Array) -> Arrays:
        out = xp.convolution(Input, Filter, **self.library(Input.shape, Filter.shape))
        if Bias is None:
            return out
        return out + (Bias if self.channels_last else xp.reshape(Bias, (-1, 1, 1)))

    def grad(self, f: Any, Input: Value, Filter: Value, Bias: Value, dOutput: Value) -> Rules:
        rules = self.adjoints(f, Input, Filter, dOutput)
        if Bias is not None:
            dims = [i for i in range(4) if i != self.channel_axis]
            rules.update(Bias=lambda: f.reduce_sum(dOutput, dim=dims))
        return rules


class conv2d(Conv2d):
    """Output[n, f, y, x] = sum of Input[n, c, y + i, x + j] * Filter[f, c, i, j], plus Bias[f]."""


class depthwise_conv2d(Conv2d):
    """Output = Input convolved channel by channel: ``conv2d`` with as many groups as channels."""


class AdjointInput(Convolution, abstract=True):
    """The map from a convolution's Output to the cotangent of its Input.

    G: the cotangent of an Output.
    Filter: that of the convolution.
    size: the shape of its Input.
    """

    signature = "G, Filter -> Out"
    size: list[int] = REQUIRED

    def infer(self, G: Any, Filter: Any) -> Specs:
        self.check(G=G, Filter=Filter)
        check_adjoint(G, self.convolved(self.size, Filter.shape))
        return G.with_shape(self.size)

    def temporaries(self, G: Spec, Filter: Spec) -> int:
        return self.bytes_of_patches(self.size, Filter.shape, G.dtype)

    def run(self, xp: Any, G: Array, Filter: Array) -> Array:
        samples, channels, *sizes = self.nchw(self.size)
        kernel = Filter.shape[2:]
        pads = self.pads(sizes, kernel)
        padded = [size + sum(pad) for size, pad in zip(sizes, pads)]
        g, weights = self.inner(xp, G), xp.swapaxes(self.matrices(xp, Filter), 1, 2)
        out = xp.zeros((channels, *padded, samples), dtype=G.dtype)
        for rows in blocks(g.shape[1], channels * math.prod(kernel) * g[0].nbytes):
            patches = xp.matmul(weights, self.columns(xp, g[:, rows]))
            count = len(range(g.shape[1])[rows])
            patches = xp.reshape(patches, (channels, *kernel, count, *g.shape[2:]))
            for element in itertools.product(*map(range, kernel)):
                under = self.under(element, rows, g.shape[1:-1])
                out = xp.add_at(out, under, patches[(slice(None), *element)])
        border = [(-before, -after) for before, after in pads]
        return self.outer(xp, bordered(xp, out, ((0, 0), *border, (0, 0))))

    def run_jax(self, xp: Any, G: Array, Filter: Array) -> Arrays:
        how = self.library(self.size, Filter.shape)
        return xp.adjoint(lambda image: xp.convolution(image, Filter, **how), self.size, G)

    def under(self, element: Shape, rows: slice, positions: Shape) -> tuple[slice, ...]:
        """Where an element of the window lies in a padded image, for some rows of positions."""
        ranges = [range(positions[0])[rows], *map(range, positions[1:])]
        where = [slice(None)]
        for k, range_, stride, dilation in zip(element, ranges, self.strides, self.spacing):
            begin = range_.start * stride + k * dilation
            where.append(slice(begin, begin + (len(range_) - 1) * stride + 1, stride))
        return tuple(where)

    def grad(self, f: Any, G: Value, Filter: Value, dOut: Value) -> Rules:
        convolve, _, by_filter = self.maps(f)
        return dict(
            G=lambda: convolve(dOut, Filter, **self.geometry),
            Filter=lambda: by_filter(dOut, G, size=list(Filter.shape), **self.geometry),
        )


class conv2d_adjoint_input(AdjointInput):
    """Out = the map from conv2d's Output to the cotangent of its Input, at G."""


class AdjointFilter(Convolution, abstract=True):
    """The map from a convolution's Output to the cotangent of its Filter.

    Input: that of the convolution.
    G: the cotangent of an Output.
    size: the shape of its Filter.
    """

    signature = "Input, G -> Out"
    size: list[int] = REQUIRED

    def infer(self, Input: Any, G: Any) -> Specs:
        self.check(Input=Input, G=G)
        check_adjoint(G, self.convolved(Input.shape, self.size))
        return G.with_shape(self.size)

    def temporaries(self, Input: Any, G: Any) -> int:
        return self.bytes_of_patches(Input.shape, self.size, G.dtype)

    def run(self, xp: Any, Input: Array, G: Array) -> Array:
        image, g, out = self.inner(xp, Input), self.inner(xp, G), 0
        for rows, patches in self.patches(xp, image, self.size[2:]):
            out = out + xp.matmul(self.columns(xp, g[:, rows]), xp.swapaxes(patches, 1, 2))
        sliding = self.sliding(Input.shape, self.size)
        # what is not finite in G shows in each element of so small a result
        if sliding.leaves_out(out) and sliding.leaves_out(G):
            return inside.filter_cotangent(sliding, image, g, self.groups)
        return xp.reshape(out, self.size)

    def run_jax(self, xp: Any, Input: Array, G: Array) -> Arrays:
        how = self.library(Input.shape, self.size)
        return xp.adjoint(lambda filter: xp.convolution(Input, filter, **how), self.size, G)

    def grad(self, f: Any, Input: Value, G: Value, dOut: Value) -> Rules:
        convolve, by_input, _ = self.maps(f)
        return dict(
            Input=lambda: by_input(G, dOut, size=list(Input.shape), **self.geometry),
            G=lambda: convolve(Input, dOut, **self.geometry),
        )


class conv2d_adjoint_filter(AdjointFilter):
    """Out = the map from conv2d's Output to the cotangent of its Filter, at G."""


def check_adjoint(G: Spec, output: Shape) -> None:
    """Check that ``G`` has the shape of the convolution's output."""
    need_shape("G", G, output)


class ConvTranspose(Convolution, abstract=True):
    """What the transposed convolutions have in common.

    output_size: the sizes of Output where those that follow from Input are not meant: a stride
        above 1 leaves a choice.
    output_padding: by how much Output is larger than what follows from Input.
    """

    lod: ClassVar[str | None] = None
    output_size: list[int] = ()
    output_padding: list[int] = attr((), local=True)

    def transposed(self, image: Shape, filter: Shape) -> tuple[Any, ...]:
        """The shape of Output, and the padding of the convolution that it would be the input of."""
        n, c, *sizes = self.nchw(image)
        channels, filters, *kernel = filter
        if not agree(c, channels):
            raise ShapeError(
                f"expected an input of {channels} channels, the filter's first size, "
                f"got {c}: input {list(image)}, filter {list(filter)}"
                + self.other_layout(image, channels)
            )
        if channels != -1 and channels < self.groups:
            raise ShapeError(f"expected a channel for each of {self.groups} groups, got {channels}")
        pads = self.given_pads(sizes, kernel)
        whole = [
            -1 if -1 in (size, k) else (size - 1) * stride - sum(pad) + span
            for size, k, stride, pad, span in zip(
                sizes, kernel, self.strides, pads, self.spans(kernel)
            )
        ]
        if any(n != -1 and n < 1 for n in whole):
            raise ShapeError(
                f"expected an output with elements, got sizes {whole} from an input of shape "
                f"{list(image)} and paddings {list(self.paddings)}"
            )
        if self.output_size or self.output_padding:
            whole = self.chosen(whole)
        filters = -1 if filters == -1 else filters * self.groups
        return self.stored((n, filters, *whole)), [p for pad in pads for p in pad]

    def chosen(self, whole: Any) -> Any:
        """``output_size``, where the sizes that follow from Input leave that choice."""
        more = self.output_padding
        out = self.output_size or [-1 if n == -1 else n + k for n, k in zip(whole, more)]
        fits = len(out) == self.rank and all(
            size == -1 or size <= wanted < size + stride
            for size, wanted, stride in zip(whole, out, self.strides)
        )
        if not fits:
            ranges = [f"[{n}, {n + s})" for n, s in zip(whole, self.strides)]
            raise ShapeError(f"expected output_size in {' x '.join(ranges)}, got {list(out)}")
        return out

    def transpose(self, f: Any, Input: Any, Filter: Any) -> Any:
        """Output before a bias is added.  Channels that are too few for each group to have one more
        are left out, as in fluid.
        """
        shape, pads = self.transposed(Input.shape, Filter.shape)
        used = Filter.shape[0] // self.groups * self.groups
        if used != Filter.shape[0]:
            Filter = f.slice(Filter, axes=[0], starts=[0], ends=[used])
            Input = f.slice(Input, axes=[self.channel_axis], starts=[0], ends=[used])
        geometry = dict(self.geometry, paddings=pads, padding_algorithm="EXPLICIT")
        geometry.update(dilations=self.spacing)
        _, by_input, _ = self.maps(f)
        return by_input(Input, Filter, size=shape, **geometry)


class ConvTranspose2d(ConvTranspose, abstract=True):
    """What the transposed convolutions of images have in common.

    Input: images.
    Filter: [channels, filters / groups, height, width], whatever the images' format.
    Bias: a number for each filter.
    """

    signature = "Input, Filter, Bias? -> Output"
    filtered = "Input"
    is_test: bool = attr(False, inert=True)
    fuse_relu: bool = attr(False, inert=True)
    fuse_activation: str = attr("", inert=True)
    fuse_alpha: float = attr(0.0, inert=True)
    fuse_beta: float = attr(0.0, inert=True)
    workspace_size_MB: int = attr(512, inert=True)

    def infer(self, Input: Spec, Filter: Spec, Bias: Spec | None) -> Spec:
        self.check(Input=Input, Filter=Filter)
        shape, _ = self.transposed(Input.shape, Filter.shape)
        check_bias(Filter, Bias, shape[self.channel_axis])
        return Input.with_shape(shape)

    def expand(self, f: Any, Input: Value, Filter: Value, Bias: Value) -> Value:
        out = self.transpose(f, Input, Filter)
        return out if Bias is None else f.elementwise_add(out, Bias, axis=self.channel_axis)


class conv2d_transpose(ConvTranspose2d):
    """Output = Input mapped by the adjoint of ``conv2d`` with Filter, plus Bias."""


class depthwise_conv2d_transpose(ConvTranspose2d):
    """Output = Input mapped channel by channel: ``conv2d_transpose`` with a group per channel."""
