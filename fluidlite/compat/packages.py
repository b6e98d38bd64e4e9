"""The packages that are served, and the modules of ours whose names they have.

``oneflow`` is a spelling of ``fluidlite.flow`` and nothing else; ``paddle`` has the names of 1.8,
too, which ``names.py`` lists.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType

from ..ground.module_tables import module_below
from . import children

_ROOT = __name__.partition(".")[0]
PADDLE = "paddle"
_OLD = "fluid"  #: the package below paddle that only 1.8 has
#: a package that is served -> ours
PACKAGES = {PADDLE: f"{_ROOT}.paddle", "oneflow": f"{_ROOT}.flow"}


def package_of(module: str) -> str:
    """The package that a module, or what it holds, belongs to."""
    return module.partition(".")[0]


def module_behind(name: str) -> ModuleType | None:
    """The module of ours that stands behind one of a served package; None if there is none.

    Only modules that the one above gives as a public name, or by a table, are served.

    Args:
        name: its whole name.
    """
    package, *below = name.split(".")
    if package not in PACKAGES or below[:1] == [_OLD]:
        return None
    module = import_module(PACKAGES[package])
    for part in below:
        value = module_below(module, part)
        if value is None and part in module.__all__:
            value = getattr(module, part)
        if not isinstance(value, ModuleType):
            return None
        module = value
    return module


def another(package: str) -> str | None:
    """Where a package of that name is that is not served here; None if there is none."""
    loaded = sys.modules.get(package)
    if loaded is not None:
        return str(getattr(loaded, "__file__", None) or loaded)
    paths = [path for path in sys.path if path != children.FOLDER]
    spec = PathFinder.find_spec(package, paths)
    return spec.origin if spec else None
