"""``paddle.metric`` of paddle 2.6."""

from __future__ import annotations

from ..ground.public_names import list_public_names
from ..model.metric import Accuracy, Metric

__all__ = ["Accuracy", "Metric"]

list_public_names(globals())
