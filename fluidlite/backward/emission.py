"""Naming what a sweep has noted, and appending it to the program once the sweep is done.

What the sweep itself adds (a joined block for the next order, seeds to compute again with) and what
is appended here is taken back together when anything fails: callers hold ``all_or_nothing``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..ground import state
from ..ir.analysis import reads_of
from ..ir.block import Block
from ..ir.block_order import order_blocks
from ..ir.operator import EMPTY, Names, Operator, OpRole
from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.gradient import GRAD
from .history import name_of
from .sweep import Contributions, PendingOp, Ref, ReverseSweep

Callback = Callable[..., Any]
#: gives an operator that is there already and does what a record says, with its variables declared;
#: called with the record, and names of inputs and outputs by slot; None where it is to be made
Reuse = Callable[[PendingOp, Mapping[str, Names], Mapping[str, Names]], Operator | None]


class GradientEmitter:
    """Appends what sweeps have noted.

    Args:
        seeds: the Refs that begin gradients, which get names of their own.
        callbacks: called after each appended gradient operator.
        reuse: gives operators in place of new ones; None for none.
    """

    def __init__(
        self, seeds: Iterable[Ref], callbacks: Sequence[Callback] = (), reuse: Reuse | None = None
    ) -> None:
        self.callbacks = callbacks
        self._reuse = reuse
        self.context: dict[str, Any] = {}
        #: the operators appended to the outermost block
        self.appended: Sequence[Operator] = ()
        self._seeds = {id(ref) for ref in seeds}

    def emit(self, sweep: ReverseSweep, first: Sequence[PendingOp], role: int) -> None:
        """Append the records ``first`` with a role, then those of the sweep, to its block."""
        block = sweep.block
        for each in sweep.chain():
            _save_values(each)
        _Names(sweep, block, self._seeds, self.context if self.callbacks else None).give()
        begin, known = len(block.ops), len(block.vars)
        for record in first:
            self._append(record, block, sweep).role = role
        for record in _taken_out(sweep):
            self._call_back(self._append(record, block, sweep), block)
        order_blocks(block.program)
        self.appended = block.ops[begin:]
        if state.builds.get():  # paddle 2 lists them by their names
            variables = [*block.vars.values()]
            gradients = sorted(variables[known:], key=lambda each: each.name)
            block.set_vars([*variables[:known], *gradients])
        self.context.pop("__current_op_desc__", None)

    def _emit_block(self, sweep: ReverseSweep, parent: Block, in_place: bool) -> Block:
        """Make the block of gradients that a sweep over another block has noted, or append them to
        that block.
        """
        _save_values(sweep)
        block = sweep.block
        if in_place:
            block.parent_idx = parent.idx
            _declare_given(sweep, parent)
        else:
            block = parent.program.add_block(parent.idx, forward_block_idx=block.idx)
        _Names(sweep, block, self._seeds, self.context if self.callbacks else None).give()
        for record in _taken_out(sweep):
            self._call_back(self._append(record, block, sweep), block)
        return block

    def _call_back(self, op: Operator, block: Block) -> None:
        if self.callbacks:
            self.context["__current_op_desc__"] = op.desc
            for callback in self.callbacks:
                callback(block=block, context=self.context)

    def _append(self, record: PendingOp, block: Block, sweep: ReverseSweep) -> Operator:
        attrs = record.attrs
        inputs, outputs = _slots_of(record)
        same = self._reuse(record, inputs, outputs) if self._reuse else None
        if same is not None:
            block.take_op(same)
            return same
        for refs in record.outs.values():
            for ref in refs:
                if ref is not None and ref.name not in block.vars and id(ref) not in sweep.foreign:
                    _declare(ref, block, sweep, _lod_level(record, ref, block))
        if record.body is not None:
            inner = self._emit_block(record.body, block, record.in_place)
            attrs = {**attrs, "sub_block": inner.idx, **_local_gradients(record)}
            attrs = lookup(record.type)(attrs).attr_values()
        op = Operator(
            block,
            record.type,
            inputs,
            outputs,
            attrs,  # type: ignore[arg-type]  # shared with the forward operator, and never changed
            role=OpRole.BACKWARD,
            namescope=record.namescope,
            device=record.device,
            callsite=record.site,
            lists_given_attrs=record.lists_given,
            foreign=record.foreign,
        )
        block.take_op(op)
        return op


def _slots_of(record: PendingOp) -> tuple[dict[str, Names], dict[str, Names]]:
    """The names of what an operator to come reads and writes, by slot."""
    outputs = {}
    for slot, refs in record.outs.items():
        names = tuple([EMPTY if ref is None else ref.name for ref in refs])
        if names.count(EMPTY) < len(names) or not _optional(record, slot):
            outputs[slot] = names
    return {slot: _names(values) for slot, values in record.ins.items()}, outputs


def is_noted(
    op: Operator, record: PendingOp, inputs: Mapping[str, Names], outputs: Mapping[str, Names]
) -> bool:
    """Whether an operator does what a record says, whose inputs and outputs have names."""
    return (
        op.type == record.type
        and op.inputs == inputs
        and op.outputs == outputs
        and (op.attrs is record.attrs or op.attrs == record.attrs)
        and op.device == record.device
    )


def are_noted(
    ops: Sequence[Operator],
    sweep: ReverseSweep,
    first: PendingOp,
    seed: Ref,
    declared: Container[str],
) -> bool:
    """Whether operators are what a sweep has noted, one by one; nothing is appended.

    Args:
        ops: behind those that were swept.
        sweep: is done, and copies nothing.
        first: the record before its own.
        seed: what begins the gradients.
        declared: names of variables that are there before gradients get theirs.
    """
    _Names(sweep, sweep.block, {id(seed)}, None, declared).give()
    records = (first, *sweep.records)
    return len(ops) == len(records) and all(
        is_noted(op, record, *_slots_of(record)) for op, record in zip(ops, records)
    )


def _names(values: Sequence[Any]) -> Names:
    """The names of values; a tuple holds names alone."""
    if type(values) is tuple:
        return values
    return tuple([EMPTY if v is None else v if type(v) is str else v.name for v in values])


def _taken_out(sweep: ReverseSweep) -> Iterator[PendingOp]:
    """The records of a sweep, which lets go of them: an operator is in memory once."""
    sweep.groups.clear()
    sweep.records.reverse()
    while sweep.records:
        yield sweep.records.pop()


def _optional(record: PendingOp, slot: str) -> bool:
    return lookup(record.type).output_slots[slot].optional


def _local_gradients(record: PendingOp) -> dict[str, Any]:
    """What a block calls the gradients of inputs, where one goes by another name than usual."""
    usual = [name + GRAD for name, _ in record.local]
    found = [ref.name if ref else name + GRAD for name, ref in record.local]
    return {} if found == usual else {"local_gradients": tuple(found)}


class _Names:
    """Gives names to the gradients of a sweep.

    Args:
        sweep: whose gradients.
        block: where they will be declared.
        seeds: identities of the Refs that begin gradients.
        context: takes the names of gradients, with those of their variables; None where nobody
            asks.
        declared: names that are taken; those of the block when None.
    """

    def __init__(
        self,
        sweep: ReverseSweep,
        block: Block,
        seeds: set[int],
        context: dict[str, Any] | None,
        declared: Container[str] | None = None,
    ) -> None:
        self.sweep = sweep
        self.declared = block.vars if declared is None else declared
        self.seeds = seeds
        self.context = context
        self.chosen: dict[str, str] = {}
        self.given: set[str] = set()
        if sweep.block is not block or sweep.next is not None:  # outer names that the block reads
            self.given = {
                value if isinstance(value, str) else value.name
                for record in sweep.records
                for values in record.ins.values()
                for value in values
                if value is not None
            }
            self.given.update(name for op in sweep.block.ops for name in reads_of(op))
            self.given.update(sweep.block.vars)
        for record in sweep.records:  # what such a block calls its own, the block around it may not
            if record.body is not None and record.in_place:
                self.given.update(record.body.block.vars)
        if sweep.foreign:  # outer names that the block writes
            outs = [refs for record in sweep.records for refs in record.outs.values()]
            self.given.update(r.name for refs in outs for r in refs if r and id(r) in sweep.foreign)

    def give(self) -> None:
        """Name all of them.

        The gradients of the values that a name holds in turn share one name: what makes a value has
        taken its gradient before there is any of the value before.  From the second order on that
        need not be so; such ones have names of their own.
        """
        groups = self.sweep.groups
        counts = Counter(name_of(group.key) for group in groups)
        if not counts or max(counts.values()) == 1:
            for group in groups:
                self._name(group, False)
            return
        spans = _Spans(self.sweep.records)
        later: dict[str, Contributions] = {}
        for group in groups:
            name, is_early = name_of(group.key), False
            if counts[name] > 1:
                last = later.setdefault(name, group)
                is_early = spans.meet(last, group)
                if spans.end(group) > spans.end(last):
                    later[name] = group
            self._name(group, is_early)

    def _name(self, group: Contributions, is_early: bool) -> None:
        """Name the parts of a gradient and their sum.

        Args:
            group: of one value.
            is_early: whether there is some of it while that of a later value under the same name is
                still to be read.
        """
        key, parts, total = group
        name = name_of(key)
        final = total or parts[0]
        agreed = self.sweep.agreed.get(key)
        if agreed is not None and is_early:
            final.name = self._free(name + GRAD, False)
            out = Ref(final.like, agreed, final.kind)
            self.sweep.records.append(PendingOp("assign", {"X": [final]}, {"Out": [out]}, {}, None))
        elif agreed is not None:
            final.name = agreed
        elif not final.name:
            chosen = None if is_early else self.chosen.get(name)
            if chosen is None:
                chosen = self._free(name + GRAD, id(final) in self.seeds)
                self.chosen[name] = chosen
            final.name = chosen
        if self.context is not None:
            self.context[final.name] = name
        if total is not None:
            stem = f"{final.name}@RENAME@block{self.sweep.block.idx}@"
            for k, part in enumerate(parts):
                if not part.name:
                    part.name = stem + str(k)

    def _free(self, stem: str, seed: bool) -> str:
        """A gradient's name.  One that is taken gets fluid's prefix, once more for every call; that
        of a seed a number.
        """
        name, k = stem, 0
        declared, issued = self.declared, self.given
        while name in declared or name in issued:
            name = f"{stem}_{k}" if seed else "grad/" * (k + 2) + stem
            k += 1
        issued.add(name)
        return name


class _Spans:
    """From which operator to come to which there is something of gradients."""

    def __init__(self, records: Sequence[PendingOp]) -> None:
        self._begins: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._sources: dict[int, int] = {}  # of what is multiplied by 1
        for position, record in enumerate(records):
            self._ends.update(dict.fromkeys(map(id, _read_by(record)), position))
            for refs in record.outs.values():
                for ref in refs:
                    self._begins.setdefault(id(ref), position)
            if record.type == "scale" and record.attrs == {"scale": 1.0}:
                self._sources[id(record.outs["Out"][0])] = id(record.ins["X"][0])

    def end(self, group: Contributions) -> int:
        """The last operator that reads some of a gradient."""
        refs = (*group.parts, group.total)
        return max(self._ends.get(id(ref), -1) for ref in refs if ref)

    def meet(self, later: Contributions, group: Contributions) -> bool:
        """Whether some of a gradient is computed while that of a later value is still read, and is
        something else than that.
        """
        if later is group:
            return False
        old, new = (
            [id(ref) for ref in (*each.parts, each.total) if ref] for each in (later, group)
        )
        end = self.end(later)
        return any(
            self._begins.get(ref, end) < end and self._sources.get(ref) not in old for ref in new
        )


def _read_by(record: PendingOp) -> Iterator[Any]:
    """What an operator to come reads, and those in the block that it drives."""
    for values in record.ins.values():
        yield from values
    for inner in () if record.body is None else record.body.records:
        yield from _read_by(inner)


def _declare_given(sweep: ReverseSweep, parent: Block) -> None:
    """Declare the gradients that a block reads and that the surrounding block's runner gives."""
    made = {id(ref) for record in sweep.records for refs in record.outs.values() for ref in refs}
    for record in sweep.records:
        for value in (each for values in record.ins.values() for each in values):
            is_given = isinstance(value, Ref) and value.name and id(value) not in made
            if is_given and sweep.block.find_var_recursive(value.name) is None:
                _declare(value, parent, sweep, value.like.lod_level)


