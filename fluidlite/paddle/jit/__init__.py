"""``paddle.jit`` of paddle 2.6: functions and layers as programs, and models of them in files."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from . import api, dy2static
from .models import TranslatedLayer, load, save
from .translating import (
    enable_to_static,
    ignore_module,
    not_to_static,
    set_code_level,
    set_verbosity,
    to_static,
)

__all__ = [
    "TranslatedLayer", "api", "dy2static", "enable_to_static", "ignore_module", "load",
    "not_to_static", "save", "set_code_level", "set_verbosity", "to_static",
]  # fmt: skip

list_public_names(globals())
