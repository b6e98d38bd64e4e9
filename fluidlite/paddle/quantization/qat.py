"""Training with roundings."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from .quantize import Quantization


class QAT(Quantization):
    """Training with roundings: gradients go through them as if there were none.

    Args:
        config: which layers are quantized, and how.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization import QAT, QuantConfig
    >>> from fluidlite.paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
    >>> quanter = FakeQuanterWithAbsMaxObserver()
    >>> qat = QAT(QuantConfig(activation=quanter, weight=quanter))
    >>> net = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 3)))
    >>> net(paddle.ones([1, 2])).sum().backward()
    >>> whole = qat.convert(net)[0].weight.numpy()
    >>> bool((whole == whole.round()).all())
    True
    """


list_public_names(globals())
