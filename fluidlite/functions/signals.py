"""Signals, cut into frames and transformed, and put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground.arguments import integer, one_of
from ..ground.dtypes import as_dtype
from ..opdef.conjugation import is_complex
from ..opdef.operand import Operand
from .arithmetic import multiply, true_divide
from .shaping import reshape, squeeze, swapaxes, unsqueeze

if TYPE_CHECKING:
    from ..eager.tensor import Tensor

_PADDINGS = one_of("reflect", "constant")
_LEAST = 1e-11  #: of what windows add up to


def frame(
    x: Tensor, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None
) -> Tensor:
    """The frames of a signal: pieces of one length at equal distances.

    Args:
        x: [..., n], or [n, ...] where ``axis`` is 0.
        frame_length: how long frames are.
        hop_length: how far from each other they begin.
        axis: -1 or 0.

    Returns:
        [..., frame_length, frames], or [frames, frame_length, ...].

    >>> x = fluid.to_tensor([0.0, 1.0, 2.0, 3.0])
    >>> fluid.paddle.signal.frame(x, 2, 1).tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    """
    return eager.frame(x, frame_length=frame_length, hop_length=hop_length, axis=axis)


def overlap_add(x: Tensor, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """The signal of some frames, which are added where they overlap.

    Args:
        x: [..., frame_length, frames], or [frames, frame_length, ...] where ``axis`` is 0.
        hop_length: how far from each other they begin.
        axis: -1 or 0.

    >>> x = fluid.to_tensor([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    >>> fluid.paddle.signal.overlap_add(x, 1).tolist()
    [0.0, 2.0, 4.0, 3.0]
    """
    return eager.overlap_add(x, hop_length=hop_length, axis=axis)


def _lengths(
    function: str, n_fft: Any, hop_length: Any, win_length: Any, window: Any
) -> tuple[int, int, int]:
    """How long frames are, how far from each other they begin, and how long their window is."""
    n_fft = integer(function, "n_fft", n_fft)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else integer(function, "win_length", win_length)
    if length > n_fft:
        raise ArgumentError(
            f"{function}: expected win_length of at most n_fft={n_fft}, got {length}"
        )
    if window is not None and list(window.shape) != [length]:
        raise ShapeError(
            f"{function}: expected window of shape [{length}], as win_length has it, got "
            f"{list(window.shape)}"
        )
    return n_fft, integer(function, "hop_length", hop), length


def _window(window: Any, length: int, n_fft: int, like: Any) -> Any:
    """A window in the middle of a frame, with zeros around; ones if there is none."""
    before = (n_fft - length) // 2
    around = before, n_fft - length - before
    if window is None:
        kind = as_dtype(like.array.dtype).part.dtype
        return like.results(np.pad(np.ones(length, kind), around))
    return eager.pad(window, paddings=around) if any(around) else window


def _signals(function: str, x: Any, least: int, most: int, what: str) -> Any:
    """x with a dimension in front where it lacks one."""
    if not isinstance(x, Operand):
        raise ArgumentError(f"{function}: expected x to be a tensor, got {x!r:.60}")
    ndim = len(x.array.shape)
    if not least <= ndim <= most:
        raise ShapeError(f"{function}: expected x to be {what}, got shape {list(x.array.shape)}")
    several: Any = x
    return several if ndim == most else unsqueeze(several, 0)


def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool = True,
    name: str | None = None,
) -> Tensor:
    """The Fourier transforms of the frames of a signal.

    Args:
        x: one signal, or several: [n] or [count, n].
        n_fft: how long frames are.
        hop_length: how far from each other they begin; a quarter of ``n_fft`` when None.
        win_length: how long the window is, which lies in the middle of a frame.
        window: what frames are multiplied with; ones when None.
        center: add half a frame on both sides, so that frame k has element k * hop_length in its
            middle.
        pad_mode: what is added: reflect, the signal mirrored; constant, zeros.
        normalized: divide transforms by the root of ``n_fft``.
        onesided: leave out the half that is the conjugate of the other one; not of complex signals.

    Returns:
        [n_fft // 2 + 1, frames], or [n_fft, frames]; for several signals with their count in front.

    >>> x = fluid.to_tensor([1.0, 0.0, 1.0, 0.0])
    >>> fluid.paddle.signal.stft(x, 2, 2, center=False).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    signals = _signals("stft", x, 1, 2, "of shape [n] or [count, n]")
    n_fft, hop, length = _lengths("stft", n_fft, hop_length, win_length, window)
    complex = is_complex(signals.array) or (window is not None and is_complex(window.array))
    if complex and onesided:
        raise ArgumentError("stft: expected onesided=False of a complex signal or window")
    size = int(signals.array.shape[-1])
    if 0 <= size < n_fft:
        raise ArgumentError(f"stft: expected n_fft of at most the signal's {size}, got {n_fft}")
    if center:
        mode, half = _PADDINGS("stft", "pad_mode", pad_mode), n_fft // 2
        deep = unsqueeze(signals, [1, 2, 3])  # [count, 1, 1, 1, n]
        deep = eager.pad3d(deep, paddings=[half, half, 0, 0, 0, 0], mode=mode)
        signals = squeeze(deep, [1, 2, 3])
    cut = swapaxes(frame(signals, n_fft, hop), 1, 2)
    cut = multiply(cut, _window(window, length, n_fft, signals))
    attrs = dict(axes=[2], normalization="ortho" if normalized else "backward", forward=True)
    if not complex:
        attrs["onesided"] = onesided
    found = swapaxes((eager.fft_c2c if complex else eager.fft_r2c)(cut, **attrs), 1, 2)
    return squeeze(found, 0) if len(x.shape) == 1 else found


def istft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Tensor:
    """The inverse of :func:`stft`: the signal with these transforms of its frames.

    Args:
        x: [transform, frames], or for several signals [count, transform, frames].
        n_fft, hop_length, win_length, window, center, normalized, onesided: as given to that.
        length: how long the signal is.
        return_complex: whether it is complex.

    Raises:
        ArgumentError: windows add up to 0 somewhere.

    >>> x = fluid.to_tensor([1.0, 2.0, 3.0, 4.0])
    >>> fluid.paddle.signal.istft(fluid.paddle.signal.stft(x, 2, 1), 2, 1).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    transforms = _signals("istft", x, 2, 3, "of shape [n, frames] or [count, n, frames]")
    n_fft, hop, extent = _lengths("istft", n_fft, hop_length, win_length, window)
    if hop > extent:
        raise ArgumentError(f"istft: expected hop_length of at most {extent}, got {hop}")
    size, frames = transforms.array.shape[1:]
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if int(size) not in (-1, wanted):
        raise ShapeError(
            f"istft: expected transforms of {wanted} numbers, for n_fft={n_fft} and onesided="
            f"{onesided}, got shape {list(x.shape)}"
        )
    if onesided and (return_complex or (window is not None and is_complex(window.array))):
        raise ArgumentError("istft: expected onesided=False of a complex signal or window")
    cut = swapaxes(transforms, 1, 2)
    attrs = dict(axes=[2], normalization="ortho" if normalized else "backward", forward=False)
    if return_complex:
        cut = eager.fft_c2c(cut, **attrs)
    else:
        if not onesided:
            cut = eager.slice(cut, axes=[2], starts=[0], ends=[n_fft // 2 + 1])
        cut = eager.fft_c2r(cut, last_dim_size=n_fft, **attrs)
    shape = _window(window, extent, n_fft, transforms)
    signal = overlap_add(swapaxes(multiply(cut, shape), 1, 2), hop)
    weights = _weights(shape, int(frames), hop)
    start = n_fft // 2 if center else 0
    end = signal.array.shape[-1] - start if length is None else start + length
    ends = dict(axes=[1], starts=[start], ends=[int(end)])
    signal, weights = eager.slice(signal, **ends), eager.slice(weights, **ends)
    if weights.appends is None and weights.array.size and np.abs(weights.array).min() < _LEAST:
        raise ArgumentError(
            "istft: expected windows that do not add up to 0 anywhere; take a "
            "smaller hop_length, or another window"
        )
    found = true_divide(signal, weights)
    return squeeze(found, 0) if len(x.shape) == 2 else found


def _weights(window: Any, frames: int, hop: int) -> Any:
    """What squares of windows add up to: [1, n]."""
    squares = multiply(window, window)
    repeated = eager.expand(reshape(squares, [1, -1, 1]), expand_times=[1, 1, frames])
    return overlap_add(repeated, hop)
