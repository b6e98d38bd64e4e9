"""``paddle.nn.quant`` of paddle 2.6, but for what quantizes."""

from __future__ import annotations

from ...eager.tensor import Tensor
from ...ground.public_names import list_public_names
from ...nn.layer import TensorLayer


class Stub(TensorLayer):
    """A place for what observes values, when a network is quantized; it gives what it is given.

    Args:
        observer: what is put there.

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


list_public_names(globals())
