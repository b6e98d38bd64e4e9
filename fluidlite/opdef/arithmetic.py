"""``+ - * / @ < ==`` between values that an interpreter knows, from one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..errors import ArgumentError, UnknownOperatorError
from ..ground.dtypes import DType, as_dtype
from ..ground.tracebacks import cut
from .attribute import single_precision

#: Python's method -> the operator of two values
BINARY = {
    "__add__": "elementwise_add",
    "__sub__": "elementwise_sub",
    "__mul__": "elementwise_mul",
    "__truediv__": "elementwise_div",
    "__pow__": "elementwise_pow",
    "__mod__": "elementwise_mod",
    "__floordiv__": "elementwise_floordiv",
    "__matmul__": "matmul",
    "__lt__": "less_than",
    "__le__": "less_equal",
    "__gt__": "greater_than",
    "__ge__": "greater_equal",
    "__eq__": "equal",
    "__ne__": "not_equal",
}
#: the reflected method of those that have one -> the method
REFLECTED = {
    f"__r{name[2:]}": name
    for name in (
        "__add__",
        "__sub__",
        "__mul__",
        "__truediv__",
        "__pow__",
        "__mod__",
        "__floordiv__",
        "__matmul__",
    )
}
#: NumPy's function of two arrays -> the methods for a value on the left, and for one on the right
UFUNCS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "true_divide": ("__truediv__", "__rtruediv__"),  # so NumPy below 2 calls it
    "power": ("__pow__", "__rpow__"),
    "remainder": ("__mod__", "__rmod__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}
#: Python's method -> the arguments of `scale` that mean it with a number n on the right
WITH_NUMBER: dict[str, Callable[[float], dict[str, float]]] = {
    "__add__": lambda n: {"scale": 1.0, "bias": n},
    "__sub__": lambda n: {"scale": 1.0, "bias": -n},
    "__mul__": lambda n: {"scale": n},
    "__truediv__": lambda n: {"scale": 1.0 / n},
    "__radd__": lambda n: {"scale": 1.0, "bias": n},
    "__rsub__": lambda n: {"scale": -1.0, "bias": n},
    "__rmul__": lambda n: {"scale": n},
}


def is_rounded(method: str, number: float) -> bool:
    """Whether an attribute rounds what Python's method means with a number on the right."""
    means = WITH_NUMBER.get(method, lambda n: {"value": n})(number)
    return any(single_precision(n) != n for n in means.values())


class Arithmetic:
    """Python's operators for a class of values.

    A subclass defines ``_combine(method, operator, other, reflected)``: the value of ``self`` and
    ``other`` under the operator of that type, with the sides swapped when ``reflected``.
    """

    __slots__ = ()

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        raise NotImplementedError


def _method(name: str) -> Callable[[Any, Any], Any]:
    plain = REFLECTED.get(name, name)
    operator, reflected = BINARY[plain], name in REFLECTED

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, InterpretedValue) and not isinstance(self, InterpretedValue):
            return NotImplemented  # its interpreter knows other values, too
        try:
            return self._combine(name, operator, other, reflected)
        except Exception as error:
            cut(error)
            raise

    method.__name__ = name
    return method


for _name in (*BINARY, *REFLECTED):
    setattr(Arithmetic, _name, _method(_name))


class InterpretedValue(Arithmetic):
    """A value whose arithmetic an interpreter does, which a subclass names."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **named: Any) -> Any:
        """The arithmetic of an array and a value; other functions of NumPy are refused."""
        methods = UFUNCS.get(ufunc.__name__)
        if methods is not None and method == "__call__" and len(operands) == 2 and not named:
            left, right = operands
            if isinstance(left, InterpretedValue):
                return getattr(left, methods[0])(right)
            return getattr(right, methods[1])(left)
        raise ArgumentError(_of_numpy(ufunc.__name__, self.interpreter))

    @property
    def interpreter(self) -> Any:
        """What applies operators to the value."""
        raise NotImplementedError

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        f, x = self.interpreter, cast(Any, self)
        if isinstance(other, (int, float)) and _rounds(x, method, other):
            shape, text = [1] if x.ndim else [], repr(float(other))
            other = f.fill_constant(shape=shape, dtype=DType.FP64, str_value=text)
            if reflected:
                other = f.fill_zeros_like(x) + other
        elif isinstance(other, (int, float)):
            if method in WITH_NUMBER:
                return f.scale(x, **WITH_NUMBER[method](other))
            if method == "__pow__":
                return f.pow(x, factor=other)
            other = f.fill_any_like(x, value=other)
        call = getattr(f, operator)
        return call(other, x) if reflected else call(x, other)

    def __neg__(self) -> Any:
        return self.interpreter.scale(self, scale=-1.0)


def _rounds(x: Any, method: str, number: float) -> bool:
    """Whether an attribute would round a number that stands beside a value of doubles, be they
    parts of complex numbers.
    """
    return as_dtype(x.dtype).part is DType.FP64 and is_rounded(method, number)


def _of_numpy(name: str, f: Any) -> str:
    """That a rule calls a function of NumPy, and what it should call."""
    try:
        getattr(f, name)
    except UnknownOperatorError:
        advice = "the functions of f"
    else:
        advice = f"f.{name}"
    return (
        f"expected operators in a gradient rule, since they can be differentiated again, got "
        f"NumPy's {name}; use {advice}"
    )
