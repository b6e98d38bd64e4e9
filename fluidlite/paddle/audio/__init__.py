"""``paddle.audio`` of paddle 2.6: sound files, features of sounds, sets of sounds."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from . import backends, datasets, features, functional
from .backends.wave_backend import info as info
from .backends.wave_backend import load as load
from .backends.wave_backend import save as save

list_given_names(globals(), "functional", "features", "datasets", "backends")
