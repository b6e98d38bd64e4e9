"""The element types that operands of different ones are computed in, as each spelling has it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..ground import state
from ..ground.brain_float import kind_of
from ..ground.callsite import warn_once
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand

_DType: TypeAlias = "np.dtype[Any]"
_BOOL = np.dtype("bool")
_INT = np.dtype("int64")
_DOUBLE = np.dtype("float64")
_SUMS = frozenset({"add", "subtract", "multiply"})
_COMPARISONS = frozenset(
    {"equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"}
)
#: comparisons, and quotients without a fraction, of which complex numbers have none
_ORDERED = _COMPARISONS - {"equal", "not_equal"} | {"floor_divide", "remainder"}
_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


class _Defaults:
    """What tensors are made of where nothing is said."""

    def __init__(self) -> None:
        self.float = np.dtype("float32")


_defaults: state.StateSlot[_Defaults] = state.slot("eager_defaults", _Defaults)


def default_float() -> _DType:
    """The element type that fractions get."""
    return _defaults.get().float


def set_default_float(dtype: _DType) -> None:
    """Set the element type that fractions get."""
    _defaults.get().float = dtype


def common_type(a: _DType, b: _DType) -> _DType:
    """The element type of what two tensors make, whatever their order."""
    if a == b:
        return a
    if "c" in (a.kind, b.kind):
        return _complex_type(a, b)
    if {a.name, b.name} == {"bfloat16", "float16"}:
        return np.dtype("float32")
    if (kind_of(a) == "f") != (kind_of(b) == "f"):
        return a if kind_of(a) == "f" else b
    return np.promote_types(a, b)


def _complex_type(a: _DType, b: _DType) -> _DType:
    """The element type of what two tensors make, one of which holds complex numbers."""
    if not {a.kind, b.kind} <= {"c", "f"}:
        return a if a.kind == "c" else b
    return np.promote_types(a, b)


def complex_of(dtype: _DType) -> _DType:
    """The complex type whose parts are as precise as numbers of a type."""
    return as_dtype(dtype if kind_of(dtype) == "f" else default_float()).whole.dtype


def number_type(dtype: _DType, number: Any) -> _DType:
    """The element type of what a tensor and a Python number make."""
    if dtype.kind == "c":
        return dtype
    if isinstance(number, complex):
        return complex_of(dtype)
    if isinstance(number, bool):
        return dtype
    if isinstance(number, int):
        return _INT if dtype == _BOOL else dtype
    return dtype if kind_of(dtype) == "f" else default_float()


def number_in(function: str, dtype: _DType, number: Any) -> np.ndarray[Any, Any]:
    """A Python number in the type that a function computes in.

    One that an integer type does not hold goes round, as sums of that type do; comparisons and
    quotients have it as it is.

    Args:
        function: its name.
        dtype: the type.
        number: the number.
    """
    if dtype.kind in "iu" and isinstance(number, int):
        limits = np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            whole = np.asarray(number, "int64")
            keeps = function in _COMPARISONS or function == "divide"
            return whole if keeps else whole.astype(dtype)
    return np.asarray(number, dtype)


class Promotion:
    """How a spelling chooses; this one takes the wider type, as fluid's functions do."""

    #: whether powers of integers by tensors are fractions
    float_powers = False
    #: which types are summed as int64
    narrow: frozenset[str] = frozenset(("bool", "int8", "uint8", "int16", "int32"))

    def of_tensors(self, function: str, x: Any, y: Any) -> _DType:
        """The type that a function computes in.

        Args:
            function: its name; without meaning here.
            x, y: arrays of different element types, or what is declared of them.
        """
        return common_type(x.dtype, y.dtype)

    def of_number(self, function: str, dtype: _DType, number: Any) -> _DType:
        """The type that a function of a tensor and a Python number computes in.

        Args:
            function: its name; without meaning here.
            dtype: the tensor's.
            number: the number.
        """
        return number_type(dtype, number)


#: function -> the left operand's types that Paddle 2.6 has no kernels for
_MISSING = {
    "add": {"bool", "uint8", "int8"},
    "subtract": {"bool", "uint8", "int8"},
    "multiply": {"uint8", "int8", "int16"},
    "divide": {"float16"},
    "floor_divide": {"bool"},
    "remainder": {"bool", "uint8", "int8", "int16", "float16"},
    "pow": {"bool", "uint8", "int8", "int16", "float16"},
    "matmul": {"bool", "uint8", "int8", "int16"},
}


