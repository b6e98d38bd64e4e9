"""What NumPy's functions are as text: operators, methods, or a call of the same name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..onnx.tracing import TracedArray, traced
from ..opdef.spec import spec
from .library import put
from .literals import ATOM, Part, call, joined, operand, parts_of

#: what binds an expression, from loosest to tightest
COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SUM, PRODUCT, SIGN, POWER = 10, 20, 25, 30, 40, 50, 60, 70

_BINARY = {
    np.add: ("+", SUM),
    np.subtract: ("-", SUM),
    np.multiply: ("*", PRODUCT),
    np.true_divide: ("/", PRODUCT),
    np.floor_divide: ("//", PRODUCT),
    np.remainder: ("%", PRODUCT),
    np.matmul: ("@", PRODUCT),
    np.bitwise_and: ("&", BIT_AND),
    np.bitwise_xor: ("^", BIT_XOR),
    np.bitwise_or: ("|", BIT_OR),
    np.less: ("<", COMPARISON),
    np.less_equal: ("<=", COMPARISON),
    np.greater: (">", COMPARISON),
    np.greater_equal: (">=", COMPARISON),
    np.equal: ("==", COMPARISON),
    np.not_equal: ("!=", COMPARISON),
}
_UNARY = {np.negative: "-", np.invert: "~"}
#: functions that arrays have as methods
_METHODS = {
    getattr(np, name): name
    for name in (
        *("sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin", "cumsum"),
        *("swapaxes", "ravel", "squeeze", "copy", "repeat", "take", "clip"),
    )
}
_NAMES: dict[int, str] = {}
for _module, _prefix in (
    (np.lib.stride_tricks, "np.lib.stride_tricks"),
    (np.linalg, "np.linalg"),
    (np, "np"),
):
    for _name in dir(_module):
        _found = getattr(_module, _name, None)
        if not _name.startswith("_") and callable(_found):
            # By its first name: NumPy 1 has arctan, and no atan.
            _own = getattr(_found, "__name__", _name)
            _own = _own if getattr(_module, _own, None) is _found else _name
            _NAMES[id(_found)] = f"{_prefix}.{_own}"
_PACKAGE = __name__.partition(".")[0] + "."
_DEFAULTS = {"axis": None, "dtype": None, "keepdims": False, "out": None}


def form_of_function(function: Any) -> Callable[..., Any]:
    """What writes a call of a function down: a function of the graph and the arguments.

    Raises:
        UnsupportedError: it is none of NumPy's.
    """
    if isinstance(function, _UfuncMethod):
        return lambda graph, *args, **named: plain(graph, function, function.__name__, args, named)
    if getattr(function, "__module__", "").startswith(_PACKAGE):
        return lambda graph, *args, **named: graph.helper(function, *args, **named)
    if function in _FORMS:
        return _FORMS[function]
    if function in _BINARY:
        return lambda graph, x, y, **named: (
            plain(graph, function, f"np.{function.__name__}", (x, y), named)
            if named
            else binary(graph, *_BINARY[function], x, y)
        )
    if function in _UNARY:
        return lambda graph, x: graph.expression([_UNARY[function], *operand(x, SIGN)], SIGN)
    if function in _METHODS:
        return lambda graph, x, *args, **named: method(graph, _METHODS[function], x, args, named)
    name = _NAMES.get(id(function))
    if name is None:
        raise UnsupportedError(f"{getattr(function, '__name__', function)} is no function of NumPy")
    return lambda graph, *args, **named: plain(graph, function, name, args, named)


def _given(named: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in named.items() if not (k in _DEFAULTS and v is _DEFAULTS[k])}


def plain(graph: Any, function: Any, name: str, args: Any, named: dict[str, Any]) -> Any:
    """A call by name."""
    count = 1
    if function in (np.split, np.array_split):
        given = args[1] if len(args) > 1 else named["indices_or_sections"]
        count = given if isinstance(given, int) else len(given) + 1
    elif function in (np.unstack,) if hasattr(np, "unstack") else False:
        raise UnsupportedError("how many results there are is not known")
    if isinstance(function, np.ufunc) and len(args) == 2:
        args = _weakened(*args)
    made = graph.expression(call(name, args, _given(named)), outputs=count)
    return list(made) if count > 1 or function in (np.split, np.array_split) else made


def binary(graph: Any, sign: str, level: int, x: Any, y: Any) -> Any:
    """An operator between two values."""
    x, y = _weakened(x, y)
    if sign in "+-" and isinstance(y, (int, float)) and y < 0:
        sign, y = "-" if sign == "+" else "+", -y
    tighter = level + 1
    left = operand(x, level if level > COMPARISON else tighter)
    return graph.expression([*left, f" {sign} ", *operand(y, tighter)], level)


def _weakened(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which one at most is a number of Python's: two would give another one."""
    x = _weak(x, y)
    return x, _weak(y, x)


