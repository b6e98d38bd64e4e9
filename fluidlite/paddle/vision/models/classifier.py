"""What networks end with that tell what is on a picture."""

from __future__ import annotations

from typing import ClassVar

from ....eager.tensor import Tensor
from ....functions.views import flatten
from ....nn import Layer


class Classifier(Layer):
    """A network whose features are averaged, then scored.

    Args:
        num_classes: how many classes there are; with 0 nothing is scored.
        with_pool: whether features are averaged.
    """

    _ends: ClassVar[tuple[str, str]] = ("pool2d_avg", "fc")  #: the layers that average and score

    def __init__(self, num_classes: int, with_pool: bool) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool

    def _scores(self, x: Tensor) -> Tensor:
        pool, last = self._ends
        if self.with_pool:
            x = getattr(self, pool)(x)
        scores: Tensor = getattr(self, last)(flatten(x, 1)) if self.num_classes > 0 else x
        return scores
