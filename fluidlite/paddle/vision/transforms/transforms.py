"""Transforms of pictures that are called again and again, some of them by chance.

Chance comes from Python's module ``random``, and from ``numpy.random`` where paddle 2.6 takes that.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from . import functional as F
from .chains import TRANSFORMS, BaseTransform, Compose
from .coloring import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    Grayscale,
    HueTransform,
    SaturationTransform,
)

__all__ = [
    "BaseTransform", "Compose", "Resize", "RandomResizedCrop", "CenterCrop",
    "RandomHorizontalFlip", "RandomVerticalFlip", "Transpose", "Normalize", "BrightnessTransform",
    "SaturationTransform", "ContrastTransform", "HueTransform", "ColorJitter", "RandomCrop", "Pad",
    "RandomAffine", "RandomRotation", "RandomPerspective", "Grayscale", "ToTensor",
    "RandomErasing",
]  # fmt: skip


@TRANSFORMS
@from_fields
class ToTensor(BaseTransform):
    """A picture as a tensor; bytes become numbers from 0 to 1."""

    data_format: str = "CHW"
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


@TRANSFORMS
@from_fields
class Resize(BaseTransform):
    """A picture of another size."""

    size: int | Sequence[int]
    interpolation: str = "bilinear"
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


def _pair(size: int | Sequence[int]) -> tuple[int, ...]:
    return (size, size) if isinstance(size, int) else tuple(size)


def _area_and_ratio(
    scale: Sequence[float], ratio: Sequence[float], whole: int
) -> tuple[float, float]:
    """The area of a part of a picture, and the ratio of its sides, drawn between bounds."""
    area = np.random.uniform(scale[0], scale[1]) * whole
    return area, math.exp(np.random.uniform(math.log(ratio[0]), math.log(ratio[1])))


@TRANSFORMS
@from_fields
class RandomResizedCrop(BaseTransform):
    """A part of a picture, of any place, size and shape, resized.

    Args:
        scale: from which to which part of the area.
        ratio: from which to which width by height.
    """

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3.0 / 4, 4.0 / 3)
    interpolation: str = "bilinear"
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        given["size"] = _pair(given["size"])
        super().begin(given)

    def _part(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Top, left, height and width of a part."""
        for _ in range(10):
            area, ratio = _area_and_ratio(self.scale, self.ratio, width * height)
            wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < wide <= width and 0 < high <= height:
                top = random.randint(0, height - high)
                return top, random.randint(0, width - wide), high, wide
        wide, high = width, height
        if width / height < min(self.ratio):
            high = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            wide = round(height * max(self.ratio))
        return (height - high) // 2, (width - wide) // 2, high, wide

    def _apply_image(self, image: Any) -> Any:
        part = F.crop(image, *self._part(*F.size_of(image)))
        return F.resize(part, self.size, self.interpolation)


@TRANSFORMS
@from_fields
class CenterCrop(BaseTransform):
    """The middle of a picture."""

    size: int | Sequence[int]
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        given["size"] = _pair(given["size"])
        super().begin(given)

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


@TRANSFORMS
@from_fields
class RandomHorizontalFlip(BaseTransform):
    """A picture, by chance with left and right exchanged."""

    prob: float = 0.5
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if random.random() < self.prob else image


@TRANSFORMS
class RandomVerticalFlip(RandomHorizontalFlip):
    """A picture, by chance with top and bottom exchanged."""

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if random.random() < self.prob else image


@TRANSFORMS
@from_fields
class Transpose(BaseTransform):
    """The pixels of a picture as an array with its dimensions in another order.

    Args:
        order: of the dimensions.
    """

    order: Sequence[int] = (2, 0, 1)
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        pixels = (
            image if hasattr(image, "transpose") and not F.is_pillow(image) else np.array(image)
        )
        if pixels.ndim == 2:
            pixels = pixels[..., None]
        return pixels.transpose(self.order)


