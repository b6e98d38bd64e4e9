"""Transforms of tensors, [..., C, H, W]; gradients flow through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....functions import elementary, reduction, selection, shaping, views
from ....functions.creation import to_tensor
from ....nn import functional as F
from .arrays import colors, hues
from .geometry import Center, Corners, Matrix, Motion, inverse_affine, inverse_perspective


def sizes(img: Tensor) -> tuple[int, int]:
    """Width and height."""
    return img.shape[-1], img.shape[-2]


def _stacked(img: Tensor, change: Callable[[Any], Any]) -> Any:
    """What a function of images [N, C, H, W] makes of one of three dimensions, too."""
    return change(views.unsqueeze(img, 0))[0] if img.ndim == 3 else change(img)


def resize(img: Tensor, size: tuple[int, int], interpolation: str) -> Tensor:
    """Of another height and width."""
    return _stacked(img, lambda x: F.interpolate(x, list(size), mode=interpolation))


def pad(img: Tensor, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Tensor:
    """With a rim."""
    if mode == "symmetric":
        raise ArgumentError(
            'expected padding_mode of a tensor to be "constant", "edge" or "reflect"'
        )
    name = {"edge": "replicate"}.get(mode, mode)
    rim = [left, right, top, bottom]
    return _stacked(img, lambda x: F.pad(x, rim, mode=name, value=fill, data_format="NCHW"))


def crop(img: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A part."""
    return img[..., top : top + height, left : left + width]


def hflip(img: Tensor) -> Tensor:
    """With left and right exchanged."""
    return shaping.flip(img, [-1])


def vflip(img: Tensor) -> Tensor:
    """With top and bottom exchanged."""
    return shaping.flip(img, [-2])


def _most(img: Tensor) -> float:
    return 1.0 if img.dtype.is_float else 255.0


def _mixed(one: Any, other: Any, factor: float) -> Any:
    """``factor`` of a picture and the rest of another one, within the bounds of pixels."""
    plain = elementary.cast(one, "float32") if not one.dtype.is_float else one
    mixed = elementary.clip(plain * factor + other * (1 - factor), 0.0, _most(one))
    return mixed if mixed.dtype == one.dtype else elementary.cast(mixed, one.dtype)


def _gray(img: Any) -> Any:
    """How bright pixels are, [..., 1, H, W]."""
    weights = to_tensor(np.array([0.2989, 0.587, 0.114], "float32").reshape(3, 1, 1))
    plain = elementary.cast(img, "float32") if not img.dtype.is_float else img
    return reduction.sum(plain * weights, axis=-3, keepdim=True)


def adjust_brightness(img: Tensor, factor: float) -> Tensor:
    """Brighter or darker."""
    return _mixed(img, 0.0, factor)


def adjust_contrast(img: Tensor, factor: float) -> Tensor:
    """With more or less contrast."""
    return _mixed(img, reduction.mean(_gray(img), axis=[-3, -2, -1], keepdim=True), factor)


def adjust_saturation(img: Tensor, factor: float) -> Tensor:
    """With more or less color."""
    return _mixed(img, _gray(img), factor)


def adjust_hue(img: Tensor, factor: float) -> Tensor:
    """With other colors."""
    most = _most(img)
    hue, saturation, value = hues(np.moveaxis(img.numpy() / most, -3, -1))
    turned = colors((hue + factor) % 1.0, saturation, value) * most
    return to_tensor(np.moveaxis(turned, -1, -3).astype(img.numpy().dtype))


def _sampled(img: Any, places: Any, way: str, fill: Any) -> Any:
    """Pixels at places [H, W, 2] from -1 to 1, those outside of another color."""
    places = places.astype("float32")
    if way == "nearest":
        return _nearest(img, places, fill)
    places = to_tensor(places[None])

    def change(x: Any) -> Any:
        count = x.shape[0]
        grid = shaping.expand(places, [count, *places.shape[1:]])
        there = F.grid_sample(x, grid, mode=way, align_corners=False)
        if fill is None:
            return there
        inside = F.grid_sample(x[:, :1] * 0 + 1, grid, mode=way, align_corners=False)
        color = np.asarray(fill, "float32").reshape(1, -1, 1, 1)
        return there * inside + (1.0 - inside) * to_tensor(color)

    return _stacked(img, change)