class LeftFirst(Promotion):
    """Paddle 2.6's: the left operand's type, but for sums and element-wise products of floats.

    Where 2.6 has no kernel for that type, the type of Paddle 3.3; where that refuses, too, and for
    comparisons of other than floats, the wider one.
    """

    narrow = frozenset(("bool", "int32"))

    def of_tensors(self, function: str, x: Any, y: Any) -> _DType:
        left: _DType = x.dtype
        if left.kind in "iuf" and y.dtype.kind == "c" and function in _ORDERED:
            return left
        if "c" in (left.kind, y.dtype.kind):
            return _complex_type(left, y.dtype)
        floats = kind_of(left) == kind_of(y.dtype) == "f"
        if function in _SUMS and floats:
            return common_type(left, y.dtype)
        if function == "divide" and kind_of(left) != "f":
            return default_float()
        if function in _COMPARISONS and floats:
            return left
        missing = _MISSING.get(function)
        if missing is None:
            return common_type(left, y.dtype)
        return _by_kind(x, y) if left.name in missing else left

    def of_number(self, function: str, dtype: _DType, number: Any) -> _DType:
        if function == "where" and kind_of(dtype) == "f" and isinstance(number, float):
            return _DOUBLE
        if dtype == _BOOL and function in _SUMS and not isinstance(number, (float, complex)):
            return _BOOL
        return number_type(dtype, number)


def _by_kind(x: Any, y: Any) -> _DType:
    """Floats go before integers, and those before truth values; within one of these kinds tensors
    with dimensions go before those without.
    """
    a, b = _RANKS[kind_of(x.dtype)], _RANKS[kind_of(y.dtype)]
    if a != b:
        return x.dtype if a > b else y.dtype
    if (x.ndim == 0) != (y.ndim == 0):
        return x.dtype if x.ndim else y.dtype
    return np.promote_types(x.dtype, y.dtype)


class DimensionsFirst(Promotion):
    """OneFlow's: beside a tensor with dimensions one without has no say, not even as a float.

    Quotients of integers and powers of tensors of integers are fractions there.
    """

    float_powers = True

    def of_tensors(self, function: str, x: Any, y: Any) -> _DType:
        wide = common_type(x.dtype, y.dtype)
        if wide.kind == "c" or function == "where" or (x.ndim == 0) == (y.ndim == 0):
            return wide
        own: _DType = x.dtype if x.ndim else y.dtype
        if kind_of(own) == "f" or function not in (*_COMPARISONS, "divide", "pow"):
            return own
        return wide if function in _COMPARISONS else default_float()

    def of_number(self, function: str, dtype: _DType, number: Any) -> _DType:
        if function == "where" and "c" not in (dtype.kind, np.asarray(number).dtype.kind):
            return _DOUBLE if isinstance(number, float) else dtype
        if dtype == _BOOL and isinstance(number, bool):
            return _INT
        return number_type(dtype, number)


class WholeNumbers(Promotion):
    """Fluid 1.8's eager tensors: integers stay integers beside 2.0, and in any power.

    Beside 0.5 fluid refuses to add them, and divides by 0: here the results are fractions.
    """

    def of_number(self, function: str, dtype: _DType, number: Any) -> _DType:
        whole = isinstance(number, float) and (number.is_integer() or function == "pow")
        return dtype if whole and dtype.kind in "iu" else number_type(dtype, number)


WIDER = Promotion()
WHOLE_NUMBERS = WholeNumbers()
LEFT_FIRST = LeftFirst()
DIMENSIONS_FIRST = DimensionsFirst()


def promotion_of(*operands: Any) -> Promotion:
    """How the spelling of some operands chooses types."""
    for each in operands:
        if isinstance(each, Operand):
            return each.promotion
    return WIDER


def warn_of_narrowing(function: str, given: _DType, made: _DType, beside: _DType) -> None:
    """Warn where an operand loses what the other one's type does not hold; floats round.

    Args:
        function: what is called.
        given: the type of the operand.
        made: the type that it is computed in.
        beside: the type of the other operand.
    """
    dropped = given.kind == "c" != made.kind
    if not dropped and (kind_of(made) in "fc" or np.can_cast(given, made, "safe")):
        return
    lost = "fractions are cut off" if kind_of(given) == "f" else "numbers that do not fit change"
    if made == _BOOL:
        lost = "what is not 0 becomes True"
    elif dropped:
        lost = "imaginary parts are dropped"
    warn_once(
        f"{function}: {given} beside {beside} is computed in {made}, where {lost}; cast one of the "
        f"two first, as in x.astype('{common_type(given, beside)}')"
    )
