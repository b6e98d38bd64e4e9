"""What a rule puts in the place of a match: traced once for each form of operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import DTypeError, FluidError, LoDError, RewriteError, ShapeError
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.program import copy_operator
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .matching import Match
from .patterns import traced
from .rules import INTERPRETER

_LOSS = int(OpRole.LOSS)  # arithmetic on flags is slow


class Template(NamedTuple):
    """What a replacement writes for operands of certain shapes and element types."""

    ops: tuple[Operator, ...]
    variables: Mapping[str, Variable]  #: of its results
    operands: frozenset[str]  #: those that it reads
    results: tuple[str, ...]

    def writer_of(self, result: str) -> int:
        """The position of the operator that writes a result; -1 for an operand."""
        return max((at for at, op in enumerate(self.ops) if op.writes(result)), default=-1)


class Templates:
    """The templates of rules, by the operands that they were traced for."""

    def __init__(self) -> None:
        self._known: dict[Any, Template] = {}

    def of(self, match: Match) -> Template:
        """The template for a match.

        Raises:
            RewriteError: the replacement raises, or gives what cannot stand there.
        """
        rule = match.variant.rule
        operands = {name: match.operand(name) for name in rule.wanted if _is_operand(match, name)}
        key = (
            id(rule),
            *((name, _form(variable)) for name, variable in operands.items()),
            *((name, match.captured.get(name)) for name in rule.wanted if name not in operands),
        )
        if "match" in rule.wanted:  # it may look at anything
            return _template(match, operands)
        try:
            known = self._known.get(key)
        except TypeError:  # an attribute of a kind of its own
            return _template(match, operands)
        if known is None:
            known = self._known[key] = _template(match, operands)
        return known


def _is_operand(match: Match, name: str) -> bool:
    return name in match.variant.operands or any(
        name in operands for operands in match.variant.rule.operands
    )


def _form(variable: Variable | None) -> Any:
    """What a replacement can see of an operand."""
    if variable is None:
        return None
    return (variable.spec, variable.persistable, variable.stop_gradient)


def arguments_of(match: Match, wanted: list[str], operands: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of a rule is arguments by name.

    Args:
        match: what was found.
        wanted: the parameters.
        operands: by name.
    """
    arguments: dict[str, Any] = {}
    for name in wanted:
        if name == "match":
            arguments[name] = match
        elif name in operands:
            arguments[name] = operands[name]
        elif name != INTERPRETER:
            arguments[name] = match.captured.get(name)
    return arguments


def _template(match: Match, operands: Mapping[str, Variable | None]) -> Template:
    rule = match.variant.rule

    def declare(block: Block) -> dict[str, Any]:
        stand_ins = {
            name: None if variable is None else _stand_in(variable, name, block)
            for name, variable in operands.items()
        }
        return arguments_of(match, rule.wanted, stand_ins)

    block, results = traced(rule, "replacement", rule.replacement, declare)
    wanted = len(match.variant.results)
    if len(results) != wanted:
        raise RewriteError(
            f"rule {rule.name!r}: its pattern gives {wanted} value{'s' * (wanted > 1)}, its "
            f"replacement {len(results)}"
        )
    read = {n for op in block.ops for n in op.input_arg_names} | set(results)
    inputs = frozenset(name for name in operands if name in read)
    written = {n for op in block.ops for n in op.output_arg_names}
    if written & inputs:
        name = min(written & inputs)
        raise RewriteError(f"rule {rule.name!r}: its replacement writes its operand {name!r}")
    return Template(tuple(block.ops), dict(block.vars), inputs, tuple(results))


def _stand_in(variable: Variable, name: str, block: Block) -> Variable:
    """A variable with what is known of another one, under the name of an operand."""
    stand_in = Variable(
        block,
        name,
        kind=variable.kind,
        shape=variable.shape if variable.has_shape else None,
        dtype=variable.dtype if variable.has_dtype else None,
        lod_level=variable.lod_level,
        persistable=variable.persistable,
        stop_gradient=variable.stop_gradient,
    )
    block.declare(stand_in)
    return stand_in


def check_results(match: Match, template: Template) -> None:
    """Refuse a replacement whose results are not like what they replace.

    Raises:
        ShapeError, DTypeError, LoDError: names the rule, the variable, and both forms.
    """
    find = match.block.var_recursive
    for (name, _), result in zip(match.results(), template.results, strict=True):
        there, new = find(name).spec, template.variables[result].spec
        if there is None or new is None:
            continue
        error: type[FluidError] | None = None
        if len(there.shape) != len(new.shape) or any(
            a != b and -1 not in (a, b) for a, b in zip(there.shape, new.shape)
        ):
            error = ShapeError
        elif there.dtype != new.dtype or there.kind is not new.kind:
            error = DTypeError
        elif there.lod_level != new.lod_level:
            error = LoDError
        if error is not None:
            raise error(
                f"rule {match.rule!r}: expected a replacement of {name!r}, which is {there}; its "
                f"replacement is {new}"
            )


def operators_in_place(match: Match, template: Template) -> tuple[list[Operator], list[Operator]]:
    """The operators that take the place of a match, and those behind them that copy an operand to a
    result; what they write is declared.

    Args:
        match: of a block that is changed.
        template: what the replacement writes.
    """
    block = match.block
    names: dict[str, str] = {name: match.found[name][0] for name in template.operands}
    copies: list[tuple[str, str]] = []
    for (name, _), result in zip(match.results(), template.results, strict=True):
        if result in names:  # an operand, or a result that is given twice
            copies.append((names[result], name))
        else:
            names[result] = name
    results = {name for name, _ in match.results()}
    _declare_inner(match, template, names)
    last = match.values.ops[match.root]
    ops = [_like(op, last, match, names) for op in template.ops]
    assigned = [
        _like(Operator(block, "assign", {"X": (source,)}, {"Out": (target,)}, {}), last, match, {})
        for source, target in copies
    ]
    if int(last.role) & _LOSS:
        for op in (*ops, *assigned):
            if not results.isdisjoint(op.output_arg_names):
                op.role |= OpRole.LOSS
    return ops, assigned


def _declare_inner(match: Match, template: Template, names: dict[str, str]) -> None:
    """Declare what lies between the operators of a replacement, under names of their own."""
    block = match.block
    stem = f"{match.results()[0][0]}.{match.rule}"
    count = 0
    for op in template.ops:
        for name in op.output_arg_names:
            if name not in names and name != EMPTY:
                while block.find_var_recursive(f"{stem}_{count}") is not None:
                    count += 1
                names[name] = f"{stem}_{count}"
                variable = template.variables[name].copy_to(block)
                variable.name = names[name]
                block.declare(variable)


def _like(op: Operator, last: Operator, match: Match, names: Mapping[str, str]) -> Operator:
    """An operator of a template with the marks of what it replaces."""
    twin = copy_operator(op, match.block)
    twin.rename(names)
    twin.role = int(last.role) & ~_LOSS
    twin.role_vars, twin.namescope, twin.device = last.role_vars, last.namescope, last.device
    twin.callsite = last.callsite
    definition = lookup(op.type)
    if definition.effect is not None:
        twin.foreign = frozenset().union(*(each.foreign for each in match.operators))
    return twin
