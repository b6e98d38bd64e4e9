"""Names that Python and NumPy have dropped since fluid 1.8: there again while this is installed.

A module looks up a name that it lacks by its ``__getattr__``; here that is one which knows
the old names.  Each gives one notice.  NumPy's numbers print as they did.  :func:`uninstall` leaves
the modules as they were.
"""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import math
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from . import rewriting
from .served import notice


class ArgSpec(NamedTuple):
    """What ``inspect.getargspec`` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _argspec(function: Callable[..., Any]) -> ArgSpec:
    """What ``inspect.getargspec`` gave."""
    found = inspect.getfullargspec(function)
    if found.kwonlyargs or found.annotations:
        raise ValueError("function has keyword-only parameters or annotations")
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _asscalar(a: Any) -> Any:
    return np.asarray(a).item()


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    kind = np.dtype(dtype)
    return np.asarray(a, dtype=kind if np.issubdtype(kind, np.inexact) else np.float64)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


def _msort(a: Any) -> Any:
    return np.sort(a, axis=0)


def _rank(a: Any) -> int:
    return np.ndim(a)


def _sctypes() -> dict[str, list[Any]]:
    """The types of ``np.sctypes``, by their families."""
    families = {
        "int": "int8 int16 int32 int64",
        "uint": "uint8 uint16 uint32 uint64",
        "float": "float16 float32 float64 longdouble",
        "complex": "complex64 complex128 clongdouble",
    }
    of = {
        family: [getattr(np, each) for each in names.split()] for family, names in families.items()
    }
    return {**of, "others": [bool, object, bytes, str, np.void]}


#: a name that NumPy has dropped -> the one that means it now
_RENAMED = {
    "float_": "float64",
    "complex_": "complex128",
    "cfloat": "complex128",
    "singlecomplex": "complex64",
    "clongfloat": "clongdouble",
    "longfloat": "longdouble",
    "longcomplex": "clongdouble",
    "string_": "bytes_",
    "unicode_": "str_",
    **dict.fromkeys(("Inf", "Infinity", "infty", "PINF"), "inf"),
    **dict.fromkeys(("NaN", "NAN"), "nan"),
    "product": "prod",
    "cumproduct": "cumprod",
    "sometrue": "any",
    "alltrue": "all",
    "round_": "round",
    "row_stack": "vstack",
    "mat": "asmatrix",
    "find_common_type": "result_type",
    "typeDict": "sctypeDict",
}


def _of_numpy(name: str) -> tuple[str, Callable[[], Any]]:
    return f"np.{name}", lambda: getattr(np, name)


#: module -> old name -> (what it means now, how to get it)
DROPPED: dict[str, dict[str, tuple[str, Callable[[], Any]]]] = {
    "numpy": {
        **{
            name: (name, lambda name=name: getattr(builtins, name))  # type: ignore[misc]
            for name in ("bool", "int", "float", "complex", "object", "str")
        },
        "long": ("int", lambda: int),
        "unicode": ("str", lambda: str),
        **{old: _of_numpy(new) for old, new in _RENAMED.items()},
        "NINF": ("-np.inf", lambda: -np.inf),
        "PZERO": ("0.0", lambda: 0.0),
        "NZERO": ("-0.0", lambda: -0.0),
        "sctypes": ("a list of types", _sctypes),
        "asscalar": ("a.item()", lambda: _asscalar),
        "asfarray": ("np.asarray", lambda: _asfarray),
        "in1d": ("np.isin", lambda: _in1d),
        "trapz": ("np.trapezoid", lambda: _trapz),
        "msort": ("np.sort(a, axis=0)", lambda: _msort),
        "rank": ("np.ndim", lambda: _rank),
        "issubclass_": ("issubclass", lambda: issubclass),
        **{
            name: (
                f"np.exceptions.{name}",
                lambda name=name: getattr(import_module("numpy.exceptions"), name),  # type: ignore[misc]
            )
            for name in ("VisibleDeprecationWarning", "ComplexWarning", "AxisError")
        },
    },
    "collections": {
        name: (f"collections.abc.{name}", lambda name=name: getattr(collections.abc, name))  # type: ignore[misc]
        for name in collections.abc.__all__
    },
    "time": {"clock": ("time.perf_counter", lambda: time.perf_counter)},
    "inspect": {"getargspec": ("inspect.getfullargspec", lambda: _argspec)},
    "fractions": {"gcd": ("math.gcd", lambda: math.gcd)},
    "os": {
        "errno": ("import errno", lambda: import_module("errno")),
        "getcwdu": ("os.getcwd", lambda: os.getcwd),
    },
    "string": {
        "letters": ("string.ascii_letters", lambda: import_module("string").ascii_letters),
        "lowercase": ("string.ascii_lowercase", lambda: import_module("string").ascii_lowercase),
        "uppercase": ("string.ascii_uppercase", lambda: import_module("string").ascii_uppercase),
    },
    "sys": {"maxint": ("sys.maxsize", lambda: sys.maxsize)},
    "base64": {
        "encodestring": ("base64.encodebytes", lambda: import_module("base64").encodebytes),
        "decodestring": ("base64.decodebytes", lambda: import_module("base64").decodebytes),
    },
}

#: module -> the ``__getattr__`` that it had; a marker where it had none
_before: dict[str, Any] = {}
_NONE: Any = object()
#: how NumPy printed before: since 2.0 the numbers of a list print as ``np.float32(1.0)``
_printing: dict[str, Any] = {}


def is_dropped(module: str, name: str) -> bool:
    """Whether a module had a name that it has no more."""
    if name not in DROPPED.get(module, ()):
        return False
    return name not in vars(import_module(module))


def meaning(module: str, name: str) -> str:
    """What to write for a dropped name."""
    return DROPPED[module][name][0]


def install() -> None:
    """Let modules answer the names again."""
    if _before:
        return
    for module in DROPPED:
        held = import_module(module)
        _before[module] = vars(held).get("__getattr__", _NONE)
        vars(held)["__getattr__"] = _answering(held, _before[module])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        _printing["legacy"] = np.get_printoptions()["legacy"]
        np.set_printoptions(legacy="1.25")
    rewriting.install()


def uninstall() -> None:
    """Let modules be as they were."""
    rewriting.uninstall()
    if _printing:
        np.set_printoptions(**_printing)
        _printing.clear()
    while _before:
        module, before = _before.popitem()
        if before is _NONE:
            vars(import_module(module)).pop("__getattr__", None)
        else:
            vars(import_module(module))["__getattr__"] = before


def _answering(module: ModuleType, before: Any) -> Callable[[str], Any]:
    """A ``__getattr__`` that knows a module's old names."""
    name_of_module = module.__name__
    known = DROPPED[name_of_module]

    def __getattr__(name: str) -> Any:
        if name in known:
            now, get = known[name]
            short = name_of_module.replace("numpy", "np", 1)
            notice(
                f"{name_of_module}.{name}",
                f"{short}.{name} no longer exists; it is taken for {now}",
            )
            return get()
        if before is not _NONE:
            return before(name)
        raise AttributeError(f"module {name_of_module!r} has no attribute {name!r}")

    return __getattr__
