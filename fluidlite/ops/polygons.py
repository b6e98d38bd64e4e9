"""How much polygons overlap: areas of intersections, exact for any simple polygons."""

from __future__ import annotations

from typing import Any

from ..opdef.annotations import Array


def polygon_areas(xp: Any, corners: Array) -> Array:
    """The areas of polygons.

    Args:
        xp: the array namespace.
        corners: [..., corners, 2].
    """
    x, y = corners[..., 0], corners[..., 1]
    turned = x * xp.roll(y, -1, axis=-1) - y * xp.roll(x, -1, axis=-1)
    return xp.abs(xp.sum(turned, axis=-1)) / 2


def common_areas(xp: Any, one: Array, others: Array) -> Array:
    """The areas that a polygon has in common with others.

    The plane is cut at the heights of all corners and crossings.  Between two cuts no edges cross,
    so the length that both polygons cover is linear there, and its middle tells the area.

    Args:
        xp: the array namespace.
        one: [corners, 2], or one for each of the others; all have as many corners.
        others: [n, corners, 2].
    """
    pair = [xp.broadcast_to(one, others.shape), others]
    begins = xp.concatenate(pair, axis=1)
    ends = xp.concatenate([xp.roll(each, -1, axis=1) for each in pair], axis=1)
    count = others.shape[1]
    heights = xp.concatenate([begins[..., 1], _crossings(xp, begins, ends)], axis=1)
    heights = xp.sort(heights, axis=1)
    middle = ((heights[:, 1:] + heights[:, :-1]) / 2)[..., None]
    low, high = begins[:, None, :, 1], ends[:, None, :, 1]
    met = (low <= middle) != (high <= middle)
    share = (middle - low) / xp.where(met, high - low, 1)
    at = begins[:, None, :, 0] + share * (ends - begins)[:, None, :, 0]
    at = xp.where(met, at, xp.inf)
    order = xp.argsort(at, axis=2, kind="stable")
    at = xp.take_along_axis(at, order, 2)
    crossed = xp.isfinite(at)
    inside = [
        xp.cumsum(xp.where((order < count) == first, crossed, False), axis=2) % 2 == 1
        for first in (True, False)
    ]
    at = xp.where(crossed, at, 0)
    both = (inside[0] & inside[1])[..., :-1]
    length = xp.sum(xp.where(both, at[..., 1:] - at[..., :-1], 0), axis=2)
    return xp.sum(length * (heights[:, 1:] - heights[:, :-1]), axis=1)


def _crossings(xp, begins, ends):
    """The heights at which edges of a pair of polygons cross; the first corner's for none."""
    way = ends - begins
    a, b = begins[:, :, None], begins[:, None, :]
    p, q = way[:, :, None], way[:, None, :]
    turn = lambda u, v: u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    across = turn(p, q)
    apart = across != 0
    share = turn(b - a, q) / xp.where(apart, across, 1)
    other = turn(b - a, p) / xp.where(apart, across, 1)
    met = apart & (share >= 0) & (share <= 1) & (other >= 0) & (other <= 1)
    height = xp.where(met, a[..., 1] + share * p[..., 1], begins[:, :1, None, 1])
    return xp.reshape(height, (len(begins), begins.shape[1] ** 2))
