"""The modules ``paddle``, ``paddle.fluid``, ``paddle.nn`` and all others, made of what is here.

A module looks a name up when it is first asked for, so importing one costs next to nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import CodeType, ModuleType
from typing import Any

from ..errors import suggestion
from . import editions
from .names import Entry, is_listed, is_package, listed
from .properties import PROPERTIES
from .refused import refused
from .sources import BESIDE, entry_of, own

PACKAGE = "paddle"
_LAUNCH = "from paddle.distributed.launch import launch\nlaunch()\n"


class AliasModule(ModuleType):
    """A module of paddle 1.8 or 2.6, or both, by the names that it had."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__
        if name == "__all__":
            return _public(module)
        entry = entry_of(module, name)
        newer = _of_2(self, name)
        if entry is None and newer is _ABSENT:
            raise AttributeError(
                f"module {module!r} has no attribute {name!r}{suggestion(name, dir(self))}",
                name=name,
                obj=self,
            )
        if entry is None:
            editions.uses("2.6")
            value = newer
        elif newer is _ABSENT or _is_module(entry, newer):
            value = _resolved(self, name, entry)
        elif editions.of_both(f"{module}.{name}") == "2.6":
            value = newer
        else:
            value = _resolved(self, name, entry)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing paddle.fluid.data must not hide the function fluid.data.
        if isinstance(value, AliasModule):
            entry = entry_of(self.__name__, name)
            if entry is not None and entry.kind != "module":
                return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *BESIDE.get(self.__name__, ())}
        if is_listed(self.__name__):
            names.update(listed(self.__name__).names)
        newer = editions.module_of_2(self.__name__)
        return sorted(names if newer is None else names.union(newer.__dir__()))


_ABSENT: Any = object()


def _of_2(holder: AliasModule, name: str) -> Any:
    """What a module of 2.6 has of a name."""
    module = holder.__name__
    newer = editions.module_of_2(module)
    if newer is None or _is_private(name):
        return _ABSENT
    value = getattr(newer, name, _ABSENT)
    if value is not _ABSENT and not isinstance(value, ModuleType):
        return value
    below = editions.module_of_2(f"{module}.{name}")
    return value if below is None else _related(holder, f"{module}.{name}")


def _is_private(name: str) -> bool:
    return name.startswith("_") and name != "__version__"


def _is_module(entry: Entry, newer: Any) -> bool:
    """Whether both editions have a module there: it serves the names of both."""
    return entry.kind == "module" and isinstance(newer, AliasModule)


def _public(module: str) -> list[str]:
    """What a star import takes."""
    newer = editions.module_of_2(module)
    if newer is not None and (not is_listed(module) or editions.of_both(module) == "2.6"):
        return list(newer.__all__)
    found = listed(module)
    if found.public is not None:
        return list(found.public)
    return [name for name in found.names if not name.startswith("_")]


def _resolved(holder: AliasModule, name: str, entry: Entry) -> Any:
    module = holder.__name__
    if entry.kind == "module":
        return _module(holder, name, entry.home)
    if entry.kind != "from":
        return own(module, name, entry)
    if is_listed(entry.home):
        return getattr(_related(holder, entry.home), entry.name)
    try:
        return getattr(import_module(entry.home), entry.name)
    except (ImportError, AttributeError):
        return refused("value", module, name)  # of a library that is not installed


def _related(holder: AliasModule, name: str) -> Any:
    """Another module of 1.8: what was served with this one, also when nothing is served any more.

    By then ``import`` finds none, or that of another installation, or a real paddle's.
    """
    finder: AliasFinder | None = holder.__loader__ if holder.__spec__ else None  # type: ignore[assignment]
    if finder is None or finder in sys.meta_path:
        return import_module(name)
    return finder.module(name)


def _module(holder: AliasModule, name: str, home: str) -> Any:
    module = holder.__name__
    if is_listed(home):
        return _related(holder, home)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # nobody asked for these modules
            return import_module(home)
    except ImportError:
        return refused("value", module, name)


class AliasFinder:
    """Finds and makes the modules."""

    def __init__(self) -> None:
        self._made: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """The module of that name that this made, or makes now, whatever is imported by then."""
        if name not in self._made:
            spec = self.find_spec(name, None)
            if spec is None:
                raise ModuleNotFoundError(f"no module named {name!r}", name=name)
            module_from_spec(spec)
        return self._made[name]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of a module of 1.8; None for any other."""
        if fullname.partition(".")[0] != PACKAGE:
            return None
        newer = editions.module_of_2(fullname)
        if newer is None and not is_listed(fullname):
            return None
        has_more = hasattr(newer, "__path__") or (is_listed(fullname) and is_package(fullname))
        # Not derived from importlib.abc.Loader: importing that takes long.
        loader: Any = self
        return ModuleSpec(fullname, loader, origin="fluidlite", is_package=has_more)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module: it fills itself."""
        kind = PROPERTIES.get(spec.name)
        module = _with_properties(kind)(spec.name) if kind else AliasModule(spec.name)
        module.__doc__ = f"The names of {spec.name}, served by fluidlite."
        editions.begins(spec.name)
        self._made[spec.name] = module
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: names are looked up when they are asked for."""

    def get_code(self, fullname: str) -> CodeType:
        """What ``python -m`` runs: of the launcher, a call; of other modules nothing."""
        text = _LAUNCH if fullname == "paddle.distributed.launch" else ""
        return compile(text, f"<{fullname}>", "exec")


def _with_properties(properties: type) -> type[AliasModule]:
    return type("AliasModule", (properties, AliasModule), {})


def forget() -> None:
    """Take the modules out of those that are imported."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, AliasModule):
            del sys.modules[name]


@cache
def _of_paths() -> AliasFinder:
    """What makes modules that nobody imports by the names that they had."""
    return AliasFinder()


def is_of_fluid(name: str) -> bool:
    """Whether fluid 1.8 had a module of that name, without ``paddle.fluid.`` before it."""
    return is_listed(f"{PACKAGE}.fluid.{name}")


def of_fluid(name: str) -> ModuleType:
    """A module of fluid 1.8, whether ``paddle`` is served or not."""
    return _of_paths().module(f"{PACKAGE}.fluid.{name}")
