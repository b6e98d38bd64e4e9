"""Rounding after training."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from .quantize import Quantization


class PTQ(Quantization):
    """Rounding after training: observers find scales while the model runs on samples.

    Args:
        config: which layers are quantized, and how.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization import PTQ, QuantConfig
    >>> from fluidlite.paddle.quantization.observers import AbsmaxObserver
    >>> ptq = PTQ(QuantConfig(activation=AbsmaxObserver(), weight=AbsmaxObserver()))
    >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3))
    >>> net.eval()
    >>> net = ptq.quantize(net)
    >>> _ = net(paddle.ones([1, 2]))
    >>> whole = ptq.convert(net)[0].weight.numpy()
    >>> bool((whole == whole.round()).all())
    True
    """

    _in_training = False


list_public_names(globals())
