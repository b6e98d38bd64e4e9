"""``paddle.incubate.hapi.vision``: the transforms that change the colours of images by chance.

Images are arrays [height, width, 3] of numbers from 0 to 255, blue first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.arguments import refused
from ...ground.reprs import Described

#: how much blue, green and red count for brightness
_GRAY = np.array([0.114, 0.587, 0.299], "float32")


class _ByChance(Described):
    """Changes images by a factor that is drawn for each, by NumPy's generator.

    Args:
        value: how far the factor is from one at most; 0 leaves images alone.

    Raises:
        ArgumentError: it is negative, or no number.
    """

    _shown = "value"
    _most = float("inf")

    def __init__(self, value: float) -> None:
        if not isinstance(value, (int, float)) or not 0 <= value <= self._most:
            raise refused(self, "value", f"a number from 0 to {self._most}", value)
        self.value = value

    def __call__(self, img: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An image with other colours.

        Args:
            img: the image; its element type stays.
        """
        if self.value == 0:
            return img
        factor = np.float32(np.random.uniform(max(0, 1 - self.value), 1 + self.value))
        changed = self._changed(img.astype(np.float32), factor)
        return changed.clip(0, 255).astype(img.dtype)

    def _changed(self, img: np.ndarray[Any, Any], factor: np.float32) -> np.ndarray[Any, Any]:
        raise NotImplementedError


class BrightnessTransform(_ByChance):
    """Multiplies all colours with a factor.

    >>> transform = fluid.compat.modules.colours.BrightnessTransform(0.4)
    >>> transform(np.full([2, 2, 3], 100, "uint8")).shape
    (2, 2, 3)
    """

    def _changed(self, img: np.ndarray[Any, Any], factor: np.float32) -> np.ndarray[Any, Any]:
        return img * factor


class ContrastTransform(_ByChance):
    """Multiplies what colours differ by from the mean of the image."""

    def _changed(self, img: np.ndarray[Any, Any], factor: np.float32) -> np.ndarray[Any, Any]:
        return img * factor + (img @ _GRAY).mean() * (1 - factor)


class SaturationTransform(_ByChance):
    """Multiplies what colours differ by from the gray of their pixel."""

    def _changed(self, img: np.ndarray[Any, Any], factor: np.float32) -> np.ndarray[Any, Any]:
        return img * factor + (img @ _GRAY)[..., None] * (1 - factor)


class HueTransform(_ByChance):
    """Turns the hue of all colours by an angle.

    Args:
        value: the largest part of a turn, at most 0.5.
    """

    _most = 0.5

    def __call__(self, img: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An image with other hues.

        Args:
            img: the image; its element type stays.
        """
        if self.value == 0:
            return img
        part = np.random.uniform(-self.value, self.value)
        pixels = img.astype(np.uint8).astype(np.float32)
        least, most = pixels.min(axis=-1), pixels.max(axis=-1)
        turned = _of_hue((_hue(pixels) + 6 * part) % 6) * (most - least)[..., None]
        return np.rint(turned + least[..., None]).astype(img.dtype)


def _hue(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The hues of pixels, in sixths of a turn from red."""
    blue, green, red = (pixels[..., k] for k in range(3))
    most = pixels.max(axis=-1)
    span = np.maximum(most - pixels.min(axis=-1), 1e-6)
    of_red, of_green = (green - blue) / span, 2 + (blue - red) / span
    other = np.where(most == green, of_green, 4 + (red - green) / span)
    found: np.ndarray[Any, Any] = np.where(most == red, of_red, other) % 6
    return found


def _of_hue(hue: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Blue, green and red from 0 to 1 of hues."""
    places = np.stack([hue - 4, hue - 2, hue], axis=-1)
    apart = np.abs((places + 3) % 6 - 3)
    return (2 - apart).clip(0, 1)


class ColorJitter(Described):
    """All four transforms, one after the other in an order by chance.

    Args:
        brightness, contrast, saturation, hue: the value of each; 0 leaves it out.

    Raises:
        ArgumentError: one is negative, or no number.
    """

    _shown = "transforms"

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        values = {
            BrightnessTransform: brightness,
            ContrastTransform: contrast,
            SaturationTransform: saturation,
            HueTransform: hue,
        }
        self.transforms: list[Any] = [kind(value) for kind, value in values.items() if value != 0]

    def __call__(self, img: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An image with other colours.

        Args:
            img: the image, [height, width, 3]; its element type stays.
        """
        if getattr(img, "ndim", 0) != 3 or img.shape[2] != 3:
            raise ArgumentError(f"expected an image of shape [height, width, 3], got {img!r:.60}")
        for place in np.random.permutation(len(self.transforms)):
            img = self.transforms[place](img)
        return img
