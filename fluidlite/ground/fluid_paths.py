"""Module paths of fluid 1.8 below this package: a port changes the first word of an import alone.

``from fluidlite.executor import Executor`` finds what ``paddle.fluid.executor`` had.  The finder is
asked last, for what this package has no module of.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Protocol

from .extension import ExtensionPoint

_ROOT = __name__.partition(".")[0]
#: modules of 1.8 whose names mean functions here: they must not be put in the place of those
_BESIDE_FUNCTIONS = ("data", "layers.rnn")


class FluidModules(Protocol):
    """What knows the modules of fluid 1.8."""

    def is_of_fluid(self, name: str) -> bool:
        """Whether fluid 1.8 had a module of that name, without ``paddle.fluid.`` before it."""
        ...

    def of_fluid(self, name: str) -> ModuleType:
        """That module."""
        ...


FLUID: ExtensionPoint[FluidModules] = ExtensionPoint("modules of fluid 1.8")


class _FluidPaths:
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

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module as it is under the name that it had."""
        module = FLUID.get().of_fluid(spec.origin or "")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back: importing puts that of this path there."""
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


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
