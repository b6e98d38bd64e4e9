"""How much boxes and polygons overlap, and which of them are kept that overlap no better one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.annotations import Array
from .boxes import extents
from .polygons import common_areas, polygon_areas

BLOCK = 128  #: boxes that are compared with each other at once
FEW = 16  #: polygons


class BoxOverlaps:
    """Intersections over unions of boxes; boxes that do not meet have none.

    Args:
        xp: the array namespace.
        boxes: [n, 4]; what is upside down has no area.
        more: 1 where right and bottom lie within them.
        of_points: what two boxes without area have that meet.
    """

    at_once = BLOCK

    def __init__(self, xp: Any, boxes: Array, more: int, of_points: float = np.nan):
        self.xp = xp
        self.more = more
        self.of_points = of_points
        self.sides: Any = xp.ascontiguousarray(boxes.T)
        self.areas = _area(xp, boxes, more)
        # then 0 is what boxes have in common that do not meet, and no union is 0
        self.is_plain: bool = not more and bool((self.areas > 0).all())

    def __call__(self, ones: Any, others: Any) -> Any:
        """[ones, others].

        Args:
            ones, others: numbers of boxes, or slices.
        """
        xp, more = self.xp, self.more
        a, b = self.sides[:, ones, None], self.sides[:, None, others]
        wide, high = xp.minimum(a[2], b[2]), xp.minimum(a[3], b[3])
        room = xp.maximum(a[0], b[0])
        wide -= room
        high -= xp.maximum(a[1], b[1], out=room)
        apart = None if self.is_plain else ~((wide >= 0) & (high >= 0))
        if apart is None:
            xp.maximum(wide, 0, out=wide)
            xp.maximum(high, 0, out=high)
        elif more:
            wide += 1
            high += 1
        wide *= high
        if apart is not None:
            wide[apart] = 0
        union = xp.add(self.areas[ones, None], self.areas[None, others], out=room)
        union -= wide
        if apart is None:
            wide /= union
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                wide /= union
            wide[union == 0] = self.of_points
            wide[apart] = 0
        return wide


class PolygonOverlaps:
    """Intersections over unions of polygons (x1, y1, x2, y2, ...), called as BoxOverlaps.

    Args:
        xp: the array namespace.
        polygons: [n, numbers].
    """

    at_once = FEW

    def __init__(self, xp: Any, polygons: Array):
        self.xp = xp
        self.polygons = polygons

    def __call__(self, ones: Any, others: Any) -> Any:
        a, b = self.polygons[ones], self.polygons[others]
        pairs = self.xp.repeat(a, len(b), axis=0), self.xp.tile(b, (len(a), 1))
        return polygon_overlaps(self.xp, *pairs).reshape(len(a), len(b))


def overlaps_of(xp: Any, boxes: Array, normalized: bool) -> Any:
    """How much boxes or polygons overlap: a function of two lists of their numbers."""
    if boxes.shape[1] == 4:
        return BoxOverlaps(xp, boxes, 0 if normalized else 1)
    return PolygonOverlaps(xp, boxes)


def box_overlaps(xp: Any, one: Array, others: Array, more: int) -> Array:
    """Intersections over unions; boxes that do not meet have none, upside-down ones no area."""
    width, height = extents(
        xp.concatenate(
            [xp.maximum(one[..., :2], others[..., :2]), xp.minimum(one[..., 2:], others[..., 2:])],
            axis=-1,
        ),
        0,
    )
    meets = (width >= 0) & (height >= 0)
    common = xp.where(meets, (width + more) * (height + more), 0)
    union = _area(xp, one, more) + _area(xp, others, more) - common
    with np.errstate(invalid="ignore", divide="ignore"):
        return xp.where(meets, common / union, 0).astype(others.dtype)


def _area(xp, boxes, more):
    width, height = extents(boxes, 0)
    there = (width >= 0) & (height >= 0)
    return xp.where(there, (width + more) * (height + more), 0).astype(boxes.dtype)


def polygon_overlaps(xp: Any, one: Array, others: Array) -> Array:
    """Intersections over unions of polygons (x1, y1, x2, y2, ...); of one, or one for each."""
    numbers = others.shape[-1]
    pair = [xp.reshape(each, (-1, numbers // 2, 2)).astype("float64") for each in (one, others)]
    common = common_areas(xp, *pair)
    union = polygon_areas(xp, pair[0]) + polygon_areas(xp, pair[1]) - common
    there = union > 0
    found = xp.where(there, common, 0) / xp.where(there, union, 1)
    return xp.reshape(found.astype(others.dtype), others.shape[:-1])


def survivors(
    xp: Any, count: int, threshold: Array, eta: float, overlaps: Any, most: int = -1
) -> Array:
    """The numbers of boxes that overlap none of those before them too much; an array.

    Args:
        xp: the array namespace.
        count: how many boxes there are, the best first.
        threshold: how much is too much.
        eta: what the threshold is multiplied with at each that is kept, while it is above 0.5.
        overlaps: a function of numbers of boxes and numbers of others.
        most: how many are looked for; all where it is negative.
    """
    surviving, most = xp.zeros(0, "int64"), count if most < 0 else most
    sinks = eta < 1
    for begin in range(0, count, overlaps.at_once):
        if len(surviving) >= most:
            break
        block = xp.arange(begin, min(begin + overlaps.at_once, count))
        worst = xp.full(len(block), -xp.inf)
        for start in range(0, len(surviving), overlaps.at_once):
            alike = overlaps(block, surviving[start : start + overlaps.at_once])
            worst = xp.maximum(worst, alike.max(axis=1))
            stays = worst <= threshold
            block, worst = block[stays], worst[stays]
            if not len(block):
                break
        if not len(block):
            continue
        alike = overlaps(block, block)
        if sinks:
            chosen, threshold = _sinking(xp, alike, worst, threshold, eta)
        else:
            chosen = _first(xp, ~(alike <= threshold))
        surviving = xp.concatenate([surviving, block[chosen]])
    return surviving[:most]


def _first(xp, bars):
    """Which rows are barred by none of the chosen ones before them.

    Args:
        xp: the array namespace.
        bars: [n, n], whether a row bars another one.
    """
    chosen, barred = [], 0
    for i, row in enumerate(xp.packbits(bars, axis=1, bitorder="little")):
        if not barred >> i & 1:
            chosen.append(i)
            barred |= int.from_bytes(row.tobytes(), "little")
    return chosen


def _sinking(xp, alike, worst, threshold, eta):
    """Which rows overlap none of those chosen before them by more than a threshold that sinks, and
    where that ends.
    """
    chosen = []
    for i, row in enumerate(alike):
        if worst[i] <= threshold:
            chosen.append(i)
            worst = xp.maximum(worst, row)
            if threshold > 0.5:
                threshold = threshold * type(threshold)(eta)
    return chosen, threshold
