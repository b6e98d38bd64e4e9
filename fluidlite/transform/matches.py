"""Where a pattern of a rule was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.spec import Spec
from .block_values import BlockValues, Spelt, Value
from .patterns import PatternNode, Variant
from .spellings import filled_number, readings


@dataclass(eq=False)
class Match:
    """Where a pattern was found.

    Args:
        variant: which graph of which rule.
        values: of the block.
        found: value of the pattern -> value of the block.
        positions: of the operators, by that of the pattern's node.

    >>> rule = fluid.transform.Rule(
    ...     lambda x: fluid.layers.relu(x),
    ...     lambda x, match: fluid.layers.scale(x, float(len(match.sorted_positions))),
    ... )
    >>> y = fluid.layers.relu(fluid.data("x", [None, 3]))
    >>> program = fluid.transform.rewrite(fluid.default_main_program(), rule)
    >>> program.global_block().ops[0].attr("scale")
    1.0
    """

    variant: Variant
    values: BlockValues
    found: Mapping[str, Value]
    positions: Mapping[int, int]

    def __post_init__(self) -> None:
        values, positions, variant = self.found, self.positions, self.variant
        #: the positions of the operators in the block, in order
        self.sorted_positions: list[int] = sorted(positions.values())
        #: the values that the pattern gives
        self.results: list[Value] = [values[name] for name in variant.results]
        #: the position of the operator where matching began
        self.root: int = positions[variant.root.at]
        self._captured: dict[str, Any] | None = None

    @property
    def block(self) -> Block:
        """The block."""
        return self.values.block

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.variant.rule.name

    @cached_property
    def operators(self) -> list[Operator]:
        """The operators, in the order of the program."""
        return [self.values.ops[at] for at in self.sorted_positions]

    def operand(self, name: str) -> Variable | None:
        """The variable that an operand of the pattern stands for; None for one that is not read.

        Args:
            name: of the operand.
        """
        return operands_of(self, [name])[name]

    def uses(self, name: str) -> int:
        """How many operators of the block read what an operand stands for.

        Args:
            name: of the operand.
        """
        value = self.found.get(name)
        return 0 if value is None else sum(1 for _ in self.values.readers_of(value))

    @property
    def captured(self) -> dict[str, Any]:
        """Attributes and choices by the names that the pattern gives them."""
        if self._captured is None:  # ``cached_property`` has a lock
            self._captured = self._read_captured()
        return self._captured

    def _read_captured(self) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for node in self.variant.nodes:
            for attribute, name in node.captured.items():
                attrs = self._reading_of(node).attrs
                is_number = node.type == "fill_constant" and attribute == "value"
                default = lookup(node.type).attributes[attribute].default
                named[name] = filled_number(attrs) if is_number else attrs.get(attribute, default)
        return {**named, **self.variant.functions}

    def _reading_of(self, node: PatternNode) -> Spelt:
        at = self.positions[node.at]
        spec_of = spec_finder(self.values)
        return next(r for r in readings(self.values.spelt(at), spec_of) if r.type == node.type)

    def __repr__(self) -> str:
        where = ", ".join(map(str, self.sorted_positions))
        return f"<Match of {self.rule}: operators {where} of block {self.block.idx}>"


def operands_of(match: Match, names: Iterable[str]) -> dict[str, Variable | None]:
    """The variables that operands of a match stand for; None for those that are not read."""
    found, find = match.found, match.values.block.find_var_recursive
    return {name: find(found[name][0]) if name in found else None for name in names}


def spec_finder(values: BlockValues) -> Callable[[Value | None], Spec | None]:
    """What gives what is declared about values."""
    find = values.block.find_var_recursive

    def spec_of(value: Value | None) -> Spec | None:
        variable = None if value is None else find(value[0])
        return None if variable is None else variable.spec

    return spec_of
