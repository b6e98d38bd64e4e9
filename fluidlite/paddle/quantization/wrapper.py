"""Layers whose inputs or outputs are observed."""

from __future__ import annotations

from typing import Any

from ...ground.public_names import list_public_names
from ...nn.layer import Layer
from .base_quanter import BaseQuanter


class ObserveWrapper(Layer):
    """A layer whose input, or output, an observer is given.

    Args:
        observer: what observes.
        observed: the layer.
        observe_input: False: observe what it gives.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization.observers import AbsmaxObserver
    >>> from fluidlite.paddle.quantization.wrapper import ObserveWrapper
    >>> net = ObserveWrapper(AbsmaxObserver()._instance(None), paddle.nn.ReLU())
    >>> net(paddle.to_tensor([-3.0, 1.0])).tolist(), float(net._observer.scales())
    ([0.0, 1.0], 3.0)
    """

    def __init__(self, observer: BaseQuanter, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer: Any = observer
        self._observed: Any = observed
        self._observe_input = observe_input

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives.

        Args:
            inputs, kwargs: of the layer; the first input is observed.
        """
        if not self._observe_input:
            return self._observer(self._observed(*inputs, **kwargs))
        first = [self._observer(each) for each in inputs[:1]]
        return self._observed(*first, *inputs[1:], **kwargs)


list_public_names(globals())