def _lod_level(record: PendingOp, ref: Ref, block: Block) -> int:
    """The LoD level that the gradient is declared with: as fluid's operators have it."""
    if not ref.like.lod_level:
        return 0
    if record.type == "sum":
        names = [v if isinstance(v, str) else v.name for v in record.ins["X"]]
        return max(block.var_recursive(name).lod_level for name in names)
    forward = lookup(record.type).derived_from
    return 0 if forward is not None and forward.fluid.bare_gradients else ref.like.lod_level


def _declare(ref: Ref, block: Block, sweep: ReverseSweep, lod_level: int) -> None:
    name, like = ref.name, ref.like
    if sweep.agreed and name in sweep.agreed.values():
        outer = block.parent
        if outer is not None and outer.find_var_recursive(name) is not None:
            return  # the gradient that comes in goes out under the same name
    gradient = Variable(block, name, kind=ref.kind, lod_level=lod_level)
    gradient.redeclare(ref.shape or like.shape, like.dtype)
    if gradient.shape == like.shape:
        gradient.size_names = like.size_names
    block.declare(gradient)


def _save_values(sweep: ReverseSweep) -> None:
    """Copy the values that are overwritten before a gradient operator reads them."""
    block = sweep.block
    at: dict[int, list[Operator]] = {}
    for key, copy in sweep.saved.items():
        name = key[0]
        position = sweep.history.made_at(key)
        site = block.ops[max(position - 1, 0)].callsite
        op = Operator(block, "assign", {"X": (name,)}, {"Out": (copy,)}, {}, callsite=site)
        at.setdefault(position, []).append(op)
    if at:
        ops: list[Operator] = []
        for position, op in enumerate(block.ops):
            ops += [*at.get(position, ()), op]
        block.set_ops([*ops, *at.get(len(block.ops), ())])
