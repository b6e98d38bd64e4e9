"""What layers are made of: parameters, sublayers and buffers, by the attributes they are in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..eager.parameter import Parameter
from ..eager.tensor import Tensor
from ..eager.tensor_core import TensorCore
from ..errors import ArgumentError, NameTakenError
from ..ground.docstrings import Family
from ..ir.variable import Parameter as StaticParameter
from ..modules.module import Module
from ..modules.owning import Kept, remembers
from .capture import value as taken_up

PARAMETERS = (Parameter, StaticParameter)  #: of layers that run at once, and of those of programs


_WITHIN = Family(
    {"prefix": "what names begin with.", "include_sublayers": "also those of sublayers."}
)


class Registry(Module):
    """Remembers the parameters, layers and buffers that are assigned to its attributes."""

    own_parameters: dict[str, Any]
    own_sublayers: dict[str, Any]
    own_buffers: dict[str, Any]

    _within = "own_sublayers"

    def add_parameter(self, name: str | int, parameter: Any) -> Any:
        """Keep a parameter under a name.

        Args:
            name: the attribute that it is found in.
            parameter: the parameter; None keeps the place free.

        Returns:
            the parameter.

        Raises:
            ArgumentError: an argument is of another kind, or the name is taken.
        """
        if parameter is not None and not isinstance(parameter, PARAMETERS):
            raise _unexpected("a parameter", parameter)
        self._keep("own_parameters", self._free(name, "own_parameters"), parameter)
        return parameter

    def add_sublayer(self, name: str | int, sublayer: Any) -> Any:
        """Keep a layer under a name.

        Args:
            name: the attribute that it is found in.
            sublayer: the layer.

        Returns:
            the layer.

        Raises:
            ArgumentError: an argument is of another kind, or the name is taken.
        """
        if not isinstance(sublayer, Registry):
            raise _unexpected("a layer", sublayer)
        self._keep("own_sublayers", self._free(name, "own_sublayers"), sublayer)
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Keep a tensor that is no parameter under a name.

        Args:
            name: the attribute that it is found in.
            tensor: the tensor; None keeps the place free.
            persistable: whether it belongs to ``state_dict()``.

        Raises:
            ArgumentError: an argument is of another kind, or the name is taken.
        """
        if tensor is not None and not isinstance(tensor, TensorCore):
            raise _unexpected("a tensor", tensor)
        self._keep("own_buffers", self._free(name, "own_buffers"), tensor)
        if tensor is not None:
            tensor.persistable = bool(persistable)
        if persistable:
            self.__dict__.setdefault("_promised", set()).add(name)
        else:
            self.__dict__.get("_promised", set()).discard(name)

    def _free(self, name: Any, kept: str) -> str:
        """A name that may be used for what is kept there."""
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise _unexpected("a name", name)
        name = str(name)
        if kept != "own_sublayers" and ("." in name or not name):
            raise NameTakenError(f"expected a name without a dot, got {name!r}")
        if name not in self.__dict__.get(kept, {}) and self._has(name):
            raise NameTakenError(f"{type(self).__name__} has an attribute {name!r} already")
        return name

    # -- what there is ---------------------------------------------------------------------------

    def located_layers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This layer and those within it, with what the names of their parameters begin with.

        Args:
            prefix: what names begin with.
            include_sublayers: False for this layer alone.
        """
        return self._walk(prefix, include_sublayers)

    def named_sublayers(
        self,
        prefix: str = "",
        include_sublayers: bool = True,
        include_self: bool = False,
        layers_set: set[Any] | None = None,
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a layer is found, and the layer; each once.

        Args:
            prefix: what names begin with.
            include_sublayers: also those within sublayers.
            include_self: begin with this layer, called ``prefix``.
            layers_set: layers to leave out.
        """
        seen = set() if layers_set is None else layers_set
        start = f"{prefix}." if prefix else ""
        for name, layer in self.located_layers(start):
            if layer in seen or (layer is self and not include_self):
                continue
            if not include_sublayers and layer is not self and layer not in self._direct():
                continue
            seen.add(layer)
            yield name[:-1], layer

    def _direct(self) -> list[Any]:
        return list(self.own_sublayers.values())

    def sublayers(self, include_sublayers: bool = True) -> list[Any]:
        """The layers within this one, each once.

        Args:
            include_sublayers: also those within sublayers.
        """
        return [layer for _, layer in self.named_sublayers("", include_sublayers)]

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Pairs of where a layer directly within this one is found, and the layer; each once."""
        yield from self.named_sublayers("", False)

    @_WITHIN
    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a parameter is found, and the parameter; each once.

        >>> with fluid.dygraph.guard():
        ...     [name for name, _ in fluid.dygraph.Linear(2, 3).named_parameters("head")]
        ['head.weight', 'head.bias']
        """
        return self._named("own_parameters", prefix, include_sublayers)

    @_WITHIN
    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        """The parameters, each once."""
        return [p for _, p in self.named_parameters("", include_sublayers)]

    @_WITHIN
    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a buffer is found, and the buffer; each once."""
        return self._named("own_buffers", prefix, include_sublayers)

    @_WITHIN
    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        """The buffers, each once."""
        return [b for _, b in self.named_buffers("", include_sublayers)]


remembers(
    Registry,
    {
        "own_parameters": Kept(PARAMETERS, "a parameter"),
        "own_sublayers": Kept(Registry, "a layer"),
        "own_buffers": Kept(Tensor, "a tensor", assigned=False),
    },
    taken_up,
)


def _unexpected(wanted: str, got: Any) -> ArgumentError:
    return ArgumentError(f"expected {wanted}, got {got!r:.60} of type {type(got).__name__}")
