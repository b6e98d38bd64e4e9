"""``paddle.base`` of paddle 2.6: what fluid was, over the modules that fluid's names have here.

Functions are eager until ``paddle.enable_static()``, as everywhere in paddle 2.
"""

from __future__ import annotations

from ...ground.module_tables import give_names, hold_modules
from .table import MODULES, NAMES

_below = hold_modules(globals(), MODULES)
give_names(globals(), NAMES, _below)
