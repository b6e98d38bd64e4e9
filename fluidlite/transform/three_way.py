"""Two people's changes of one program as one program; what clashes is named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import FluidError, MergeConflictError, VerifyError
from ..ground.arguments import refused
from ..ground.quantities import quantity
from ..ground.quoting import escaping
from ..ir.analysis import blocks_driven_by, reads_of, writes_of
from ..ir.block import Block
from ..ir.compare import PARAMETER_FIELDS, VARIABLE_FIELDS
from ..ir.foreign import has_effect
from ..ir.literal import names_text, typed_text
from ..ir.operator import Operator
from ..ir.program import Program, copy_operator
from ..ir.pruning import renumber
from ..ir.text import marks_text, operator_text, section_text, variable_text
from ..ir.variable import Parameter, Variable
from .alignment import aligned, gaps
from .carrying import carry_operator, carry_program, carry_variable
from .editing import infer_shapes

T = TypeVar("T")
_ABSENT = "nothing"
#: the fields of operators that the text holds behind and above them -> what conflicts call and show
_NOTES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "role": ("section", section_text),
    "role_vars": ("for", str),
    "namescope": ("name scope", str),
    "device": ("device", str),
    "lists_given_attrs": ("bare", str),
}


@dataclass(frozen=True)
class Conflict:
    """What two changes of a program say in two ways, or do to its values.

    >>> issubclass(fluid.transform.Conflict, tuple)
    False
    """

    where: str  #: the block, and the operator or variable in it
    what: str  #: which part of it
    base: str
    ours: str
    theirs: str

    @escaping
    def __str__(self) -> str:
        return (
            f"{self.where}: {self.what}\n  base:   {self.base}\n  ours:   {self.ours}\n"
            f"  theirs: {self.theirs}"
        )


def merge3(base: Program, ours: Program, theirs: Program) -> Program:
    """A program with the changes of two others, which were both made of a third.

    What one of them changed, added or left out is so in the result; what both did alike, too.  An
    operator whose attributes, inputs or notes both changed has the changes of both, as long as
    these are not about the same one.  Operators that both add at one place stand in an order that
    does not depend on who is who; shapes are inferred anew where they have to be.

    Args:
        base: what both began with.
        ours, theirs: the changed programs.

    Returns:
        a new program; the three stay as they were.

    Raises:
        MergeConflictError: both changed one thing in two ways, or one uses what the other left out
            or wrote anew; its ``conflicts`` say in which block, of which operator or variable, and
            the texts of both sides.
        ArgumentError: one of them is no program.

    >>> text = "program (seed=0) {\\n block 0 {\\n data x: float32[3]\\n var y: float32[3]\\n"
    >>> base = fluid.Program.parse(text + " y = scale(X=x)\\n }\\n}")
    >>> ours = fluid.Program.parse(text + " y = scale(X=x, scale=2.0)\\n }\\n}")
    >>> theirs = fluid.Program.parse(text + " y = scale(X=x, bias=1.0)\\n }\\n}")
    >>> print(fluid.transform.merge3(base, ours, theirs).global_block().ops[0])
    y = scale(X=x, scale=2.0, bias=1.0)
    """
    for name, program in (("base", base), ("ours", ours), ("theirs", theirs)):
        if not isinstance(program, Program):
            raise refused("merge3", name, "a Program", program)
    merger = _Merger(base, *_apart(base, ours, theirs))
    merged = merger.program()
    if not merger.conflicts:
        merger.conflicts += _broken_rules(merged, (base, ours, theirs))
    if merger.conflicts:
        raise conflict_error(merger.conflicts)
    return merged


def conflict_error(conflicts: Sequence[Conflict]) -> MergeConflictError:
    """The error that lists what clashes."""
    count = f"{len(conflicts)} conflict{'s' * (len(conflicts) != 1)}"
    error = MergeConflictError(
        "\n".join([f"{count} between ours and theirs", *map(str, conflicts)])
    )
    error.conflicts = tuple(conflicts)
    return error


def _broken_rules(made: Program, programs: Iterable[Program]) -> Iterator[Conflict]:
    """What is wrong with the merged program, though with none of those that it was made of."""
    first = _broken_rule(made)
    if first and not any(map(_broken_rule, programs)):
        with contextlib.suppress(FluidError):  # an operator does not fit what it reads
            infer_shapes(made)
            first = _broken_rule(made)
        if first:
            yield Conflict("the merged program", first, "right", "right", "right")


def _broken_rule(program: Program) -> str:
    try:
        program.verify()
    except VerifyError as error:
        return str(error)
    return ""


# -- blocks ----------------------------------------------------------------------------------------


def _apart(base: Program, ours: Program, theirs: Program) -> tuple[dict[int, Block], ...]:
    """The blocks of both by number; those that both add have numbers of their own, unless they
    are the same.
    """
    count = base.num_blocks
    sides = [ours, theirs]
    added = ["\n".join(map(_block_text, side.blocks[count:])) for side in sides]
    if all(added) and added[0] != added[1]:
        place = added.index(max(added))
        moved = sides[1 - place].num_blocks - count
        later = sides[place] = sides[place].clone()
        numbers = {k: k + moved * (k >= count) for k in range(-1, later.num_blocks)}
        for block in later.blocks:
            for op in block.ops:
                renumber(op, numbers)
        for block in later.blocks:
            block.idx, block.parent_idx, block.forward_block_idx = (
                numbers[k] for k in (block.idx, block.parent_idx, block.forward_block_idx)
            )
        pads = [Block(later, count + k, 0) for k in range(moved)]
        by_number = {block.idx: block for block in later.blocks}
        later.blocks[count:count] = pads
        return tuple(by_number if s is later else dict(enumerate(s.blocks)) for s in sides)
    return tuple(dict(enumerate(side.blocks)) for side in sides)


def _block_text(block: Block) -> str:
    head = f"block in {block.parent_idx} of {block.forward_block_idx}"
    return "\n".join([head, *map(variable_text, block.vars.values()), *map(_whole_text, block.ops)])


def _block_size(block: Block) -> str:
    return f"{quantity(len(block.ops), 'operator')}, {quantity(len(block.vars), 'variable')}"


def _whole_text(op: Operator) -> str:
    return f"{operator_text(op)}{marks_text(op)} {section_text(op.role)}"


class _Merger:
    """Merges part by part; takes down what clashes."""

    def __init__(self, base: Program, ours: dict[int, Block], theirs: dict[int, Block]) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.conflicts: list[Conflict] = []

    def program(self) -> Program:
        """The merged program; what clashes in it is ours."""
        one, other = self.ours[0].program, self.theirs[0].program
        merged = Program()
        seeds = [p.random_seed for p in (self.base, one, other)]
        merged.random_seed = self.pick("the program", "seed", seeds, str)
        bases = dict(enumerate(self.base.blocks))
        blocks = []
        for index in sorted(bases.keys() | self.ours.keys() | self.theirs.keys()):
            sides = [side.get(index) for side in (bases, self.ours, self.theirs)]
            kept = self.present(f"block {index}", "block", sides, _block_text, _block_size)
            if kept is not None:
                blocks.append(self.block(merged, index, sides))
        merged.blocks = blocks
        self.number(blocks)
        carry_program(one, merged)
        return merged

    def number(self, blocks: Sequence[Block]) -> None:
        """Number the blocks from 0 on, where one of the base was left out."""
        numbers = {-1: -1, **{block.idx: k for k, block in enumerate(blocks)}}
        if all(old == new for old, new in numbers.items()):
            return
        for block in blocks:
            lost = [k for k in (block.parent_idx, block.forward_block_idx) if k not in numbers]
            lost += [k for op in block.ops for k in blocks_driven_by(op) if k not in numbers]
            if lost:
                texts = (f"block {lost[0]} is there", "left out or used", "used or left out")
                self.conflict(f"block {block.idx}", f"use of block {lost[0]}", texts)
                return
            for op in block.ops:
                renumber(op, numbers)
        for block in blocks:
            block.idx, block.parent_idx, block.forward_block_idx = (
                numbers[k] for k in (block.idx, block.parent_idx, block.forward_block_idx)
            )

    # -- one thing ---------------------------------------------------------------------------------

    def conflict(self, where: str, what: str, texts: Iterable[str]) -> None:
        self.conflicts.append(Conflict(where, what, *texts))

    def pick(self, where: str, what: str, sides: Sequence[T], show: Callable[[T], str]) -> T:
        """What three sides come to, of a thing that is changed as a whole."""
        base, ours, theirs = sides
        if ours == base:
            return theirs
        if theirs not in (base, ours):
            self.conflict(where, what, map(show, sides))
        return ours

    def present(
        self,
        where: str,
        what: str,
        sides: Sequence[T | None],
        text: Callable[[T], str],
        show: Callable[[T], str] | None = None,
    ) -> T | None:
        """Something that is in the result, of that side which has it; None if it is not.

        Args:
            where, what: what it is.
            sides: of the base, of ours and theirs; None where it is not.
            text: the same where nothing was changed.
            show: what a conflict says of it; the text when None.
        """
        base, ours, theirs = sides
        if base is None:
            return ours if ours is not None else theirs
        if ours is not None and theirs is not None:
            return ours
        left = ours if ours is not None else theirs
        if left is not None and text(left) != text(base):
            said = show or text
            texts = ["left out" if side is None else said(side) for side in sides]
            self.conflict(where, what, texts)
        return None

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, program: Program, index: int, sides: Sequence[Block | None]) -> Block:
        known = [side for side in sides if side is not None]
        nesting = [(side.parent_idx, side.forward_block_idx) for side in known]
        three = nesting if len(nesting) == 3 else [nesting[0], nesting[0], nesting[-1]]
        merged = Block(program, index, *self.pick(f"block {index}", "nesting", three, str))
        each = [Block(program, index) if side is None else side for side in sides]
        self.variables(merged, each)
        merged.set_ops(_Operators(self, merged, each).merged())
        return merged

    def variables(self, block: Block, sides: Sequence[Block]) -> None:
        for name in self.names(sides):
            where = f"block {block.idx}, variable {name!r}"
            three = [side.vars.get(name) for side in sides]
            kept = self.present(where, "declaration", three, variable_text)
            if kept is not None:
                block.declare(self.variable(block, where, kept, three))

    def names(self, sides: Sequence[Block]) -> list[str]:
        """The names of variables in the order of the merged block, those left out among them."""
        base, ours, theirs = (list(side.vars) for side in sides)
        if ours in (base, theirs) or theirs == base:
            changed = ours if theirs == base else theirs
            return list(dict.fromkeys([*changed, *base]))
        added: dict[str, set[str]] = {}  # name of the base in front, or "" -> names behind
        for side in (ours, theirs):
            front = ""
            for name in side:
                if name in sides[0].vars:
                    front = name
                else:
                    added.setdefault(front, set()).add(name)
        order: dict[str, None] = {}
        for front in ("", *base):
            order.update(dict.fromkeys([front] if front else []))
            order.update(dict.fromkeys(sorted(added.get(front, ()))))
        return list(order)

    def variable(
        self, block: Block, where: str, kept: Variable, sides: Sequence[Variable | None]
    ) -> Variable:
        base, ours, theirs = sides
        if ours is None or theirs is None:
            return kept.copy_to(block)
        texts = [None if v is None else variable_text(v, notes=False) for v in sides]
        if texts[1] == texts[2] or texts[2] == texts[0]:
            return ours.copy_to(block)
        if texts[1] == texts[0]:
            return theirs.copy_to(block)
        if base is None or type(ours) is not type(theirs):
            self.conflict(where, "declaration", [text or _ABSENT for text in texts])
            return ours.copy_to(block)
        fields = [_declared(variable) for variable in (base, ours, theirs)]
        said: dict[str, Any] = {
            name: self.pick(where, name, [each.get(name) for each in fields], str)
            for name in fields[1]
        }
        made = type(ours)(block, ours.name, **said)
        carry_variable(ours, made)
        return made


def _declared(variable: Variable) -> dict[str, Any]:
    """What the text says of a variable, as arguments of its class."""
    fields = VARIABLE_FIELDS + (PARAMETER_FIELDS if isinstance(variable, Parameter) else ())
    said = {name: getattr(variable, name) for name in fields if not name.startswith("has_")}
    for name in ("shape", "dtype"):
        if not getattr(variable, f"has_{name}"):
            said[name] = None
    return said


# -- operators -------------------------------------------------------------------------------------


class _Operators:
    """The operators of a block on three sides."""

    def __init__(self, merger: _Merger, block: Block, sides: Sequence[Block]) -> None:
        self.merger = merger
        self.block = block
        self.base = sides[0].ops
        texts = [*map(_whole_text, self.base)]
        self.ours, self.theirs = (_Fates(self.base, texts, side.ops) for side in sides[1:])
        self.added: tuple[list[Operator], list[Operator]] = ([], [])  # by one side only
        #: names that operators read on one side, and did not before
        self.rewired: tuple[dict[str, Operator], dict[str, Operator]] = ({}, {})

    def merged(self) -> list[Operator]:
        """The operators of the merged block."""
        ops = self.between(0)
        for i, op in enumerate(self.base):
            ops += [*self.one(i, op), *self.between(i + 1)]
        self.check_added()
        return ops

    def copied(self, ops: Iterable[Operator]) -> list[Operator]:
        return [copy_operator(op, self.block) for op in ops]

    def between(self, gap: int) -> list[Operator]:
        """What both add at one place; what both add alike is there once."""
        ours, theirs = self.ours.added[gap], self.theirs.added[gap]
        texts = [[*map(_whole_text, ops)] for ops in (ours, theirs)]
        same = aligned(*texts)
        ops: list[Operator] = []
        for i, x, k, y in gaps(same, (0, len(ours), 0, len(theirs))):
            self.added[0].extend(ours[i:x])
            self.added[1].extend(theirs[k:y])
            runs = sorted([(texts[0][i:x], ours[i:x]), (texts[1][k:y], theirs[k:y])], key=_first)
            for _, run in runs:
                ops += self.copied(run)
            if x < len(ours):
                ops += self.copied([ours[x]])
        return ops

    def one(self, i: int, op: Operator) -> list[Operator]:
        """What becomes of an operator of the base."""
        where = f"block {self.block.idx}, operator {operator_text(op)}"
        sides = [op, self.ours.fates[i], self.theirs.fates[i]]
        if self.merger.present(where, "operator", sides, _whole_text) is None:
            return []
        ours, theirs = sides[1:]
        assert ours is not None and theirs is not None
        for side, fates, now in zip(self.rewired, (self.ours, self.theirs), (ours, theirs)):
            if i in fates.changed:
                before = set(reads_of(op))
                side.update((name, now) for name in reads_of(now) if name not in before)
        if i not in self.ours.changed:
            return self.copied([theirs])
        if i not in self.theirs.changed or _whole_text(theirs) == _whole_text(ours):
            return self.copied([ours])
        return [self.both(where, op, ours, theirs)]

    def both(self, where: str, base: Operator, ours: Operator, theirs: Operator) -> Operator:
        """An operator that both changed."""
        merger = self.merger

        def merged(what: str, get: Callable[[Operator], Mapping[str, Any]], show: Any) -> Any:
            sides = [get(op) for op in (base, ours, theirs)]
            names = dict.fromkeys(name for side in sides for name in side)
            picked = {
                name: merger.pick(where, f"{what} {name}", [each.get(name) for each in sides], show)
                for name in names
            }
            return {name: value for name, value in picked.items() if value is not None}

        inputs = merged("input", lambda op: op.inputs, _names)
        outputs = merged("output", lambda op: op.outputs, _names)
        attrs = merged("attribute", _attributes, _value)
        notes = {
            field: merger.pick(
                where, what, [getattr(op, field) for op in (base, ours, theirs)], show
            )
            for field, (what, show) in _NOTES.items()
        }
        changed = Operator(
            self.block,
            ours.type,
            _ordered(inputs, ours, "input_slots"),
            _ordered(outputs, ours, "output_slots"),
            {n: v.value for n, v in _ordered(attrs, ours, "attributes").items()},
            foreign=theirs.foreign,
            **notes,
        )
        carry_operator(ours, changed)
        return changed

    def check_added(self) -> None:
        """Refuse operators that both add, or let read other names, where one writes what the other
        one uses.
        """
        writers: list[dict[str, Operator]] = []
        users: list[dict[str, Operator]] = []
        for ops, rewired in zip(self.added, self.rewired):
            writers.append({name: op for op in ops for name in writes_of(op)})
            reads = {name: op for op in ops for name in reads_of(op)}
            users.append({**rewired, **reads, **writers[-1]})
        names = (writers[0].keys() & users[1].keys()) | (writers[1].keys() & users[0].keys())
        for name in sorted(names):
            texts = [operator_text(side[name]) for side in users]
            where = f"block {self.block.idx}, {name!r}"
            self.merger.conflict(where, "value that both use or write", (_ABSENT, *texts))
        effects = [[op for op in ops if has_effect(op.definition)] for ops in self.added]
        if all(effects):
            texts = [operator_text(ops[0]) for ops in effects]
            where = f"block {self.block.idx}"
            self.merger.conflict(where, "order of effects", (_ABSENT, *texts))


@dataclass(frozen=True)
class _Attribute:
    """The value of an attribute; equal where the text is."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Attribute) and typed_text(self.value) == typed_text(other.value)


