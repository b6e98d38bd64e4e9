"""``paddle.quantization`` of paddle 2.6: training with roundings, and rounding after training."""

from __future__ import annotations

from . import observers as observers
from . import quanters as quanters
from .base_observer import BaseObserver as BaseObserver
from .base_quanter import BaseQuanter as BaseQuanter
from .config import QuantConfig as QuantConfig
from .factory import quanter as quanter
from .ptq import PTQ as PTQ
from .qat import QAT as QAT

__all__ = ["QuantConfig", "BaseQuanter", "BaseObserver", "quanter", "QAT", "PTQ"]
