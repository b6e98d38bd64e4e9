"""Functions of pictures: Pillow images, arrays [H, W, C], or tensors [C, H, W]."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....eager.tensor import Tensor
from ....errors import ArgumentError, DTypeError
from ....functions.arithmetic import get_default_dtype
from ....functions.creation import to_tensor as tensor_of
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from . import arrays, pictures, tensors

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "affine",
    "center_crop", "crop", "erase", "hflip", "normalize", "pad", "perspective", "resize", "rotate",
    "to_grayscale", "to_tensor", "vflip",
]  # fmt: skip

I = TypeVar("I")  # noqa: E741 - an image
PICTURES = Family(
    {
        "img": "a Pillow image, an array [H, W, C] or a tensor [C, H, W].",
        "fill": "the color of what comes from outside: a number, or one for each channel.",
        "interpolation": '"nearest", "bilinear" or "bicubic"; in resizing also "area" and '
        '"lanczos", of Pillow images "box" and "hamming".',
        "padding": "the width of the rim: a number, two for both sides and for top and bottom, or "
        "four for left, top, right and bottom.",
        "padding_mode": '"constant", "edge", "reflect" or "symmetric".',
        "center": "across and down; the middle of the picture when None.",
        "angle": "in degrees.",
        "expand": "whether the result holds the whole picture.",
        "data_format": '"CHW" or "HWC".',
        "num_output_channels": "1 or 3.",
        "output_size": "height and width, or one number for both.",
        "mean": "subtracted from each channel.",
        "std": "what each channel is divided by.",
        "to_rgb": "turn the last dimension of an array around first: the channels of ``HWC``.",
        "startpoints": "the four corners before: left top, right top, right bottom, left bottom.",
        "endpoints": "the same after.",
        "inplace": "whether an array or a tensor is written to.",
    }
)


def _home(img: Any) -> Any:
    """The module that has the functions for a picture of this kind.

    Raises:
        DTypeError: it is none.
    """
    if isinstance(img, Tensor):
        return tensors
    if isinstance(img, np.ndarray) and img.ndim in (2, 3):
        return arrays
    if is_pillow(img):
        return pictures
    what = f"an array of {img.ndim} dimensions" if isinstance(img, np.ndarray) else type(img)
    raise DTypeError(
        f"expected a Pillow image, an array of 2 or 3 dimensions or a tensor, got {what}"
    )


def _applied(name: str, img: I, *given: Any) -> I:
    """What the function of a name makes of a picture."""
    result: I = getattr(_home(img), name)(img, *given)
    return result


def is_pillow(value: Any) -> bool:
    """Whether a value is an image of Pillow.

    Args:
        value: anything.
    """
    pillow: ModuleType | None = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def size_of(img: Any) -> tuple[int, int]:
    """Width and height of a picture.

    Args:
        img: the picture.
    """
    width, height = _home(img).sizes(img)
    return width, height


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """A tensor of a picture; bytes become numbers from 0 to 1.

    Args:
        pic: a Pillow image, an array [H, W, C] or [H, W], or a tensor.
        data_format: "CHW" or "HWC".

    Raises:
        ArgumentError: there is no such format.
        DTypeError: ``pic`` is none of these.
    """
    if data_format not in ("CHW", "HWC"):
        raise ArgumentError(f'expected data_format to be "CHW" or "HWC", got {data_format!r:.40}')
    home = _home(pic)
    if home is tensors:
        return pic
    pixels = home.to_array(pic)
    if data_format == "CHW":
        pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype == np.uint8:
        pixels = pixels.astype(get_default_dtype()) / np.asarray(255, get_default_dtype())
    return tensor_of(np.ascontiguousarray(pixels))


@PICTURES
def resize(img: I, size: int | Sequence[int], interpolation: str = "bilinear") -> I:
    """A picture of another size.

    Args:
        size: height and width; a number for the shorter one of them.
    """
    if isinstance(size, int):
        width, height = size_of(img)
        shorter = min(width, height)
        size = (int(size * height / shorter), int(size * width / shorter))
    elif not isinstance(size, (list, tuple)) or len(size) != 2:
        raise ArgumentError(f"expected size to be a number or two, got {size!r:.60}")
    return _applied("resize", img, tuple(size), interpolation)


@PICTURES
def pad(img: I, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> I:
    """A picture with a rim."""
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ArgumentError(
            f'expected padding_mode to be "constant", "edge", "reflect" or "symmetric", got '
            f"{padding_mode!r:.40}"
        )
    widths = [padding] * 2 if isinstance(padding, int) else list(padding)
    if len(widths) not in (2, 4):
        raise ArgumentError(f"expected padding of a number, two or four, got {padding!r:.60}")
    left, top, right, bottom = widths if len(widths) == 4 else widths * 2
    return _applied("pad", img, left, top, right, bottom, fill, padding_mode)


@PICTURES
def crop(img: I, top: int, left: int, height: int, width: int) -> I:
    """A part of a picture.

    Args:
        top, left: where it begins.
        height, width: how large it is.
    """
    return _applied("crop", img, top, left, height, width)


@PICTURES
def center_crop(img: I, output_size: int | Sequence[int]) -> I:
    """The middle of a picture."""
    high, wide = [output_size] * 2 if isinstance(output_size, int) else output_size
    width, height = size_of(img)
    return crop(img, round((height - high) / 2.0), round((width - wide) / 2.0), high, wide)


@PICTURES
def hflip(img: I) -> I:
    """A picture with left and right exchanged.

    >>> import numpy as np
    >>> fluid.paddle.vision.transforms.hflip(np.array([[1, 2, 3]])).tolist()
    [[3, 2, 1]]
    """
    return _applied("hflip", img)


@PICTURES
def vflip(img: I) -> I:
    """A picture with top and bottom exchanged."""
    return _applied("vflip", img)


@PICTURES
def adjust_brightness(img: I, brightness_factor: float) -> I:
    """A picture that is brighter or darker.

    Args:
        brightness_factor: 0 for black, 1 for the picture itself, 2 for twice as bright.
    """
    return _applied("adjust_brightness", img, brightness_factor)


@PICTURES
def adjust_contrast(img: I, contrast_factor: float) -> I:
    """A picture with more or less contrast.

    Args:
        contrast_factor: 0 for gray, 1 for the picture itself.
    """
    return _applied("adjust_contrast", img, contrast_factor)


@PICTURES
def adjust_saturation(img: I, saturation_factor: float) -> I:
    """A picture with more or less color.

    Args:
        saturation_factor: 0 for none, 1 for the picture itself.
    """
    return _applied("adjust_saturation", img, saturation_factor)


@PICTURES
def adjust_hue(img: I, hue_factor: float) -> I:
    """A picture with other colors.

    Args:
        hue_factor: from -0.5 to 0.5, the part of the circle of colors that they are turned by.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ArgumentError(f"expected hue_factor from -0.5 to 0.5, got {hue_factor!r}")
    return _applied("adjust_hue", img, hue_factor)