def _attributes(op: Operator) -> dict[str, _Attribute]:
    return {name: _Attribute(value) for name, value in op.attrs.items()}


def _value(attribute: _Attribute | None) -> str:
    return "its default" if attribute is None else typed_text(attribute.value)


def _names(names: tuple[str, ...] | None) -> str:
    return _ABSENT if names is None else names_text(names, many=False)


def _first(pair: tuple[Any, ...]) -> Any:
    return pair[0]


def _ordered(merged: Mapping[str, T], like: Operator, table: str) -> dict[str, T]:
    """Slots or attributes in the order of the definition; others by name behind them."""
    definition = like.definition
    known = [] if definition is None else list(getattr(definition, table))
    places = {name: place for place, name in enumerate(known)}
    names = sorted(merged, key=lambda name: (places.get(name, len(places)), name))
    return {name: merged[name] for name in names}


class _Fates:
    """What became of each operator of the base, and what was added before and behind it."""

    def __init__(
        self, base: Sequence[Operator], texts: Sequence[str], side: Sequence[Operator]
    ) -> None:
        self.fates: list[Operator | None] = [None] * len(base)
        self.changed: set[int] = set()  #: those that are there, but say something else
        self.added: list[list[Operator]] = [[] for _ in range(len(base) + 1)]
        whole = (0, len(base), 0, len(side))
        pairs = aligned(texts, [*map(_whole_text, side)])
        for key in (_writer, _reader):
            for i, j, k, m in list(gaps(pairs, whole)):
                if i < j and k < m:
                    mine, others = [*map(key, base[i:j])], [*map(key, side[k:m])]
                    more = [(i + x, k + y) for x, y in aligned(mine, others)]
                    pairs += more
                    self.changed.update(x for x, _ in more)
            pairs.sort()
        for i, j, k, m in list(gaps(pairs, whole)):
            if j - i == m - k and all(map(_are_kin, base[i:j], side[k:m])):
                pairs += zip(range(i, j), range(k, m))
                self.changed.update(range(i, j))
        pairs.sort()
        for i, k in pairs:
            self.fates[i] = side[k]
        for i, _, k, m in gaps(pairs, whole):
            self.added[i].extend(side[k:m])


def _are_kin(op: Operator, other: Operator) -> bool:
    """Whether operators of one type have a name in common: one that both read or both write."""
    shared = {*op.input_arg_names} & {*other.input_arg_names}
    shared |= {*op.output_arg_names} & {*other.output_arg_names}
    return op.type == other.type and bool(shared)


def _writer(op: Operator) -> object:
    return op.type, tuple(op.outputs.items())


def _reader(op: Operator) -> object:
    return op.type, tuple(op.inputs.items()), tuple(_value(a) for a in _attributes(op).values())
