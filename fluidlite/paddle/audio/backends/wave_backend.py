"""WAV files by the standard library."""

from __future__ import annotations

import io
import os
import wave
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.recording import TensorRecord
from ....errors import ArgumentError, DTypeError, FileFormatError, ShapeError
from ....ground.files import Transaction, read_bytes
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...creation import to_tensor
from .backend import AudioInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....eager.tensor import Tensor

__all__ = ["info", "load", "save"]


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """A WAV file, to be read.

    Raises:
        FileError: the file cannot be read.
        FileFormatError: it is none.
    """
    data = io.BytesIO(read_bytes(path))
    try:
        with wave.open(data) as file:
            yield file
    except (wave.Error, EOFError) as error:
        why = str(error) or "it ends early"
        raise FileFormatError(
            f"{os.fspath(path)}: expected a WAV file of whole numbers: {why}"
        ) from error


def info(filepath: str | Path) -> AudioInfo:
    """What is known of a WAV file.

    Args:
        filepath: its path.

    Raises:
        FileError: the file cannot be read.
        FileFormatError: it is no WAV file, or holds fractions.
    """
    with _opened(filepath) as file:
        return AudioInfo(
            file.getframerate(),
            file.getnframes(),
            file.getnchannels(),
            file.getsampwidth() * 8,
            "PCM_U" if file.getsampwidth() == 1 else "PCM_S",
        )


def load(
    filepath: str | Path,
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Tensor, int]:
    """The samples of a WAV file, float32, and how many a second there are.

    Args:
        filepath: its path.
        frame_offset: how many samples are left out at the beginning.
        num_frames: how many are taken; all when -1.
        normalize: whether they lie in [-1, 1), or are whole numbers as in the file.
        channels_first: whether they are [channels, samples], or [samples, channels].

    Raises:
        ArgumentError: a count is below 0.
        FileError: the file cannot be read.
        FileFormatError: it is no WAV file, or holds fractions.
    """
    if frame_offset < 0 or num_frames < -1:
        raise ArgumentError(
            f"expected frame_offset from 0 and num_frames from -1, got {frame_offset} and "
            f"{num_frames}"
        )
    with _opened(filepath) as file:
        channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
        data = file.readframes(file.getnframes())
    numbers = _numbers(data, width).reshape(-1, channels)
    end = None if num_frames == -1 else frame_offset + num_frames
    samples = numbers[frame_offset:end].astype("float64")
    if normalize:
        samples = samples / 2.0 ** (8 * width - 1)
    return to_tensor((samples.T if channels_first else samples).astype("float32")), rate


def _numbers(data: bytes, width: int) -> Any:
    """Whole numbers of so many bytes each; those of one byte are from 0."""
    if width == 1:
        return np.frombuffer(data, "uint8").astype("int32") - 128
    if width == 3:
        parts = np.frombuffer(data, "uint8").reshape(-1, 3)
        shifted = np.zeros([len(parts), 4], "uint8")
        shifted[:, 1:] = parts
        return shifted.view("<i4")[:, 0] >> 8
    return np.frombuffer(data, {2: "<i2", 4: "<i4"}[width])


def save(
    filepath: str,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Write samples to a WAV file of 16 bits.

    Args:
        filepath: its path.
        src: fractions in [-1, 1], what lies outside is cut; or int16.
        sample_rate: how many a second there are.
        channels_first: whether they are [channels, samples], or [samples, channels].
        encoding: accepted.
        bits_per_sample: 16.

    Raises:
        ArgumentError: ``src`` is no tensor, or ``bits_per_sample`` is not 16.
        ShapeError: it has not two dimensions.
        DTypeError: it is of other numbers.
        FileError: the file cannot be written.
    """
    if not isinstance(src, TensorRecord):
        raise ArgumentError(f"expected src to be a tensor, got {type(src).__name__}")
    samples: Any = src.array
    if samples.ndim != 2:
        raise ShapeError(f"expected src with two dimensions, got shape {list(samples.shape)}")
    if bits_per_sample not in (None, 16):
        raise ArgumentError(f"expected bits_per_sample to be 16, got {bits_per_sample!r:.60}")
    if samples.dtype.kind == "f":
        samples = np.clip(np.trunc(samples.astype("float64") * 2**15), -(2**15), 2**15 - 1)
    elif samples.dtype != np.int16:
        raise DTypeError(f"expected src of fractions or int16, got {samples.dtype}")
    samples = samples.T if channels_first else samples
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(samples.astype("<i2").tobytes())
    with Transaction() as files:
        files.write(filepath, data.getvalue())


list_public_names(globals())
api_boundaries(globals())
