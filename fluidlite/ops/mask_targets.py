"""What regions are to show: masks drawn of polygons."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import LoDError, OutOfRangeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare
from ..opdef.annotations import Array, Arrays
from ..opdef.attribute import REQUIRED, need_least
from ..opdef.definition import DetachedValues
from ..opdef.sequences import lod_of, offsets_of
from ..opdef.spec import need_count, need_integer, need_shape, same_float
from .anchor_targets import need_same_rows
from .boxes import need_boxes, overlap
from .proposals import by_image, image_sizes, need_images

FINE = 5  #: points that polygons are drawn with in each direction of a pixel


class generate_mask_labels(DetachedValues):
    """MaskRois, RoiHasMaskInt32, MaskInt32 = the regions of objects, and the masks of these.

    (He, Gkioxari, Dollar and Girshick, Mask R-CNN, ICCV 2017.)

    ImInfo: height, width and scale of each image, [images, 3].
    GtClasses: the classes of true objects, [objects, 1], those of an image being a sequence.
    IsCrowd: 1 where an object is many, which does not count, [objects, 1]; sequences as GtClasses.
    GtSegms: corners of polygons (x, y), [corners, 2], sequences of three levels: the objects of
        an image, the polygons of an object, the corners of a polygon; in pixels before scaling.
    Rois: regions, [n, 4], those of an image being a sequence; in pixels after scaling.
    LabelsInt32: their classes, 0 for background, [n, 1]; sequences as Rois.
    MaskRois: the regions of objects; the first region of background where an image has none.
    RoiHasMaskInt32: where these are among the regions of their image.
    MaskInt32: at the place of the class, whether each point is in the object; -1 elsewhere.
    num_classes: how many classes there are, with the background.
    resolution: rows and columns of a mask.
    """

    signature = (
        "ImInfo, GtClasses[], IsCrowd[], GtSegms[], Rois[], LabelsInt32[] -> "
        "MaskRois[], RoiHasMaskInt32[], MaskInt32[]"
    )
    num_classes: int = REQUIRED
    resolution: int = REQUIRED

    def infer(self, ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32):
        same_float(Rois=Rois, GtSegms=GtSegms, ImInfo=ImInfo)
        need_integer(GtClasses=GtClasses, IsCrowd=IsCrowd, LabelsInt32=LabelsInt32)
        need_images(ImInfo)
        need_boxes("Rois", Rois)
        need_shape("GtSegms", GtSegms, (-1, 2))
        need_count("LabelsInt32", LabelsInt32, Rois.shape[0], "one for each of Rois")
        need_least(self, 1, "num_classes", "resolution")
        rois = Rois.with_shape([-1, 4])._replace(lod_level=1)
        one = rois.with_dim(1, 1).with_dtype(DType.INT32)
        return rois, one, one.with_dim(1, self.num_classes * self.resolution**2)

    def run(self, xp, ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32):
        images = len(ImInfo)
        classes, of_classes = by_image("GtClasses", GtClasses, images)
        crowd, of_crowd = by_image("IsCrowd", IsCrowd, images)
        need_same_rows("IsCrowd", of_crowd, of_classes, "GtClasses")
        rois, of_rois = by_image("Rois", Rois, images)
        labels, of_labels = by_image("LabelsInt32", LabelsInt32, images)
        need_same_rows("LabelsInt32", of_labels, of_rois, "Rois")
        if labels.size and (labels.min() < 0 or labels.max() >= self.num_classes):
            wrong = labels[(labels < 0) | (labels >= self.num_classes)][0]
            raise OutOfRangeError(
                f"expected LabelsInt32 in [0, {self.num_classes}), as num_classes says, got {wrong}"
            )
        objects = self.polygons(GtSegms, of_classes)
        targets, offsets = [], [0]
        scales = image_sizes(ImInfo)[:, 2]
        for i, ((begin, end), (first, last)) in enumerate(zip(of_classes, of_rois)):
            counts = (classes[begin:end].ravel() > 0) & (crowd[begin:end].ravel() == 0)
            chosen = [objects[begin + k] for k in np.flatnonzero(counts)]
            of_image = labels[first:last].ravel()
            targets.append(self.of_image(xp, chosen, rois[first:last], of_image, scales[i]))
            offsets.append(offsets[-1] + len(targets[-1][0]))
        lod = (tuple(offsets),)
        return tuple(LoDTensor(xp.concatenate(part), lod) for part in zip(*targets))

    def polygons(self, GtSegms: Any, of_classes: list[Any]) -> list[Any]:
        """The polygons of each object: lists of arrays [corners, 2]."""
        offsets_of(GtSegms, "GtSegms", 3)
        of_images, of_objects, of_polygons = lod_of(GtSegms)[-3:]
        need_same_rows("GtSegms", list(pairwise(of_images)), of_classes, "GtClasses")
        corners = [bare(GtSegms)[begin:end] for begin, end in pairwise(of_polygons)]
        few = next((c for c in corners if len(c) < 3), None)
        if few is not None:
            raise LoDError(f"expected polygons of at least 3 corners in GtSegms, got {len(few)}")
        return [corners[begin:end] for begin, end in pairwise(of_objects)]

    def of_image(
        self, xp: Any, objects: list[Any], rois: Array, labels: Array, scale: Array
    ) -> Arrays:
        """The outputs for one image."""
        size = self.resolution**2
        chosen = xp.flatnonzero(labels > 0) if objects else xp.zeros(0, "int64")
        masks = xp.full((max(len(chosen), 1), self.num_classes, size), -1, "int32")
        if not len(chosen):
            chosen = xp.flatnonzero(labels == 0)[:1]
            masks = masks[: len(chosen)]
        else:
            regions = (rois[chosen] / scale).astype(rois.dtype)
            around = xp.stack([bounds(polygons) for polygons in objects])
            alike = overlap(xp, regions[:, None], around[None], 1)
            for k, (region, best) in enumerate(zip(regions, xp.argmax(alike, axis=1).tolist())):
                drawn = [self.drawn(polygon, region) for polygon in objects[best]]
                masks[k, labels[chosen[k]]] = np.logical_or.reduce(drawn).ravel()
        shape = (len(chosen), self.num_classes * size)
        places = chosen.astype("int32")[:, None]
        return rois[chosen], places, xp.reshape(masks, shape)

    def drawn(self, polygon: Array, region: Array) -> Array:
        """The mask of a polygon in a region."""
        sizes = np.maximum(region[2:] - region[:2], 1)
        size = polygon.dtype.type(self.resolution)
        return mask_of((polygon - region[:2]) * size / sizes, self.resolution)


def bounds(polygons: list[Array]) -> Array:
    """The box around polygons."""
    corners = np.concatenate(polygons)
    return np.concatenate([corners.min(axis=0), corners.max(axis=0)])


def mask_of(polygon: Array, size: int) -> Array:
    """Which pixels of a square are in a polygon; as the tools of the COCO data set draw them.

    The outline is drawn on a grid ``FINE`` times as fine; where it enters a column of pixels, all
    pixels below change sides.

    Args:
        polygon: corners, [corners, 2], in pixels.
        size: rows and columns.
    """
    corners = np.trunc(FINE * polygon.astype("float64") + 0.5)
    lines = [line(*ends) for ends in zip(corners, np.roll(corners, -1, axis=0))]
    across, down = np.concatenate(lines, axis=1)
    moved = np.flatnonzero(across[1:] != across[:-1])
    before, after = across[moved], across[moved + 1]
    column = (np.where(after < before, after, after - 1) + 0.5) / FINE - 0.5
    row = np.minimum(down[moved], down[moved + 1])
    row = np.ceil(np.clip((row + 0.5) / FINE - 0.5, 0, size))
    inside = (np.floor(column) == column) & (column >= 0) & (column <= size - 1)
    changes = (column * size + row)[inside].astype("int64")
    sides = np.cumsum(np.bincount(changes, minlength=size * size + 1))[: size * size] % 2
    return sides.reshape(size, size).T == 1


def line(begin: Array, end: Array) -> Array:
    """The points of a grid on a line: [2, points]."""
    way = np.abs(end - begin)
    along = 0 if way[0] >= way[1] else 1
    steps = np.arange(way[along] + 1)
    turned = begin[along] > end[along]
    low, high = (end, begin) if turned else (begin, end)
    slope = (high[1 - along] - low[1 - along]) / max(way[along], 1)
    steps = steps[::-1] if turned else steps
    points = [low[along] + steps, np.trunc(low[1 - along] + slope * steps + 0.5)]
    return np.stack(points if along == 0 else points[::-1])
