"""The modules ``paddle``, ``paddle.fluid``, ``oneflow`` and all others, made of what is here.

A module looks a name up at its first use, so importing one costs next to nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import CodeType, ModuleType
from typing import Any

from ..errors import suggestion
from ..ground.missing_names import left_out_of_oneflow, left_out_of_paddle_2
from ..ground.module_tables import TabledModule
from ..ground.public_names import is_given
from . import editions
from .names import Entry, is_listed, is_package, listed
from .packages import PACKAGES, PADDLE, module_behind, package_of
from .properties import PROPERTIES
from .refused import is_refused, refused
from .sources import BESIDE, entry_of, own

_LAUNCH = "from paddle.distributed.launch import launch\nlaunch()\n"


class AliasModule(ModuleType):
    """A module of paddle 1.8 or 2.6, or both, or of another package, by the names that it had."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__
        if name == "__all__":
            return _public(module)
        if name == "__path__":  # the import asks for it before it sets it
            raise AttributeError(name)
        entry = entry_of(module, name)
        newer = _of_ours(self, name)
        if entry is None and newer is _ABSENT:
            reason = left_out_of_oneflow().get(f"{module}.{name}")
            more = f": {reason}" if reason else suggestion(name, dir(self))
            raise AttributeError(
                f"module {module!r} has no attribute {name!r}{more}", name=name, obj=self
            )
        if entry is None:
            editions.uses("2.6", module)
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
            behind = module_behind(self.__name__)
            if behind is not None and _hides(behind, name):
                return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *BESIDE.get(self.__name__, ())}
        if is_listed(self.__name__):
            names.update(listed(self.__name__).names)
        newer = module_behind(self.__name__)
        return sorted(names if newer is None else names.union(newer.__dir__()))


_ABSENT: Any = object()


def _of_ours(holder: AliasModule, name: str) -> Any:
    """What a module of 2.6 or of another package has of a name."""
    module = holder.__name__
    behind = module_behind(module)
    if behind is None:
        return _ABSENT
    below = module_behind(f"{module}.{name}")
    if below is not None and not _hides(behind, name):
        own_name = below.__name__.partition(".")[2]
        return _related(
            holder, own_name if module_behind(own_name) is below else f"{module}.{name}"
        )
    if f"{module}.{name}" in left_out_of_paddle_2():
        return refused("class" if name[0].isupper() else "function", module, name)
    value = getattr(behind, name, _ABSENT)
    given = name in behind.__all__ or name == "__version__" or isinstance(behind, TabledModule)
    return value if given or is_given(name, value) else _ABSENT


def _hides(behind: ModuleType, name: str) -> bool:
    """Whether a function or class of a package has the name of a module below it."""
    return name in behind.__all__ and not isinstance(getattr(behind, name), ModuleType)


def _is_module(entry: Entry, newer: Any) -> bool:
    """Whether both editions have a module of one name there: it serves the names of both."""
    named = isinstance(newer, AliasModule) and newer.__name__ == entry.home
    return entry.kind == "module" and named


def _public(module: str) -> list[str]:
    """What a star import takes."""
    newer = module_behind(module)
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
    """Finds and makes the modules.

    Args:
        packages: those that it serves.
    """

    def __init__(self, packages: Iterable[str] = PACKAGES) -> None:
        self.packages: tuple[Any, ...] = tuple(packages)
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
        """The specification of a module that is served; None for any other.

        Raises:
            ModuleNotFoundError: OneFlow has the module, and it is left out; says why.
        """
        if package_of(fullname) not in self.packages:
            return None
        is_whole = fullname in PACKAGES  # ours is loaded when a name of it is asked for
        newer = None if is_whole else module_behind(fullname)
        if newer is None and not is_whole and not is_listed(fullname):
            reason = left_out_of_oneflow().get(fullname)
            if reason is not None:
                raise ModuleNotFoundError(f"no module named {fullname!r}: {reason}", name=fullname)
            return None
        has_more = (
            is_whole or hasattr(newer, "__path__") or (is_listed(fullname) and is_package(fullname))
        )
        # Not derived from importlib.abc.Loader: importing that takes long.
        loader: Any = self
        return ModuleSpec(fullname, loader, origin="fluidlite", is_package=has_more)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module: it fills itself."""
        kind = PROPERTIES.get(spec.name)
        module = _with_properties(kind)(spec.name) if kind else AliasModule(spec.name)
        module.__doc__ = f"The names of {spec.name}, served by fluidlite."
        if self in sys.meta_path:  # else it stands for a module of ours
            editions.begins(spec.name)
        self._made[spec.name] = module
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: names are looked up at their use."""

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
    return is_listed(f"{PADDLE}.fluid.{name}")


def of_fluid(name: str) -> ModuleType:
    """A module of fluid 1.8, whether ``paddle`` is served or not."""
    return _of_paths().module(f"{PADDLE}.fluid.{name}".rstrip("."))


def name_of_fluid(module: str, name: str) -> Any:
    """What a name of a module of fluid 1.8 meant, of those that fluid defined.

    Raises:
        KeyError: there was none, or nothing stands behind it here.
    """
    full = f"{PADDLE}.fluid.{module}".rstrip(".")
    entry = entry_of(full, name)
    if entry is None or (entry.home and not entry.home.startswith(PADDLE)):
        raise KeyError(name)
    value = getattr(of_fluid(module), name)
    if is_refused(value):
        raise KeyError(name)
    return value
