"""Quanters: they round while a model is trained."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...ground.fields import from_fields
from ...ground.public_names import list_public_names
from ..nn.quant.quant_layers import moving_scale, rounded_by_moving_scale
from .base_quanter import SymmetricQuanter
from .factory import QuanterFactory


@from_fields
class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Makes quanters whose scale is a moving mean of the largest number of inputs.

    Args:
        moving_rate: how much a step counts of what the next one does.
        bit_length: how many bits whole numbers have.
        dtype: the element type of inputs.
        name: what the names of the state begin with.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
    >>> layer = FakeQuanterWithAbsMaxObserver(moving_rate=0.0)._instance(None)
    >>> layer(paddle.to_tensor([127.0, 1.4])).tolist(), layer.scales().tolist()
    ([127.0, 1.0], [127.0])
    """

    moving_rate: float = 0.9
    bit_length: int = 8
    dtype: str = "float32"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        super().__init__(**{"name": given["name"], **given})

    def _get_class(self) -> type[FakeQuanterWithAbsMaxObserverLayer]:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(SymmetricQuanter):
    """A quanter whose scale is a moving mean of the largest number of inputs.

    Args:
        layer: what it stands in.
        name: what the names of the state begin with.
        moving_rate: how much a step counts of what the next one does.
        bit_length: how many bits whole numbers have.
        dtype: the element type of inputs.
    """

    def __init__(
        self,
        layer: Any,
        name: str | None = None,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._moving_rate, self._bit_length = moving_rate, bit_length
        moving_scale(self, name, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The input, rounded; the scale moves in training."""
        return rounded_by_moving_scale(self, input, self._moving_rate, self._bit_length)

    def scales(self) -> Tensor:
        """The mean."""
        scale: Tensor = self._scale
        return scale


list_public_names(globals())
