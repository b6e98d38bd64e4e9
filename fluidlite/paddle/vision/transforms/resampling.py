"""Arrays of pixels at other places: resized, and turned into others by a matrix.

Bytes are computed in whole numbers where OpenCV does, so that results are its own bit by bit:
places in 32nds, weights in 2048ths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import ArgumentError
from .geometry import Matrix

_PHASES = 32  #: places between two pixels that are told apart by a matrix
_ONE = 2048  #: what weights are written in, for bytes


def _weights(way: str, x: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    """How many pixels before a place take part, and the weights of those around it.

    Args:
        way: of interpolation.
        x: how far places are behind the pixel before them: [...].

    Returns:
        weights: [..., pixels].
    """
    if way == "bilinear":
        return 0, np.stack([1 - x, x], axis=-1)
    if way == "bicubic":
        a, y = -0.75, 1 - x
        first = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
        inner = [((a + 2) * t - (a + 3)) * t * t + 1 for t in (x, y)]
        return 1, np.stack([first, *inner, 1 - first - inner[0] - inner[1]], axis=-1)
    if way == "lanczos":
        far = x[..., None] - np.arange(-3, 5)
        found = np.sinc(far) * np.sinc(far / 4)
        return 3, found / found.sum(axis=-1, keepdims=True)
    raise ArgumentError(
        f'expected interpolation to be "nearest", "bilinear", "area", "bicubic" or "lanczos", got '
        f"{way!r}"
    )


def _along(size: int, wanted: int, way: str, ends: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Which pixels make each of a row of another length, and with which weights; ``ends``: one
    pixel alone where the row ends.
    """
    scale = size / wanted
    if way == "area":
        place = np.arange(wanted)
        if scale >= 1:
            edges = np.minimum(np.arange(wanted + 1) * scale, size)
            pixels = np.arange(size)
            ends = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
            return np.broadcast_to(pixels, (wanted, size)), np.maximum(ends, 0) / scale
        first = np.floor(place * scale).astype(int)
        x = (place + 1) - (first + 1) / scale
        x = np.where(x <= 0, 0, x - np.floor(x))
        way = "bilinear"
    else:
        centre = ((np.arange(wanted) + 0.5) * scale - 0.5).astype("float32")
        first = np.floor(centre).astype(int)
        x = centre - first.astype("float32")
        if way == "bilinear" and ends:
            x = np.where((first < 0) | (first >= size - 1), np.float32(0), x)
    before, weights = _weights(way, x)
    pixels = first[:, None] + np.arange(weights.shape[1]) - before
    return np.clip(pixels, 0, size - 1), weights


def resized(array: NDArray[Any], height: int, width: int, way: str) -> NDArray[Any]:
    """Pixels [H, W, ...] of another height and width.

    Args:
        array: the pixels.
        height, width: wanted.
        way: of interpolation.
    """
    sizes = array.shape[:2]
    if way == "nearest":
        rows, columns = (
            np.minimum(np.floor(np.arange(n) * (size / n)).astype(int), size - 1)
            for size, n in zip(sizes, (height, width))
        )
        return array[rows[:, None], columns]
    if way == "bilinear" and sizes == (2 * height, 2 * width):
        way = "area"
    whole = array.dtype == np.uint8 and way in ("bilinear", "lanczos")
    rows, down = _along(sizes[0], height, way, False)
    columns, across = _along(sizes[1], width, way, True)
    if whole:
        down, across = (np.rint(each * _ONE).astype("int64") for each in (down, across))
    else:
        down, across = (each.astype("float64") for each in (down, across))
    more = (1,) * (array.ndim - 2)
    pixels = array.astype(down.dtype)[:, columns]  # [H, width, pixels, ...]
    flat = (pixels * across.reshape(1, *across.shape, *more)).sum(axis=2)
    lines = flat[rows]  # [height, pixels, width, ...]
    down = down.reshape(*down.shape, 1, *more)
    if not whole:
        total = (lines * down).sum(axis=1)
        if array.dtype == np.uint8 and sizes == (2 * height, 2 * width):
            return np.floor(total + 0.5).astype("uint8")
        return as_type(total, array.dtype)
    if way == "bilinear":
        return ((((lines >> 4) * down) >> 16).sum(axis=1) + 2 >> 2).astype("uint8")
    return np.clip((lines * down).sum(axis=1) + (1 << 21) >> 22, 0, 255).astype("uint8")


def as_type(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Numbers in an element type: rounded and kept within its bounds where it is of integers."""
    if np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        values = np.clip(np.rint(values), bounds.min, bounds.max)
    return values.astype(dtype)


def warped(
    array: NDArray[Any], inverse: Matrix, width: int, height: int, way: str, fill: Any
) -> NDArray[Any]:
    """Pixels [H, W, ...] that come from the places which a matrix says.

    Args:
        array: the pixels.
        inverse: from a place of the result to that of the array.
        width, height: of the result.
        way: of interpolation.
        fill: what comes from outside.
    """
    x, y = np.arange(width), np.arange(height)[:, None]
    one = 1 if way == "nearest" else _PHASES
    if len(inverse) == 2:  # in steps of 1024ths of a pixel
        steps = 1024
        ahead = steps // one // 2
        places = [
            (np.rint(a * x * steps) + np.rint((b * y + c) * steps) + ahead).astype("int64")
            // (steps // one)
            for a, b, c in inverse
        ]
    else:
        far = inverse[2, 0] * x + inverse[2, 1] * y + inverse[2, 2]
        by = np.divide(one, far, out=np.zeros_like(far), where=far != 0)
        places = [np.rint((a * x + b * y + c) * by).astype("int64") for a, b, c in inverse[:2]]
    columns, rows = places
    if way == "nearest":
        return _at(array, rows, columns, fill)
    parts = [(place // one, place % one / one) for place in (rows, columns)]
    (before, down), (_, across) = (_weights(way, x) for _, x in parts)
    total = 0.0
    for i in range(down.shape[-1]):
        for j in range(across.shape[-1]):
            there = _at(array, parts[0][0] + i - before, parts[1][0] + j - before, fill)
            weight = down[..., i] * across[..., j]
            total = total + there * weight.reshape(*weight.shape, *(1,) * (array.ndim - 2))
    if array.dtype == np.uint8:
        return np.clip(np.floor(np.asarray(total) + 0.5), 0, 255).astype("uint8")
    return as_type(np.asarray(total), array.dtype)


def _at(array: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], fill: Any) -> NDArray[Any]:
    """The pixels at places, those outside of another color."""
    height, width = array.shape[:2]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    found = array[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
    color = as_type(np.asarray(fill, "float64"), array.dtype)
    return np.where(inside.reshape(*inside.shape, *(1,) * (array.ndim - 2)), found, color)
