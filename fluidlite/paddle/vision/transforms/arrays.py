"""Transforms of arrays of pixels, [H, W, C] or [H, W]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .geometry import Center, Corners, Motion, enlarged, inverse_affine, inverse_perspective
from .resampling import as_type, resized, warped

Pixels: TypeAlias = NDArray[Any]


def sizes(img: Pixels) -> tuple[int, int]:
    """Width and height."""
    return img.shape[1], img.shape[0]


def to_array(img: Pixels) -> Pixels:
    """The pixels, [H, W, C]."""
    return img[:, :, None] if img.ndim == 2 else img


def resize(img: Pixels, size: tuple[int, int], interpolation: str) -> Pixels:
    """Of another height and width."""
    return resized(img, *size, interpolation)


def pad(img: Pixels, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Pixels:
    """With a rim."""
    rim = ((top, bottom), (left, right), (0, 0))[: img.ndim]
    if mode != "constant":
        return np.pad(img, rim, mode)  # type: ignore[call-overload]
    height, width = img.shape[:2]
    out = np.empty((height + top + bottom, width + left + right, *img.shape[2:]), img.dtype)
    out[...] = color(fill, img)
    out[top : top + height, left : left + width] = img
    return out


def color(fill: Any, img: Pixels) -> Any:
    """The channels of a color; a number is the first one, as in Pillow and OpenCV."""
    if not isinstance(fill, (int, float)) or img.ndim == 2:
        return fill
    return [fill] + [0] * (img.shape[2] - 1)


def crop(img: Pixels, top: int, left: int, height: int, width: int) -> Pixels:
    """A part."""
    return img[top : top + height, left : left + width]


def hflip(img: Pixels) -> Pixels:
    """With left and right exchanged."""
    return np.ascontiguousarray(img[:, ::-1])


def vflip(img: Pixels) -> Pixels:
    """With top and bottom exchanged."""
    return np.ascontiguousarray(img[::-1])


def _by_table(img: Pixels, change: Callable[[Pixels], Pixels]) -> Pixels:
    """Each element changed: bytes by a table, cut off to bytes."""
    if img.dtype != np.uint8:
        return change(img).astype(img.dtype)
    return np.clip(change(np.arange(256)), 0, 255).astype("uint8")[img]


def adjust_brightness(img: Pixels, factor: float) -> Pixels:
    """Brighter or darker."""
    return _by_table(img, lambda x: x * factor)


def adjust_contrast(img: Pixels, factor: float) -> Pixels:
    """With more or less contrast, about the gray that OpenCV's users take."""
    return _by_table(img, lambda x: (x - 74) * factor + 74)


def _gray(img: Pixels) -> Pixels:
    """How bright pixels are, [H, W]."""
    if img.ndim == 2 or img.shape[2] == 1:
        return img.reshape(img.shape[:2])
    if img.dtype == np.uint8:  # in 32768ths
        return (img @ np.array([9798, 19235, 3735]) + 16384 >> 15).astype("uint8")
    return (img @ np.array([0.299, 0.587, 0.114])).astype(img.dtype)


def adjust_saturation(img: Pixels, factor: float) -> Pixels:
    """With more or less color."""
    mixed = img.astype("float32") * factor + _gray(img)[..., None].astype("float32") * (1 - factor)
    return np.clip(mixed, 0, 255).astype(img.dtype)


def adjust_hue(img: Pixels, factor: float) -> Pixels:
    """With other colors."""
    if img.ndim == 2 or img.shape[2] == 1:
        return img
    if img.dtype != np.uint8:
        hue, saturation, value = hues(img[..., ::-1] / 255.0)
        return (colors((hue + factor) % 1.0, saturation, value) * 255)[..., ::-1].astype(img.dtype)
    blue, green, red = (img[..., k].astype("int64") for k in range(3))  # as OpenCV has them
    most = np.maximum(np.maximum(red, green), blue)
    span = most - np.minimum(np.minimum(red, green), blue)
    divisors = np.maximum(np.arange(256), 1)  # in 4096ths
    by_most, by_span = (np.rint(each / divisors).astype("int64") for each in (255 << 12, 2**20 / 6))
    saturation = span * by_most[most] + 2048 >> 12
    place = np.where(
        most == red,
        green - blue,
        np.where(most == green, blue - red + 2 * span, red - green + 4 * span),
    )
    turned = (place * by_span[span] + 2048 >> 12) + int(factor * 255)
    pixels = colors(turned % 256 / 255, saturation / 255, most / 255) * 255
    return as_type(pixels[..., ::-1], img.dtype)


def hues(img: Any) -> tuple[Any, Any, Any]:
    """Hue, saturation and value of pixels from 0 to 1, [..., 3]."""
    most, least = img.max(axis=-1), img.min(axis=-1)
    span = most - least
    by = np.where(span > 0, span, 1)
    red, green, blue = (img[..., k] for k in range(3))
    hue = np.where(
        most == red,
        (green - blue) / by,
        np.where(most == green, 2 + (blue - red) / by, 4 + (red - green) / by),
    )
    return hue / 6 % 1.0, span / np.where(most > 0, most, 1), most


def colors(hue: Any, saturation: Any, value: Any) -> Any:
    """Pixels from 0 to 1, [..., 3], of a hue, a saturation and a value."""
    place = np.array([5.0, 3.0, 1.0]) + hue[..., None] * 6
    place = place % 6
    far = np.clip(np.minimum(place, 4 - place), 0, 1)
    return value[..., None] * (1 - saturation[..., None] * far)


def affine(img: Pixels, motion: Motion, interpolation: str, fill: Any, center: Center) -> Pixels:
    """Turned, moved, scaled and sheared."""
    width, height = sizes(img)
    middle = center or (width / 2.0, height / 2.0)
    matrix = inverse_affine(middle, *motion)
    return warped(img, matrix, width, height, interpolation, color(fill, img))


def rotate(
    img: Pixels, angle: float, interpolation: str, expand: bool, center: Center, fill: Any
) -> Pixels:
    """Turned."""
    width, height = sizes(img)
    middle = center or (width / 2.0, height / 2.0)
    matrix = inverse_affine(middle, -angle, (0, 0), 1.0, (0, 0))
    if expand:
        wide, high = enlarged(matrix, width, height)
        matrix[:, 2] += matrix[:, :2] @ np.array([width - wide, height - high]) / 2
        width, height = wide, high
    return warped(img, matrix, width, height, interpolation, color(fill, img))


def perspective(
    img: Pixels, startpoints: Corners, endpoints: Corners, interpolation: str, fill: Any
) -> Pixels:
    """Seen from elsewhere."""
    matrix = inverse_perspective(startpoints, endpoints)
    return warped(img, matrix, *sizes(img), interpolation, color(fill, img))


def to_grayscale(img: Pixels, channels: int) -> Pixels:
    """Without color."""
    return np.repeat(_gray(img)[..., None], channels, axis=2)


def wrapped(value: Any, dtype: Any) -> Pixels:
    """Numbers in an element type; those beyond its bounds begin anew, as Paddle has them."""
    numbers = np.asarray(value)
    kept = numbers.astype("int64") if np.issubdtype(dtype, np.integer) else numbers
    return kept.astype(dtype)


def erase(
    img: Pixels, top: int, left: int, height: int, width: int, value: Any, inplace: bool
) -> Pixels:
    """With a part of another color."""
    out = img if inplace else img.copy()
    out[top : top + height, left : left + width, ...] = wrapped(value, img.dtype)
    return out
