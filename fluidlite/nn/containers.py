"""Layers that hold layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import dygraph
from ..errors import ArgumentError
from ..modules.holding import HeldByName
from .layer import Layer, TensorLayer


class Sequential(dygraph.Sequential, TensorLayer):
    """Layers one after the other.

    Args:
        layers: layers, or pairs of a name and a layer.

    >>> net = fluid.nn.Sequential(fluid.nn.Linear(4, 8), fluid.nn.ReLU(), fluid.nn.Linear(8, 1))
    >>> len(net), net(fluid.ones([2, 4])).shape
    (3, [2, 1])
    """


class LayerList(dygraph.LayerList, Layer):
    """A list of layers.

    Args:
        sublayers: layers; none when None.

    >>> layers = fluid.nn.LayerList([fluid.nn.Linear(2, 3), fluid.nn.Linear(3, 1)])
    >>> len(layers), layers[1].weight.shape
    (2, [3, 1])
    """


class ParameterList(dygraph.ParameterList, Layer):
    """A list of parameters.

    Args:
        parameters: parameters; none when None.

    >>> parameters = fluid.nn.ParameterList([fluid.nn.Linear(2, 3).weight])
    >>> len(parameters), parameters[0].shape
    (1, [2, 3])
    """

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self.own_parameters)


class LayerDict(HeldByName, Layer):
    """Layers by name.

    Args:
        sublayers: a dictionary; none when None.

    >>> heads = fluid.nn.LayerDict({"class": fluid.nn.Linear(4, 3), "box": fluid.nn.Linear(4, 4)})
    >>> list(heads), heads["box"].weight.shape
    (['class', 'box'], [4, 4])
    """

    _holds, _adds = "own_sublayers", "add_sublayer"

    def __init__(self, sublayers: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.update(sublayers or {})

    def update(self, sublayers: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Hold further layers, in place of those of their names.

        Args:
            sublayers: a dictionary, or pairs of a name and a layer.

        Raises:
            ArgumentError: they are something else.
        """
        if not isinstance(sublayers, Iterable):
            raise ArgumentError(f"expected layers by name, got {sublayers!r:.60}")
        pairs = list(sublayers.items() if isinstance(sublayers, _NAMED) else sublayers)
        for pair in pairs:
            if len(pair) != 2:
                raise ArgumentError(f"expected pairs of a name and a layer, got {pair!r:.60}")
        for name, layer in pairs:
            self.add_sublayer(name, layer)

    def pop(self, key: str) -> Layer:
        """Take a layer out.  Returns the layer."""
        layer: Layer = self.own_sublayers.pop(key)
        return layer

    def clear(self) -> None:
        """Take all layers out."""
        self.own_sublayers.clear()


_NAMED = (Mapping, HeldByName)
