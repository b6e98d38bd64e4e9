"""Calls: of the user's functions and layers as translated ones, of built-in functions as what they
mean for tensors.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...ground import state
from ...ir.variable import Variable
from ...layers.debug import Print
from ...layers.layer import stopped
from ...layers.math import cast
from ..capture import capturing, value
from ..layer import Layer
from ..mode import enabled, to_variable
from .items import CountedItems, JoinedItems, RangeItems, source
from .lists import length
from .merging import as_variable, is_static, refused

#: packages whose functions are not the user's
_OTHERS = frozenset({"fluidlite", "oneflow", "paddle", "numpy", *sys.stdlib_module_names})


#: a method of classes of objects that stand for functions: gives the function
AS_FUNCTION = "__as_function__"
#: set at functions that run as they are
AS_IT_IS = "__runs_as_it_is__"


def is_users(function: Any) -> bool:
    """Whether a function was written by the user, to be translated."""
    if getattr(function, AS_IT_IS, False):
        return False
    module = getattr(function, "__module__", None) or "__main__"
    root = module.partition(".")[0]
    return root == "__main__" or root not in _OTHERS


def _itself(function: Any) -> Any:
    return function


class Caller:
    """Calls functions as translated ones.

    Args:
        translated: gives the translated form of a function.
    """

    def __init__(self, translated: Callable[[Any], Any]) -> None:
        self._translated = translated

    def __call__(self, function: Any) -> Any:
        """What is called in place of a function.

        Args:
            function: what the user calls: a function, a method, a layer, a class, anything.
        """
        found = self._found(function)
        return found if capturing() is None else functools.partial(_with_variables, found)

    def _found(self, function: Any) -> Any:
        function = getattr(type(function), AS_FUNCTION, _itself)(function)
        try:
            known = _REPLACED.get(getattr(function, "__wrapped__", function))
        except TypeError:  # it has no hash
            known = None
        if known is not None:
            return known
        if isinstance(function, types.FunctionType):
            return self._translated(function) if is_users(function) else function
        if isinstance(function, types.MethodType):
            inner = function.__func__
            if inner is Variable.numpy:  # an array there is a tensor here
                return lambda: function.__self__
            if not isinstance(inner, types.FunctionType) or not is_users(inner):
                return function
            return types.MethodType(self._translated(inner), function.__self__)
        if isinstance(function, Layer):
            return self._layer(function)
        return function

    def _layer(self, layer: Layer) -> Any:
        active = capturing()
        if active is not None:
            active.calls(layer)
        own = type(layer).__call__
        if own is not Layer.__call__ and is_users(own):
            return types.MethodType(self._translated(own), layer)
        if not is_users(type(layer).forward) or not isinstance(
            type(layer).forward, types.FunctionType
        ):
            return layer
        forward = types.MethodType(self._translated(type(layer).forward), layer)
        return functools.partial(layer.call_with, forward)


def _with_variables(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*map(value, args), **{name: value(each) for name, each in kwargs.items()})


# -- built-in functions ----------------------------------------------------------------------------


#: whether a function that cannot be a program runs as it is, at each call, as in paddle 2
FALLS_BACK: state.StateSlot[bool] = state.slot("falls back", lambda: False)


def _print(*args: Any, **kwargs: Any) -> None:
    """``print``; of variables, an operator that prints when the program runs."""
    if FALLS_BACK.get():
        raise refused("print shows values at each call, as they are in Python")
    if not any(is_static(each) for each in args):
        builtins.print(*args, **kwargs)
        return
    text = ""
    for argument in args:
        if is_static(argument):
            Print(argument, message=text.strip() or None)
            text = ""
        else:
            text += f"{argument} "
    if text:
        builtins.print(text.strip())


def _isinstance(each: Any, kinds: Any) -> bool:
    """``isinstance``; in paddle 2 a variable is the tensor that it stands for."""
    found = isinstance(each, kinds)
    return found or (FALLS_BACK.get() and is_static(each) and issubclass(Tensor, kinds))


def _range(*args: Any) -> Any:
    return RangeItems(*args) if any(map(is_static, args)) else range(*args)


def _enumerate(items: Any, start: Any = 0) -> Any:
    found = source(value(items))
    return enumerate(items, start) if found is None else JoinedItems(CountedItems(start), found)


def _zip(*items: Any, **kwargs: Any) -> Any:
    sources = [source(value(each)) for each in items]
    if not any(sources):
        return zip(*items, **kwargs)
    if not all(sources):
        raise refused("zip joins a tensor and something of Python; give it tensors only")
    return JoinedItems(*sources)


def _converted(kind: Any, dtype: str) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if args and is_static(args[0]):
            return stopped(cast(args[0], dtype))  # a number has no gradient
        return kind(*args, **kwargs)

    return convert


def _to_variable(given: Any, name: str | None = None, zero_copy: bool | None = None) -> Any:
    if capturing() is None and enabled():
        return to_variable(given, name, zero_copy)
    found = value(given)
    return found if isinstance(found, Variable) else as_variable(np.asarray(found))


_REPLACED: dict[Any, Any] = {
    print: _print,
    len: length,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    isinstance: _isinstance,
    float: _converted(float, "float32"),
    int: _converted(int, "int64"),
    bool: _converted(bool, "bool"),
    inspect.unwrap(to_variable): _to_variable,
}
