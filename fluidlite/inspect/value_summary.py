"""What is said of a value without printing it: extremes, mean, a histogram, a small picture."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground.quoting import escaping
from ..ground.values import LoDTensor, LoDTensorArray, SelectedRows

_BARS = 24
_LARGEST_IMAGE = 32
_SMALLEST_IMAGE = 4


@dataclass(frozen=True)
class Digest:
    """The type, the shape and the range of a value.

    >>> digest = fluid.inspect.Digest("float32", (2,), 1.0, 3.0, 2.0, 1.0, nan=0, infinite=1)
    >>> print(digest, digest.is_bad)
    float32[2] 1 .. 3, mean 2, 1 infinite True
    """

    kind: str  #: "float32", "int64", or what it is when it is no plain array
    shape: tuple[int, ...]
    minimum: float | None  #: of what is finite; None where nothing is
    maximum: float | None
    mean: float | None
    deviation: float | None
    nan: int  #: how many elements are NaN
    infinite: int
    histogram: tuple[int, ...] = ()  #: from the minimum to the maximum
    image: tuple[int, int, bytes] | None = None  #: width, height, grey levels
    note: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether elements are not finite."""
        return bool(self.nan or self.infinite)

    @escaping
    def __str__(self) -> str:
        text = f"{self.kind}{list(self.shape)}"
        if self.note:
            text += f" {self.note}"
        if self.minimum is not None:
            text += f" {_short(self.minimum)} .. {_short(self.maximum)}, mean {_short(self.mean)}"
        bad = [f"{n} {what}" for n, what in ((self.nan, "NaN"), (self.infinite, "infinite")) if n]
        return f"{text}, {', '.join(bad)}" if bad else text

    def as_json(self) -> dict[str, Any]:
        """For the page."""
        fields: dict[str, Any] = {"shape": list(self.shape)}
        if self.note:
            fields["note"] = f"{self.kind} {self.note}"
        numbers = dict(min=self.minimum, max=self.maximum, mean=self.mean, std=self.deviation)
        fields.update(numbers)
        if self.is_bad:
            fields |= {"bad": True, "nan": self.nan, "infinite": self.infinite}
        if self.histogram:
            fields["histogram"] = list(self.histogram)
        if self.image is not None:
            width, height, levels = self.image
            fields["image"] = [width, height, base64.b64encode(levels).decode()]
        return fields


def digest_of(value: Any) -> Digest:
    """What is said of a value of a program."""
    if isinstance(value, LoDTensorArray):
        return _without("array", (), f"of {len(value.items)} tensors")
    if isinstance(value, SelectedRows):
        return _of_array(value.to_dense(), "of which some rows are stored")
    if isinstance(value, LoDTensor):
        return _of_array(value.data, f"in {len(value.offsets[-1]) - 1} sequences")
    if isinstance(value, np.ndarray):
        return _of_array(value, "")
    return _without(type(value).__name__, (), "")


def _without(kind: str, shape: tuple[int, ...], note: str) -> Digest:
    return Digest(kind, shape, None, None, None, None, 0, 0, note=note)


def _of_array(array: Any, note: str) -> Digest:
    kind = str(array.dtype)
    if array.dtype.kind not in "fiub" or not array.size:
        return _without(kind, array.shape, note)
    numbers = array.astype(np.float64, copy=False).ravel()
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    infinite = numbers.size - finite.size - nan
    if not finite.size:
        return Digest(kind, array.shape, None, None, None, None, nan, infinite, note=note)
    low, high = float(finite.min()), float(finite.max())
    return Digest(
        kind,
        array.shape,
        low,
        high,
        float(finite.mean()),
        float(finite.std()),
        nan,
        infinite,
        _histogram(finite, low, high),
        _image(array, low, high),
        note,
    )


def _histogram(finite: Any, low: float, high: float) -> tuple[int, ...]:
    if finite.size < 2 or not 0.0 < high - low < np.inf:
        return ()
    counts, _ = np.histogram(finite, bins=_BARS, range=(low, high))
    return tuple(counts.tolist())


def _image(array: Any, low: float, high: float) -> tuple[int, int, bytes] | None:
    """The last two dimensions of the first element, as grey levels."""
    if array.ndim < 3 or min(array.shape[-2:]) < _SMALLEST_IMAGE or not 0.0 < high - low < np.inf:
        return None
    plane = array.reshape(-1, *array.shape[-2:])[0].astype(np.float64)
    steps = [-(-n // _LARGEST_IMAGE) for n in plane.shape]
    plane = plane[:: steps[0], :: steps[1]]
    levels = np.nan_to_num((plane - low) / (high - low)).clip(0.0, 1.0) * 255.0
    height, width = plane.shape
    return width, height, levels.astype(np.uint8).tobytes()


def _short(number: float | None) -> str:
    return "?" if number is None else f"{number:.4g}"
