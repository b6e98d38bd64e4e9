"""Which names of a module are public: what ``dir``, ``help``, completion and ``import *`` show.

A module says them itself, in ``__all__``, where it gives names of other modules; one that only
defines classes and functions has no such list, and means all of them.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

#: what a module's ``def`` and ``class`` make; what decorators make of them has a ``__wrapped__``
_DEFINED = (type, types.FunctionType)
#: modules whose functions build modules, and are given by none
_BUILDERS = f"{__package__}.", "fluidlite.paddle.holders"
_LANGUAGE = ("annotations", "TYPE_CHECKING")


def public_names(module: Mapping[str, Any]) -> list[str]:
    """The public names of a module.

    Args:
        module: its names and their values, which ``globals()`` gives.

    Returns:
        ``__all__`` where it has one; else the classes and functions that it defines, without those
        with a leading underscore.
    """
    if "__all__" in module:
        return list(module["__all__"])
    return [name for name, value in module.items() if _is_defined(name, value, module["__name__"])]


def list_public_names(module: dict[str, Any]) -> None:
    """Give a module its ``__dir__``, and the same names as its ``__all__``, for ``import *``.

    Args:
        module: its ``globals()``, at its end; ``__all__`` stays where it has one.

    >>> "fc" in dir(fluid.layers), "Variable" in dir(fluid.nets), "annotations" in dir(fluid.nets)
    (True, False, False)
    """
    module.setdefault("__all__", public_names(module))
    module["__dir__"] = lambda: sorted(public_names(module))


def list_given_names(module: dict[str, Any], *modules: str) -> None:
    """The same for a package that gives what stands in its modules: what it imports, but for
    modules and for what it needs itself.

    Args:
        module: its ``globals()``, at its end.
        modules: names of modules that it gives, too.

    >>> "relu" in dir(fluid.nn.functional), "api_boundaries" in dir(fluid.nn.functional)
    (True, False)
    """
    given = [name for name, value in module.items() if is_given(name, value)]
    module["__all__"] = [*given, *modules]
    list_public_names(module)


def is_given(name: str, value: Any) -> bool:
    """Whether a name is one that a package gives: no module, and not what it needs itself.

    Args:
        name: the name.
        value: what it means.
    """
    if name.startswith("_") or name in _LANGUAGE or isinstance(value, types.ModuleType):
        return False
    where = getattr(value, "__module__", None) or ""
    return where != "typing" and not (
        isinstance(value, types.FunctionType) and where.startswith(_BUILDERS)
    )


def _is_defined(name: str, value: Any, where: str) -> bool:
    if name.startswith("_") or getattr(value, "__module__", None) != where:
        return False
    return isinstance(value, _DEFINED) or hasattr(value, "__wrapped__")