def _nearest(img: Any, places: Any, fill: Any) -> Any:
    """The same of the pixels that are nearest, of two that are as near the farther one."""
    width, height = sizes(img)
    x, y = ((places[..., k] + 1) * n * 0.5 - 0.5 for k, n in enumerate((width, height)))
    columns, rows = (np.copysign(np.floor(np.abs(at) + 0.5), at).astype("int64") for at in (x, y))
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    numbers = np.where(inside, rows * width + columns, 0)
    flat = views.reshape(img, [*img.shape[:-2], width * height])
    there = selection.index_select(flat, to_tensor(numbers.ravel()), axis=-1)
    there = views.reshape(there, [*img.shape[:-2], *inside.shape])
    color = np.asarray(fill or 0, "float32").reshape(-1, 1, 1).astype(img.numpy().dtype)
    return selection.where(to_tensor(inside), there, to_tensor(color) + there * 0)


def _grid(matrix: Matrix, sizes: tuple[int, int], width: int, height: int) -> Any:
    """Where the pixels of a result come from, in halves of the picture about its middle.

    Args:
        matrix: in pixels, about the middle.
        sizes: width and height of the picture.
        width, height: of the result.
    """
    x = np.linspace(-width * 0.5 + 0.5, width * 0.5 - 0.5, width, dtype="float32")
    y = np.linspace(-height * 0.5 + 0.5, height * 0.5 - 0.5, height, dtype="float32")[:, None]
    halves = np.array([[size * 0.5] for size in sizes], "float32")
    parts = [x * a + y * b + c for a, b, c in matrix.astype("float32") / halves]
    return np.stack(parts, axis=-1)


def affine(img: Tensor, motion: Motion, interpolation: str, fill: Any, center: Center) -> Tensor:
    """Turned, moved, scaled and sheared."""
    width, height = sizes(img)
    middle = (0.0, 0.0) if center is None else (center[0] - width * 0.5, center[1] - height * 0.5)
    matrix = inverse_affine(middle, *motion)
    return _sampled(img, _grid(matrix, (width, height), width, height), interpolation, fill)


def rotate(
    img: Tensor, angle: float, interpolation: str, expand: bool, center: Center, fill: Any
) -> Tensor:
    """Turned."""
    width, height = sizes(img)
    middle = (0.0, 0.0) if center is None else (center[0] - width * 0.5, center[1] - height * 0.5)
    matrix = inverse_affine(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    wide, high = width, height
    if expand:
        corners = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]) * (width / 2, height / 2)
        places = np.trunc(corners @ matrix[:, :2].T / 1e-4) * 1e-4
        wide, high = (np.ceil(places.max(0)) - np.floor(places.min(0))).astype(int).tolist()
    return _sampled(img, _grid(matrix, (width, height), wide, high), interpolation, fill)


def perspective(
    img: Tensor, startpoints: Corners, endpoints: Corners, interpolation: str, fill: Any
) -> Tensor:
    """Seen from elsewhere."""
    width, height = sizes(img)
    matrix = inverse_perspective(startpoints, endpoints)
    x, y = np.arange(width) + 0.5, np.arange(height)[:, None] + 0.5
    parts = [a * x + b * y + c for a, b, c in matrix]
    places = [part / parts[2] / (0.5 * n) - 1 for part, n in zip(parts, (width, height))]
    return _sampled(img, np.stack(places, axis=-1), interpolation, fill)


def to_grayscale(img: Tensor, channels: int) -> Tensor:
    """Without color."""
    gray = _gray(img)
    gray = gray if img.dtype.is_float else elementary.cast(gray, img.dtype)
    return gray if channels == 1 else shaping.concat([gray] * channels, axis=-3)


def erase(
    img: Any, top: int, left: int, height: int, width: int, value: Any, inplace: bool
) -> Tensor:
    """With a part of another color."""
    out = img if inplace else elementary.clone(img)
    out[..., top : top + height, left : left + width] = value
    return out
