"""What observers have in common."""

from __future__ import annotations

from abc import abstractmethod

from ...ground.public_names import list_public_names
from .base_quanter import BaseQuanter


class BaseObserver(BaseQuanter):
    """A layer that gives its input as it is, and finds the scale that whole numbers will have."""

    def __init__(self) -> None:
        super().__init__()

    @abstractmethod
    def cal_thresholds(self) -> None:
        """Compute the scale of what was seen."""


list_public_names(globals())
