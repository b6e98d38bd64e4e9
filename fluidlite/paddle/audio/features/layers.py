"""Layers that give features of sounds: how strong which pitches are, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import ArgumentError
from ....functions.arithmetic import matmul
from ....functions.arithmetic import pow as power_of
from ....functions.elementary import abs as absolute
from ....functions.signals import stft
from ....functions.views import moveaxis
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn.layer import Layer
from ..functional.functional import compute_fbank_matrix, create_dct, power_to_db
from ..functional.window import get_window

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

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


@_FEATURES
class Spectrogram(Layer):
    """The amplitudes of the pitches in frames of a sound, [..., n_fft // 2 + 1, frames]."""

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if power <= 0:
            raise ArgumentError(f"Spectrogram: expected power above 0, got {power}")
        self.power = power
        self._frames: dict[str, Any] = {
            "n_fft": n_fft,
            "hop_length": hop_length,
            "win_length": n_fft if win_length is None else win_length,
            "center": center,
            "pad_mode": pad_mode,
        }
        weights = get_window(window, self._frames["win_length"], True, dtype)
        self.register_buffer("fft_window", weights)

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The amplitudes."""
        size = absolute(stft(x, window=self.fft_window, **self._frames))
        return size if self.power == 1 else power_of(size, self.power)


@_FEATURES
class MelSpectrogram(Layer):
    """The energies of bands that are heard as equally wide, in frames, [..., n_mels, frames]."""

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(
            n_fft, hop_length, win_length, window, power, center, pad_mode, dtype
        )
        self.n_mels, self.f_min, self.f_max = n_mels, f_min, sr / 2 if f_max is None else f_max
        self.htk, self.norm = htk, norm
        bands = compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", bands)

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The energies."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


@_FEATURES
class LogMelSpectrogram(Layer):
    """The energies of bands that are heard as equally wide, in decibels, [..., n_mels, frames]."""

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        of_sound = sr, n_fft, hop_length, win_length, window, power, center, pad_mode
        self._melspectrogram = MelSpectrogram(*of_sound, n_mels, f_min, f_max, htk, norm, dtype)
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The energies in decibels."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


@_FEATURES
class MFCC(Layer):
    """Cosine transforms of the energies of bands in decibels, [..., n_mfcc, frames] (Davis and
    Mermelstein, Comparison of parametric representations for monosyllabic word recognition, 1980).

    Args:
        n_mfcc: how many numbers a frame has.

    Raises:
        ArgumentError: ``n_mfcc`` is above ``n_mels``.
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise ArgumentError(f"MFCC: expected n_mfcc up to n_mels={n_mels}, got {n_mfcc}")
        of_sound = sr, n_fft, hop_length, win_length, window, power, center, pad_mode
        of_bands = n_mels, f_min, f_max, htk, norm, ref_value, amin, top_db
        self._log_melspectrogram = LogMelSpectrogram(*of_sound, *of_bands, dtype)
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    @_FEATURES
    def forward(self, x: Tensor) -> Tensor:
        """The transforms."""
        bands = moveaxis(self._log_melspectrogram(x), -1, -2)
        return moveaxis(matmul(bands, self.dct_matrix), -1, -2)


list_public_names(globals())
api_boundaries(globals())
