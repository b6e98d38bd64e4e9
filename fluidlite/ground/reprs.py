"""How public objects show themselves: their class, and the arguments that set them up.

What is shown is derived from the signature of the constructor and from the attributes that keep its
arguments, so that no class writes it down again.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar

import numpy as np

from .dtypes import DType
from .protected import Answered

#: characters of a value, elements of a list that are shown
_WIDTH, _ELEMENTS = 80, 6
_MISSING = object()


class Described:
    """A class whose ``repr`` is its name and the arguments that are not as by default.

    The argument ``x`` is looked for in the attributes ``x`` and ``_x``; what is kept elsewhere, or
    is worth showing besides, stands in ``_shown``, as words ``argument=attribute``; a key of a
    dictionary as ``argument=attribute.key``.  ``argument=`` leaves one out.

    >>> fluid.ParamAttr(name="w", learning_rate=0.5)
    ParamAttr(name='w', learning_rate=0.5)
    """

    __slots__ = ()
    #: what is shown -> where it is kept
    _shown: ClassVar[str] = ""

    def __repr__(self) -> str:
        return description(self)


def description(value: Any) -> str:
    """An object as ``Class(argument=value)``.

    Args:
        value: whose attributes keep the arguments of its constructor.
    """
    kind = type(value)
    told = ", ".join(f"{name}={shown(each)}" for name, each in _arguments(value))
    return f"{kind.__name__}({told})"


def _arguments(value: Any) -> Iterator[tuple[str, Any]]:
    kind: Any = type(value)
    attributes = dict(_places_of(kind))
    for name, default in _parameters(kind).items():
        places = (attributes.pop(name),) if name in attributes else (name, f"_{name}")
        argument = next((each for place in places for each in _held(value, place)), default)
        if argument is not _MISSING and not _same(argument, default):
            yield name, argument
    for name, place in attributes.items():
        yield from ((name, found) for found in _held(value, place) if found is not None)


@cache
def _places_of(kind: type) -> dict[str, str]:
    """What ``_shown`` says."""
    said = getattr(kind, "_shown", "")
    return {name: place for name, _, place in (each.partition("=") for each in said.split())}


def _held(value: Any, place: str) -> Iterator[Any]:
    """The value of an attribute, or of a key of a dictionary in one; nothing where it is none."""
    attribute, _, key = place.partition(".")
    held = getattr(value, attribute, _MISSING) if attribute else _MISSING
    of_class = getattr(type(value), attribute or " ", None)
    if isinstance(of_class, Answered) and attribute not in value.__dict__:
        held = _MISSING
    if key and isinstance(held, dict):
        held = held.get(key, _MISSING)
    if held is not _MISSING and not isinstance(held, MethodType):
        yield held


@cache
def _parameters(kind: type) -> dict[str, Any]:
    """The constructor's parameters and their defaults."""
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    return {
        name: _MISSING if each.default is each.empty else each.default
        for name, each in list(inspect.signature(kind.__init__).parameters.items())[1:]  # type: ignore[misc]
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if isinstance(value, DType):
        return value.dtype.name == default
    plain = (bool, int, float, str, tuple)
    return isinstance(value, plain) and isinstance(default, plain) and value == default


def shown(value: Any) -> str:
    """A value in a few words: the name of a variable or function, the kind of an array.

    Args:
        value: anything.

    >>> from fluidlite.ground.reprs import shown
    >>> shown(np.zeros([2, 3])), shown([1] * 9), shown(len)
    ('float64[2, 3]', '[1, 1, 1, 1, 1, 1, ...]', 'len')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (FunctionType, BuiltinFunctionType, MethodType, type)):
        return value.__name__
    if isinstance(value, DType):
        return repr(value.dtype.name)
    if isinstance(value, (list, tuple)):
        return _listed(value)
    if isinstance(value, dict):
        inner = [f"{key!r}: {shown(each)}" for key, each in list(value.items())[:_ELEMENTS]]
        return "{" + ", ".join(inner + ["..."] * (len(value) > _ELEMENTS)) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + _listed(sorted(value, key=str))[1:-1] + "}"
    name = getattr(value, "name", None)
    kind: Any = type(value)
    plain = kind.__repr__ is object.__repr__ or hasattr(value, "stop_gradient")
    if isinstance(name, str) and plain:
        return name
    text = repr(value)
    return text if len(text) <= _WIDTH and "\n" not in text else f"<{type(value).__name__}>"


def _listed(values: list[Any] | tuple[Any, ...]) -> str:
    inner = [shown(each) for each in values[:_ELEMENTS]]
    if len(values) > _ELEMENTS:
        inner.append("...")
    if isinstance(values, tuple) and len(values) == 1:
        return f"({inner[0]},)"
    return "[{}]".format(", ".join(inner)) if isinstance(values, list) else f"({', '.join(inner)})"