@TRANSFORMS
@from_fields
class Normalize(BaseTransform):
    """A picture minus the mean of each channel, divided by its deviation."""

    mean: float | Sequence[float] = 0.0
    std: float | Sequence[float] = 1.0
    data_format: str = "CHW"
    to_rgb: bool = False
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        for name in ("mean", "std"):
            if isinstance(given[name], (int, float)):
                given[name] = [given[name]] * 3
        super().begin(given)

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


@TRANSFORMS
@from_fields
class RandomCrop(BaseTransform):
    """A part of a picture, of any place.

    Args:
        padding: the width of a rim that is made first; none when None.
        pad_if_needed: make a rim where the picture is smaller than the part.
    """

    size: int | Sequence[int]
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: Any = 0
    padding_mode: str = "constant"
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        given["size"] = _pair(given["size"])
        super().begin(given)

    def _apply_image(self, image: Any) -> Any:
        rim = (self.fill, self.padding_mode)
        high, wide = _pair(self.size)
        if self.padding is not None:
            image = F.pad(image, self.padding, *rim)
        if self.pad_if_needed and F.size_of(image)[0] < wide:
            image = F.pad(image, (wide - F.size_of(image)[0], 0), *rim)
        if self.pad_if_needed and F.size_of(image)[1] < high:
            image = F.pad(image, (0, high - F.size_of(image)[1]), *rim)
        width, height = F.size_of(image)
        if (width, height) == (wide, high):
            return image
        if width < wide or height < high:
            raise ArgumentError(
                f"expected a picture of at least {high}x{wide}, got {height}x{width}"
            )
        top = random.randint(0, height - high)
        return F.crop(image, top, random.randint(0, width - wide), high, wide)


@TRANSFORMS
@from_fields
class Pad(BaseTransform):
    """A picture with a rim."""

    padding: int | Sequence[int]
    fill: Any = 0
    padding_mode: str = "constant"
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


def _drawn(bounds: Any) -> float:
    """A number between two."""
    return random.uniform(*bounds)


