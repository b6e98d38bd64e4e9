"""What a rule puts in place of a match: traced once for each form of operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import DTypeError, FluidError, LoDError, RewriteError, ShapeError, VerifyError
from ..ir.block import Block
from ..ir.foreign import Mark, has_effect
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.program import Program
from ..ir.variable import Variable, variable_like
from ..opdef.definition import lookup
from ..opdef.spec import Spec
from .matches import Match, operands_of
from .patterns import traced
from .rules import INTERPRETER

_LOSS = int(OpRole.LOSS)  # arithmetic on flags is slow


class Template(NamedTuple):
    """What a replacement writes for operands of certain shapes and element types."""

    ops: tuple[Operator, ...]
    operands: tuple[str, ...]  #: those that it reads
    results: tuple[str, ...]
    specs: tuple[Spec | None, ...]  #: of the results
    inner: tuple[Variable, ...]  #: what its operators write beside the results
    #: of each result the operands that are read after it is written
    read_later: tuple[frozenset[str], ...]
    has_effects: bool
    is_right: bool  #: whether its operators fit their definitions and each other


def _completed(block: Block, operands: Iterable[str], results: list[str]) -> Template:
    """The template that a traced block is."""
    ops = tuple(block.ops)
    written = dict.fromkeys(n for op in ops for n in op.output_arg_names if n != EMPTY)
    read_later = []
    for result in results:
        begin = max((at + 1 for at, op in enumerate(ops) if op.writes(result)), default=0)
        read_later.append(frozenset(n for op in ops[begin:] for n in op.input_arg_names))
    return Template(
        ops,
        tuple(operands),
        tuple(results),
        tuple(block.vars[name].spec for name in results),
        tuple(block.vars[name] for name in written if name not in results),
        tuple(read_later),
        any(lookup(op.type).effect is not None for op in ops),
        _is_right(block.program, operands),
    )


def _is_right(program: Program, operands: Iterable[str]) -> bool:
    try:
        program.verify(operands)
    except VerifyError:
        return False
    return True


class Templates:
    """The templates of rules, by the operands that they were traced for."""

    def __init__(self) -> None:
        self._known: dict[Any, Template] = {}
        #: form of an operand -> its number, which is quicker to compare
        self._numbers: dict[Any, int] = {None: 0}
        #: identity of a variable -> the number of its form; no operand changes in a round
        self._by_variable: dict[int, int] = {id(None): 0}

    def of(self, match: Match) -> Template:
        """The template for a match.

        Raises:
            RewriteError: the replacement raises, or gives what cannot stand there.
        """
        variant, values, find = match.variant, match.found, match.block.find_var_recursive
        rule, numbers = variant.rule, self._by_variable
        key: list[Any] = [variant]
        for operand in rule.wanted_operands:
            variable = find(values[operand][0]) if operand in values else None
            number = numbers.get(id(variable))
            key.append(self._numbered(variable) if number is None else number)
        if variant.captures_attributes:
            named = match.captured
            key += [named.get(name) for name in rule.wanted if name not in rule.wanted_operands]
        if "match" in rule.wanted:  # it may look at anything
            return _template(match)
        known_by = tuple(key)
        try:
            known = self._known.get(known_by)
        except TypeError:  # an attribute of a kind of its own
            return _template(match)
        if known is None:
            known = self._known[known_by] = _template(match)
        return known

    def _numbered(self, variable: Variable | None) -> int:
        """The number of what a replacement can see of an operand, which is noted."""
        number = self._numbers.setdefault(_form(variable), len(self._numbers))
        self._by_variable[id(variable)] = number
        return number


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


def _template(match: Match) -> Template:
    rule = match.variant.rule
    operands = operands_of(match, rule.wanted_operands)

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
    inputs = [name for name in operands if name in read]
    written = {n for op in block.ops for n in op.output_arg_names}
    for name in inputs:
        if name in written:
            raise RewriteError(f"rule {rule.name!r}: its replacement writes its operand {name!r}")
    return _completed(block, inputs, results)


def _stand_in(variable: Variable, name: str, block: Block) -> Variable:
    """A variable with what is known of another one, under the name of an operand."""
    flags = {"persistable": variable.persistable, "stop_gradient": variable.stop_gradient}
    stand_in = variable_like(variable, block, name, **flags)
    block.declare(stand_in)
    return stand_in


def check_results(match: Match, template: Template) -> bool:
    """Refuse a replacement whose results are not like what they replace; whether a size is known of
    only one of them.

    Raises:
        ShapeError, DTypeError, LoDError: names the rule, the variable, and both forms.
    """
    find, differs = match.block.var_recursive, False
    for (name, _), new in zip(match.results, template.specs):
        there = find(name).spec
        if there == new:
            continue
        differs = True
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
    return differs


def operators_in_place(match: Match, template: Template) -> tuple[list[Operator], list[Operator]]:
    """The operators that take the place of a match, and those behind them that copy an operand to a
    result; what they write is declared.

    Args:
        match: of a block that is changed.
        template: what the replacement writes.
    """
    block, found = match.block, match.found
    names = {name: found[name][0] for name in template.operands}
    copies: list[tuple[str, str]] = []
    for (name, _), result in zip(match.results, template.results):
        if result in names:  # an operand, or a result that is given twice
            copies.append((names[result], name))
        else:
            names[result] = name
    _declare_inner(match, template, names)
    last = match.values.ops[match.root]
    marks = frozenset[str]()
    if template.has_effects:
        marks = marks.union(*(op.foreign for op in match.operators))
    ops = [_like(op, last, block, names, marks) for op in template.ops]
    assigned = [
        _like(Operator(block, "assign", {"X": (x,)}, {"Out": (out,)}, {}), last, block, {}, marks)
        for x, out in copies
    ]
    if last.role is not OpRole.FORWARD and int(last.role) & _LOSS:
        results = {name for name, _ in match.results}
        for op in (*ops, *assigned):
            if not results.isdisjoint(op.output_arg_names):
                op.role |= OpRole.LOSS
    return ops, assigned


def _declare_inner(match: Match, template: Template, names: dict[str, str]) -> None:
    """Declare what lies between the operators of a replacement, under names of their own."""
    block = match.block
    if not template.inner:
        return
    stem = f"{match.results[0][0]}.{match.variant.rule.stem}_"
    count = 0
    for like in template.inner:
        name = f"{stem}{count}"
        while block.find_var_recursive(name) is not None:
            count += 1
            name = f"{stem}{count}"
        variable = like.copy_to(block)
        variable.name = names[like.name] = name
        block.declare(variable)


def _like(
    op: Operator, last: Operator, block: Block, names: Mapping[str, str], marks: Mark
) -> Operator:
    """An operator of a template with the marks of what it replaces."""
    twin = op.of_template(block, names, last)
    if twin.role is not OpRole.FORWARD:
        twin.role = int(twin.role) & ~_LOSS
    if marks and has_effect(op.definition):
        twin.foreign = marks
    return twin
