"""Checks of what operators of users compute: kernels, and gradient rules.

Those of the package have tests that compare inferred with computed shapes, so they are not checked
when they run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    DefinitionError,
    DTypeError,
    FluidError,
    GradientShapeError,
    OpError,
    ShapeError,
    suggestion,
)
from ..ground.dtypes import as_dtype
from .spec import Spec

if TYPE_CHECKING:
    from .definition import Op

_OWN = __package__.partition(".")[0] + "."
_CHECKED = "checks_results"  # the mark of a method that checks
_MOST_FORMS = 256  # of inputs whose outputs are remembered


def is_users(definition: type[Op]) -> bool:
    """Whether a definition stands outside of the package."""
    return not definition.__module__.startswith(_OWN)


def check_results(definition: type[Op]) -> None:
    """Let the kernel and the gradient rule of a user's operator check what they return; others stay
    as they are.
    """
    if not is_users(definition) or definition.derived_from is not None:
        return
    for name, checking in (("run", _checked_kernel), ("grad", _checked_rule)):
        method = getattr(definition, name)
        if not callable(method) or hasattr(method, _CHECKED) or method.__module__.startswith(_OWN):
            continue
        checked = checking(method)
        setattr(checked, _CHECKED, True)
        setattr(definition, name, checked)


def no_input(definition: type[Op], method: Any, name: str) -> DefinitionError:
    """The error that a method takes what is no input slot.

    Args:
        definition: the operator.
        method: takes it.
        name: of the parameter.
    """
    default, slots = inspect.signature(method).parameters[name].default, definition.input_slots
    annotated = f"{name}: {type(default).__name__} = {default!r}"
    advice = (
        ""
        if default is inspect.Parameter.empty
        else f"; an attribute is annotated in the class, {annotated}, and read as self.{name}"
    )
    return DefinitionError(
        f"{definition.type}.{method.__name__} takes {name!r}, which is no input slot"
        f"{suggestion(name, slots)}; the inputs are {', '.join(slots)}{advice}"
    )


# -- kernels ---------------------------------------------------------------------------------------


def _checked_kernel(kernel: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, dict[str, Any] | None] = {}

    @wraps(kernel)
    def run(self: Op, xp: Any, *values: Any, **named: Any) -> Any:
        result = kernel(self, xp, *values, **named)
        outs = _by_slot(self, result)
        reads = type(self).run_reads["run"]
        ins = dict(zip(reads, values[len(values) - len(reads) :])) | named
        key = type(self), self.frozen_attrs(), tuple([_form(each) for each in ins.values()])
        if key not in known:
            if len(known) >= _MOST_FORMS:
                known.clear()
            known[key] = _inferred(self, ins)
        expected = known[key] or {}
        for slot in self.outputs:
            value, spec = outs.get(slot.name), expected.get(slot.name)
            if value is None and not (slot.hidden or slot.optional):
                raise OpError(f"{self.type} computed nothing for its output {slot.name}")
            if not callable(value) and value is not None and spec is not None:
                pairs = zip(value, spec) if slot.many else ((value, spec),)
                for one, its_spec in pairs:
                    _check_output(self, slot.name, one, its_spec)
        return result

    return run


def _by_slot(op: Op, result: Any) -> Mapping[str, Any]:
    """What a kernel returned, by output slot."""
    names = [slot.name for slot in op.outputs]
    if isinstance(result, dict):
        return result
    if len(names) == 1 and type(result) is not tuple:
        return {names[0]: result}
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        came = f"{len(result)} values" if isinstance(result, (tuple, list)) else _described(result)
        raise OpError(
            f"{op.type}.run: expected a tuple of {len(names)}, one for each output "
            f"({', '.join(names)}), got {came}"
        )
    return dict(zip(names, result))


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"one array of shape {list(value.shape)}"
    return "None" if value is None else f"one {type(value).__name__}"


def _form(value: Any) -> Any:
    """What the shape rule sees of an input; the rule is not asked about other kinds of value."""
    if isinstance(value, (list, tuple)):
        return tuple([_form(each) for each in value])
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else type(value)


def _inferred(op: Op, ins: Mapping[str, Any]) -> dict[str, Any] | None:
    """The specs of the outputs, None where they cannot be known."""
    every = [v for each in ins.values() for v in (each if isinstance(each, list) else [each])]
    if op.host or not all(v is None or isinstance(v, np.ndarray) for v in every):
        return None
    try:
        return op.infer_outputs({slot: _spec(value) for slot, value in ins.items()})
    except FluidError:  # kernels take what the rule would refuse
        return None


def _spec(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec(each) for each in value]
    return None if value is None else Spec(value.shape, as_dtype(value.dtype))


def _check_output(op: Op, slot: str, value: Any, spec: Spec | None) -> None:
    if spec is None or not isinstance(value, (np.ndarray, Number)):
        return
    advice = "" if op.infers else _without_infer(op)
    shape = value.shape if isinstance(value, (np.ndarray, np.generic)) else ()
    if _differ(shape, spec.shape):
        raise ShapeError(
            f"{op.type}.run: expected {slot} of shape {_listed(spec.shape)}, as inferred, got "
            f"{list(shape)}{advice or '; correct infer or run'}"
        )
    dtype = getattr(value, "dtype", None)
    if dtype is not None and as_dtype(dtype) is not spec.dtype:
        raise DTypeError(
            f"{op.type}.run: expected {slot} of type {spec.dtype}, as inferred, got "
            f"{as_dtype(dtype)}{advice or '; cast it, or correct infer'}"
        )


def _without_infer(op: Op) -> str:
    return (
        f"; {op.type} has no infer, so each output is taken to be like the first input: write "
        f"infer(self, {', '.join(op.input_slots)})"
    )


# -- gradient rules --------------------------------------------------------------------------------


def _checked_rule(rule: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(rule)
    def grad(self: Op, f: Any, *values: Any, **named: Any) -> dict[str, Any]:
        parts: Any = rule(self, f, *values, **named)
        if not isinstance(parts, Mapping):
            raise DefinitionError(
                f"{self.type}.grad: expected a dict, slot to function, as in dict("
                f"{next(iter(self.input_slots), 'X')}=lambda: ...), got {type(parts).__name__}"
            )
        for slot in parts:
            if slot not in self.input_slots:
                raise DefinitionError(
                    f"{self.type}.grad: expected gradients of the inputs "
                    f"{', '.join(self.input_slots)}, got one of {slot!r}"
                    f"{suggestion(str(slot), self.input_slots)}"
                )
        arguments = type(self).rule_arguments
        given = dict(zip([a.parameter for a in arguments], values)) | named
        likes = {a.of: given.get(a.parameter) for a in arguments if a.source == "in"}
        if not self.infers:  # the outputs are like the first input
            flows = (given.get(a.parameter) for a in arguments if a.source == "cotangent")
            flow = next((each for each in flows if each is not None), None)
            likes.setdefault(self.inputs[0].name, flow)
        return {slot: _checked_part(self, slot, part, likes) for slot, part in parts.items()}

    return grad


def _checked_part(op: Op, slot: str, part: Any, likes: Mapping[str, Any]) -> Any:
    if slot not in likes:
        return part

    def compute() -> Any:
        value = part() if callable(part) else part
        check_gradient(op, slot, value, likes[slot])
        return value

    return compute


def check_gradient(op: Op, slot: str, gradient: Any, like: Any) -> None:
    """Check that a gradient has the shape of the input that it is of.

    Args:
        op: the operator.
        slot: of the input.
        gradient: by the rule; a list for a list.
        like: the input, or another value of its shape.

    Raises:
        GradientShapeError: the shapes differ.
    """
    if isinstance(like, list):
        several: Sequence[Any] = gradient if isinstance(gradient, (list, tuple)) else ()
        for one, its_like in zip(several, like):
            check_gradient(op, slot, one, its_like)
        return
    shape = () if isinstance(gradient, (int, float)) else getattr(gradient, "shape", None)
    expected = getattr(like, "shape", None)
    if shape is not None and expected is not None and _differ(shape, expected):
        raise GradientShapeError(
            f"{op.type}.grad: expected a gradient of shape {_listed(expected)} for {slot}, got "
            f"one of shape {_listed(shape)}"
        )


def _differ(shape: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether shapes disagree in their rank or in a size that both know."""
    return len(shape) != len(expected) or any(
        type(a) is int and type(b) is int and -1 < a != b > -1 for a, b in zip(shape, expected)
    )


def _listed(shape: Sequence[Any]) -> str:
    return str(list(shape)).replace("-1", "n")
