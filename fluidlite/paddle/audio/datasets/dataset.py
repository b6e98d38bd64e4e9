"""Sounds in files, and what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....errors import ArgumentError
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....readers.datasets import Dataset
from ..backends.wave_backend import load
from ..features.layers import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

__all__ = ["AudioClassificationDataset"]

#: the name of a feature -> the layer that gives it; None for the samples themselves
_FEATURES: dict[str, Any] = {
    "raw": None,
    "melspectrogram": MelSpectrogram,
    "mfcc": MFCC,
    "logmelspectrogram": LogMelSpectrogram,
    "spectrogram": Spectrogram,
}


#: what sets of sounds say of their arguments
SOUNDS = Family(
    {
        "mode": '"train" for all but one part, else that one.',
        "split": "which part, from 1.",
        "feat_type": "see ``AudioClassificationDataset``.",
        "archive": "accepted: nothing is downloaded.",
        "kwargs": "of the layer that gives the features.",
    },
    raises="ArgumentError: there is no such part, or no such feature.\nFileError: the folder is "
    "missing; it says where it belongs.",
)


class AudioClassificationDataset(Dataset):
    """Sounds in files, or features of them, and their classes.

    Args:
        files: paths of WAV files.
        labels: their classes.
        feat_type: "raw" for the samples, or "melspectrogram", "mfcc", "logmelspectrogram" or
            "spectrogram".
        sample_rate: accepted: files say their own.
        kwargs: of the layer that gives the features.

    Raises:
        ArgumentError: there is no such feature.
    """

    def __init__(
        self,
        files: Sequence[str],
        labels: Sequence[int],
        feat_type: str = "raw",
        sample_rate: int | None = None,
        **kwargs: Any,
    ) -> None:
        if feat_type not in _FEATURES:
            raise ArgumentError(
                f"expected feat_type to be one of {', '.join(_FEATURES)}, got {feat_type!r:.60}"
            )
        self.files, self.labels = list(files), list(labels)
        self.feat_type, self.sample_rate = feat_type, sample_rate
        self.feat_config = kwargs

    def __getitem__(self, number: int) -> tuple[Tensor, int]:
        samples, rate = load(self.files[number])
        self.sample_rate = rate
        sound: Any = samples[0] if samples.shape[0] == 1 else samples
        layer = _FEATURES[self.feat_type]
        if layer is not None:
            given = {} if layer is Spectrogram else {"sr": rate}
            sound = layer(**given, **self.feat_config)(sound)
        return sound, self.labels[number]

    def __len__(self) -> int:
        return len(self.files)


def fold_of(split: int, n_folds: int) -> int:
    """The part that is for the test, checked.

    Raises:
        ArgumentError: there is no such part.
    """
    if not isinstance(split, int) or not 1 <= split <= n_folds:
        raise ArgumentError(f"expected split to be an integer from 1 to {n_folds}, got {split!r}")
    return split


list_public_names(globals())
api_boundaries(globals())
