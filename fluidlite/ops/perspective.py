"""Quadrangles of images, straightened to rectangles, as to read text in them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import lod_of
from ..opdef.spec import Spec, need_ndim, need_shape, same_float, spec
from .roi import finite

NEAR = 1e-4  #: how far from a side a point still lies on it


def check_quadrangles(ROIs: Spec) -> None:
    """Check that ROIs hold four corners each."""
    need_shape("ROIs", ROIs, (-1, 8), "four corners each")


class roi_perspective_transform(Op):
    """Out = for each region, a quadrangle, the rectangle that a perspective map makes of it.

    X: images, [N, C, H, W].
    ROIs: the corners x1, y1, ..., x4, y4 of each region, clockwise from the left upper one; each
        image's are a sequence.
    Out: [n, C, transformed_height, transformed_width]; zeros outside the region and the image.
    Mask: 1 where a point of Out lies inside both.
    TransformMatrix: the map of each region from points (column, row, 1) of Out to those of X.
    Out2InIdx, Out2InWeights: stay empty.
    spatial_scale: what the numbers of ROIs are multiplied with.
    transformed_height, transformed_width: of Out; narrow regions do not fill the width.
    """

    signature = "X, ROIs![] -> Out, Mask!, TransformMatrix!, Out2InIdx?!~, Out2InWeights?!~"
    fluid: ClassVar[FluidForm] = FluidForm(
        idle=("Out2InIdx", "Out2InWeights"), carried=("Out2InIdx", "Out2InWeights")
    )
    spatial_scale: float = 1.0
    transformed_height: int = 1
    transformed_width: int = 1
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, ROIs: Spec) -> Specs:
        same_float(X=X, ROIs=ROIs)
        need_ndim(4, X=X)
        if 0 in X.shape[2:]:
            raise ShapeError(f"expected images with elements, got X of shape {list(X.shape)}")
        check_quadrangles(ROIs)
        sizes = [self.transformed_height, self.transformed_width]
        if min(sizes) < 1 or self.spatial_scale <= 0:
            raise AttributeValueError(
                f"expected transformed_height and transformed_width of at least 1 and a positive "
                f"spatial_scale, got {sizes[0]}, {sizes[1]} and {self.spatial_scale:g}"
            )
        count = ROIs.shape[0]
        out = X.with_shape([count, X.shape[1], *sizes])._replace(lod_level=ROIs.lod_level)
        return (
            out,
            spec([count, 1, *sizes], DType.INT32),
            ROIs.with_shape([count, 9])._replace(lod_level=0),
            None,
            None,
        )

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": lod_of(ins["ROIs"])}

    def expand(self, f: Any, X: Value, ROIs: Value) -> Values:
        n, channels, height, width = X.shape
        images = f.roi_images(ROIs, images=n)
        places, weights, mask, matrix = f.perspective_points(
            ROIs,
            images,
            height=height,
            width=width,
            count_down=self.transformed_height,
            count_across=self.transformed_width,
            spatial_scale=self.spatial_scale,
        )
        points = prod(mask.shape)
        pixels = f.reshape(f.transpose(X, axis=[0, 2, 3, 1]), shape=[n * height * width, channels])
        four = f.gather(pixels, f.reshape(places, shape=[4 * points]))
        four = f.elementwise_mul(four, f.reshape(weights, shape=[4 * points]), axis=0)
        out = f.reduce_sum(f.reshape(four, shape=[4, points, channels]), dim=[0])
        regions, _, *sizes = mask.shape
        out = f.transpose(f.reshape(out, shape=[regions, *sizes, channels]), axis=[0, 3, 1, 2])
        return out, mask, matrix, None, None


class perspective_points(Detached):
    """Places and weights of the four pixels around each point that a straightened region needs.

    ROIs: the corners of each region, [n, 8].
    Images: the number of its image.
    Places: numbers of pixels, of all images one after the other: [4, points].
    Weights: of these, 0 outside the region and the image.
    Mask: 1 inside both, [n, 1, count_down, count_across].
    Matrix: the map of each region, [n, 9].
    height, width: of the images.
    count_down, count_across: how many points a region has.
    spatial_scale: what the numbers of ROIs are multiplied with.
    """

    signature = "ROIs![], Images! -> Places, Weights, Mask, Matrix"
    height: int = REQUIRED
    width: int = REQUIRED
    count_down: int = REQUIRED
    count_across: int = REQUIRED
    spatial_scale: float = 1.0

    def infer(self, ROIs: Spec, Images: Spec) -> Specs:
        check_quadrangles(ROIs)
        count = ROIs.shape[0]
        points = -1 if count == -1 else count * self.count_down * self.count_across
        return (
            spec([4, points], DType.INT64),
            ROIs.with_shape([4, points]),
            spec([count, 1, self.count_down, self.count_across], DType.INT32),
            ROIs.with_shape([count, 9]),
        )

    def run(self, xp: Any, ROIs: Array, Images: Array) -> Arrays:
        rois = finite(xp, ROIs)
        dtype, corners = rois.dtype, xp.asarray(rois, "float64") * self.spatial_scale
        xs, ys = corners[:, ::2], corners[:, 1::2]
        matrix = self.matrices(xp, xs, ys)
        m = xp.reshape(matrix, (-1, 9, 1, 1))
        column, row = xp.arange(self.count_across), xp.reshape(xp.arange(self.count_down), (-1, 1))
        x, y, w = (m[:, k] * column + m[:, k + 1] * row + m[:, k + 2] for k in (0, 3, 6))
        x, y = x / w, y / w
        there = (x > -0.5) & (x < self.width - 0.5) & (y > -0.5) & (y < self.height - 0.5)
        there = there & inside(xp, x, y, xs[:, :, None, None], ys[:, :, None, None])
        left, right, across = self.between(xp, x, there, self.width)
        above, below, down = self.between(xp, y, there, self.height)
        first = xp.reshape(Images, (-1, 1, 1)) * self.height
        pairs = [
            (line, lying, by_line * by_column)
            for line, by_line in ((above, 1 - down), (below, down))
            for lying, by_column in ((left, 1 - across), (right, across))
        ]
        places = xp.stack([(first + line) * self.width + lying for line, lying, _ in pairs])
        weights = xp.stack([weight * there for _, _, weight in pairs])
        return (
            xp.reshape(xp.asarray(places, "int64"), (4, -1)),
            xp.reshape(xp.asarray(weights, dtype), (4, -1)),
            xp.asarray(there[:, None], "int32"),
            xp.asarray(matrix, dtype),
        )

    def matrices(self, xp: Any, xs: Array, ys: Array) -> Array:
        """The perspective map that takes the corners of a rectangle to those of each region.

        Heckbert, Fundamentals of texture mapping and image warping, 1989.  The rectangle has all
        rows, and as many columns as keep the shape of the region, if there are so many.
        """
        lengths = xp.sqrt(
            xp.square(xs - xp.roll(xs, -1, axis=1)) + xp.square(ys - xp.roll(ys, -1, axis=1))
        )
        wide, high = lengths[:, 0] + lengths[:, 2], lengths[:, 1] + lengths[:, 3]
        last_row = max(2, self.count_down) - 1
        high = xp.where(high > 0, high, 1)
        last_column = xp.minimum(xp.round(wide * last_row / high), self.count_across - 1)
        last_column = xp.maximum(last_column, 1)
        (x0, x1, x2, x3), (y0, y1, y2, y3) = xs.T, ys.T
        dx1, dx2, dx3 = x1 - x2, x3 - x2, x0 - x1 + x2 - x3
        dy1, dy2, dy3 = y1 - y2, y3 - y2, y0 - y1 + y2 - y3
        area = dx1 * dy2 - dx2 * dy1 + 1e-5
        g = (dx3 * dy2 - dx2 * dy3) / area / last_column
        h = (dx1 * dy3 - dx3 * dy1) / area / last_row
        rows = [
            ((v1 - v0) / last_column + g * v1, (v3 - v0) / last_row + h * v3, v0)
            for v0, v1, v3 in ((x0, x1, x3), (y0, y1, y3))
        ]
        return xp.stack([*rows[0], *rows[1], g, h, xp.ones_like(g)], axis=1)

    def between(self, xp: Any, place: Array, there: Array, size: int) -> Arrays:
        """The pixels before and behind places in one direction, and how far behind the first."""
        place = xp.clip(xp.where(there, place, 0.0), 0, size - 1)
        before = xp.minimum(xp.floor(place), max(size - 2, 0))
        return before, xp.minimum(before + 1, size - 1), place - before


def inside(xp: Any, x: Array, y: Array, xs: Array, ys: Array) -> Array:
    """Which points lie inside quadrangles or on their sides: an odd number of sides is to the
    right.
    """
    on = odd = xp.zeros(x.shape, bool)
    for k in range(4):
        (x0, y0), (x1, y1) = ((xs[:, j % 4], ys[:, j % 4]) for j in (k, k + 1))
        low, high = xp.minimum(y0, y1), xp.maximum(y0, y1)
        flat = high - low < NEAR
        along = (x >= xp.minimum(x0, x1) - NEAR) & (x <= xp.maximum(x0, x1) + NEAR)
        crossing = x0 + (y - y0) * (x1 - x0) / xp.where(flat, 1, y1 - y0)
        level = (y >= low - NEAR) & (y <= high + NEAR)
        on = on | xp.where(flat, (abs(y - y0) < NEAR) & along, (abs(crossing - x) < NEAR) & level)
        odd = odd ^ (~flat & (y > low) & (y <= high) & (crossing > x))
    return on | odd
