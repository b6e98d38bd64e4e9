"""What layers are made of: parameters, sublayers and buffers, by the attributes they are in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ArgumentError, suggestion
from ..imperative.parameter import Parameter
from ..imperative.tensor import Tensor
from ..ir.variable import Parameter as StaticParameter
from ..quiet import quick_door
from .capture import value as taken_up

_KEPT = ("own_parameters", "own_sublayers", "own_buffers")
PARAMETERS = (Parameter, StaticParameter)  #: of layers that run at once, and of those of programs


class Registry:
    """Remembers the parameters, layers and buffers that are assigned to its attributes."""

    own_parameters: dict[str, Any]
    own_sublayers: dict[str, Any]
    own_buffers: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "own_parameters", {})
        object.__setattr__(self, "own_sublayers", {})
        object.__setattr__(self, "own_buffers", {})

    # -- attributes ------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        for kept in _KEPT:
            found = self.__dict__.get(kept)
            if found is not None and name in found:
                return taken_up(found[name])
        known = dir(self) if name.isidentifier() and name[0] != "_" else []
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}{suggestion(name, known)}"
        )

    @quick_door
    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, PARAMETERS):
            self._keep("own_parameters", name, value)
            return
        if isinstance(value, Registry):
            self._keep("own_sublayers", name, value)
            return
        kinds: tuple[tuple[str, Any, str], ...] = (
            ("own_parameters", PARAMETERS, "a parameter"),
            ("own_sublayers", Registry, "a layer"),
            ("own_buffers", Tensor, "a tensor"),
        )
        for kept, kind, wanted in kinds:
            found = self.__dict__.get(kept)
            if found is not None and name in found:
                if value is not None and not isinstance(value, kind):
                    raise ArgumentError(
                        f"attribute {name!r} of {type(self).__name__} holds {wanted}: expected "
                        f"another one or None, got {value!r:.60} of type {type(value).__name__}; "
                        f"delete it first, or use another name"
                    )
                found[name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kept in (self.own_parameters, self.own_sublayers, self.own_buffers):
            if name in kept:
                del kept[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        kept = (
            self.__dict__.get(k, ()) for k in ("own_parameters", "own_sublayers", "own_buffers")
        )
        return sorted({*object.__dir__(self), *(name for names in kept for name in names)})

    def _keep(self, kept: str, name: str, value: Any) -> None:
        if kept not in self.__dict__:
            raise ArgumentError(
                f"call super().__init__() of {type(self).__name__} before assigning {name!r}: it "
                f"is where parameters and layers are remembered"
            )
        self.__dict__.pop(name, None)
        for other in _KEPT:
            if other != kept:
                self.__dict__[other].pop(name, None)
        self.__dict__[kept][name] = value

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
        if tensor is not None and not isinstance(tensor, Tensor):
            raise _unexpected("a tensor", tensor)
        if tensor is not None:
            tensor.persistable = bool(persistable)
        self._keep("own_buffers", self._free(name, "own_buffers"), tensor)

    def _free(self, name: Any, kept: str) -> str:
        """A name that may be used for what is kept there."""
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise _unexpected("a name", name)
        name = str(name)
        if name not in self.__dict__.get(kept, {}) and hasattr(self, name):
            raise ArgumentError(f"{type(self).__name__} has an attribute {name!r} already")
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
        yield prefix, self
        if include_sublayers:
            for name, layer in self.own_sublayers.items():
                if layer is not None:
                    yield from layer.located_layers(f"{prefix}{name}.")

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

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a parameter is found, and the parameter; each once.

        Args:
            prefix: what names begin with.
            include_sublayers: also those of sublayers.

        >>> with fluid.dygraph.guard():
        ...     [name for name, _ in fluid.dygraph.Linear(2, 3).named_parameters("head")]
        ['head.weight', 'head.bias']
        """
        yield from self._named("own_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        """The parameters, each once.

        Args:
            include_sublayers: also those of sublayers.
        """
        return [p for _, p in self.named_parameters("", include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a buffer is found, and the buffer; each once.

        Args:
            prefix: what names begin with.
            include_sublayers: also those of sublayers.
        """
        yield from self._named("own_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        """The buffers, each once.

        Args:
            include_sublayers: also those of sublayers.
        """
        return [b for _, b in self.named_buffers("", include_sublayers)]

    def _named(self, kept: str, prefix: str, within: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for start, layer in self.located_layers(f"{prefix}." if prefix else "", within):
            for name, value in layer.__dict__[kept].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield start + name, value


def _unexpected(wanted: str, got: Any) -> ArgumentError:
    return ArgumentError(f"expected {wanted}, got {got!r:.60} of type {type(got).__name__}")
