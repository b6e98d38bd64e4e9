"""Windows: weights of the samples of a frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...creation import to_tensor

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

Array = np.ndarray[Any, Any]


def get_window(
    window: str | tuple[str, float], win_length: int, fftbins: bool = True, dtype: str = "float64"
) -> Tensor:
    """The weights of the samples of a frame.

    Args:
        window: "hamming", "hann", "triang", "bohman", "blackman", "cosine", "tukey" or "taylor", or
            a tuple of a name and parameters: ("gaussian", deviation), ("general_gaussian", power,
            deviation), ("exponential", centre or None, decay), ("general_hamming", weight),
            ("general_cosine", weights), ("tukey", share), ("taylor", bars, decibels, whether the
            middle is 1).
        win_length: how many.
        fftbins: for frames behind each other: the sample behind the last one would be the first.
        dtype: the element type.

    Raises:
        ArgumentError: there is no such window, or it has other parameters.

    >>> fluid.paddle.audio.functional.get_window("hann", 4).numpy().round(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    words: tuple[Any, ...] = (window,) if isinstance(window, str) else window
    if not (isinstance(words, tuple) and words and isinstance(words[0], str)):
        raise ArgumentError(f"expected window to be a name or a tuple, got {window!r:.60}")
    name, parameters = words[0], words[1:]
    if name not in _WINDOWS:
        raise ArgumentError(f"expected a window of {', '.join(_WINDOWS)}, got {name!r:.60}")
    function, least, most = _WINDOWS[name]
    if not least <= len(parameters) <= most:
        raise ArgumentError(
            f"expected window {name!r} with {least} to {most} parameters, got {len(parameters)}"
        )
    if not isinstance(win_length, int) or win_length < 0:
        raise ArgumentError(f"expected win_length to be an integer from 0, got {win_length!r:.60}")
    if win_length <= 1:
        return to_tensor(np.ones(win_length), dtype)
    if name == "exponential" and not fftbins and parameters and parameters[0] is not None:
        raise ArgumentError("expected window 'exponential' without a centre where fftbins is False")
    weights = function(win_length + fftbins, *parameters)
    return to_tensor(weights[:win_length], dtype)


def _cosines(count: int, weights: Sequence[float]) -> Array:
    angle = np.linspace(-math.pi, math.pi, count)
    return np.asarray(sum(weight * np.cos(k * angle) for k, weight in enumerate(weights)))


def _hamming(count: int, weight: float = 0.54) -> Array:
    return _cosines(count, [weight, 1.0 - weight])


def _hann(count: int) -> Array:
    return _hamming(count, 0.5)


def _blackman(count: int) -> Array:
    return _cosines(count, [0.42, 0.50, 0.08])


def _centred(count: int) -> Array:
    return np.arange(count) - (count - 1) / 2


def _gaussian(count: int, deviation: float) -> Array:
    return _general_gaussian(count, 1.0, deviation)


def _general_gaussian(count: int, power: float, deviation: float) -> Array:
    return np.exp(-0.5 * np.abs(_centred(count) / deviation) ** (2 * power))


def _exponential(count: int, centre: float | None, decay: float = 1.0) -> Array:
    middle = (count - 1) / 2 if centre is None else centre
    return np.exp(-np.abs(np.arange(count) - middle) / decay)


def _triang(count: int) -> Array:
    half = count / 2 if count % 2 == 0 else (count + 1) / 2
    return 1.0 - np.abs(_centred(count)) / half


def _bohman(count: int) -> Array:
    away = np.abs(np.linspace(-1, 1, count))
    weights = (1 - away) * np.cos(math.pi * away) + np.sin(math.pi * away) / math.pi
    weights[[0, -1]] = 0
    return weights


def _cosine(count: int) -> Array:
    return np.sin(math.pi / count * (np.arange(count) + 0.5))


def _tukey(count: int, share: float = 0.5) -> Array:
    if share <= 0:
        return np.ones(count)
    if share >= 1:
        return _hann(count)
    from_end = np.minimum(np.arange(count), np.arange(count)[::-1])
    rising = 0.5 * (1 + np.cos(math.pi * (2.0 * from_end / share / (count - 1) - 1)))
    return np.where(from_end <= math.floor(share * (count - 1) / 2), rising, 1.0)


def _taylor(count: int, bars: int = 4, decibels: float = 30, whole: bool = True) -> Array:
    """(Carrara et al., Spotlight synthetic aperture radar, 1995, appendix D.2.)"""
    a = math.acosh(10 ** (decibels / 20)) / math.pi
    orders = np.arange(1, bars)
    square = bars**2 / (a**2 + (bars - 0.5) ** 2)
    shares = []
    for k, m in enumerate(orders):
        sign = 1 if k % 2 == 0 else -1
        above = sign * np.prod(1 - m**2 / square / (a**2 + (orders - 0.5) ** 2))
        others = np.delete(orders, k).astype(float)
        shares.append(above / (2 * np.prod(1 - m**2 / others**2)))

    def at(place: Any) -> Any:
        angle = 2 * math.pi * orders[:, None] * (place - count / 2 + 0.5) / count
        return 1 + 2 * np.dot(shares, np.cos(angle))

    weights = np.asarray(at(np.arange(count)))
    return weights / at(np.array([(count - 1) / 2])) if whole else weights


#: a window's name -> its function of a count and parameters, and how many of these there may be
_WINDOWS: dict[str, tuple[Any, int, int]] = {
    "hamming": (_hamming, 0, 0),
    "hann": (_hann, 0, 0),
    "gaussian": (_gaussian, 1, 1),
    "general_gaussian": (_general_gaussian, 2, 2),
    "exponential": (_exponential, 1, 2),
    "triang": (_triang, 0, 0),
    "bohman": (_bohman, 0, 0),
    "blackman": (_blackman, 0, 0),
    "cosine": (_cosine, 0, 0),
    "tukey": (_tukey, 0, 1),
    "taylor": (_taylor, 0, 3),
    "general_hamming": (_hamming, 1, 1),
    "general_cosine": (_cosines, 1, 1),
}

list_public_names(globals())
api_boundaries(globals())
