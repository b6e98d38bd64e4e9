"""Modules that hold modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...modules.holding import HeldByName, HeldInOrder, place_in
from .module import Module, Parameter


class Sequential(HeldInOrder, Module):
    """Modules one after the other.

    Args:
        modules: in order; or one dictionary of them by name.

    >>> net = fluid.flow.nn.Sequential(fluid.flow.nn.Linear(2, 3), fluid.flow.nn.ReLU())
    >>> net(fluid.flow.ones(4, 2)).shape, len(net)
    (oneflow.Size([4, 3]), 2)
    """

    _holds, _adds = "own_modules", "add_module"

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        one = len(modules) == 1 and isinstance(modules[0], Mapping)
        named: Any = modules[0] if one else dict(enumerate(modules))
        for name, module in named.items():
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """What the last module gives."""
        for module in self.children():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        return type(self)(dict([*self.own_modules.items()][index]))

    def __setitem__(self, index: Any, module: Module) -> None:
        self.add_module(self._name_at(index), module)

    def __delitem__(self, place: Any) -> None:
        names = [*self.own_modules][place] if isinstance(place, slice) else [self._name_at(place)]
        for name in names:
            del self.own_modules[name]

    def _name_at(self, index: Any) -> str:
        """The name of what has a place; others keep theirs where that goes."""
        names = [*self.own_modules]
        return names[place_in(index, len(names))]

    def append(self, module: Module) -> Sequential:
        """Put a module at the end.  Returns the sequence."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(HeldInOrder, Module):
    """A list of modules.

    Args:
        modules: modules; none when None.

    >>> layers = fluid.flow.nn.ModuleList([fluid.flow.nn.Linear(2, 3), fluid.flow.nn.Linear(3, 1)])
    >>> len(layers), layers[1]
    (2, Linear(in_features=3, out_features=1, bias=True))
    """

    _holds, _adds = "own_modules", "add_module"

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.hold(modules or ())

    def append(self, module: Module) -> ModuleList:
        """Put a module at the end.  Returns the list."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module in front of another one."""
        self._put(index, module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Put modules at the end.  Returns the list."""
        self.hold(modules)
        return self

    __iadd__ = extend


class ModuleDict(HeldByName, Module):
    """Modules by name.

    Args:
        modules: a dictionary; none when None.

    >>> layers = fluid.flow.nn.ModuleDict(
    ...     {"first": fluid.flow.nn.Linear(2, 3), "act": fluid.flow.nn.ReLU()}
    ... )
    >>> [*layers.keys()], layers["act"]
    (['first', 'act'], ReLU())
    """

    _holds, _adds = "own_modules", "add_module"

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.hold(modules or {})

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add modules, and replace those of the same names."""
        self.hold(modules)

    def pop(self, name: str) -> Module:
        """Take a module out.  Returns the module."""
        return self.own_modules.pop(name)


def _parameters_text(module: Module) -> str:
    """What a module that holds parameters says of them."""
    return "\n".join(
        f"  ({name}): Parameter containing: [{type(each)} of size {'x'.join(map(str, each.shape))}]"
        for name, each in module.own_parameters.items()
    )


class ParameterList(HeldInOrder, Module):
    """A list of parameters.

    Args:
        parameters: parameters; none when None.

    >>> parameters = fluid.flow.nn.ParameterList([fluid.flow.nn.Parameter(fluid.flow.ones(2))])
    >>> len(parameters), parameters[0].tolist()
    (1, [1.0, 1.0])
    """

    _holds, _adds = "own_parameters", "register_parameter"

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        self.hold(parameters or ())

    def append(self, parameter: Parameter) -> ParameterList:
        """Put a parameter at the end.  Returns the list."""
        self.register_parameter(str(len(self)), parameter)
        return self

    def extend(self, parameters: Iterable[Parameter]) -> ParameterList:
        """Put parameters at the end.  Returns the list."""
        self.hold(parameters)
        return self

    __iadd__ = extend

    def extra_repr(self) -> str:
        return _parameters_text(self)


class ParameterDict(HeldByName, Module):
    """Parameters by name.

    Args:
        parameters: a dictionary; none when None.

    >>> x = fluid.flow.ones(2)
    >>> fluid.flow.nn.ParameterDict({"scale": fluid.flow.nn.Parameter(x)})["scale"].shape
    oneflow.Size([2])
    """

    _holds, _adds = "own_parameters", "register_parameter"

    def __init__(self, parameters: Mapping[str, Parameter] | None = None) -> None:
        super().__init__()
        self.hold(parameters or {})

    def extra_repr(self) -> str:
        return _parameters_text(self)
