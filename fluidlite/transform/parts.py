"""Operators of a block as a program of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..errors import ArgumentError
from ..ground.dtypes import Kind
from ..io.inference import append_fetch_ops, prepend_feed_ops
from ..ir.analysis import fed_names
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable, variable_like
from ..opdef.definition import lookup
from ..opdef.spec import Spec
from .blocks import ENDS, keep_only, subtree
from .editing import infer_shapes, verified
from .selecting import declaring_block, place_of
from .versions import Version, Versions, mentions

#: kinds of variables that hold nothing before an operator writes them
WRITTEN_FIRST = frozenset({Kind.LOD_TENSOR, Kind.SELECTED_ROWS})
_SHOWN = 3  # readers in a message


def missing_values(
    versions: Versions,
    positions: Iterable[int],
    given: Iterable[Version],
    wanted: Iterable[Version] = (),
) -> list[str]:
    """What operators read that nobody gives them, a line each, with those that read it.

    Args:
        versions: of their block.
        positions: theirs.
        given: what is fed.
        wanted: what is fetched.
    """
    block, fed = versions.block, fed_names(versions.block)
    positions = list(positions)
    there = {v for i in positions for v in versions.writes[i]} | set(given)

    def is_fed(name: str) -> bool:
        variable = block.find_var_recursive(name)
        return name in fed or (variable is not None and variable.is_data)

    def is_missing(version: Version) -> bool:
        variable = block.find_var_recursive(version[0])
        if versions.is_absent(version):
            return False
        if version in there or variable is None:
            return version not in there and block.idx > 0
        written_first = not variable.persistable and variable.kind in WRITTEN_FIRST
        return written_first or is_fed(version[0])

    readers: dict[str, list[Operator]] = {}
    for position in positions:
        passed = [v for v in versions.passed_by[position] if is_fed(v[0])]
        for version in filter(is_missing, (*versions.reads[position], *passed)):
            readers.setdefault(version[0], []).append(block.ops[position])
    those = {name: named_readers(ops) for name, ops in readers.items()}
    for version in filter(is_missing, wanted):
        those.setdefault(version[0], "the outputs")
    return [f"  {name!r}, read by {who}" for name, who in those.items()]


def missing_inputs(block: Block, given: Iterable[str]) -> list[str]:
    """What a block reads that is not given, a line each, with who reads it."""
    versions = Versions(block)
    return missing_values(versions, range(len(block.ops)), [(name, 0) for name in given])


class CutOut:
    """Operators of a block that are to be a program.

    Args:
        versions: of the block.
        kept: the positions of the operators.
        given: the values that are fed.
        wanted: the values that are fetched.
        states: variables that are to stay between runs.
        apart: of the values those that are to have names of their own.
    """

    def __init__(
        self,
        versions: Versions,
        kept: Sequence[int],
        given: Sequence[Version],
        wanted: Sequence[Version],
        states: Collection[str] = (),
        apart: Collection[Version] = (),
    ) -> None:
        self.versions = versions
        self.block = versions.block
        self.kept = kept
        self.given = given
        self.wanted = wanted
        self.states = states
        self.apart = apart
        self._written = {v for i in kept for v in versions.writes[i]}
        #: the value that each name holds at last in the part
        self._final: dict[str, int] = {}
        for name, number in (*given, *self._written):
            self._final[name] = max(self._final.get(name, 0), number)
        self._declared = declared_while(versions, [*given, *wanted, *self._final.items()])

    def check(self) -> None:
        """Refuse a part that reads what nobody gives it.

        Raises:
            ArgumentError: names the variables and the operators that read them.
        """
        lines = missing_values(self.versions, self.kept, self.given, self.wanted)
        if lines:
            what = "a variable" if len(lines) == 1 else f"{len(lines)} variables"
            raise ArgumentError(
                "\n".join([f"the inputs leave out {what} that the outputs need:", *lines])
                + "\nname them among the inputs, or cut further ahead"
            )

    def build(self, program: Program) -> Program:
        """The part as a program."""
        for name, _ in self.given:
            variable = self.block.find_var_recursive(name)
            if variable is not None and variable.kind is not Kind.LOD_TENSOR:
                readers = [self.block.ops[i] for i in self.kept if self.block.ops[i].reads(name)]
                raise ArgumentError(
                    f"expected inputs that can be fed, {name!r} holds a {variable.kind.name}; it "
                    f"is read by {named_readers(readers) or 'nothing'}: cut further ahead"
                )
        return verified(program, self._change)

    def _change(self, copied: Program) -> None:
        block = copied.blocks[self.block.idx]
        before, behind = self._names_before(), self._names_behind()
        copies = {v: n for v, n in behind.items() if v not in before}
        named = [*before.items(), *copies.items()]
        for version, name in named:
            self._declare(block, version, name)
        has_ends = any(op.type in ENDS for op in block.ops)
        ops = self._operators(block, before, copies)
        # what is assigned was declared as what its source is declared as at last
        for version, name in [*((v, v[0]) for v in self._final.items()), *named]:
            spec = self._spec(version)
            if spec is not None and name in block.vars:
                block.vars[name].take_spec(spec)
        names = self.input_names()
        results = self.output_names()
        _become_whole(copied, block, ops, names, results)
        for name in self.states:
            copied.global_block().vars[name].persistable = True
        if has_ends:
            append_fetch_ops(copied, results)
            prepend_feed_ops(copied, names)

    def input_names(self) -> list[str]:
        """What is fed to the part, in the order of what is given."""
        before = self._names_before()
        return [before.get(v, v[0]) for v in self.given]

    def output_names(self) -> list[str]:
        """What the part computes, in the order of the targets."""
        before, behind = self._names_before(), self._names_behind()
        return [before.get(v) or behind.get(v, v[0]) for v in self.wanted]

    def _operators(
        self, block: Block, before: Mapping[Version, str], copies: Mapping[Version, str]
    ) -> list[Operator]:
        """The operators of the part, and those that assign what has a name of its own.

        Args:
            block: a copy of the block.
            before: names of inputs that are assigned to their variables.
            copies: names of outputs that variables are assigned to.
        """
        ops: list[Operator] = []

        def assign(source: str, result: str) -> None:
            values = {"X": source}, {"Out": result}
            ops.append(block.make_op(lookup("assign")({}), *values, None))

        for (name, number), copy in copies.items():
            if not number:
                assign(name, copy)
        pending = sorted((self.versions.writer.get(v, -1), n, v[0]) for v, n in before.items())
        for position in self.kept:
            while pending and pending[0][0] < position:
                assign(*pending.pop(0)[1:])
            ops.append(block.ops[position])
            self._leave_out_unread(ops[-1], position)
            for version in self.versions.writes[position]:
                if version in copies:
                    assign(version[0], copies[version])
        for _, source, result in pending:
            assign(source, result)
        return ops

    def _leave_out_unread(self, op: Operator, position: int) -> None:
        """Empty the slots of an operator that it does not read or that hold nothing, and whose
        variables nothing in the part writes.
        """
        definition = op.definition
        if definition is None:
            return
        versions = self.versions
        absent: set[Version] = set()
        for slot in definition.fluid.unread:
            absent.update(versions.at(name, position) for name in op.inputs.get(slot, ()))
        absent.update(filter(versions.is_absent, versions.reads[position]))
        names = {version[0] for version in absent if not self._has(version)}
        for slot in [slot for slot, listed in op.inputs.items() if names.intersection(listed)]:
            if slot in definition.input_slots and definition.input_slots[slot].optional:
                op.set_input(slot)

    def _has(self, version: Version) -> bool:
        """Whether the part has a value."""
        variable = self.block.find_var_recursive(version[0])
        is_state = variable is not None and variable.persistable
        return is_state or version in self._written

    def _names_before(self) -> dict[Version, str]:
        """Inputs whose variables hold other values in the part, too, and what they are called."""
        of: dict[str, list[Version]] = {}
        for version in dict.fromkeys(self.given):
            of.setdefault(version[0], []).append(version)
        written = self._written
        read = {v for i in self.kept for v in self.versions.reads[i]}
        known = {name for each in self.block.program.blocks for name in each.vars}
        renamed: dict[Version, str] = {}
        for name, values in of.items():
            for version in values:
                earlier = any(n == name and k <= version[1] for n, k in written)
                other = any(n == name and k < version[1] for n, k in read)
                is_apart = version in self.apart or self._has_other_shape(version)
                if version[1] and (earlier or other or len(values) > 1 or is_apart):
                    renamed[version] = _free(f"{name}@VALUE_{version[1]}", known)
        return renamed

    def _has_other_shape(self, version: Version) -> bool:
        """Whether a variable is declared as something else when it holds another value later."""
        final = (version[0], self._final[version[0]])
        return final != version and self._spec(final) != self._spec(version)

    def _spec(self, version: Version) -> Spec | None:
        return self._like(version).spec

    def _like(self, version: Version) -> Variable:
        """A variable that is declared as the value is."""
        declared = self._declared.get(version)
        return self.block.var_recursive(version[0]) if declared is None else declared

    def _names_behind(self) -> dict[Version, str]:
        """Outputs whose variables hold other values later, and what their copies are called."""
        known = {name for each in self.block.program.blocks for name in each.vars}
        return {
            (name, number): _free(f"{name}@VALUE_{number}", known)
            for name, number in self.wanted
            if self._final.get(name, number) > number or (name, number) in self.apart
        }

    def _declare(self, block: Block, version: Version, name: str) -> None:
        block.declare(plain_variable(block, name, self._like(version)))


def declared_while(versions: Versions, wanted: Iterable[Version]) -> dict[Version, Variable]:
    """What variables are declared as while they hold values that are not their last.

    Args:
        versions: of a block.
        wanted: some of its values; those that are last, or there at first, are left out.
    """
    writer, last = versions.writer, versions.last
    early = [v for v in dict.fromkeys(wanted) if v in writer and v[1] < last[v[0]]]
    if not early:
        return {}
    copied = versions.block.program.clone()
    block = copied.blocks[versions.block.idx]
    at: dict[int, list[Version]] = {}
    for version in early:
        at.setdefault(id(block.ops[writer[version]]), []).append(version)
    declared: dict[Version, Variable] = {}

    def watch(op: Operator) -> None:
        for version in at.get(id(op), ()):
            declared[version] = block.var_recursive(version[0]).copy_to(block)

    infer_shapes(copied, watch)
    return declared


def plain_variable(block: Block, name: str, like: Variable) -> Variable:
    """A variable that is declared like another one, and does not stay between runs."""
    return variable_like(like, block, name, stop_gradient=like.stop_gradient)


def _become_whole(
    program: Program,
    block: Block,
    ops: Sequence[Operator],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> None:
    """Let some operators of a block be all of a program.

    Args:
        program: is changed.
        block: of it.
        ops: the operators, in order.
        inputs: names of what becomes data.
        outputs: names of what stays, be it mentioned or not.
    """
    inside = subtree(program, ops)
    names = dict.fromkeys([*inputs, *outputs])
    for each in [block, *inside]:
        for op in ops if each is block else each.ops:
            for name in mentions(op):
                owner = declaring_block(each, name)
                if owner is not None and owner not in inside:
                    names[name] = None
    order = {name: None for each in _outwards(block) for name in each.vars}
    variables = [block.find_var_recursive(n) for n in [n for n in order if n in names]]
    variables += [block.find_var_recursive(n) for n in names if n not in order]
    keep_only(program, block, ops, [v for v in variables if v is not None])
    whole = program.global_block()
    for name in inputs:
        _become_data(whole, name)
    program.schedules = {n: f for n, f in program.schedules.items() if n in whole.vars}


def _outwards(block: Block) -> list[Block]:
    """A block, and those around it, the outermost first."""
    chain = [block]
    while chain[0].parent is not None:
        chain.insert(0, chain[0].parent)
    return chain


def _become_data(block: Block, name: str) -> None:
    variable = block.var(name)
    if variable.persistable:
        block.declare(plain_variable(block, name, variable))
    block.var(name).is_data = True


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def named_readers(ops: Sequence[Operator]) -> str:
    """What messages call operators that read something."""
    more = [f"{len(ops) - _SHOWN} more"] if len(ops) > _SHOWN else []
    return ", ".join([place_of(op) for op in ops[:_SHOWN]] + more)
