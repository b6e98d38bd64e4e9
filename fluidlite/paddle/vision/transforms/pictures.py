"""Transforms of Pillow images."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import erase as erase_pixels
from .geometry import Center, Corners, Motion, inverse_affine, inverse_perspective


def _way(name: str) -> Any:
    """What Pillow calls a way of interpolation."""
    from PIL import Image

    return Image.Resampling[name.upper()]


def sizes(img: Any) -> tuple[int, int]:
    """Width and height."""
    return img.size


def to_array(img: Any) -> Any:
    """The pixels, [H, W, C]."""
    kinds = {"I": "int32", "I;16": "int32", "F": "float32"}
    array = np.array(img, kinds.get(img.mode, "uint8"), copy=True)
    array = array * 255 if img.mode == "1" else array
    return array.reshape(img.size[1], img.size[0], -1)


def resize(img: Any, size: tuple[int, int], interpolation: str) -> Any:
    """Of another height and width."""
    return img.resize(size[::-1], _way(interpolation))


def pad(img: Any, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Any:
    """With a rim."""
    from PIL import Image, ImageOps

    if mode == "constant":
        if img.mode == "P":
            palette = img.getpalette()
            img = ImageOps.expand(img, (left, top, right, bottom), fill=fill)
            img.putpalette(palette)
            return img
        return ImageOps.expand(img, (left, top, right, bottom), fill=fill)
    array = np.asarray(img)
    rim = ((top, bottom), (left, right), (0, 0))[: array.ndim]
    return Image.fromarray(np.pad(array, rim, mode))  # type: ignore[call-overload]


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part."""
    return img.crop((left, top, left + width, top + height))


def hflip(img: Any) -> Any:
    """With left and right exchanged."""
    from PIL import Image

    return img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """With top and bottom exchanged."""
    from PIL import Image

    return img.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img: Any, factor: float) -> Any:
    """Brighter or darker."""
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(img).enhance(factor)


def adjust_contrast(img: Any, factor: float) -> Any:
    """With more or less contrast."""
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(img).enhance(factor)


def adjust_saturation(img: Any, factor: float) -> Any:
    """With more or less color."""
    from PIL import ImageEnhance

    return ImageEnhance.Color(img).enhance(factor)


def adjust_hue(img: Any, factor: float) -> Any:
    """With other colors."""
    from PIL import Image

    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.array(hue, "uint8") + np.uint8(int(factor * 255) % 256)
    parts = (Image.fromarray(turned, "L"), saturation, value)
    return Image.merge("HSV", parts).convert(img.mode)


def affine(img: Any, motion: Motion, interpolation: str, fill: Any, center: Center) -> Any:
    """Turned, moved, scaled and sheared."""
    from PIL import Image

    middle = center or (img.size[0] * 0.5, img.size[1] * 0.5)
    matrix = inverse_affine(middle, *motion)
    data = tuple(matrix.ravel().tolist())
    return img.transform(
        img.size, Image.Transform.AFFINE, data, _way(interpolation), fillcolor=fill
    )


def rotate(
    img: Any, angle: float, interpolation: str, expand: bool, center: Center, fill: Any
) -> Any:
    """Turned."""
    if isinstance(fill, int):
        fill = (fill,) * len(img.getbands())
    way = _way(interpolation)
    return img.rotate(angle, way, expand, center and tuple(center), fillcolor=fill)


def perspective(
    img: Any, startpoints: Corners, endpoints: Corners, interpolation: str, fill: Any
) -> Any:
    """Seen from elsewhere."""
    from PIL import Image

    data = inverse_perspective(startpoints, endpoints).ravel()[:8].tolist()
    way = _way(interpolation)
    return img.transform(img.size, Image.Transform.PERSPECTIVE, data, way, fillcolor=fill)


def to_grayscale(img: Any, channels: int) -> Any:
    """Without color."""
    from PIL import Image

    gray = img.convert("L")
    return gray if channels == 1 else Image.merge("RGB", [gray] * 3)


def erase(img: Any, top: int, left: int, height: int, width: int, value: Any, inplace: bool) -> Any:
    """With a part of another color."""
    from PIL import Image

    array = erase_pixels(np.array(img), top, left, height, width, value, True)
    return Image.fromarray(array)
