"""Parts of images, each pooled to one size: regions of interest.

Their rows and columns are weighted, which ``regions.py`` does; here the weights are made.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, agree, need_integer, need_ndim, need_shape, same_float
from .elementwise import indicator
from .regions import roi_images

FAR = 2.0**30  #: beyond the elements of any image


class RoiPooling(Op, abstract=True):
    """What poolings of regions have in common.

    X: images, [N, C, H, W].
    ROIs: regions (left, top, right, bottom), [n, 4]; each image's are a sequence.
    spatial_scale: what the numbers of ROIs are multiplied with.
    pooled_height, pooled_width: how many parts a region has from top to bottom, and across.
    """

    spatial_scale: float = 1.0
    pooled_height: int = 1
    pooled_width: int = 1
    lod: ClassVar[str | None] = None

    def check(
        self, X: Spec, ROIs: Spec, Numbers: Spec | None = None, RoisNum: Spec | None = None
    ) -> Spec:
        """Check everything; the spec of an Out with the channels of X."""
        same_float(X=X, ROIs=ROIs)
        need_ndim(4, X=X)
        if 0 in X.shape[2:]:
            raise ShapeError(f"expected images with elements, got X of shape {list(X.shape)}")
        need_shape("ROIs", ROIs, (-1, 4))
        if Numbers is not None:
            need_integer(RoisLod=Numbers)
        need_integer(RoisNum=RoisNum)
        sizes = [self.pooled_height, self.pooled_width]
        if min(sizes) < 1 or self.spatial_scale <= 0:
            raise AttributeValueError(
                f"expected pooled_height and pooled_width of at least 1 and a positive "
                f"spatial_scale, got {sizes[0]}, {sizes[1]} and {self.spatial_scale:g}"
            )
        return X.with_shape([ROIs.shape[0], X.shape[1], *sizes])

    def weights(self, rule: Any, X: Value, ROIs: Value, **more: Any) -> list[Any]:
        """The weights of rows and of columns, by the operator that gives those of a dimension."""
        given = dict(spatial_scale=self.spatial_scale, **more)
        return [
            rule(ROIs, axis=axis, bins=bins, size=X.shape[3 - axis], **given)
            for axis, bins in ((1, self.pooled_height), (0, self.pooled_width))
        ]


class roi_align(RoiPooling):
    """Out = for each region the means of points between the elements of X.

    (He, Gkioxari, Dollar and Girshick, Mask R-CNN, ICCV 2017.)

    RoisLod: where the regions of each image begin, and where the last ones end.
    RoisNum: how many regions each image has.
    sampling_ratio: how many points a part has in each direction; below 1, one for each element.
    aligned: the number of an element is the place of its middle, and no region is made larger; if
        not, it is half an element before that, and regions have a size of at least 1.
    """

    signature = "X, ROIs![], RoisLod?!, RoisNum?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("RoisNum",))
    sampling_ratio: int = -1
    aligned: bool = attr(False, local=True)

    def infer(self, X: Spec, ROIs: Spec, RoisLod: Spec, RoisNum: Spec) -> Spec:
        return self.check(X, ROIs, RoisLod, RoisNum)

    def expand(self, f: Any, X: Value, ROIs: Value, RoisLod: Value, RoisNum: Value) -> Value:
        images = f.roi_images(ROIs, RoisLod, RoisNum, images=X.shape[0])
        sampling = dict(sampling_ratio=self.sampling_ratio, aligned=self.aligned)
        return f.roi_blend(X, *self.weights(f.roi_align_weights, X, ROIs, **sampling), images)


class RoiWeights(Detached, abstract=True):
    """Weights of the elements of an image along one dimension, for each part of each region.

    ROIs: the regions.
    axis: 0 for columns, 1 for rows.
    bins: how many parts a region has.
    size: how many elements the image has.
    spatial_scale: what the numbers of ROIs are multiplied with.
    """

    signature = "ROIs![] -> Out"
    axis: int = REQUIRED
    bins: int = REQUIRED
    size: int = REQUIRED
    spatial_scale: float = 1.0

    def infer(self, ROIs: Spec) -> Specs:
        return ROIs.with_shape([ROIs.shape[0], self.bins, self.size])

    def ends(self, xp: Any, ROIs: Any) -> Arrays:
        """Where each region begins and ends."""
        rois = finite(xp, ROIs)
        return rois[:, self.axis], rois[:, self.axis + 2]


def finite(xp: Any, ROIs: Any) -> Array:
    """Regions without their sequences, and not farther away than ``FAR``.

    Raises:
        OutOfRangeError: a number is none.
    """
    rois = ROIs.data if isinstance(ROIs, LoDTensor) else ROIs
    if not xp.isfinite(rois).all():
        raise OutOfRangeError("expected finite numbers in ROIs, got NaN or infinity")
    return xp.clip(rois, -FAR, FAR)


class roi_align_weights(RoiWeights):
    """Out = the weights of elements in means of points between them.

    sampling_ratio: how many points a part has; below 1, one for each element.
    aligned: as in ``roi_align``.
    """

    sampling_ratio: int = -1
    aligned: bool = False

    def run(self, xp: Any, ROIs: Array) -> Array:
        half = 0.5 if self.aligned else 0
        begins, ends = (v * self.spatial_scale - half for v in self.ends(xp, ROIs))
        spans = (ends - begins if self.aligned else xp.maximum(ends - begins, 1)) / self.bins
        out = xp.zeros((len(begins), self.bins, self.size), begins.dtype)
        for r, (begin, span) in enumerate(zip(begins, spans)):
            count = self.sampling_ratio if self.sampling_ratio > 0 else math.ceil(span)
            if count < 1:  # an aligned region without a size
                continue
            step, first, last = span / count, 0, self.bins * count
            if step > 0:  # only points near the image count, however large the region is
                ends = ((-1 - begin) / step - 1, (self.size - begin) / step + 1)
                first, last = (int(min(max(end, 0), last)) for end in ends)
            number = xp.arange(first, last)
            # in the type of ROIs and in this order, as fluid rounds: a point may lie on an edge
            part, within = (v.astype(begins.dtype) for v in divmod(number, count))
            points = begin + part * span + (within + 0.5) * span / count
            inside = ((points >= -1) & (points <= self.size)) / count
            points = xp.minimum(xp.maximum(points, 0), self.size - 1)
            below = xp.minimum(xp.floor(points), max(self.size - 2, 0)).astype("int64")
            for place, weight in ((below, 1 - (points - below)), (below + 1, points - below)):
                index = number // count, xp.minimum(place, self.size - 1)
                out = xp.add_at(out, r, scattered(xp, out[r], index, weight * inside))
        return out


def scattered(xp: Any, like: Array, index: tuple[Array, ...], values: Array) -> Array:
    """Zeros with values added at an index."""
    return xp.scatter_add(xp.zeros_like(like), index, values.astype(like.dtype))


class psroi_pool(RoiPooling):
    """Out = for each region the means over its parts, each part of channels of its own.

    (Dai, Li, He and Sun, R-FCN, NIPS 2016.)

    Out: of shape [n, output_channels, pooled_height, pooled_width].
    output_channels: of Out; X has as many for each part.
    X: images, [N, output_channels * pooled_height * pooled_width, H, W].
    RoisNum: how many regions each image has.
    """

    signature = "X, ROIs![], RoisNum?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("RoisNum",))
    output_channels: int = REQUIRED

    def infer(self, X: Spec, ROIs: Spec, RoisNum: Spec) -> Spec:
        out = self.check(X, ROIs, RoisNum=RoisNum)
        wanted = self.output_channels * self.pooled_height * self.pooled_width
        if self.output_channels < 1 or not agree(X.shape[1], wanted):
            raise ShapeError(
                f"expected X of {wanted} channels, output_channels={self.output_channels} for each "
                f"of {self.pooled_height} x {self.pooled_width} parts; got {X.shape[1]}"
            )
        return out.with_dim(1, self.output_channels)

    def expand(self, f: Any, X: Value, ROIs: Value, RoisNum: Value) -> Value:
        images = f.roi_images(ROIs, None, RoisNum, images=X.shape[0])
        weights = self.weights(f.psroi_weights, X, ROIs)
        return f.roi_blend(X, *weights, images, by_place=True)


class psroi_weights(RoiWeights):
    """Out = the weights of elements in means over the parts of regions."""

    def run(self, xp: Any, ROIs: Array) -> Array:
        begins, ends = (away_from_zero(xp, v) for v in self.ends(xp, ROIs))
        begins, ends = begins * self.spatial_scale, (ends + 1) * self.spatial_scale
        spans = xp.maximum(ends - begins, 0.1) / self.bins
        # in the type of ROIs, as fluid rounds
        bins, place = xp.arange(self.bins, dtype=spans.dtype), xp.arange(self.size)
        first = xp.floor(bins * spans[:, None] + begins[:, None])
        last = xp.ceil((bins + 1) * spans[:, None] + begins[:, None])
        under = (place >= first[..., None]) & (place < last[..., None])
        counts = xp.maximum(xp.sum(under, axis=2, keepdims=True), 1)
        return under.astype(begins.dtype) / counts.astype(begins.dtype)


def away_from_zero(xp: Any, x: Array) -> Array:
    """``x`` rounded to whole numbers, halves away from zero."""
    return xp.copysign(xp.floor(xp.abs(x) + 0.5), x)


class prroi_pool(RoiPooling):
    """Out = for each region the means over its parts of X, linear between its elements.

    (Jiang et al., Acquisition of localization confidence for accurate object detection, ECCV 2018.)
    The means are integrals, so that they can be differentiated by the regions.

    BatchRoINums: how many regions each image has, in place of sequences.
    """

    signature = "X, ROIs[], BatchRoINums?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True, carried=("Out",))

    def infer(self, X: Spec, ROIs: Spec, BatchRoINums: Spec) -> Spec:
        return self.check(X, ROIs, BatchRoINums)

    def blend(self, f: Any, X: Any, ROIs: Any, BatchRoINums: Value) -> Any:
        """Out, composed of operators."""
        images = f.roi_images(ROIs, None, BatchRoINums, images=X.shape[0])
        regions = f.rows_only(ROIs)
        count = regions.shape[0]
        column = lambda k: f.slice(regions, axes=[1], starts=[k], ends=[k + 1])

        def weights(axis, bins):
            """Integrals over the parts along one dimension, and the length of a part."""
            begin = f.scale(column(axis), scale=self.spatial_scale)
            length = f.scale(column(axis + 2), scale=self.spatial_scale) - begin
            part = f.relu(length) / bins
            ramp = f.part_numbers(regions, bins=bins + 1)
            edges = f.elementwise_add(f.elementwise_mul(ramp, part, axis=0), begin, axis=0)
            places = f.part_numbers(regions, bins=X.shape[3 - axis])
            apart = f.elementwise_sub(
                f.expand(
                    f.reshape(edges, shape=[count, bins + 1, 1]),
                    expand_times=[1, 1, X.shape[3 - axis]],
                ),
                f.reshape(places, shape=[count, 1, X.shape[3 - axis]]),
            )
            under = f.hat_integral(apart)
            upper = f.slice(under, axes=[1], starts=[1], ends=[bins + 1])
            return upper - f.slice(under, axes=[1], starts=[0], ends=[bins]), part

        rows, height = weights(1, self.pooled_height)
        columns, width = weights(0, self.pooled_width)
        area = f.reshape(height * width, shape=[count])
        positive = f.greater_than(area, f.fill_zeros_like(area))
        there = indicator(f, positive, area)
        inverse = there / (area + (1.0 - there))
        return f.elementwise_mul(f.roi_blend(X, rows, columns, images), inverse, axis=0)

    def expand(self, f: Any, X: Value, ROIs: Value, BatchRoINums: Value) -> Value:
        return self.blend(f, X, ROIs, BatchRoINums)


class part_numbers(Op):
    """Out[r, i] = i, for each row of X.

    bins: how many there are.
    """

    signature = "X! -> Out"
    bins: int = REQUIRED
    grad = None

    def infer(self, X: Spec) -> Specs:
        return X.with_shape([X.shape[0], self.bins])

    def run(self, xp: Any, X: Array) -> Array:
        return xp.zeros((len(X), 1), X.dtype) + xp.arange(self.bins, dtype=X.dtype)


class hat_integral(Op):
    """Out = the integral from -1 to X of a hat: 1 - |t| from -1 to 1, and 0 beyond."""

    signature = "X -> Out"

    def run(self, xp: Any, X: Array) -> Array:
        t = xp.minimum(xp.maximum(X, -1), 1)
        return (0.5 + t - t * xp.abs(t) * 0.5).astype(X.dtype)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.relu(1.0 - f.abs(X)))


class roi_pool(RoiPooling):
    """Out = for each region the maxima over its parts; 0 for a part without elements.

    (Girshick, Fast R-CNN, ICCV 2015.)

    RoisLod: where the regions of each image begin, and where the last ones end.
    RoisNum: how many regions each image has.
    Argmax: the number of the element in its image, by rows; -1 for a part without elements.
    """

    signature = "X, ROIs![], RoisLod?!, RoisNum?! -> Out, Argmax!~"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("RoisNum",))

    def infer(self, X: Spec, ROIs: Spec, RoisLod: Spec, RoisNum: Spec) -> Specs:
        out = self.check(X, ROIs, RoisLod, RoisNum)
        return out, out.with_dtype(DType.INT64)

    def run(self, xp: Any, X: Array, ROIs: Array, RoisLod: Array, RoisNum: Array) -> Arrays:
        rois = finite(xp, ROIs)
        images = roi_images({"images": len(X)}).run(xp, ROIs, RoisLod, RoisNum)
        shape = (len(rois), X.shape[1], self.pooled_height, self.pooled_width)
        out, place = xp.zeros(shape, X.dtype), xp.full(shape, -1, "int64")
        for r, (roi, image) in enumerate(zip(rois, images.tolist())):
            rows, columns = self.parts(xp, roi, X.shape[2:])
            for i, (top, bottom) in enumerate(rows):
                for j, (left, right) in enumerate(columns):
                    if top < bottom and left < right:
                        area = (bottom - top) * (right - left)
                        part = X[image, :, top:bottom, left:right]
                        part = xp.reshape(part, (X.shape[1], area))
                        first = xp.argmax(part, axis=1)
                        row, column = first // (right - left), first % (right - left)
                        out[r, :, i, j] = xp.max(part, axis=1)
                        place[r, :, i, j] = (row + top) * X.shape[3] + column + left
        return out, place

    def parts(self, xp: Any, roi: Array, sizes: Shape) -> list[Any]:
        """The ranges of rows and of columns that the parts of a region cover."""
        ends = away_from_zero(xp, roi * self.spatial_scale).astype("int64").tolist()
        left, top, right, bottom = ends
        ranges = []
        for begin, end, bins, size in (
            (top, bottom, self.pooled_height, sizes[0]),
            (left, right, self.pooled_width, sizes[1]),
        ):
            # in single precision, as fluid rounds
            span = np.float32(max(end - begin + 1, 1)) / np.float32(bins)
            edges = [
                (math.floor(np.float32(i) * span), math.ceil(np.float32(i + 1) * span))
                for i in range(bins)
            ]
            ranges.append([tuple(min(max(e + begin, 0), size) for e in edge) for edge in edges])
        return ranges

    def grad(self, f, X, ROIs, Argmax, dOut, RoisLod=None, RoisNum=None) -> Rules:
        def dx():
            images = f.roi_images(ROIs, RoisLod, RoisNum, images=X.shape[0])
            positions, there = f.roi_positions(Argmax, images, size=X.shape)
            return f.put_elements(dOut * indicator(f, there, dOut), positions, size=X.shape)

        return dict(X=dx)


class roi_positions(Op):
    """Out, There = the positions of maxima in all images, flattened, and whether they exist.

    Argmax: the numbers of elements in their images; -1 if there is none.
    Images: the number of the image of each region.
    size: the shape of all images.
    """

    signature = "Argmax!, Images! -> Out, There"
    size: list[int] = REQUIRED
    grad = None

    def infer(self, Argmax: Spec, Images: Spec) -> Specs:
        return Argmax, Argmax.with_dtype(DType.BOOL)

    def run(self, xp: Any, Argmax: Array, Images: Array) -> Arrays:
        maps = Images[:, None] * self.size[1] + xp.arange(self.size[1])
        places = xp.maximum(Argmax, 0) + maps[:, :, None, None] * math.prod(self.size[2:])
        return places, Argmax >= 0
