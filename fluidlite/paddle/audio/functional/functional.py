"""Pitches as they are heard, filters of them, and decibels."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import ArgumentError
from ....functions.composed import fmax
from ....functions.elementary import clip, exp, log, log10
from ....functions.reduction import max as largest
from ....functions.selection import where
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....opdef.operand import Operand
from ...creation import to_tensor

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

#: mels are a line below a pitch, and logarithms above it (Slaney, Auditory toolbox, 1998)
_LINE, _BREAK = 200.0 / 3, 1000.0
_STEP = math.log(6.4) / 27.0
_OPERANDS = SimpleNamespace(log=log, log10=log10, exp=exp, where=where)


def hz_to_mel(freq: Tensor | float, htk: bool = False) -> Tensor | float:
    """Pitches in mels, in which equal steps are heard as equal.

    Args:
        freq: pitches in hertz: a tensor, or a number.
        htk: by the formula of the HTK toolkit, and not by Slaney's.

    >>> round(fluid.paddle.audio.functional.hz_to_mel(2000.0), 4)
    25.0819
    """
    if isinstance(freq, Operand):
        return _mels(_OPERANDS, freq, htk)
    return float(_mels(np, freq, htk))


def mel_to_hz(mel: float | Tensor, htk: bool = False) -> float | Tensor:
    """Pitches in hertz.

    Args:
        mel: pitches in mels: a tensor, or a number.
        htk: see :func:`hz_to_mel`.

    >>> round(fluid.paddle.audio.functional.mel_to_hz(15.0), 4)
    1000.0
    """
    if isinstance(mel, Operand):
        return _hertz(_OPERANDS, mel, htk)
    return float(_hertz(np, mel, htk))


def _mels(xp: Any, freq: Any, htk: bool) -> Any:
    if htk:
        return 2595.0 * xp.log10(freq / 700.0 + 1.0)
    steps = xp.log(freq / _BREAK + 1e-10) / _STEP + _BREAK / _LINE
    return xp.where(freq >= _BREAK, steps, freq / _LINE)


def _hertz(xp: Any, mel: Any, htk: bool) -> Any:
    if htk:
        return 700.0 * (xp.exp(mel * (math.log(10.0) / 2595.0)) - 1.0)
    start = _BREAK / _LINE
    return xp.where(mel >= start, _BREAK * xp.exp(_STEP * (mel - start)), mel * _LINE)


def mel_frequencies(
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float = 11025.0,
    htk: bool = False,
    dtype: str = "float32",
) -> Tensor:
    """Pitches in hertz at equal distances in mels.

    Args:
        n_mels: how many.
        f_min, f_max: the first one and the last one.
        htk: see :func:`hz_to_mel`.
        dtype: the element type.
    """
    return to_tensor(_equal_steps(n_mels, f_min, f_max, htk), dtype)


def _equal_steps(count: int, first: float, last: float, htk: bool) -> Any:
    with np.errstate(divide="ignore"):
        start, end = (_mels(np, np.float64(each), htk) for each in (first, last))
    return _hertz(np, np.linspace(start, end, count), htk)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Tensor:
    """The pitches in hertz of the rows of a spectrum.

    Args:
        sr: samples a second.
        n_fft: samples of a frame.
        dtype: the element type.

    >>> fluid.paddle.audio.functional.fft_frequencies(16000, 4).tolist()
    [0.0, 4000.0, 8000.0]
    """
    return to_tensor(_rows(sr, n_fft), dtype)


def _rows(sr: int, n_fft: int) -> Any:
    return np.linspace(0.0, sr / 2, 1 + n_fft // 2)


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: str | float | None = "slaney",
    dtype: str = "float32",
) -> Tensor:
    """The shares of the rows of a spectrum in bands that are heard as equally wide, [bands, rows].

    Args:
        sr: samples a second.
        n_fft: samples of a frame.
        n_mels: how many bands.
        f_min, f_max: where the bands begin and end, in hertz; half of ``sr`` when None.
        htk: see :func:`hz_to_mel`.
        norm: "slaney" for bands of the same area, a number for rows of that norm 1, or None.
        dtype: the element type.

    Raises:
        ArgumentError: ``norm`` is something else.
    """
    rows = _rows(sr, n_fft)
    edges = _equal_steps(n_mels + 2, f_min, sr / 2 if f_max is None else f_max, htk)
    widths, away = np.diff(edges), edges[:, None] - rows
    rising, falling = -away[:-2] / widths[:-1, None], away[2:] / widths[1:, None]
    shares = np.maximum(0, np.minimum(rising, falling)) + 0.0
    if norm == "slaney":
        shares = shares * (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif isinstance(norm, (int, float)):
        length = np.linalg.norm(shares, norm, axis=1, keepdims=True)
        shares = shares / np.maximum(length, 1e-12)
    elif norm is not None:
        raise ArgumentError(f'expected norm to be "slaney", a number or None, got {norm!r:.60}')
    return to_tensor(shares, dtype)


def create_dct(
    n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32"
) -> Tensor:
    """The matrix of the discrete cosine transform, [n_mels, n_mfcc].

    Args:
        n_mfcc: how many numbers it gives.
        n_mels: how many it takes.
        norm: "ortho" for columns of length 1, or None.
        dtype: the element type.

    Raises:
        ArgumentError: ``norm`` is something else.
    """
    if norm not in ("ortho", None):
        raise ArgumentError(f'expected norm to be "ortho" or None, got {norm!r:.60}')
    cosines = np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc))
    if norm is None:
        return to_tensor(cosines * 2.0, dtype)
    cosines[:, 0] /= math.sqrt(2.0)
    return to_tensor(cosines * math.sqrt(2.0 / n_mels), dtype)


def power_to_db(
    spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0
) -> Tensor:
    """Powers in decibels.

    Args:
        spect: powers.
        ref_value: the power of 0 decibels.
        amin: lower powers are taken for this one.
        top_db: how far below the largest one a result may lie; any when None.

    Raises:
        ArgumentError: ``ref_value`` or ``amin`` is not above 0, or ``top_db`` is below it.

    >>> powers = fluid.to_tensor([1.0, 100.0])
    >>> fluid.paddle.audio.functional.power_to_db(powers).numpy().round(3).tolist()
    [0.0, 20.0]
    """
    for what, value in (("amin", amin), ("ref_value", ref_value)):
        if value <= 0:
            raise ArgumentError(f"expected {what} above 0, got {value}")
    if top_db is not None and top_db < 0:
        raise ArgumentError(f"expected top_db from 0, got {top_db}")
    decibels: Any = 10.0 * log10(clip(spect, amin)) - 10.0 * math.log10(max(ref_value, amin))
    return decibels if top_db is None else fmax(decibels, largest(decibels) - top_db)


list_public_names(globals())
api_boundaries(globals())
