"""Layers that are lists of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..eager.parameter import Parameter
from ..errors import ArgumentError, NameTakenError, suggestion
from ..ground.docstrings import Family
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..modules.holding import HeldInOrder, place_in
from .capture import value
from .layer import Layer


class Sequential(HeldInOrder, Layer):
    """Layers one after the other.

    Args:
        layers: layers, or pairs of a name and a layer; layers without a name are called by their
            number.

    Raises:
        ArgumentError: something else is among them.

    >>> with fluid.dygraph.guard():
    ...     net = fluid.dygraph.Sequential(fluid.dygraph.Linear(4, 8), fluid.dygraph.Linear(8, 1))
    ...     y = net(fluid.dygraph.to_variable(np.ones([2, 4], "float32")))
    >>> len(net), y.shape
    (2, [2, 1])
    """

    _holds, _adds = "own_sublayers", "add_sublayer"

    def __init__(self, *layers: Layer | tuple[str, Layer]) -> None:
        super().__init__()
        for number, given in enumerate(layers):
            named = isinstance(given, (tuple, list)) and len(given) == 2
            self.add_sublayer(*(given if named else (number, given)))

    def _name(self, given: Any) -> str:
        if str(given) in self.own_sublayers:
            return str(given)
        names = list(self.own_sublayers)
        if isinstance(given, str):
            raise NameTakenError(f"there is no layer {given!r}{suggestion(given, names)}")
        return names[place_in(given, len(names))]

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, slice):
            return type(self)(*list(self.own_sublayers.values())[name])
        return self.own_sublayers[self._name(name)]

    def __setitem__(self, name: Any, layer: Any) -> None:
        self.add_sublayer(name, layer)

    def __delitem__(self, name: Any) -> None:
        del self.own_sublayers[self._name(name)]

    def forward(self, input: Any) -> Any:
        """What the last layer gives.

        Args:
            input: what the first layer takes.
        """
        for layer in self.own_sublayers.values():
            input = layer(input)
        return input


_LISTS = Family(raises="ArgumentError: something else is among them.")


@_LISTS
class LayerList(HeldInOrder, Layer):
    """A list of layers.

    Args:
        sublayers: layers; none when None.

    >>> with fluid.dygraph.guard():
    ...     layers = fluid.dygraph.LayerList([fluid.dygraph.Linear(2, 2) for _ in range(3)])
    ...     layers.append(fluid.dygraph.Linear(2, 1)).parameters()[-1].shape
    [1]
    """

    _holds, _adds = "own_sublayers", "add_sublayer"

    def __init__(self, sublayers: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.hold(sublayers or ())

    def append(self, sublayer: Layer) -> LayerList:
        """Put a layer at the end.  Returns the list."""
        self.add_sublayer(len(self), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Put a layer in front of another one.

        Args:
            index: the place of that one.
            sublayer: the layer.
        """
        count = len(self)
        if not isinstance(index, int) or not -count <= index <= count:
            raise ArgumentError(f"expected an index in [{-count}, {count}], got {index!r}")
        self._put(index, sublayer)

    def extend(self, sublayers: Iterable[Any]) -> LayerList:
        """Put layers at the end.  Returns the list."""
        self.hold(sublayers)
        return self


@_LISTS
class ParameterList(HeldInOrder, Layer):
    """A list of parameters.

    Args:
        parameters: parameters; none when None.

    >>> with fluid.dygraph.guard():
    ...     weights = [fluid.layers.create_parameter([2, n], "float32") for n in (3, 4)]
    ...     kept = fluid.dygraph.ParameterList(weights)
    >>> len(kept), kept[1].shape
    (2, [2, 4])
    """

    _holds, _adds = "own_parameters", "add_parameter"

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        self.hold(parameters or ())

    def __iter__(self) -> Iterator[Any]:
        return map(value, self.own_parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Put a parameter at the end.  Returns the list."""
        self.add_parameter(len(self), parameter)
        return self


list_public_names(globals())
answer(globals())