def _angles(name: str, value: float | Sequence[float]) -> list[float]:
    """From which to which angle."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ArgumentError(f"expected {name} of at least 0, got {value!r}")
        return [-value, value]
    if len(value) not in (2, 4 if name == "shear" else 2):
        raise ArgumentError(f"expected {name} to be a number or two, got {value!r:.60}")
    return [*value]


@TRANSFORMS
@from_fields
class RandomAffine(BaseTransform):
    """A picture that is by chance turned, moved, scaled and sheared.

    Args:
        translate: up to which parts of width and height it is moved; not when None.
        scale: from and to how many times as large; as it is when None.
        shear: the angles from and to, across, and then down; not when None.
    """

    degrees: float | Sequence[float]
    translate: Sequence[float] | None = None
    scale: Sequence[float] | None = None
    shear: float | Sequence[float] | None = None
    interpolation: str = "nearest"
    fill: Any = 0
    center: Sequence[float] | None = None
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        given["degrees"] = _angles("degrees", given["degrees"])
        translate, scale, shear = (given[name] for name in ("translate", "scale", "shear"))
        if translate is not None and not all(0.0 <= each <= 1.0 for each in translate):
            raise ArgumentError(f"expected translate of two numbers from 0 to 1, got {translate!r}")
        if scale is not None and not all(each > 0 for each in scale):
            raise ArgumentError(f"expected scale of two positive numbers, got {scale!r}")
        given["shear"] = None if shear is None else _angles("shear", shear)
        super().begin(given)

    def _apply_image(self, image: Any) -> Any:
        angle = _drawn(self.degrees)
        moved = [0, 0]
        if self.translate is not None:
            most = [part * size for part, size in zip(self.translate, F.size_of(image))]
            moved = [int(random.uniform(-each, each)) for each in most]
        scale = 1.0 if self.scale is None else _drawn(self.scale)
        sheared = [0.0, 0.0]
        shear: Any = self.shear
        if shear is not None:
            sheared[0] = _drawn(shear[:2])
            if len(shear) == 4:
                sheared[1] = _drawn(shear[2:])
        options = (self.interpolation, self.fill, self.center)
        return F.affine(image, angle, moved, scale, sheared, *options)


@TRANSFORMS
@from_fields
class RandomRotation(BaseTransform):
    """A picture that is turned by chance."""

    degrees: float | Sequence[float]
    interpolation: str = "nearest"
    expand: bool = False
    center: Sequence[float] | None = None
    fill: Any = 0
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        given["degrees"] = _angles("degrees", given["degrees"])
        super().begin(given)

    def _apply_image(self, image: Any) -> Any:
        angle = _drawn(self.degrees)
        return F.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


@TRANSFORMS
@from_fields
class RandomPerspective(BaseTransform):
    """A picture that is by chance seen from elsewhere.

    Args:
        distortion_scale: from 0 to 1, how far.
    """

    prob: float = 0.5
    distortion_scale: float = 0.5
    interpolation: str = "nearest"
    fill: Any = 0
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        for name in ("prob", "distortion_scale"):
            _need_part(name, given[name])
        super().begin(given)

    def get_params(
        self, width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Corners, and where they go.

        Args:
            width, height: of the picture.
            distortion_scale: how far.
        """
        across, down = (int(distortion_scale * (size // 2)) for size in (width, height))
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = [
            [
                int(random.uniform(size - far - 1, size) if place else random.uniform(0, far + 1))
                for place, size, far in zip(corner, (width, height), (across, down))
            ]
            for corner in corners
        ]
        return corners, moved

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        corners = self.get_params(*F.size_of(image), self.distortion_scale)
        return F.perspective(image, *corners, self.interpolation, self.fill)


def _need_part(name: str, value: float) -> None:
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ArgumentError(f"expected {name} from 0 to 1, got {value!r:.40}")


@TRANSFORMS
@from_fields
class RandomErasing(BaseTransform):
    """A picture of which by chance a part has another color.

    Args:
        scale: from which to which part of the area.
        ratio: from which to which height by width.
        value: the color: a number, one for each channel, or "random".
        inplace: whether an array or a tensor is written to.
    """

    prob: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0
    inplace: bool = False
    keys: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        _need_part("prob", given["prob"])
        for name in ("scale", "ratio"):
            bounds = given[name]
            if not isinstance(bounds, (list, tuple)) or not 0 <= bounds[0] <= bounds[1]:
                raise ArgumentError(f"expected {name} of two ascending numbers, got {bounds!r:.60}")
        _need_part("the end of scale", given["scale"][1])
        value = given["value"]
        if isinstance(value, str) and value != "random":
            raise ArgumentError(f'expected value to be numbers or "random", got {value!r:.40}')
        super().begin(given)

    def _part(self, width: int, height: int, channels: int, last: bool) -> tuple[Any, ...] | None:
        """Top, left, height, width and colors of a part; None where no part fits."""
        for _ in range(10):
            area, ratio = _area_and_ratio(self.scale, self.ratio, width * height)
            high, wide = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if high >= height or wide >= width:
                continue
            if isinstance(self.value, str):
                shape = (high, wide, channels) if last else (channels, high, wide)
                value: Any = np.random.standard_normal(shape) * (255 if last else 1)
            elif isinstance(self.value, (int, float)):
                value = self.value
            else:
                value = np.array(self.value).reshape(-1 if last else (-1, 1, 1))
            top = np.random.randint(0, height - high + 1)
            return top, np.random.randint(0, width - wide + 1), high, wide, value
        return None

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        last = F.is_pillow(image) or isinstance(image, np.ndarray)
        pixels = np.asarray(image) if last else image
        channels = (pixels.shape[2] if pixels.ndim > 2 else 1) if last else pixels.shape[-3]
        part = self._part(*F.size_of(image), channels, last)
        if part is None:
            return image
        top, left, high, wide, value = part
        return F.erase(image, top, left, high, wide, value, self.inplace)


list_public_names(globals())
api_boundaries(globals())
