"""``paddle.quantization`` of paddle 2.6: training with roundings, and rounding after training."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from . import observers as observers
from . import quanters as quanters
from .base_observer import BaseObserver as BaseObserver
from .base_quanter import BaseQuanter as BaseQuanter
from .config import QuantConfig as QuantConfig
from .factory import quanter as quanter
from .ptq import PTQ as PTQ
from .qat import QAT as QAT

list_given_names(
    globals(),
    *("base_observer", "base_quanter", "config", "factory", "observers", "ptq", "qat", "quanters"),
    *("quantize", "wrapper"),
)
