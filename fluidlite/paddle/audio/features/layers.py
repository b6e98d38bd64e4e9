"""Layers that give features of sounds: how strong which pitches are, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ....errors import ArgumentError
from ....functions.arithmetic import matmul
from ....functions.arithmetic import pow as power_of
from ....functions.elementary import abs as absolute
from ....functions.signals import stft
from ....functions.views import moveaxis
from ....ground.docstrings import Family
from ....ground.fields import fields_of, from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn.layer import Layer
from ..functional.functional import compute_fbank_matrix, create_dct, power_to_db
from ..functional.window import get_window

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

L = TypeVar("L", bound=Layer)
_FEATURES = Family(
    {
        "sr": "samples a second.",
        "n_fft": "samples of a frame.",
        "hop_length": "samples between frames; a quarter of ``n_fft`` when None.",
        "win_length": "how many samples of a frame have weights; ``n_fft`` when None.",
        "window": "the weights: see ``paddle.audio.functional.get_window``.",
        "power": "the power of the amplitudes: 1 for amplitudes, 2 for energies.",
        "center": "whether frames are around their places, of sounds that are made longer.",
        "pad_mode": 'how these are made longer: "reflect" or "constant".',
        "n_mels": "how many bands.",
        "f_min": "where the bands begin, in hertz.",
        "f_max": "where they end; half of ``sr`` when None.",
        "htk": "see ``paddle.audio.functional.hz_to_mel``.",
        "norm": "see ``paddle.audio.functional.compute_fbank_matrix``.",
        "ref_value": "the power of 0 decibels.",
        "amin": "lower powers are taken for this one.",
        "top_db": "how far below the largest one a result may lie; any when None.",
        "dtype": "the element type of the weights.",
        "x": "sounds, [samples] or [sounds, samples].",
    }
)


@from_fields
class _Sound:
    """How a sound was taken."""

    sr: int = 22050


@from_fields
class _Coefficients(_Sound):
    """How many numbers stand for a frame of a sound."""

    n_mfcc: int = 40


@from_fields
class _Frames:
    """How a sound is cut into frames."""

    n_fft: int = 512
    hop_length: int | None = None
    win_length: int | None = None
    window: str = "hann"
    power: float = 2.0
    center: bool = True
    pad_mode: str = "reflect"


@from_fields
class _Bands:
    """Which bands of pitches there are."""

    n_mels: int = 64
    f_min: float = 50.0
    f_max: float | None = None
    htk: bool = False
    norm: str | float = "slaney"


@from_fields
class _Decibels:
    """How powers become decibels."""

    ref_value: float = 1.0
    amin: float = 1e-10
    top_db: float | None = None


@from_fields
class _Typed:
    """Of which type weights are: the last of all options."""

    dtype: str = "float32"


def _part(kind: Callable[..., L], given: Mapping[str, Any]) -> L:
    """A layer of those options that its class takes."""
    return kind(**{name: given[name] for name in fields_of(kind)})


@_FEATURES
@from_fields
class Spectrogram(_Typed, _Frames, Layer):
    """The amplitudes of the pitches in frames of a sound, [..., n_fft // 2 + 1, frames]."""

    hop_length: int | None = 512
    power: float = 1.0

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        self.power = given["power"]
        if self.power <= 0:
            raise ArgumentError(f"Spectrogram: expected power above 0, got {self.power}")
        told = ("n_fft", "hop_length", "win_length", "center", "pad_mode")
        self._frames: dict[str, Any] = {name: given[name] for name in told}
        if given["win_length"] is None:
            self._frames["win_length"] = given["n_fft"]
        length = self._frames["win_length"]
        weights = get_window(given["window"], length, True, given["dtype"])
        self.register_buffer("fft_window", weights)

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The amplitudes."""
        size = absolute(stft(x, window=self.fft_window, **self._frames))
        return size if self.power == 1 else power_of(size, self.power)


@_FEATURES
@from_fields
class MelSpectrogram(_Typed, _Bands, _Frames, _Sound, Layer):
    """The energies of bands that are heard as equally wide, in frames, [..., n_mels, frames]."""

    n_fft: int = 2048
    hop_length: int | None = 512

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        self._spectrogram = _part(Spectrogram, given)
        if given["f_max"] is None:
            given["f_max"] = given["sr"] / 2
        vars(self).update({name: given[name] for name in fields_of(_Bands)})
        of_sound = given["sr"], given["n_fft"], self.n_mels, self.f_min, self.f_max
        bands = compute_fbank_matrix(*of_sound, self.htk, self.norm, given["dtype"])
        self.register_buffer("fbank_matrix", bands)

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The energies."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


@_FEATURES
@from_fields
class LogMelSpectrogram(_Typed, _Decibels, _Bands, _Frames, _Sound, Layer):
    """The energies of bands that are heard as equally wide, in decibels, [..., n_mels, frames]."""

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        self._melspectrogram = _part(MelSpectrogram, given)
        vars(self).update({name: given[name] for name in fields_of(_Decibels)})

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The energies in decibels."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


@_FEATURES
@from_fields
class MFCC(_Typed, _Decibels, _Bands, _Frames, _Coefficients, Layer):
    """Cosine transforms of the energies of bands in decibels, [..., n_mfcc, frames] (Davis and
    Mermelstein, Comparison of parametric representations for monosyllabic word recognition, 1980).

    Args:
        n_mfcc: how many numbers a frame has.

    Raises:
        ArgumentError: ``n_mfcc`` is above ``n_mels``.
    """

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        n_mfcc, n_mels = given["n_mfcc"], given["n_mels"]
        if n_mfcc > n_mels:
            raise ArgumentError(f"MFCC: expected n_mfcc up to n_mels={n_mels}, got {n_mfcc}")
        self._log_melspectrogram = _part(LogMelSpectrogram, given)
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=given["dtype"]))

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The transforms."""
        bands = moveaxis(self._log_melspectrogram(x), -1, -2)
        return moveaxis(matmul(bands, self.dct_matrix), -1, -2)


list_public_names(globals())
api_boundaries(globals())
