"""A program as a graph: which operator takes what from which, and which is whose gradient."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..ir.analysis import blocks_driven_by
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..opdef.gradient import DerivedGrad

#: what an operator is for, in a word
ROLES = ("forward", "backward", "optimize", "learning rate")
_GRADIENT = re.compile(r"(?P<name>.+)@GRAD(?:@RENAME@.*|_\d+)?\Z", re.DOTALL)


def role_of(op: Operator) -> str:
    """What an operator is for: one of :data:`ROLES`."""
    if op.role & OpRole.LRSCHED:
        return ROLES[3]
    if op.role & OpRole.OPTIMIZE:
        return ROLES[2]
    return ROLES[1] if op.role & OpRole.BACKWARD else ROLES[0]


class ValueKey(NamedTuple):
    """A value: what a name holds in a block from one operator on that writes it."""

    block: int
    name: str
    writer: int | None  #: its number; None for what the name holds at the block's begin


class Edge(NamedTuple):
    """An operator reads what another one wrote."""

    source: int  #: number of the operator that writes
    target: int  #: number of the operator that reads
    variable: int  #: number of the variable


@dataclass(slots=True)
class Use:
    """A variable of a program, and the operators that mention it."""

    variable: Variable
    writers: list[int] = field(default_factory=list)
    readers: list[int] = field(default_factory=list)

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter."""
        return isinstance(self.variable, Parameter)


