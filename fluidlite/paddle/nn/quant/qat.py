"""Layers whose inputs and weights are observed, or rounded while they are trained."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....nn import functional as F
from ....nn.conv import Conv2D
from ...holders import hold
from .format import ConvertibleQuantedLayer

_QUANTED = Family({"q_config": "the factories of quanters of its inputs and of its weight."})


class _Quanted(ConvertibleQuantedLayer):
    """A layer with the weight and the bias of another one."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__()
        self.weight: Any = layer.weight
        self.bias: Any = layer.bias
        for name, factory in (("weight", q_config.weight), ("activation", q_config.activation)):
            quanter = None if factory is None else factory._instance(layer)
            setattr(self, f"{name}_quanter", quanter)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """The weight and its quanter."""
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        """The quanter of inputs."""
        return ["activation_quanter"]

    def _rounded(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input and the weight, as their quanters give them."""
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        weight = self.weight
        return input, weight if self.weight_quanter is None else self.weight_quanter(weight)


@_QUANTED
class QuantedLinear(_Quanted):
    """A linear map whose inputs and weight go through quanters.

    Args:
        layer: the ``Linear`` whose weight and bias it has.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The output."""
        return F.linear(*self._rounded(input), self.bias)


@_QUANTED
class QuantedConv2D(_Quanted):
    """A convolution whose inputs and filters go through quanters.

    Args:
        layer: the ``Conv2D`` whose filters and bias it has.
    """

    def __init__(self, layer: Conv2D, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self._moves = layer.moves

    def forward(self, input: Tensor) -> Tensor:
        """What is convolved."""
        return self._moves(*self._rounded(input), self.bias)


list_public_names(globals())
hold(globals())