@PICTURES
def affine(
    img: I,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Sequence[float] | None = None,
) -> I:
    """A picture that is turned to the right, moved, scaled and sheared.

    Args:
        translate: across and down, in pixels.
        scale: how many times as large.
        shear: in degrees, across and down; a number for across.
    """
    for name, value, count in (("translate", translate, 2), ("shear", shear, 2)):
        if name == "shear" and isinstance(value, (int, float)):
            continue
        if not isinstance(value, (list, tuple)) or len(value) not in (1, count):
            raise ArgumentError(f"expected {name} of two numbers, got {value!r:.60}")
    if scale <= 0:
        raise ArgumentError(f"expected a positive scale, got {scale!r}")
    sheared = [shear, 0.0] if isinstance(shear, (int, float)) else [*shear]
    sheared = sheared * 2 if len(sheared) == 1 else sheared
    motion = (angle, translate, scale, sheared)
    return _applied("affine", img, motion, interpolation, fill, center)


@PICTURES
def rotate(
    img: I,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = 0,
) -> I:
    """A picture that is turned to the left."""
    return _applied("rotate", img, angle, interpolation, expand, center, fill)


@PICTURES
def perspective(
    img: I,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: Any = 0,
) -> I:
    """A picture whose corners are moved, as if it was seen from elsewhere."""
    return _applied("perspective", img, startpoints, endpoints, interpolation, fill)


@PICTURES
def to_grayscale(img: I, num_output_channels: int = 1) -> I:
    """A picture without color."""
    if num_output_channels not in (1, 3):
        raise ArgumentError(f"expected num_output_channels of 1 or 3, got {num_output_channels!r}")
    return _applied("to_grayscale", img, num_output_channels)


@PICTURES
def normalize(
    img: Any,
    mean: float | Sequence[float],
    std: float | Sequence[float],
    data_format: str = "CHW",
    to_rgb: bool = False,
) -> Tensor | NDArray[Any]:
    """A picture minus the mean of each channel, divided by its deviation; an array of an image."""
    if data_format not in ("CHW", "HWC"):
        raise ArgumentError(f'expected data_format to be "CHW" or "HWC", got {data_format!r:.40}')
    shape = (-1, 1, 1) if data_format == "CHW" else (-1,)
    by = [np.array(each, "float32").reshape(shape) for each in (mean, std)]
    if _home(img) is tensors:
        return (img - tensor_of(by[0])) / tensor_of(by[1])
    pixels = np.array(img).astype("float32")
    if to_rgb:
        pixels = pixels[..., ::-1]  # with "CHW" too, where 2.6 mirrors the picture
    return (pixels - by[0]) / by[1]


@PICTURES
def erase(img: I, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> I:
    """A picture with a part of another color.

    Args:
        i, j: where it begins, down and across.
        h, w: how large it is.
        v: the color: a number, or pixels.
    """
    return _applied("erase", img, i, j, h, w, v, inplace)


list_public_names(globals())
api_boundaries(globals())
