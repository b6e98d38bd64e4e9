"""What training with roundings and rounding after training have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentError, UsageError
from ...ground.public_names import list_public_names
from ...nn.layer import Layer
from ..nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from .base_quanter import BaseQuanter
from .config import QuantConfig


class Quantization:
    """Puts quanters into models, and takes them out again.

    Args:
        config: which layers are quantized, and how.

    Raises:
        ArgumentError: it is no ``QuantConfig``.
    """

    _in_training = True  #: whether models are trained with quanters

    def __init__(self, config: QuantConfig) -> None:
        if not isinstance(config, QuantConfig):
            raise ArgumentError(f"expected config to be a QuantConfig, got {config!r:.60}")
        self._config = copy.deepcopy(config)

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """A model with quanters in it.

        Args:
            model: a layer with layers within.
            inplace: change the model, not a copy.

        Raises:
            UsageError: it is in the wrong mode: training, or evaluation.
        """
        if not isinstance(model, Layer):
            raise ArgumentError(f"expected model to be a layer, got {model!r:.60}")
        if model.training != self._in_training:
            mode, call = ("training", "train") if self._in_training else ("evaluation", "eval")
            raise UsageError(f"expected a model in {mode} mode: call model.{call}() first")
        model = model if inplace else copy.deepcopy(model)
        self._config._specify(model)
        _replace(model, self._config._get_qat_layer)
        _replace(model, self._config._get_observe_wrapper)
        return model

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """A model that rounds as its quanters found, with whole numbers as weights.

        Args:
            model: what ``quantize`` gave, trained or run on samples.
            inplace: change the model, not a copy.
            remain_weight: keep weights as fractions, and round them at each call.
        """
        if not isinstance(model, Layer):
            raise ArgumentError(f"expected model to be a layer, got {model!r:.60}")
        model = model if inplace else copy.deepcopy(model)
        for layer in model.sublayers(True):
            if isinstance(layer, ConvertibleQuantedLayer) and not layer.converted:
                layer._convert(remain_weight)
        _replace(model, _rounding)
        return model

    def _details(self) -> str:
        return self._config.details()

    def __str__(self) -> str:
        return self._details()

    __repr__ = __str__


def _rounding(layer: Layer) -> Layer | None:
    """What rounds in place of a quanter."""
    return LinearQuanterDequanter.from_quanter(layer) if isinstance(layer, BaseQuanter) else None


def _replace(
    model: Layer,
    replacement: Callable[[Any], Layer | None],
    seen: dict[Layer, Layer | None] | None = None,
) -> None:
    """Put others in place of layers; what is put there is not looked into.

    A layer that stands in several places has one replacement.
    """
    seen = {} if seen is None else seen
    for name, child in list(model.named_children()):
        if child not in seen:
            seen[child] = replacement(child)
            if seen[child] is None:
                _replace(child, replacement, seen)
        other = seen[child]
        if other is not None:
            model.add_sublayer(name, other)


list_public_names(globals())
