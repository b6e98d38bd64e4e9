"""Modules that only give names of other modules: a table says which.

A line of a table is a module of paddle 2 and, by the module of this package that holds them, the
names that it gives.  ``fluid.X`` holds those of ``paddle.fluid.X`` of 1.8.  A name is looked up
at its first use.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from ..errors import suggestion
from .fluid_paths import FLUID
from .missing_names import answer_of_paddle_2
from .public_names import list_public_names
from .tracebacks import api_boundary

_ROOT = __name__.partition(".")[0]
_FLUID = "fluid."
#: the module that holds names -> these names, as ``name`` or ``name=its name there``; one with a
#: ``~`` before it is given to who asks for it, and not listed
Homes = Mapping[str, str]
#: module -> what it gives
Table = Mapping[str, Homes]


class TabledModule(ModuleType):
    """A module of a table.

    Args:
        name: its whole name.
        homes: the names that it gives.
        below: the names of the modules below it.
    """

    def __init__(self, name: str, homes: Homes, below: Iterable[str] = ()) -> None:
        super().__init__(name, f"Names of {name.partition('.')[2]}.")
        if below:
            self.__path__: list[str] = []
        give_names(vars(self), homes, below)


def give_names(namespace: dict[str, Any], homes: Homes, below: Iterable[str] = ()) -> None:
    """Have a module give names of other modules, beside what it has.

    Args:
        namespace: of the module: what ``globals()`` gives at its end.
        homes: the names.
        below: names of modules below it, which are public, too, and are loaded at their
            first use.
    """
    module = namespace["__name__"]
    held, public = {}, [*namespace.get("__all__", ())]
    for home, names in homes.items():
        for word in names.split():
            name, _, there = word.lstrip("~").partition("=")
            held[name] = home, there or name
            public += [name] * (word[0] not in "~_")
    namespace["__all__"] = [*dict.fromkeys([*public, *below])]

    modules = frozenset(below) - held.keys()
    for name in held.keys() & {*below}:
        namespace.pop(name, None)  # the module is imported by its path

    def __getattr__(name: str) -> Any:
        if name in modules:
            return import_module(f"{module}.{name}")
        if name not in held:
            known = suggestion(name, namespace["__all__"])
            raise AttributeError(f"module {module!r} has no attribute {name!r}{known}", name=name)
        namespace[name] = _value(*held[name])
        return namespace[name]

    namespace["__getattr__"] = api_boundary(__getattr__)
    answer_of_paddle_2(namespace)
    list_public_names(namespace)


def hold_modules(namespace: dict[str, Any], table: Table) -> dict[str, ModuleType]:
    """Have a module hold the modules of a table below it.

    One whose name means a function or a class in the package is imported by its path, and the
    name goes on meaning what it did.

    Args:
        namespace: of the package: what ``globals()`` gives at its end.
        table: of the modules below it; one that stands below another follows it.

    Returns:
        those that stand directly below it, by their names.
    """
    modules = make_modules(namespace["__name__"], table)
    namespace.setdefault("__path__", [])
    namespace["__modules__"] = modules
    for name, module in modules.items():
        namespace.setdefault(name, module)
    return modules


def module_below(module: ModuleType, name: str) -> ModuleType | None:
    """The module of a table below a module; None if no module has that name.

    Args:
        module: the package.
        name: the last part of its name.
    """
    held: dict[str, ModuleType] = vars(module).get("__modules__", {})
    return held.get(name)


def _value(home: str, name: str) -> Any:
    if home.startswith(_FLUID):
        return getattr(FLUID.get().of_fluid(home.removeprefix(_FLUID)), name)
    return getattr(import_module(f"{_ROOT}.{home}"), name)


def make_modules(package: str, table: Table) -> dict[str, ModuleType]:
    """Make the modules of a package that a table lists, ready for imports.

    Args:
        package: the whole name of the package.
        table: of the modules below it; one that stands below another follows it.

    Returns:
        those that stand directly below the package, by their names.
    """
    modules: dict[str, ModuleType] = {}
    for path, homes in table.items():
        below = [each.rpartition(".")[2] for each in table if each.rpartition(".")[0] == path]
        modules[path] = TabledModule(f"{package}.{path}", homes, below)
        sys.modules.setdefault(modules[path].__name__, modules[path])
        around, _, last = path.rpartition(".")
        if around:
            vars(modules[around]).setdefault("__modules__", {})[last] = modules[path]
            if not any(last in names.split() for names in table[around].values()):
                setattr(modules[around], last, modules[path])
    return {path: module for path, module in modules.items() if "." not in path}
