"""Fourier transforms, as products with matrices of cosines and sines, and scales of pitch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..building import need_room
from ..forms import operator
from ..types import numpy_type
from .shape import padded


def _waves(f: Any, x: Any, rows: int, columns: int, period: int) -> tuple[Any, Any]:
    """Cosines and sines of products of numbers, in the element type of a value."""
    need_room(rows, columns)
    angle = 2 * math.pi / max(period, 1)
    turns = np.outer(np.arange(rows), np.arange(columns)) % max(period, 1)
    return f.like(np.cos(angle * turns), x), f.like(np.sin(angle * turns), x)


def _behind(f: Any, parts: list[Any]) -> Any:
    """Real and imaginary parts side by side, in a dimension of their own."""
    return f.concat([f.added(v, f.ndim(v)) for v in parts], axis=f.ndim(parts[0]))


def _parts(f: Any, x: Any) -> tuple[Any, Any]:
    """Real and imaginary part; None for one that is 0."""
    (kinds,) = f.known_sizes(x, [-1])
    if kinds not in (1, 2):
        raise UnsupportedError(f"expected a last dimension of 1 or 2, got {kinds}")
    found = [f.dropped(f.cut(x, f.ndim(x) - 1, k, k + 1), -1) for k in range(kinds)]
    return found[0], found[1] if kinds == 2 else None


def transformed(f: Any, real: Any, imaginary: Any, count: int, inverse: bool) -> Any:
    """The first ``count`` frequencies of what lies along the last dimension."""
    (size,), kind = f.known_sizes(real, [-1]), f.type_of(real)
    real, imaginary = (None if v is None else f.to(v, "float64") for v in (real, imaginary))
    cosines, sines = _waves(f, real, size, count, size)
    sines = sines if inverse else -sines
    out = [f.matmul(real, cosines), f.matmul(real, sines)]
    if imaginary is not None:
        out[0] = f.elementwise_sub(out[0], f.matmul(imaginary, sines))
        out[1] = f.elementwise_add(out[1], f.matmul(imaginary, cosines))
    out = [f.elementwise_div(v, f.like(size, v)) for v in out] if inverse else out
    return _behind(f, [f.to(v, kind) for v in out])


def _from_one_side(f: Any, real: Any, imaginary: Any, size: int) -> Any:
    """What has these frequencies and, since it is real, their conjugates."""
    (known,), kind = f.known_sizes(real, [-1]), f.type_of(real)
    real, imaginary = (None if v is None else f.to(v, "float64") for v in (real, imaginary))
    cosines, sines = _waves(f, real, known, size, size)
    weights = np.full((known, 1), 2.0)
    weights[[0, size // 2] if size % 2 == 0 and size // 2 < known else [0]] = 1.0
    weights = f.like(weights / max(size, 1), real)
    out = f.matmul(real, cosines * weights)
    if imaginary is not None:
        out = f.elementwise_sub(out, f.matmul(imaginary, sines * weights))
    return f.to(f.added(out, f.ndim(out)), kind)


@dataclass(frozen=True)
class Transform:
    """Attributes of a Fourier transform."""

    inverse: int = 0
    onesided: int = 0


FORTH = Transform()


@operator("DFT", moved=["axis"])
def dft(
    f: Any, x: Any, length: Any = None, axis: Any = None, *, how: Transform = FORTH, opset: int
) -> Any:
    rank, standing = f.ndim(x), 1 if opset < 20 else -2
    axis = (standing if axis is None else int(f.number(axis, "the axis of DFT"))) % rank
    if axis == rank - 1:
        raise UnsupportedError("the last dimension holds real and imaginary parts")
    (size,) = f.known_sizes(x, [axis])
    back = bool(how.inverse and how.onesided)
    wanted = size if length is None else int(f.number(length, "the length of DFT"))
    if back:
        wanted = 2 * (size - 1) if length is None else wanted
    frequencies = wanted // 2 + 1 if back else wanted
    if frequencies < size:
        x = f.cut(x, axis, 0, frequencies)
    elif frequencies > size:
        need_room(frequencies)
        x = padded(f, x, [0] * rank, [frequencies - size if i == axis else 0 for i in range(rank)])
    order = [*(i for i in range(rank - 1) if i != axis), axis]
    real, imaginary = (None if v is None else f.transposed(v, order) for v in _parts(f, x))
    if back:
        out = _from_one_side(f, real, imaginary, wanted)
    else:
        count = wanted // 2 + 1 if how.onesided else wanted
        out = transformed(f, real, imaginary, count, bool(how.inverse))
    return f.transposed(out, [*(order.index(i) for i in range(rank - 1)), rank - 1])


@operator("STFT")
def stft(
    f: Any, x: Any, step: Any, window: Any = None, length: Any = None, *, onesided: int = 1
) -> Any:
    size, stride = f.known_sizes(x, [1])[0], int(f.number(step, "the step of STFT"))
    if length is None and window is None:
        raise UnsupportedError("expected a window or the length of frames, got neither")
    wide = (
        f.known_sizes(window, [0])[0]
        if length is None
        else int(f.number(length, "the length of frames"))
    )
    if not (0 < wide <= size and stride > 0):
        raise UnsupportedError(f"frames of {wide} elements every {stride} do not fit in {size}")
    frames = (size - wide) // stride + 1
    need_room(frames, wide)
    places = (np.arange(frames)[:, None] * stride + np.arange(wide)).reshape(-1)
    components = []
    for part in _parts(f, x):
        if part is not None:
            part = f.reshaped(f.index_select(part, places, dim=1), [-1, frames, wide])
            part = part if window is None else f.elementwise_mul(part, window, axis=-1)
        components.append(part)
    real, imaginary = components
    return transformed(f, real, imaginary, wide // 2 + 1 if onesided else wide, False)


@operator("MelWeightMatrix")
def mel_weights(
    f: Any, bins: Any, length: Any, rate: Any, low: Any, high: Any, *, output_datatype: int = 1
) -> Any:
    """Triangles over frequencies, of one width on the scale of mels."""
    names = ("the number of bins", "the length of frames", "the rate", "an edge", "an edge")
    given = zip((bins, length, rate, low, high), names)
    count, size, per_second, first, last = (f.number(v, name) for v, name in given)
    need_room(count, size // 2 + 1)
    mels = 2595.0 * np.log10(1.0 + np.array([first, last]) / 700.0)
    edges = mels[0] + np.arange(count + 2) * (mels[1] - mels[0]) / (count + 2)
    edges = 700.0 * (10.0 ** (edges / 2595.0) - 1.0)
    edges = ((size + 1) * edges // per_second).astype(np.int64)
    place = np.arange(size // 2 + 1)[:, None]
    begin, top, end = edges[:-2], edges[1:-1], edges[2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = np.where(top > begin, (place - begin) / (top - begin), 1.0)
        falls = (end - place) / (end - top)
    found = np.where((place >= begin) & (place <= top), rises, 0.0)
    found = np.where((place > top) & (place < end), falls, found)
    return found.astype(numpy_type(output_datatype))
