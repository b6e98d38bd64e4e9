"""Parts of regions of images that are moved before they are pooled."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import REQUIRED, need_each
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, agree, need_ndim, need_shape, same_float
from .roi import away_from_zero


class PartsOfRegions(Op, abstract=True):
    """How regions are cut into parts, and where points are in these.

    ROIs: regions (left, top, right, bottom); each image's are a sequence.
    spatial_scale: what the numbers of ROIs are multiplied with.
    output_dim: the channels of Output.
    group_size: rows and columns of groups of channels that parts read.
    pooled_height, pooled_width: how many parts a region has.
    part_size: rows and columns of what Trans says for a region.
    sample_per_part: how many points a part has in each direction.
    """

    spatial_scale: float = REQUIRED
    output_dim: int = REQUIRED
    group_size: list[int] = REQUIRED
    pooled_height: int = REQUIRED
    pooled_width: int = REQUIRED
    part_size: list[int] = REQUIRED
    sample_per_part: int = REQUIRED
    lod: ClassVar[str | None] = None

    @property
    def layout(self) -> dict[str, Any]:
        """The attributes that the parts of this composition take over."""
        return {name: getattr(self, name) for name in PartsOfRegions.attributes}

    @property
    def pooled(self) -> Shape:
        """How many parts a region has, down and across."""
        return self.pooled_height, self.pooled_width


class deformable_psroi_pooling(PartsOfRegions):
    """Output = for each region the means over its parts, which Trans moves.

    (Dai et al., Deformable convolutional networks, ICCV 2017.)

    Input: images, [N, output_dim * groups, H, W].
    Trans: for each region how far its parts are moved, across and down, in regions:
        [n, 2 * classes, rows, columns].
    TopCount: how many points each part has in the image.
    no_trans: nothing is moved.
    trans_std: what Trans is multiplied with.
    """

    signature = "Input, ROIs![], Trans -> TopCount!, Output"
    fluid: ClassVar[FluidForm] = FluidForm(carried=("TopCount",))
    no_trans: bool = REQUIRED
    trans_std: float = REQUIRED

    def infer(self, Input: Spec, ROIs: Spec, Trans: Spec) -> Specs:
        same_float(Input=Input, ROIs=ROIs, Trans=Trans)
        need_ndim(4, Input=Input)
        need_shape("ROIs", ROIs, (-1, 4))
        sizes = (*self.pooled, self.output_dim, self.sample_per_part)
        need_each(self, 2, 1, "group_size", "part_size")
        if min(sizes) < 1:
            raise AttributeValueError(
                f"expected pooled_height, pooled_width, output_dim and sample_per_part of at "
                f"least 1, got {list(sizes)}"
            )
        channels = self.output_dim * math.prod(self.group_size)
        if not agree(Input.shape[1], channels):
            raise ShapeError(
                f"expected {channels} channels, output_dim={self.output_dim} for each of "
                f"group_size={list(self.group_size)}; got {Input.shape[1]}"
            )
        if not self.no_trans:
            self.check_trans(ROIs, Trans)
        out = Input.with_shape([ROIs.shape[0], self.output_dim, *self.pooled])
        return out, out

    def check_trans(self, ROIs: Spec, Trans: Spec) -> None:
        """Check that Trans has a vector for each part."""
        need_ndim(4, Trans=Trans)
        regions, vectors, *parts = Trans.shape
        wanted = [ROIs.shape[0], 2, *self.part_size]
        fits = agree(regions, wanted[0]) and all(map(agree, parts, self.part_size))
        if not fits or (vectors != -1 and (vectors % 2 or self.output_dim % (vectors // 2 or 1))):
            raise ShapeError(
                f"expected Trans of shape {wanted} for one class, or pairs for classes that divide "
                f"output_dim={self.output_dim}; got {list(Trans.shape)}"
            )

    def expand(self, f: Any, Input: Value, ROIs: Value, Trans: Value) -> Values:
        n, c, height, width = Input.shape
        images = f.roi_images(ROIs, images=n)
        rows, columns, spans = f.region_points(ROIs, **self.layout)
        shape = [spans.shape[0], self.output_dim, *self.pooled, self.sample_per_part**2]
        whole = lambda v: f.expand(v, expand_times=[1, self.output_dim, 1, 1, 1])
        y, x = whole(rows), whole(columns)
        if not self.no_trans:
            vectors = 1 if Trans.shape[1] < 2 else Trans.shape[1] // 2
            for k in (0, 1):
                places = f.trans_places(images, component=k, classes=vectors, **self.layout)
                moved = f.scale(f.take_elements(Trans, places), scale=self.trans_std)
                span = f.slice(spans, axes=[1], starts=[k], ends=[k + 1])
                moved = f.elementwise_mul(moved, f.reshape(span, shape=[shape[0]]), axis=0)
                moved = f.reshape(moved, shape=[*shape[:4], 1])
                if k:
                    y = f.elementwise_add(y, moved)
                else:
                    x = f.elementwise_add(x, moved)
        there = f.within_image(y, x, height=height, width=width)
        first = f.group_places(images, channels=c, size=height * width, **self.layout)
        row, down = f.neighbours(f.clip(y, min=0.0, max=height - 1.0), size=height)
        column, across = f.neighbours(f.clip(x, min=0.0, max=width - 1.0), size=width)
        points = math.prod(shape)
        four = lambda v: f.reshape(v, shape=[1, points, 4])
        lying = lambda v: f.reshape(v, shape=[points, 1, 2])
        standing = lambda v: f.reshape(v, shape=[points, 2, 1])
        places = f.elementwise_add(standing(f.scale(row, scale=width)), lying(column))
        places = f.elementwise_add(
            f.reshape(places, shape=[*shape, 4]), f.reshape(first, shape=[*shape[:4], 1, 1])
        )
        weights = f.elementwise_mul(standing(down), lying(across))
        values = f.weighted_take(
            f.reshape(Input, shape=[1, 1, n * c * height * width]), four(places), four(weights)
        )
        total = f.reduce_sum(f.reshape(values, shape=shape) * there, dim=[4])
        count = f.reduce_sum(there, dim=[4])
        return count, total / f.elementwise_max(count, f.fill_any_like(count, value=1.0))


class region_points(PartsOfRegions):
    """Rows, Columns = where the points of parts are; Spans = width and height of each region.

    Rows, Columns: [region, 1, row of parts, column of parts, point].
    Spans: [region, 2].
    """

    signature = "ROIs![] -> Rows, Columns, Spans"
    grad = None

    def infer(self, ROIs: Spec) -> Specs:
        points = [ROIs.shape[0], 1, *self.pooled, self.sample_per_part**2]
        return ROIs.with_shape(points), ROIs.with_shape(points), ROIs.with_dim(1, 2)

    def run(self, xp: Any, ROIs: Array) -> Arrays:
        rois = ROIs.data if isinstance(ROIs, LoDTensor) else ROIs
        ends = away_from_zero(xp, rois)
        begins = ends[:, :2] * self.spatial_scale - 0.5
        spans = xp.maximum((ends[:, 2:] + 1) * self.spatial_scale - 0.5 - begins, 0.1)
        samples = xp.arange(self.sample_per_part, dtype=rois.dtype)
        shape = (len(rois), 1, *self.pooled, self.sample_per_part, self.sample_per_part)

        def along(k, bins, axis):
            # in the type of ROIs and in this order, as fluid rounds: a point may lie on an edge
            span = spans[:, k, None] / bins
            starts = xp.arange(bins, dtype=rois.dtype) * span + begins[:, k, None]
            points = starts[..., None] + samples * (span / self.sample_per_part)[..., None]
            ones = [len(rois), 1, 1, 1, 1, 1]
            ones[axis], ones[axis + 2] = bins, self.sample_per_part
            points = xp.broadcast_to(xp.reshape(points, ones), shape)
            return xp.reshape(points, (*shape[:4], self.sample_per_part**2)).astype(rois.dtype)

        return along(1, self.pooled_height, 2), along(0, self.pooled_width, 3), spans


class PlacesOfParts(PartsOfRegions, abstract=True):
    """Positions in a flattened array, one for each channel of each part of each region."""

    signature = "Images! -> Out"
    grad = None

    def infer(self, Images: Spec) -> Specs:
        return Images.with_shape([Images.shape[0], self.output_dim, *self.pooled])


class trans_places(PlacesOfParts):
    """Out = the positions in Trans, flattened, of what moves each part.

    Images: a number for each region.
    component: 0 for across, 1 for down.
    classes: how many pairs Trans has for each region.
    """

    component: int = REQUIRED
    classes: int = REQUIRED

    def run(self, xp: Any, Images: Array) -> Array:
        each = self.output_dim // self.classes
        regions = xp.reshape(xp.arange(len(Images)), (-1, 1, 1, 1))
        kinds = xp.reshape(xp.arange(self.output_dim) // each, (-1, 1, 1))
        rows, columns = (
            xp.arange(bins) * parts // bins for bins, parts in zip(self.pooled, self.part_size)
        )
        vector = (regions * self.classes + kinds) * 2 + self.component
        return (vector * self.part_size[0] + rows[:, None]) * self.part_size[1] + columns


class group_places(PlacesOfParts):
    """Out = the positions in all images, flattened, where the channels that parts read begin.

    Images: the number of the image of each region.
    channels, size: of an image.
    """

    channels: int = REQUIRED
    size: int = REQUIRED

    def run(self, xp: Any, Images: Array) -> Array:
        rows, columns = (
            xp.arange(bins) * groups // bins for bins, groups in zip(self.pooled, self.group_size)
        )
        kinds = xp.reshape(xp.arange(self.output_dim), (-1, 1, 1))
        channel = (kinds * self.group_size[0] + rows[:, None]) * self.group_size[1] + columns
        return (xp.reshape(Images, (-1, 1, 1, 1)) * self.channels + channel) * self.size


class within_image(Op):
    """Out = 1 where a point is not farther than half an element from an image, 0 elsewhere.

    Y: rows of the points.
    height, width: of the image.
    """

    signature = "Y, X -> Out"
    height: int = REQUIRED
    width: int = REQUIRED
    grad = None

    def run(self, xp: Any, Y: Array, X: Array) -> Array:
        apart = lambda at, size: xp.abs(at - (size - 1) / 2)  # from the middle
        there = (apart(Y, self.height) <= self.height / 2) & (
            apart(X, self.width) <= self.width / 2
        )
        return there.astype(X.dtype)
