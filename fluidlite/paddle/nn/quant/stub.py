"""Places for what observes values."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....ground.public_names import list_public_names
from ....nn.layer import TensorLayer


class Stub(TensorLayer):
    """A place for what observes values, when a network is quantized; it gives what it is given.

    Args:
        observer: a factory of what is put there; what the configuration says when None.

    >>> from fluidlite import paddle
    >>> paddle.nn.quant.Stub()(paddle.ones([2])).tolist()
    [1.0, 1.0]
    """

    def __init__(self, observer: object = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class QuanterStub(TensorLayer):
    """A stub that observes.

    Args:
        layer: the stub.
        q_config: what is put there, where the stub does not say it.
    """

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory: Any = q_config.activation if layer._observer is None else layer._observer
        self._observer: Any = None if factory is None else factory._instance(layer)

    def forward(self, input: Tensor) -> Tensor:
        """The input, as the observer gives it."""
        observed: Tensor = input if self._observer is None else self._observer(input)
        return observed


list_public_names(globals())
