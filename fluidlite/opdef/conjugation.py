"""What operators do with complex numbers, and how their rules hold of those.

The gradient of a real loss L by a complex z = x + iy is dL/dx + i dL/dy, as Paddle and torch have
it.  So a step along it is a step uphill.  What flows back through a linear map is then its adjoint:
the conjugate transpose.

A rule is written for real numbers, where it gives the transpose of the Jacobian J times what flows.
Where all of an operator's results are holomorphic functions of its inputs, the adjoint times g is
the conjugate of J^T times the conjugate of g: the same rule between two conjugations.  Where the
Jacobian is real, as that of a transposition, J^T is the adjoint, and the rule holds as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial, wraps
from typing import Any

from ..errors import DTypeError
from ..ground.dtypes import DType

_COMPLEX: frozenset[Any] = frozenset(
    each for member in DType if member.is_complex for each in (member, member.dtype)
)


class OfComplex(Enum):
    """How an operator takes complex numbers."""

    #: its rule holds of them as it stands: it is linear with real factors, says itself what is
    #: conjugated, or has none
    AS_WRITTEN = "as written"
    #: its results are holomorphic functions of its inputs: its rule holds between conjugations
    HOLOMORPHIC = "holomorphic"


AS_WRITTEN, HOLOMORPHIC = OfComplex.AS_WRITTEN, OfComplex.HOLOMORPHIC


def is_complex(value: Any) -> bool:
    """Whether a value, or what is known of it, is of complex numbers; a list: whether one is."""
    if value.__class__ is list:
        return any(map(is_complex, value))
    return getattr(value, "dtype", None) in _COMPLEX


def is_unusual(value: Any) -> bool:
    """Whether a spec, or one of a list, is of an element type that only NumPy computes in."""
    if value.__class__ is list:
        return any(map(is_unusual, value))
    dtype = getattr(value, "dtype", None)
    return dtype in _COMPLEX or dtype is DType.BF16


def conj(f: Any, value: Any) -> Any:
    """The conjugate of a value; the value itself where it is real.

    Args:
        f: the interpreter.
        value: may be None.
    """
    return f.conj(value) if is_complex(value) else value


def refuse_element_types(op: Any, ins: Mapping[str, Any]) -> None:
    """Refuse inputs of complex numbers, or of bfloat16, where an operator does not take them.

    Args:
        op: the operator.
        ins: specs by input slot.
    """
    no_complex = op.of_complex is None and not op.reads_shapes
    no_bfloat16 = not (op.of_bfloat16 or op.reads_shapes)
    for slot, given in ins.items():
        for spec in given if given.__class__ is list else (given,):
            if spec is None:
                continue
            if no_complex and spec.dtype in _COMPLEX:
                raise DTypeError(
                    f"expected {slot} to hold real numbers, got {spec.dtype}: {op.type} takes no "
                    f"complex ones; real(), imag() and abs() of them are real"
                )
            if no_bfloat16 and spec.dtype is DType.BF16:
                raise DTypeError(
                    f"expected {slot} of another element type than bfloat16, which {op.type} does "
                    f"not compute in; cast it to float32"
                )


def conjugate_rules(cls: Any) -> None:
    """Let the rule of an operator and its kernel hold of complex numbers as the definition says.

    Args:
        cls: the definition, which may have them from another one.
    """
    cotangents = frozenset(a.parameter for a in cls.rule_arguments if a.source == "cotangent")
    for method in ("grad", "grad_numpy"):
        rule = getattr(cls, method)
        written = getattr(rule, "written", rule)
        if not callable(rule) or hasattr(written, "kernel"):  # that of a composition
            continue
        if cls.of_complex is HOLOMORPHIC:
            setattr(cls, method, _between_conjugations(written, cotangents))
        elif written is not rule:
            setattr(cls, method, written)


def _between_conjugations(rule: Callable[..., Any], cotangents: frozenset[str]) -> Any:
    """A rule, or a kernel of one, that holds of complex numbers, too.

    Args:
        rule: written for real numbers.
        cotangents: those of its parameters that are what flows back.
    """
    names = rule.__code__.co_varnames[2 : rule.__code__.co_argcount]

    @wraps(rule)
    def conjugated(self: Any, f: Any, *values: Any, **named: Any) -> Any:
        arguments = dict(zip(names, values)) | named
        flowing = [name for name in cotangents & arguments.keys() if is_complex(arguments[name])]
        if not flowing:
            return rule(self, f, *values, **named)
        for name in flowing:
            arguments[name] = _each(partial(conj, f), arguments[name])
        parts = rule(self, f, **arguments)
        return {
            slot: partial(_adjoint, f, part, arguments.get(slot)) for slot, part in parts.items()
        }

    conjugated.written = rule  # type: ignore[attr-defined]
    return conjugated


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    return [function(each) for each in value] if value.__class__ is list else function(value)


def _adjoint(f: Any, part: Any, of: Any) -> Any:
    """What a rule gives for an input, conjugated; the real part of it for a real input.

    Args:
        f: the interpreter.
        part: what the rule gives, or a function of that.
        of: the input, where the rule reads it.
    """
    found = part() if callable(part) else part
    to_real = of is not None and not is_complex(of)
    return _each(f.real if to_real and is_complex(found) else partial(conj, f), found)
