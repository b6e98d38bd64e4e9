"""Which layers of a model are quantized, and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...errors import ArgumentError
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...nn.conv import Conv2D
from ...nn.dense import Linear
from ...nn.layer import Layer
from ..nn.quant.qat import QuantedConv2D, QuantedLinear
from ..nn.quant.stub import QuanterStub, Stub
from .factory import QuanterFactory
from .wrapper import ObserveWrapper

#: a layer's class -> that of the layer that is quantized in its place
DEFAULT_QAT_LAYER_MAPPINGS: dict[type, type] = {
    Stub: QuanterStub,
    Linear: QuantedLinear,
    Conv2D: QuantedConv2D,
}


class SingleLayerConfig(Described):
    """How a layer is quantized.

    Args:
        activation: makes the quanters of inputs; None for none.
        weight: makes the quanters of weights; None for none.
    """

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._activation, self._weight = activation, weight

    @property
    def activation(self) -> QuanterFactory | None:
        """Makes the quanters of inputs."""
        return self._activation

    @property
    def weight(self) -> QuanterFactory | None:
        """Makes the quanters of weights."""
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self.activation}\nweight: {self.weight}"


class QuantConfig(Described):
    """Which layers of a model are quantized, and how.

    What is said of a layer, or of its name, goes before what is said of its class, and that before
    what is said of the layers around it and of all.

    Args:
        activation: makes the quanters of the inputs of all layers; None for none.
        weight: makes the quanters of all weights; None for none.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization import QAT, QuantConfig
    >>> from fluidlite.paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
    >>> config = QuantConfig(activation=None, weight=None)
    >>> config.add_type_config(paddle.nn.Linear, weight=FakeQuanterWithAbsMaxObserver())
    >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
    >>> QAT(config).quantize(net)
    Sequential(
      (0): QuantedLinear(
        (weight_quanter): FakeQuanterWithAbsMaxObserverLayer()
      )
      (1): ReLU()
    )
    """

    _shown: ClassVar[str] = "global_config=_global_config"

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        whole = None if activation is None and weight is None else (activation, weight)
        self._global_config = None if whole is None else SingleLayerConfig(*whole)
        self._of_layers: dict[Layer, SingleLayerConfig] = {}
        self._of_types: dict[type, SingleLayerConfig] = {}
        self._of_names: dict[str, SingleLayerConfig] = {}
        self._mapping = dict(DEFAULT_QAT_LAYER_MAPPINGS)
        self._leaves: list[type] = []

    def add_layer_config(
        self,
        layer: Layer | list[Layer],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Say how layers are quantized, with those within them.

        Args:
            layer: one, or a list.
            activation, weight: make the quanters of inputs and weights.

        Raises:
            ArgumentError: it is no layer.
        """
        for each in layer if isinstance(layer, list) else [layer]:
            if not isinstance(each, Layer):
                raise ArgumentError(f"expected a layer, or a list of layers; got {each!r:.60}")
            self.add_name_config(each.full_name(), activation, weight)

    def add_name_config(
        self,
        layer_name: str | list[str],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Say how layers with these names are quantized, with those within them.

        Args:
            layer_name: what ``full_name()`` of a layer gives, or a list.
            activation, weight: make the quanters of inputs and weights.

        Raises:
            ArgumentError: it is no name.
        """
        for each in layer_name if isinstance(layer_name, list) else [layer_name]:
            if not isinstance(each, str):
                raise ArgumentError(f"expected a name, or a list of names; got {each!r:.60}")
            self._of_names[each] = SingleLayerConfig(activation, weight)

    def add_type_config(
        self,
        layer_type: type | list[type],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Say how layers of these classes are quantized, with those within them.

        Args:
            layer_type: one, or a list.
            activation, weight: make the quanters of inputs and weights.

        Raises:
            ArgumentError: it is no class of layers.
        """
        for each in layer_type if isinstance(layer_type, list) else [layer_type]:
            _need_layer_class(each, "a class of layers, or a list of them")
            self._of_types[each] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source: type, target: type) -> None:
        """Say what stands in place of layers of a class.

        Args:
            source: that class.
            target: the class that stands there, made of the layer and how it is quantized.

        Raises:
            ArgumentError: one is no class of layers.
        """
        _need_layer_class(source, "source to be a class of layers")
        _need_layer_class(target, "target to be a class of layers")
        self._mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Say that the inputs of layers of a class are observed, although layers lie within it.

        Args:
            layer_type: the class.

        Raises:
            ArgumentError: it is no class of layers.
        """
        _need_layer_class(layer_type, "a class of layers")
        self._leaves.append(layer_type)

    customized_leaves: Alias[list[type]] = Alias(
        "_leaves", "The classes whose inputs are observed, although layers lie within them."
    )
    qat_layer_mappings: Alias[dict[type, type]] = Alias(
        "_mapping", "What stands in place of layers of a class."
    )

    @property
    def default_qat_layer_mapping(self) -> dict[type, type]:
        """What stands there where nothing else is said."""
        return DEFAULT_QAT_LAYER_MAPPINGS

    global_config: Alias[SingleLayerConfig | None] = Alias(
        "_global_config", "How layers are quantized of which nothing is said."
    )

    def _specify(self, model: Layer) -> None:
        """Find how each layer of a model is quantized."""
        self._of_layers = dict(self._found(model, self._global_config))

    def _found(
        self, model: Layer, around: SingleLayerConfig | None
    ) -> Iterator[tuple[Layer, SingleLayerConfig]]:
        for child in model.children():
            config = self._of_types.get(type(child), around)
            config = self._of_names.get(child.full_name(), config)
            if config is not None:
                yield child, config
            yield from self._found(child, config)

    def _get_qat_layer(self, layer: Layer) -> Layer | None:
        """What stands in place of a layer; None for the layer itself."""
        config = self._of_layers.get(layer)
        target = self._mapping.get(type(layer))
        return None if config is None or target is None else target(layer, config)

    def _get_observe_wrapper(self, layer: Layer) -> Layer | None:
        """A layer with an observer of its inputs; None where they are not observed."""
        config = self._of_layers.get(layer)
        is_leaf = type(layer) in self._leaves or not any(True for _ in layer.children())
        if config is None or config.activation is None or not is_leaf:
            return None
        return ObserveWrapper(config.activation._instance(layer), layer)

    def details(self) -> str:
        """What was said, as text."""
        parts = [f"Global config:\n{self._global_config}\n"]
        if self._of_types:
            parts.append(f"Layer type config:\n{self._of_types}\n")
        if self._of_names:
            parts.append(f"Layer prefix config: \n{self._of_names}\n")
        return "".join(parts)

    __str__ = details


def _need_layer_class(given: Any, what: str) -> None:
    if not (isinstance(given, type) and issubclass(given, Layer)):
        raise ArgumentError(f"expected {what}, got {given!r:.60}")


list_public_names(globals())
