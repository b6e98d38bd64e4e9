"""``paddle.reader`` of paddle 2.6: what is made of functions that give samples."""

from __future__ import annotations

from ..ground.module_tables import give_names, hold_modules

_NAMES = {
    "reader": "ComposeNotAligned buffered cache chain compose firstn map_readers "
    "multiprocess_reader shuffle xmap_readers"
}
_below = hold_modules(globals(), {"decorator": _NAMES})
give_names(globals(), _NAMES, _below)
