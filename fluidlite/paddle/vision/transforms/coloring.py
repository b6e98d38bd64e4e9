"""Transforms of the colors of pictures."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from ....errors import ArgumentError
from ....ground.fields import from_fields
from ....ground.tracebacks import api_boundaries
from . import functional as F
from .chains import TRANSFORMS, BaseTransform, Compose

__all__: list[str] = []


def _bounds(
    name: str, value: float | Sequence[float], middle: float = 1.0, most: float = math.inf
) -> list[float] | None:
    """Between which numbers a factor is drawn; None where it is always the middle."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ArgumentError(f"expected {name} of at least 0, got {value!r}")
        bounds = [middle - value, middle + value]
        bounds = [max(0.0, bounds[0]), bounds[1]] if middle else bounds
    elif isinstance(value, (list, tuple)) and len(value) == 2:
        bounds = [*value]
    else:
        raise ArgumentError(f"expected {name} to be a number or two, got {value!r:.60}")
    least = 0.0 if middle else -most
    if not least <= bounds[0] <= bounds[1] <= most:
        raise ArgumentError(f"expected {name} between {least} and {most}, got {value!r}")
    return None if bounds[0] == bounds[1] == middle else bounds


@TRANSFORMS
class BrightnessTransform(BaseTransform):
    """A picture that is by chance brighter or darker."""

    _name, _middle, _most = "brightness", 1.0, math.inf

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value = _bounds(self._name, value, self._middle, self._most)

    def _apply_image(self, image: Any) -> Any:
        if self.value is None:
            return image
        change = getattr(F, f"adjust_{self._name}")
        return change(image, random.uniform(*self.value))


@TRANSFORMS
class ContrastTransform(BrightnessTransform):
    """A picture with by chance more or less contrast."""

    _name = "contrast"


@TRANSFORMS
class SaturationTransform(BrightnessTransform):
    """A picture with by chance more or less color."""

    _name = "saturation"


@TRANSFORMS
class HueTransform(BrightnessTransform):
    """A picture with by chance other colors.

    Args:
        value: up to which part of the circle of colors they are turned, at most 0.5.
    """

    _name, _middle, _most = "hue", 0.0, 0.5


@TRANSFORMS
@from_fields
class ColorJitter(BaseTransform):
    """A picture with other brightness, contrast, saturation and hue, changed in any order.

    Args:
        brightness, contrast, saturation: how far the factor may be from 1.
        hue: up to which part of the circle of colors they are turned, at most 0.5.
    """

    brightness: float | Sequence[float] = 0
    contrast: float | Sequence[float] = 0
    saturation: float | Sequence[float] = 0
    hue: float | Sequence[float] = 0
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        parts: list[BaseTransform] = [
            BrightnessTransform(self.brightness, self.keys),
            ContrastTransform(self.contrast, self.keys),
            SaturationTransform(self.saturation, self.keys),
            HueTransform(self.hue, self.keys),
        ]
        parts = [each for each in parts if each.value is not None]  # type: ignore[attr-defined]
        random.shuffle(parts)
        return Compose(parts)(image)


@TRANSFORMS
@from_fields
class Grayscale(BaseTransform):
    """A picture without color."""

    num_output_channels: int = 1
    keys: Sequence[str] | None = None

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)


api_boundaries(globals())
