"""The frequencies of Fourier transforms: tensors in one mode, variables in the other."""

from __future__ import annotations

from typing import Any

from ..functions import fourier
from ..ground.tracebacks import api_boundaries
from .creation import to_tensor
from .modes import building

__all__ = ["fftfreq", "rfftfreq"]


@building(fourier.fftfreq)
def fftfreq(*given: Any) -> Any:
    return to_tensor(fourier.fftfreq(*given).numpy())


@building(fourier.rfftfreq)
def rfftfreq(*given: Any) -> Any:
    return to_tensor(fourier.rfftfreq(*given).numpy())


api_boundaries(globals(), but=("building", "to_tensor"))
