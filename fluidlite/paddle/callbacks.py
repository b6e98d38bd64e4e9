"""``paddle.callbacks`` of paddle 2.6: what ``paddle.Model`` calls while it trains and tests."""

from __future__ import annotations

from ..ground.public_names import list_public_names
from .hapi.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    VisualDL,
    WandbCallback,
)

__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger",
    "ReduceLROnPlateau", "VisualDL", "WandbCallback",
]  # fmt: skip

list_public_names(globals())
