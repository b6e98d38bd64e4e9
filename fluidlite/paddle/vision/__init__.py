"""``paddle.vision`` of paddle 2.6: models, transforms of images, data sets and detection."""

from __future__ import annotations

from ...ground.module_tables import give_names

_BELOW = ("models", "ops")
__all__: list[str] = []
give_names(globals(), {}, _BELOW)
