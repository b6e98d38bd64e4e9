"""``paddle.audio.datasets`` of paddle 2.6: sets of sounds over local files."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from .esc50 import ESC50 as ESC50
from .tess import TESS as TESS

list_given_names(globals(), "dataset", "esc50", "tess")
