"""Sounds of the surroundings."""

from __future__ import annotations

import csv
import os
from typing import Any

from ....dataset.formats.archives import format_of
from ....ground.files import read_text
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of
from .dataset import SOUNDS, AudioClassificationDataset, fold_of

_LABELS = [
    "Dog", "Rooster", "Pig", "Cow", "Frog", "Cat", "Hen", "Insects (flying)", "Sheep", "Crow",
    "Rain", "Sea waves", "Crackling fire", "Crickets", "Chirping birds", "Water drops", "Wind",
    "Pouring water", "Toilet flush", "Thunderstorm", "Crying baby", "Sneezing", "Clapping",
    "Breathing", "Coughing", "Footsteps", "Laughing", "Brushing teeth", "Snoring",
    "Drinking, sipping", "Door knock", "Mouse click", "Keyboard typing", "Door, wood creaks",
    "Can opening", "Washing machine", "Vacuum cleaner", "Clock alarm", "Clock tick",
    "Glass breaking", "Helicopter", "Chainsaw", "Siren", "Car horn", "Engine", "Train",
    "Church bells", "Airplane", "Fireworks", "Hand saw",
]  # fmt: skip
_FOLDS = 5


@SOUNDS
class ESC50(AudioClassificationDataset):
    """2,000 sounds of the surroundings, of 50 kinds (Piczak, ESC: dataset for environmental sound
    classification, 2015), in five parts, from the folder ``ESC-50-master`` in
    ``~/.cache/paddle/dataset``.
    """

    label_list: list[str] = _LABELS

    def __init__(
        self,
        mode: str = "train",
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        fold = fold_of(split, _FOLDS)
        folder = file_of(None, "", "ESC-50-master")
        table = os.path.join(folder, "meta", "esc50.csv")
        with format_of(table):
            rows = [
                (row["filename"], int(row["target"]))
                for row in csv.DictReader(read_text(table).splitlines())
                if (int(row["fold"]) == fold) == (mode != "train")
            ]
        files = [os.path.join(folder, "audio", name) for name, _ in rows]
        super().__init__(files, [label for _, label in rows], feat_type, **kwargs)


list_public_names(globals())
api_boundaries(globals())
