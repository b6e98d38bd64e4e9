"""Attributes of operators: wire types from annotations, defaults, and the conversion of what users
give.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from ..errors import AttributeValueError, DefinitionError, DTypeError
from ..ground.dtypes import DType, as_dtype


class Required:
    """The type of :data:`REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = Required()  #: the default of an attribute that must be given


class Long(int):
    """Annotation of an attribute that is 64 bits wide in program files."""


class Double(float):
    """Annotation of an attribute that keeps its precision in memory; program files have none of 64
    bits, and hold it in single precision.
    """


class Scalar(float):
    """Annotation of an attribute that is a truth value, an integer or a number, as it was given."""


class Tolerance(float):
    """Annotation of a number that files of paddle 2 write as a text."""


class BlockRef(int):
    """Annotation of an attribute that names a block by its index."""


class AttributeField(NamedTuple):
    """What :func:`attr` says about an attribute beyond its default."""

    default: Any
    alias: str | None
    inert: bool
    local: bool
    edition: bool


def attr(
    default: Any = REQUIRED,
    *,
    alias: str | None = None,
    inert: bool = False,
    local: bool = False,
    edition: bool = False,
) -> Any:
    """The value of an annotated class attribute that needs more than a default.

    Args:
        default: the value where none is given.
        alias: the attribute's name in programs, where that is no Python identifier.
        inert: accepted, kept and written, but never read.
        local: unknown to fluid 1.8: off the wire and out of the text while it has its default.
        edition: local, and what paddle 2 means silently: files of its programs do not say it.
    """
    return AttributeField(default, alias, inert, local or edition, edition)


class Attribute(NamedTuple):
    """One attribute of an operator."""

    name: str  #: in programs
    field: str  #: in Python
    kind: str  #: the annotation
    default: Any
    inert: bool = False
    local: bool = False
    edition: bool = False

    @property
    def wire(self) -> str:
        """The type in program files."""
        return KINDS[self.kind][0]

    def convert(self, value: Any, op_type: str) -> Any:
        """``value`` as this attribute keeps it.

        Raises:
            AttributeValueError: it is of another type.
        """
        try:
            return KINDS[self.kind][1](value)
        except DTypeError as error:
            raise AttributeValueError(f"{op_type}: attribute {self.name!r}: {error}") from None
        except (TypeError, ValueError, OverflowError):
            raise AttributeValueError(
                f"{op_type}: attribute {self.name!r} takes "
                f"{DESCRIPTIONS.get(self.kind, self.kind)}, "
                f"got {value!r} of type {type(value).__name__}"
            ) from None


def whole_number(value: Any) -> int:
    """The integer that a number is, whatever its type: also 2.0, True, and an array of one.

    Raises:
        TypeError, ValueError, OverflowError: it is none.
    """
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray):
        value = value.item()
    if isinstance(value, (float, np.floating)):
        number = int(value)
        if number != value:
            raise TypeError
        return number
    return int(operator.index(value))


def _int32(value: Any) -> int:
    number = whole_number(value)
    if not -(2**31) <= number < 2**32:  # some of fluid's constants use the sign bit
        raise OverflowError
    return number


def single_precision(value: Any) -> float:
    """``value`` as a C float holds it, so that memory, text and file agree."""
    if isinstance(value, str) or not np.isscalar(value):
        value = _number(value)
    return ctypes.c_float(value).value  # beyond its range infinite, without a warning


def _tolerance(value: Any) -> float:
    return single_precision(float(value) if isinstance(value, str) else value)


def double_precision(value: Any) -> float:
    """``value`` as Python's numbers hold it."""
    return float(value) if isinstance(value, (int, float, np.number)) else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, np.ndarray) and value.size == 1:
        return float(value.item())
    raise TypeError


def _scalar(value: Any) -> bool | int | float:
    if isinstance(value, (np.bool_, np.number)):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        return value
    raise TypeError


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return bool(value)
    raise TypeError


def _str(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError


def _dtype(value: Any) -> int:
    return -1 if isinstance(value, int) and value == -1 else as_dtype(value)


def _many(convert: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def convert_all(values: Any) -> tuple[Any, ...]:
        if isinstance(values, (str, bytes)):
            raise TypeError
        return tuple([convert(value) for value in values])

    return convert_all


_each_single = _many(single_precision)


def _singles(values: Any) -> tuple[float, ...]:
    """Numbers, each by :func:`single_precision`; a parameter's millions in one step."""
    is_array = isinstance(values, np.ndarray) and values.dtype == np.float32 and values.ndim == 1
    if not is_array and (not isinstance(values, (list, tuple)) or {*map(type, values)} != {float}):
        return _each_single(values)
    with np.errstate(over="ignore"):
        rounded = np.asarray(values, np.float32)
    if type(values) is tuple and np.array_equal(rounded, np.asarray(values)):
        return values  # as an operator has them already
    return tuple(rounded.tolist())


#: annotation -> (wire type, conversion)
KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "int": ("INT", _int32),
    "float": ("FLOAT", single_precision),
    "Double": ("FLOAT", double_precision),
    "Tolerance": ("FLOAT", _tolerance),
    "bool": ("BOOLEAN", _bool),
    "str": ("STRING", _str),
    "Long": ("LONG", whole_number),
    "DType": ("INT", _dtype),
    "BlockRef": ("BLOCK", whole_number),
    "list[int]": ("INTS", _many(_int32)),
    "list[float]": ("FLOATS", _singles),
    "list[bool]": ("BOOLEANS", _many(_bool)),
    "list[str]": ("STRINGS", _many(_str)),
    "list[Long]": ("LONGS", _many(whole_number)),
    "list[Double]": ("FLOAT64S", _many(double_precision)),
    "list[Scalar]": ("SCALARS", _many(_scalar)),
}
DESCRIPTIONS = {
    "int": "an integer",
    "Long": "an integer",
    "float": "a number",
    "Double": "a number",
    "Tolerance": "a number",
    "bool": "True or False",
    "str": "a text",
    "DType": "an element type",
    "BlockRef": "the index of a block",
    "list[int]": "a list of integers",
    "list[Long]": "a list of integers",
    "list[float]": "a list of numbers",
    "list[Double]": "a list of numbers",
    "list[Scalar]": "a list of numbers",
    "list[bool]": "a list of booleans",
    "list[str]": "a list of texts",
}


def read_attributes(owner: type) -> dict[str, Attribute]:
    """The attributes that the annotations of one class declare, by their name in programs.

    Raises:
        DefinitionError: an annotation is no type of an attribute, or a default does not fit it.
    """
    attributes = {}
    for field, annotation in owner.__annotations__.items():
        kind = _kind_name(annotation)
        if kind.startswith("ClassVar"):
            continue
        if kind not in KINDS:
            raise DefinitionError(f"{owner.__name__}.{field}: {kind} is no type of an attribute")
        if field not in vars(owner):
            raise DefinitionError(f"{owner.__name__}.{field} needs a default, or REQUIRED")
        default = vars(owner)[field]
        more = (
            default
            if isinstance(default, AttributeField)
            else AttributeField(default, None, False, False, False)
        )
        record = Attribute(more.alias or field, field, kind, more.default, *more[2:])
        if record.default is not REQUIRED:
            try:
                record = record._replace(default=record.convert(record.default, owner.__name__))
            except AttributeValueError as error:
                raise DefinitionError(f"the default does not fit its annotation: {error}") from None
        setattr(owner, field, record.default)
        attributes[record.name] = record
    return attributes


def _kind_name(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    if not isinstance(annotation, str) and getattr(annotation, "__args__", None):
        text = f"{annotation.__name__}[{annotation.__args__[0].__name__}]"
    return text


def need_choice(op: object, name: str, *choices: object, known: Collection[object] = ()) -> None:
    """Check that an attribute is one of some values.

    Args:
        op: the operator.
        name: of the attribute.
        choices: what it may be.
        known: what is taken, too, but not offered.
    """
    value = getattr(op, name)
    if value not in choices and value not in known:
        *more, last = map(str, choices)
        offered = f"{', '.join(more)} or {last}" if more else last
        raise AttributeValueError(f"expected {name} {offered}, got {value!r}")


def need_least(op: object, least: float, *names: str) -> None:
    """Check that attributes are not below a number."""
    for name in names:
        if not getattr(op, name) >= least:
            raise AttributeValueError(
                f"expected {name} of at least {least}, got {getattr(op, name)}"
            )


def need_above(op: object, bound: float, *names: str) -> None:
    """Check that attributes are above a number."""
    for name in names:
        if not getattr(op, name) > bound:
            raise AttributeValueError(f"expected {name} above {bound}, got {getattr(op, name)}")


def need_range(op: object, least: float, most: float, *names: str) -> None:
    """Check that attributes lie from one number to another."""
    for name in names:
        if not least <= getattr(op, name) <= most:
            raise AttributeValueError(
                f"expected {name} from {least} to {most}, got {getattr(op, name)}"
            )


def need_each(op: object, count: int | None, least: int, *names: str) -> None:
    """Check that attributes are lists of so many numbers, at least one, that are not below one."""
    for name in names:
        numbers = getattr(op, name)
        if len(numbers) != (count or len(numbers)) or min(numbers, default=least - 1) < least:
            wanted = "" if count is None else f"{count} "
            raise AttributeValueError(
                f"expected {name} of {wanted}numbers from {least}, got {list(numbers)}"
            )


__all__ = [
    "REQUIRED", "Attribute", "BlockRef", "DType", "Double", "Long", "Scalar", "attr", "need_above",
    "need_choice", "need_each", "need_least", "need_range", "read_attributes", "single_precision",
    "whole_number",
]  # fmt: skip
