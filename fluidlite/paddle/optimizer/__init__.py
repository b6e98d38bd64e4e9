"""``paddle.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...optimizer import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lamb,
    Momentum,
    Optimizer,
    RMSProp,
)  # fmt: skip
from . import lr

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lamb", "Momentum", "Optimizer",
    "RMSProp", "SGD", "lr",
]  # fmt: skip

list_public_names(globals())
