"""What a gradient rule takes, and the one place where its arguments are gathered.

A program gathers names, a tape values, an eager graph what it kept.  Each says how it finds an
input, an output and a cotangent of an operator; :func:`gather` puts them in the order of the rule.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DefinitionError

if TYPE_CHECKING:
    from .definition import Op


class RuleArgument(NamedTuple):
    """One argument of a gradient rule, which is one input slot of the gradient operator."""

    slot: str  #: of the gradient operator
    parameter: str  #: of the rule
    source: str  #: "in", "out" or "cotangent"
    of: str  #: slot of the forward operator
    optional: bool


def rule_arguments(definition: type[Op]) -> tuple[RuleArgument, ...]:
    """The arguments of an operator's gradient rule, in its order; those of a composition without a
    rule are all inputs and cotangents.

    Raises:
        DefinitionError: a parameter is no slot and no cotangent of one, or the closure rule is
            broken: a rule that reads an output takes that output's cotangent too, or the output is
            constant.  Else the second order would lose a term.
    """
    if callable(definition.grad):
        parameters = _parameters(definition)
    elif definition.grad is NotImplemented and definition.expand is not None:
        parameters = {s.name: ("in", s.name, s.optional) for s in definition.inputs}
        for s in definition.outputs:
            if not s.constant:
                parameters["d" + s.name] = ("cotangent", s.name, True)
    else:
        return ()
    taken: set[str] = set()
    arguments = []
    for parameter, (source, slot, optional) in parameters.items():
        name = unique_slot(slot + "@GRAD" if source == "cotangent" else slot, taken)
        arguments.append(RuleArgument(name, parameter, source, slot, optional))
    return tuple(arguments)


def unique_slot(name: str, taken: set[str]) -> str:
    """A slot's name that its operator has not yet, noted as taken: ``X@GRAD``, ``X@GRAD.2``, ..."""
    candidate = name
    for k in itertools.count(2):
        if candidate not in taken:
            break
        candidate = f"{name}.{k}"
    taken.add(candidate)
    return candidate


def gather(
    arguments: Iterable[RuleArgument],
    inputs: Callable[[str], Any],
    outputs: Callable[[str], Any],
    cotangents: Callable[[str, bool], Any],
) -> list[Any]:
    """The values of a rule's arguments, in its order.

    Args:
        arguments: what the rule takes.
        inputs: gives what stands in an input slot of the forward operator.
        outputs: the same for an output slot.
        cotangents: gives what flows to an output slot; told whether that may be nothing.
    """
    values = []
    for _, _, source, slot, optional in arguments:
        if source == "in":
            values.append(inputs(slot))
        elif source == "out":
            values.append(outputs(slot))
        else:
            values.append(cotangents(slot, optional))
    return values


def completed(cotangent: Any, value: Any, optional: bool, zeros_like: Callable[[Any], Any]) -> Any:
    """What flows to an output slot, with zeros where nothing came and the rule needs something.

    Args:
        cotangent: what came; a list, or None, for a list of values.
        value: the output; a list for a list slot.
        optional: whether the rule can do without.
        zeros_like: gives zeros for a value.
    """
    if isinstance(value, list):
        came = cotangent or [None] * len(value)
        return [zeros_like(v) if c is None and v is not None else c for c, v in zip(came, value)]
    if cotangent is None and not optional and value is not None:
        return zeros_like(value)
    return cotangent


def parameter_names(rule: Any) -> tuple[str, ...]:
    """The names of what a rule, or a kernel of one, takes beside itself and the interpreter."""
    code = inspect.unwrap(rule).__code__
    return tuple(code.co_varnames[2 : code.co_argcount])


def _parameters(definition: type[Op]) -> dict[str, tuple[str, str, bool]]:
    """The parameters of a rule: name -> (source, slot, whether it may be absent)."""
    rule = inspect.unwrap(definition.grad)
    names = parameter_names(rule)
    defaults = len(rule.__defaults__ or ())
    optional = set(names[len(names) - defaults :]) if defaults else set()
    ins, outs = definition.input_slots, definition.output_slots
    parameters: dict[str, tuple[str, str, bool]] = {}
    for name in names:
        if name in ins:
            parameters[name] = ("in", name, name in optional or ins[name].optional)
        elif name in outs:
            parameters[name] = ("out", name, name in optional or outs[name].optional)
        elif name.startswith("d") and name[1:] in outs and not outs[name[1:]].constant:
            parameters[name] = ("cotangent", name[1:], name in optional)
        else:
            raise DefinitionError(
                f"{definition.type}.grad takes {name!r}, which is no slot and no cotangent of an "
                f"output"
            )
    for name, (source, slot, _) in parameters.items():
        if source == "out" and not outs[slot].constant and "d" + name not in parameters:
            raise DefinitionError(
                f"{definition.type}.grad reads the output {name}, so it must take its cotangent "
                f"d{name} too (d{name}=None where it may be absent), or {name} must be marked "
                f"constant"
            )
    return parameters