def _weak(x: Any, other: Any) -> Any:
    """An array of one number as Python's number, where that makes no difference."""
    if isinstance(x, float) and getattr(other, "known_dtype", None) == np.float32:
        return float(str(np.float32(x)))
    if isinstance(x, TracedArray):
        if x.constant is None or x.cell.name:  # a parameter is read where it is used
            return x
        x = np.asarray(x.constant)
    if not isinstance(x, (np.ndarray, np.generic)) or not isinstance(other, TracedArray):
        return x
    if not other.ndim:  # NumPy 1 takes numbers and scalars for double precision
        return x
    if x.size != 1 or x.ndim > other.ndim or x.dtype != other.dtype or x.dtype.kind not in "fiu":
        return x
    only: Any = np.asarray(x).reshape(-1)[0]
    return float(str(only)) if x.dtype.kind == "f" else int(only)


def method(graph: Any, name: str, x: Any, args: Any, named: dict[str, Any]) -> Any:
    """A method of an array."""
    args = list(args)
    if name in ("sum", "mean", "max", "min", "prod", "any", "all") and args:
        named = {**dict(zip(("axis", "dtype"), args, strict=False)), **named}
        args = []
    if not isinstance(x, TracedArray) or x.constant is not None:
        return graph.expression(call(f"np.{name}", [x, *args], _given(named)))
    if name == "swapaxes" and x.ndim == 2:
        return _transpose(graph, x) if (args[0] - args[1]) % 2 else x
    if name in ("sum", "mean") and x.known_dtype == named.get("dtype") and x.dtype.kind == "f":
        named = {k: v for k, v in named.items() if k != "dtype"}
    axis = named.get("axis")
    if isinstance(axis, tuple) and len(axis) == 1:
        named = {**named, "axis": axis[0]}
    elif isinstance(axis, tuple) and sorted(axis) == list(range(x.ndim)):
        named = {k: v for k, v in named.items() if k != "axis"}
    given = call(f".{name}", args, _given(named))
    return graph.expression([*operand(x, ATOM), *given])


def _reshape(graph: Any, x: Any, shape: Any, **named: Any) -> Any:
    sizes = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    if isinstance(x, TracedArray) and tuple(sizes) == x.sizes:
        return x
    if not sizes:
        return graph.expression([*operand(x, ATOM), ".reshape(())"])
    return graph.expression([*operand(x, ATOM), *call(".reshape", map(int, sizes), {})])


def _transpose(graph: Any, x: Any, axes: Any = None) -> Any:
    if axes is not None and list(axes) == list(range(x.ndim)):
        return x
    if axes is None or (x.ndim == 2 and list(axes) in ([1, 0], [-1, -2])):
        return graph.expression([*operand(x, ATOM), ".T"])
    return graph.expression([*operand(x, ATOM), *call(".transpose", map(int, axes), {})])


def _power(graph: Any, x: Any, y: Any) -> Any:
    x, y = _weakened(x, y)
    return graph.expression(call("np.power", (x, y), {}))


def _getitem(graph: Any, x: Any, item: Any) -> Any:
    items = item if isinstance(item, tuple) else (item,)
    masks = [k for k in items if isinstance(k, TracedArray) and k.known_dtype == np.bool_]
    if masks and masks[0].constant is None:
        if len(items) > 1:
            raise UnsupportedError("how many elements there are depends on values")
        made = graph.expression([*operand(x, ATOM), "[", *operand(masks[0]), "]"])
        made.spec = spec([-1, *x.shape[masks[0].ndim :]], x.dtype)
        return made
    if isinstance(x, TracedArray) and all(isinstance(each, slice) for each in items):
        items = tuple(_short(each, n) for each, n in zip(items, x.sizes))
        while items and items[-1] == slice(None):
            items = items[:-1]
        if not items:
            return x
    return graph.expression([*operand(x, ATOM), "[", *index(items), "]"])


