"""Writes ``saved_models.tar.xz``: models and trainings that paddle 2.6 saved.

    python record_saved_models.py FOLDER

``FOLDER`` has what ``tests/jobs/saved_by_paddle2.py FOLDER layer training`` wrote there, in Paddle
2.6.2.  Nets whose loops make their files long are left out, and some trainings.
"""

import sys
import tarfile
from pathlib import Path

FILE = Path(__file__).with_name("saved_models.tar.xz")
LONG = (
    "layer.RNN_", "layer.BiRNN_LSTM", "layer.BiRNN_Simple", "layer.Transformer.",
    "layer.TransformerDecoder.",
)  # fmt: skip
TRAININGS = (
    "adadelta adamw conv indexed lamb lstm merged_adam merged_momentum momentum scaled".split()  # noqa: SIM905
)


def is_kept(name: str) -> bool:
    """Whether a file belongs to the record."""
    if name.startswith("training."):
        return name.split(".")[1] in TRAININGS
    return name.startswith("layer.") and not name.startswith(LONG) and not name.endswith(".info")


with tarfile.open(FILE, "w:xz") as archive:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        if is_kept(path.name):
            member = archive.gettarinfo(path, path.name)
            member.mtime = member.uid = member.gid = 0
            member.uname = member.gname = ""
            with path.open("rb") as file:
                archive.addfile(member, file)
