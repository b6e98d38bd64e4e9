"""Words that are spoken with feelings."""

from __future__ import annotations

import os
from typing import Any

from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of
from .dataset import SOUNDS, AudioClassificationDataset, fold_of

_LABELS = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]


@SOUNDS
class TESS(AudioClassificationDataset):
    """2,800 words, spoken with seven feelings (Pichora-Fuller and Dupuis, Toronto emotional speech
    set, 2020), from the folder ``TESS_Toronto_emotional_speech_set`` in
    ``~/.cache/paddle/dataset``.

    Args:
        n_folds: how many parts there are; files are dealt to them in the order of their paths.
    """

    label_list: list[str] = _LABELS

    def __init__(
        self,
        mode: str = "train",
        n_folds: int = 5,
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        fold = fold_of(split, n_folds)
        folder = file_of(None, "", "TESS_Toronto_emotional_speech_set")
        paths = sorted(
            os.path.join(where, name)
            for where, _, names in os.walk(folder)
            for name in names
            if name.endswith(".wav")
        )
        chosen = [
            path
            for number, path in enumerate(paths)
            if (number % n_folds + 1 == fold) == (mode != "train")
        ]
        feelings = [path.removesuffix(".wav").rpartition("_")[2] for path in chosen]
        labels = [_LABELS.index(feeling) for feeling in feelings]
        super().__init__(chosen, labels, feat_type, **kwargs)


list_public_names(globals())
api_boundaries(globals())