def _short(given: slice, size: int) -> slice:
    """A slice without the ends that it does not need."""
    if given.step not in (None, 1) or size == -1:
        return given
    start = None if given.start == 0 else given.start
    stop = None if given.stop is not None and given.stop >= size else given.stop
    return slice(start, stop)


def index(items: tuple[Any, ...]) -> list[Part]:
    """What stands between the brackets of a subscript."""
    return joined(_index_part(each) for each in items) if items else ["()"]


def _index_part(each: Any) -> list[Part]:
    if not isinstance(each, slice):
        return parts_of(each)
    numbers = ["" if n is None else str(int(n)) for n in (each.start, each.stop)]
    step = "" if each.step in (None, 1) else f":{int(each.step)}"
    return [f"{numbers[0]}:{numbers[1]}{step}"]


def _setitem(graph: Any, x: Any, item: Any, value: Any) -> Any:
    items = item if isinstance(item, tuple) else (item,)
    return graph.helper(put, x, items[0] if len(items) == 1 else items, value)


def _zeros_like(graph: Any, x: Any, dtype: Any = None, **named: Any) -> Any:
    known = isinstance(x, TracedArray) and x.spec is not None and -1 not in x.sizes
    if known and x.constant is not None:
        return graph.constant(np.zeros(x.shape, dtype or x.dtype))
    return graph.expression(call("np.zeros_like", (x,), {} if dtype is None else {"dtype": dtype}))


def _places(graph: Any, x: Any) -> Any:
    """Where elements are not zero: how many there are depends on values."""
    if x.ndim != 1:
        indices = graph.expression(call("np.nonzero", (x,), {}), outputs=x.ndim)
    else:
        indices = (graph.expression([*call("np.nonzero", (x,), {}), "[0]"]),)
    for each in indices:
        each.spec = spec([-1], np.int64)
    return indices


def _flat_places(graph: Any, x: Any) -> Any:
    made = graph.expression(call("np.flatnonzero", (x,), {}))
    made.spec = spec([-1], np.int64)
    return made


def _place_rows(graph: Any, x: Any) -> Any:
    made = graph.expression(call("np.argwhere", (x,), {}))
    made.spec = spec([-1, x.ndim], np.int64)
    return made


def _where(graph: Any, condition: Any, *values: Any) -> Any:
    if not values:
        return _places(graph, condition)
    return graph.expression(call("np.where", (condition, *values), {}))


def _allclose(graph: Any, *args: Any, **named: Any) -> Any:
    return graph.expression(["np.asarray(", *call("np.allclose", args, named), ")"])


def _repeat(graph: Any, x: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, TracedArray) and repeats.constant is None:
        raise UnsupportedError("how many elements there are depends on values")
    return method(graph, "repeat", x, (repeats,), {"axis": axis})


def _refused(graph: Any, *args: Any, **named: Any) -> Any:
    raise UnsupportedError("how many elements there are depends on values")


_FORMS: dict[Any, Callable[..., Any]] = {
    np.nonzero: _places,
    np.flatnonzero: _flat_places,
    np.argwhere: _place_rows,
    np.where: _where,
    np.allclose: _allclose,
    np.repeat: _repeat,
    **dict.fromkeys((np.unique, np.bincount, np.compress, np.extract, np.arange), _refused),
    **dict.fromkeys((np.linspace, np.setdiff1d, np.union1d, np.intersect1d), _refused),
    np.reshape: _reshape,
    np.transpose: _transpose,
    np.power: _power,
    np.zeros_like: _zeros_like,
    operator.getitem: _getitem,
    operator.setitem: _setitem,
}


def by_method(graph: Any, ufunc: Any, name: str, ins: Any, named: dict[str, Any]) -> Any:
    """Write down what a method of a ufunc computes.

    Raises:
        UnsupportedError: it writes into an array.
    """
    if name == "at" or ufunc.signature is not None:
        raise UnsupportedError(f"{ufunc.__name__}.{name} writes into an array")
    function = _UfuncMethod(ufunc, name)
    return traced(graph, function, ins, named)


class _UfuncMethod:
    """A method of a ufunc that is equal for equal ones."""

    def __init__(self, ufunc: Any, name: str) -> None:
        self.function, self.__name__ = getattr(ufunc, name), f"np.{ufunc.__name__}.{name}"

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.function(*args, **named)
