"""Patterns of rules as graphs: what their functions write when they are called."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .. import unique_name
from ..errors import ArgumentError, RewriteError, suggestion
from ..ground import state
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.operator import EMPTY, Names, Operator
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..opdef.spec import size_of
from .rules import CHOICES, INTERPRETER, Choices, Contradiction, Rule
from .spellings import READ_AS, reads_one_way

MOST_VARIANTS = 256  #: of the patterns of a rule

#: a value in a pattern: the name of an operand, or of a result of its operators
PatternValue = str


@dataclass(frozen=True, eq=False)
class PatternNode:
    """An operator of a pattern."""

    type: str
    inputs: Mapping[str, Names]
    outputs: Mapping[str, Names]
    attrs: Mapping[str, Any]
    #: attributes that may have any value; None for all of them
    free: frozenset[str] | None
    captured: Mapping[str, str]  #: attribute -> the name that its value goes by
    at: int  #: its position among the nodes
    accepts: frozenset[str]  #: types of operators that may stand for it

    @cached_property
    def reads(self) -> tuple[tuple[str, ...], tuple[PatternValue, ...]] | None:
        """The input slots and what is read there, one value each; None where that is not so."""
        return _one_each(self.inputs)

    @cached_property
    def writes(self) -> tuple[tuple[str, ...], tuple[PatternValue, ...]] | None:
        """As of ``reads``, of the outputs."""
        return _one_each(self.outputs)


def _one_each(
    slots: Mapping[str, Names],
) -> tuple[tuple[str, ...], tuple[PatternValue, ...]] | None:
    names = tuple(name for each in slots.values() for name in each)
    is_plain = all(len(each) == 1 for each in slots.values()) and EMPTY not in names
    return (tuple(slots), names) if is_plain else None


@dataclass(frozen=True, eq=False)
class Variant:
    """One graph that a pattern stands for."""

    rule: Rule
    nodes: tuple[PatternNode, ...]
    operands: tuple[str, ...]
    results: tuple[PatternValue, ...]
    functions: Mapping[str, Any]  #: the choices that have names
    #: values between the operators where gradients flow
    flowing: tuple[PatternValue, ...]
    maker: Mapping[PatternValue, PatternNode] = field(default_factory=dict)
    readers: Mapping[PatternValue, list[PatternNode]] = field(default_factory=dict)

    @cached_property
    def root(self) -> PatternNode:
        """The operator that matching begins with: the last one."""
        return max((self.maker[name] for name in self.results), key=lambda node: node.at)

    @cached_property
    def makers_before(self) -> list[frozenset[str]]:
        """Of each node that the last operator reads from, the types that may stand for it."""
        read = {name for names in self.root.inputs.values() for name in names}
        return [node.accepts for name, node in self.maker.items() if name in read]

    @cached_property
    def is_straight(self) -> bool:
        """Whether there is at most one match at each operator, found without alternatives: all
        nodes lie before the last one, and either nothing reads their operands in another order, or
        this order does not count.
        """
        uses = Counter(
            n for node in self.nodes for names in node.inputs.values() for n in dict.fromkeys(names)
        )
        return (
            not self.rule.shapes
            and len(_needed([n for names in self.root.outputs.values() for n in names], self.maker))
            == len(self.nodes)
            and all(reads_one_way(node.type) or self._is_leaf(node, uses) for node in self.nodes)
        )

    def _is_leaf(self, node: PatternNode, uses: Mapping[str, int]) -> bool:
        """Whether all that a node reads are operands that nothing else reads, and each once."""
        read = [name for names in node.inputs.values() for name in names]
        return len(set(read)) == len(read) and all(
            name != EMPTY and name not in self.maker and uses[name] == 1 for name in read
        )

    @cached_property
    def captures_attributes(self) -> bool:
        """Whether functions are given attributes, which may differ from match to match."""
        return any(node.captured for node in self.nodes)

    def captures(self) -> set[str]:
        """The names of attributes and choices that functions are given."""
        named = {name for node in self.nodes for name in node.captured.values()}
        return named | self.functions.keys()


def variants_of(rule: Rule) -> list[Variant]:
    """The graphs that the patterns of a rule stand for, in the order in which they are tried.

    Raises:
        RewriteError: a function of the pattern raises, or does more than write operators.
        ArgumentError: there are too many alternatives; or a function has a parameter that nothing
            gives.
    """
    variants: list[Variant] = []
    for function, operands in zip(rule.patterns, rule.operands, strict=True):
        path: list[int] | None = []
        while path is not None:
            choices = Choices(path)
            variant = _traced_pattern(rule, function, operands, choices)
            if variant is not None:
                variants.append(variant)
            path = choices.next_path()
            if len(variants) > MOST_VARIANTS:
                raise ArgumentError(
                    f"rule {rule.name!r} stands for more than {MOST_VARIANTS} graphs: each any_of "
                    f"and optional multiplies them; divide it into several rules"
                )
    _check_parameters(rule, variants)
    return variants


def _check_parameters(rule: Rule, variants: list[Variant]) -> None:
    known = {name for operands in rule.operands for name in operands} | {"match"}
    known |= {name for variant in variants for name in variant.captures()}
    for what, wanted in (("replacement", rule.wanted), ("condition", rule.asked)):
        for name in wanted:
            if name not in known and not (name == INTERPRETER and what == "replacement"):
                raise ArgumentError(
                    f"rule {rule.name!r}: the {what} takes {name!r}, and its pattern has "
                    f"{', '.join(sorted(known))}{suggestion(name, known)}"
                )


def _traced_pattern(
    rule: Rule, function: Callable[..., Any], operands: list[str], choices: Choices
) -> Variant | None:
    def declare(block: Block) -> dict[str, Any]:
        return {name: block.create_var(name=name, shape=rule.shapes.get(name)) for name in operands}

    hint = (
        "; operands of a pattern stand for any shapes: where a function asks for one, give the "
        "rule shapes={'x': [-1, -1]}"
    )
    try:
        with CHOICES.guard(choices):
            block, results = traced(rule, "pattern", function, declare)
    except Contradiction:
        return None
    except RewriteError as error:
        raise RewriteError(f"{error}{hint}") from error.__cause__
    nodes = []
    for at, op in enumerate(block.ops):
        marked = [name for name in op.output_arg_names if name in choices.captured]
        free: set[str] | None = set()
        captured: dict[str, str] = {}
        for name in marked:
            given = choices.free[name]
            free = None if given is None or free is None else free | given
            captured.update(choices.captured[name])
        _check_attributes(rule, op.definition, free, captured)
        if free is not None and _is_number(op):
            free |= {"shape", "dtype"}
        outputs = dict(op.outputs)
        accepted = frozenset((op.type, *READ_AS.get(op.type, ())))
        frozen = None if free is None else frozenset(free)
        nodes.append(
            PatternNode(op.type, op.inputs, outputs, op.attrs, frozen, captured, at, accepted)
        )
    maker = {n: node for node in nodes for names in node.outputs.values() for n in names}
    for name in results:
        if name not in maker:
            raise RewriteError(
                f"rule {rule.name!r}: the pattern gives its operand {name!r}; it has to give what "
                f"operators compute"
            )
    if len(set(results)) < len(results):
        raise RewriteError(f"rule {rule.name!r}: the pattern gives a value twice; give it once")
    needed = _needed(results, maker)
    readers: dict[str, list[PatternNode]] = {}
    for node in nodes:
        for names in node.inputs.values():
            for name in dict.fromkeys(names):
                readers.setdefault(name, []).append(node)
    lost = [node for node in nodes if node.at not in needed]
    if lost:
        raise RewriteError(
            f"rule {rule.name!r}: nothing that the pattern gives depends on its operator "
            f"`{lost[0].type}`; return its result, too"
        )
    flowing = tuple(n for n in maker if n in readers and not block.vars[n].stop_gradient)
    return Variant(
        rule,
        tuple(nodes),
        tuple(operands),
        tuple(results),
        choices.functions,
        flowing,
        maker,
        readers,
    )


def _is_number(op: Operator) -> bool:
    """Whether an operator makes one number, as Python's operators do for one beside a variable: its
    shape and type follow from the variable's.
    """
    return op.type == "fill_constant" and not op.inputs and size_of(op.attrs.get("shape", ())) == 1


def _check_attributes(
    rule: Rule, definition: Any, free: set[str] | None, captured: Mapping[str, str]
) -> None:
    """Refuse names of attributes that an operator does not have."""
    for name in sorted({*(free or ()), *captured}):
        if name not in definition.attributes:
            raise ArgumentError(
                f"rule {rule.name!r}: {definition.type} has no attribute {name!r}"
                f"{suggestion(name, definition.attributes)}"
            )


def _needed(results: list[str], maker: Mapping[str, PatternNode]) -> set[int]:
    """The positions of the nodes that results depend on."""
    needed: set[int] = set()
    waiting = list(results)
    while waiting:
        node = maker.get(waiting.pop())
        if node is not None and node.at not in needed:
            needed.add(node.at)
            waiting += [n for names in node.inputs.values() for n in names if n != EMPTY]
    return needed


def traced(
    rule: Rule,
    what: str,
    function: Callable[..., Any],
    declare: Callable[[Block], Mapping[str, Any]],
) -> tuple[Block, list[str]]:
    """What a function of a rule writes.

    Args:
        rule: whose function.
        what: which function, for messages.
        function: is called with variables of an empty program.
        declare: makes what it is called with.

    Returns:
        the block, and the names of what the function gives.

    Raises:
        RewriteError: the function raises, gives something else than variables, or does more than
            write operators into one block.
    """
    program, startup = Program(), Program()
    block = program.global_block()
    with unique_name.guard(), program_guard(program, startup), state.eager.guard(False):
        stand_ins = declare(block)
        takes = next(iter(inspect.signature(function).parameters), "") == INTERPRETER
        more = {INTERPRETER: Builder(block, "tmp")} if takes else {}
        try:
            returned = function(**more, **stand_ins)
        except Contradiction:
            raise
        except Exception as error:
            raise RewriteError(
                f"rule {rule.name!r}: its {what} fails: {type(error).__name__}: {error}"
            ) from error
    if startup.global_block().ops or program.all_parameters():
        made = ", ".join(p.name for p in program.all_parameters())
        raise RewriteError(
            f"rule {rule.name!r}: its {what} makes parameters ({made}), whose values nobody has; "
            f"take them as operands"
        )
    if program.num_blocks > 1:
        raise RewriteError(f"rule {rule.name!r}: its {what} has branches or loops")
    return block, list(_result_names(rule, what, returned, block))


def _result_names(rule: Rule, what: str, found: Any, block: Block) -> Iterator[str]:
    listed = found if isinstance(found, (list, tuple)) else [found]
    if not listed:
        raise RewriteError(f"rule {rule.name!r}: its {what} gives nothing")
    for value in listed:
        if not isinstance(value, Variable) or value.block is not block:
            raise RewriteError(
                f"rule {rule.name!r}: its {what} has to give variables that it computes, got "
                f"{value!r:.60} of type {type(value).__name__}"
            )
        yield value.name
