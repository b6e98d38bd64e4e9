"""Module paths of fluid 1.8 below this package: a port changes the first word of an import alone.

``from fluidlite.executor import Executor`` finds what ``paddle.fluid.executor`` had.  The finder is
asked last, for what this package has no module of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Protocol

from .extension import ExtensionPoint
from .moved_modules import LoadedElsewhere

_ROOT = __name__.partition(".")[0]
#: modules of 1.8 whose names mean functions here: they must not be put in place of those
_BESIDE_FUNCTIONS = ("data", "layers.rnn")
#: modules that 1.8 had by another name
_NAMED_OTHERWISE = {
    "dygraph.containers": "dygraph.container",
    "dygraph.layer": "dygraph.layers",
    "dygraph.mode": "dygraph.base",
    "dygraph.translate": "dygraph.dygraph_to_static",
    "layers.learning_rate": "layers.learning_rate_scheduler",
}


class FluidModules(Protocol):
    """What knows the modules of fluid 1.8."""

    def is_of_fluid(self, name: str) -> bool:
        """Whether fluid 1.8 had a module of that name, without ``paddle.fluid.`` before it."""
        ...

    def of_fluid(self, name: str) -> ModuleType:
        """That module."""
        ...

    def name_of_fluid(self, module: str, name: str) -> Any:
        """What one of its names meant, of those that it or fluid defined.

        Raises:
            KeyError: it had none of that name, or nothing stands behind it here.
        """
        ...


FLUID: ExtensionPoint[FluidModules] = ExtensionPoint("modules of fluid 1.8")


def with_names_of_fluid(module: str, own: Callable[[str], Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that has fluid 1.8's names of its path, too, such as
    ``backward._as_list``.

    Args:
        module: its full name.
        own: its own ``__getattr__``, which is asked first.
    """
    path = module.partition(".")[2]
    path = _NAMED_OTHERWISE.get(path, path)

    def __getattr__(name: str) -> Any:
        try:
            return own(name)
        except AttributeError:
            if not name.startswith("__"):
                with suppress(KeyError):
                    return FLUID.get().name_of_fluid(path, name)
            raise

    __getattr__.own_names = own  # type: ignore[attr-defined]
    return __getattr__


def own_name(module: ModuleType, name: str) -> Any:
    """What a module of this package has without the names that are fluid 1.8's alone.

    Raises:
        AttributeError: it has none of that name.
    """
    own = getattr(vars(module).get("__getattr__"), "own_names", None)
    return getattr(module, name) if own is None or name in vars(module) else own(name)


class _FluidPaths(LoadedElsewhere):
    """Finds modules of fluid 1.8 by this package's name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of a module of 1.8; None for any other."""
        root, _, name = fullname.partition(".")
        if root != _ROOT or not FLUID.get().is_of_fluid(name):
            return None
        # not derived from importlib.abc.Loader: importing that takes long
        return ModuleSpec(fullname, self, origin=name)  # type: ignore[arg-type]

    def module_of(self, origin: str) -> ModuleType:
        """The module as it is under the name that it had."""
        return FLUID.get().of_fluid(origin)


class _BesideFunction(ModuleType):
    """A module of 1.8 that is there from the start, so that importing it hides no function."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(FLUID.get().of_fluid(self.__name__.partition(".")[2]), name)


def serve() -> None:
    """Have the paths found."""
    sys.meta_path.append(_FluidPaths())
    for name in _BESIDE_FUNCTIONS:
        sys.modules.setdefault(f"{_ROOT}.{name}", _BesideFunction(f"{_ROOT}.{name}"))