class ProgramGraph:
    """A program as a graph; operators and variables have numbers, in the order of the text.

    Args:
        program: it need not be verified, and operators need not be defined.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ops: list[Operator] = [op for block in program.blocks for op in block.ops]
        self.roles: list[str] = [role_of(op) for op in self.ops]
        self.variables: list[Use] = []
        self.edges: list[Edge] = []
        #: operators that read a variable which no operator before them wrote: (variable, reader)
        self.given: list[tuple[int, int]] = []
        #: gradient operator -> its forward operator
        self.forward_of: dict[int, int] = {}
        #: block -> the operator that drives it
        self.driver_of: dict[int, int] = {}
        self._first: list[int] = []  # of each block
        count = 0
        for block in program.blocks:
            self._first.append(count)
            count += len(block.ops)
        self._numbers: dict[tuple[int, str], int] = {}
        for block in program.blocks:
            for name, variable in block.vars.items():
                self._numbers[block.idx, name] = len(self.variables)
                self.variables.append(Use(variable))
        self._find_drivers()
        #: block -> name -> the operators of the block that write it, in order
        self._written: dict[int, dict[str, list[int]]] = {}
        #: blocks, and names that they read before they write them
        self._read_first: set[tuple[int, str]] = set()
        self._walk()
        self._match_gradients()

    def number(self, block: Block, position: int) -> int:
        """The number of an operator."""
        return self._first[block.idx] + position

    def position(self, number: int) -> int:
        """The position of an operator in its block."""
        return number - self._first[self.ops[number].block.idx]

    def numbers_of(self, block: Block) -> range:
        """The numbers of a block's operators."""
        first = self._first[block.idx]
        return range(first, first + len(block.ops))

    def variable_number(self, block: Block, name: str) -> int | None:
        """The number of the variable that a name means in a block."""
        found = self._numbers.get((block.idx, name))
        if found is not None:
            return found
        variable = block.find_var_recursive(name)
        return None if variable is None else self._numbers.get((variable.block.idx, name))

    def value(self, block: Block, name: str, position: int, outer_counts: bool = False) -> ValueKey:
        """What a name holds before the operator at a position of a block.

        A name that is written once, before anything reads it, holds one value.

        Args:
            block, name, position: they.
            outer_counts: whether a name of an outer block holds a value before the first write.
        """
        writers = self._written.get(block.idx, {}).get(name, ())
        before = bisect_left(writers, self.number(block, position))
        if before or not writers:
            return ValueKey(block.idx, name, writers[before - 1] if before else None)
        is_outer = outer_counts and name not in block.vars
        is_one = len(writers) == 1 and not is_outer and (block.idx, name) not in self._read_first
        return ValueKey(block.idx, name, writers[0] if is_one else None)

    def first_value(self, block: Block, name: str) -> ValueKey:
        """The first value that an operator of a block gives a name; what it holds at the begin
        where none does.
        """
        writers = self._written.get(block.idx, {}).get(name, ())
        return ValueKey(block.idx, name, writers[0] if writers else None)

    def gradients_of(self) -> dict[int, list[int]]:
        """Forward operator -> its gradient operators."""
        found: dict[int, list[int]] = {}
        for gradient, forward in self.forward_of.items():
            found.setdefault(forward, []).append(gradient)
        return found

    def names(self, op: Operator, side: str) -> Iterator[tuple[str, str]]:
        """Slots and names of one side of an operator, "inputs" or "outputs"."""
        for slot, names in getattr(op, side).items():
            for name in names:
                if name != EMPTY:
                    yield slot, name

    # -- making ------------------------------------------------------------------------------------

    def _find_drivers(self) -> None:
        for number, op in enumerate(self.ops):
            for index in blocks_driven_by(op):
                if 0 < index < len(self.program.blocks):
                    self.driver_of.setdefault(index, number)
        # blocks of a broken program may lie in each other: such are driven by nobody
        reached = {0}
        for index in list(self.driver_of):
            way: list[int] = []
            while index not in reached and index in self.driver_of and index not in way:
                way.append(index)
                index = self.ops[self.driver_of[index]].block.idx
            if index in way:
                for each in way[way.index(index) :]:
                    del self.driver_of[each]
            reached.update(way)

    def _walk(self) -> None:
        """Go through the blocks in the order in which they run, without recursion."""
        started: set[int] = set()
        bodies: dict[int, list[int]] = {}
        for index, driver in self.driver_of.items():
            bodies.setdefault(driver, []).append(index)
        for block in self.program.blocks:
            if block.idx in started or (block.idx and block.idx in self.driver_of):
                continue
            stack = [(block, iter(self.numbers_of(block)))]
            started.add(block.idx)
            self._written[block.idx] = {}
            while stack:
                current, numbers = stack[-1]
                number = next(numbers, None)
                if number is None:
                    stack.pop()
                    continue
                self._pass_by(number, self.ops[number], current)
                for index in bodies.get(number, ()):
                    if index not in started:
                        started.add(index)
                        inner = self.program.blocks[index]
                        self._written[index] = self._bound(number, inner)
                        stack.append((inner, iter(self.numbers_of(inner))))

    def _pass_by(self, number: int, op: Operator, block: Block) -> None:
        """Note what an operator reads, then what it writes."""
        for name in dict.fromkeys(name for _, name in self.names(op, "inputs")):
            writer = self._last_writer(block, name)
            variable = self.variable_number(block, name)
            if variable is None:
                continue
            self.variables[variable].readers.append(number)
            if writer is None:
                self.given.append((variable, number))
            elif writer != number:
                self.edges.append(Edge(writer, number, variable))
        written = self._written[block.idx]
        for name in dict.fromkeys(name for _, name in self.names(op, "outputs")):
            written.setdefault(name, []).append(number)
            variable = self.variable_number(block, name)
            if variable is not None:
                self.variables[variable].writers.append(number)

    def _last_writer(self, block: Block | None, name: str) -> int | None:
        while block is not None:
            written = self._written.get(block.idx)
            if written is not None and name in written:
                return written[name][-1]
            self._read_first.add((block.idx, name))
            if block.forward_block_idx >= 0:
                forward = self._written.get(block.forward_block_idx, {})
                if name in forward:
                    return forward[name][-1]
            block = block.parent
        return None

    def _bound(self, number: int, inner: Block) -> dict[str, list[int]]:
        """What an operator gives the block that it drives: names of the block -> itself."""
        op = self.ops[number]
        if op.definition is None:
            return {}
        bound = set(op.instance().bound_names(op.inputs))
        return {name: [number] for name in bound if name in inner.vars}

    # -- gradients ---------------------------------------------------------------------------------

    def _match_gradients(self) -> None:
        """Find the forward operator of each gradient operator: of its type, and of its names."""
        makers: dict[tuple[str, str], list[int]] = {}
        for number, op in enumerate(self.ops):
            for _, name in self.names(op, "outputs"):
                makers.setdefault((op.type, name), []).append(number)
        taken: set[int] = set()
        for number, op in enumerate(self.ops):
            if self.roles[number] != "backward" and not op.type.endswith("_grad"):
                continue
            found = self._forward(number, op, makers, taken)
            if found is not None:
                self.forward_of[number] = found
                taken.add(found)

    def _forward(
        self, number: int, op: Operator, makers: dict[tuple[str, str], list[int]], taken: set[int]
    ) -> int | None:
        if op.role == OpRole.BACKWARD | OpRole.LOSS:  # the seed of the loss
            return self._seeded(number, op)
        for index in blocks_driven_by(op):
            if 0 < index < len(self.program.blocks):
                behind = self.program.blocks[index].forward_block_idx
                if behind in self.driver_of:
                    return self.driver_of[behind]
        type = forward_type(op)
        if type is None:
            return None
        for name in _forward_names(op):
            # of several writers the last one that has no gradient yet: backward goes from the end
            candidates = [n for n in makers.get((type, name), ()) if n < number]
            free = [n for n in candidates if n not in taken]
            for chosen in (*reversed(free), *reversed(candidates)):
                if self._reads_alike(op, self.ops[chosen]):
                    return chosen
            if candidates:
                return (free or candidates)[-1]
        return None

    def _reads_alike(self, gradient: Operator, forward: Operator) -> bool:
        """Whether what a gradient operator reads of the inputs is what the forward one reads."""
        definition = gradient.definition
        if definition is None or not issubclass(definition, DerivedGrad):
            return True
        return all(
            gradient.inputs.get(read.slot) in (None, forward.inputs.get(read.of))
            for read in definition.reads
            if read.source == "in"
        )

    def _seeded(self, number: int, op: Operator) -> int | None:
        """The operator that makes the loss whose gradient begins here."""
        for _, name in self.names(op, "outputs"):
            loss = forward_name(name)
            if loss is None:
                continue
            variable = self.variable_number(op.block, loss)
            writers = [] if variable is None else self.variables[variable].writers
            before = [n for n in writers if n < number]
            if before:
                return before[-1]
        return None


def forward_name(name: str) -> str | None:
    """The variable whose gradient has that name; None when it is no gradient's name.

    >>> forward_name("fc_0.tmp_1@GRAD"), forward_name("x@GRAD@RENAME@block0@1"), forward_name("x")
    ('fc_0.tmp_1', 'x', None)
    """
    found = _GRADIENT.match(name)
    return None if found is None else found["name"]


def forward_type(op: Operator) -> str | None:
    """The type of the operator whose gradient an operator is; None when it is none."""
    definition = op.definition
    if definition is not None:
        behind = definition.derived_from
        return None if behind is None else behind.type
    return op.type.removesuffix("_grad") if op.type.endswith("_grad") else None


def _forward_names(op: Operator) -> Iterable[str]:
    """Names that the forward operator may have written, likely ones first."""
    candidates: dict[str, None] = {}
    for names in op.inputs.values():
        for name in names:
            forward = forward_name(name)
            while forward is not None:
                candidates[forward] = None
                forward = forward.removeprefix("grad/") if forward.startswith("grad/") else None
    for names in op.inputs.values():
        candidates.update(dict.fromkeys(names))
    candidates.pop(EMPTY, None)
    return candidates
