"""``paddle.regularizer`` of paddle 2.6."""

from __future__ import annotations

from .. import regularizer as library
from ..ground.docstrings import Family
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from ..regularizer import WeightDecayRegularizer

__all__ = ["L1Decay", "L2Decay", "WeightDecayRegularizer"]

_DECAYS = Family()
_NAMES = {"regularization_coeff": "coeff"}


class _OneNumber(library.WeightDecayRegularizer):
    """A decay whose argument is called ``coeff``."""

    regularization_coeff: float
    _shown = "coeff=regularization_coeff"
    __repr__ = Described.__repr__

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self.regularization_coeff:f}"


@_DECAYS.like(library.L1Decay, _NAMES)
class L1Decay(_OneNumber, library.L1Decay):
    """
    >>> from fluidlite import paddle
    >>> print(paddle.regularizer.L1Decay(coeff=0.25))
    L1Decay, coeff=0.250000
    """

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)


@_DECAYS.like(library.L2Decay, _NAMES)
class L2Decay(_OneNumber, library.L2Decay):
    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)


list_public_names(globals())
api_boundaries(globals())
