"""From a program to steps: what each operator reads, writes and lets go of."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Kind, as_dtype
from ..errors import FluidError, NotInitializedError, OpError, ShapeError, SlotError
from ..ir.analysis import blocks_of, last_mentions, read_by_gradients, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole, located
from ..ir.program import Program
from ..ir.views import views
from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad
from ..opdef.interpreter import Eval
from ..opdef.spec import Spec, size_of
from ..state import collector_paused
from ..values import LoDTensor, SelectedRows, zeros_like

if TYPE_CHECKING:
    from .buffers import Footprint

Environment = dict[str, Any]


class Step:
    """One operator, bound to the names it reads and writes.

    Args:
        op: the operator.
        touched: the names that it reads, and those that it writes.
        free: names that nothing reads any more after it.
        body: the steps of the block that it drives, where it does.
    """

    __slots__ = (
        "body",
        "free",
        "inputs",
        "instance",
        "loss",
        "op",
        "outputs",
        "reads",
        "updates",
        "want",
        "writes",
    )

    def __init__(
        self,
        op: Operator,
        touched: tuple[Sequence[str], Sequence[str]],
        free: list[str],
        body: BlockPlan | None = None,
    ) -> None:
        self.op = op
        self.reads, self.writes = touched
        self.instance = instance = op.instance()
        inputs, outputs, takes, gives = (
            op.inputs,
            op.outputs,
            instance.input_slots,
            instance.output_slots,
        )
        self.inputs = [
            (slot, names, takes[slot].many)
            for slot, names in inputs.items()
            if slot not in instance.unread
        ]
        self.outputs = [
            (slot, names, gives[slot].many)
            for slot, names in outputs.items()
            if slot not in instance.idle
        ]
        updates = instance.updates
        self.updates = [(slot, outputs[slot][0]) for slot in updates if outputs.get(slot)]
        self.want = frozenset(outputs)
        self.free = free
        self.body = body
        #: the loss whose gradient the operator begins
        self.loss = loss_seeded_by(op)

    def run(self, f: Eval, env: Environment) -> None:
        """Compute the outputs into the environment, and drop what nothing reads any more.

        Raises:
            FluidError: the kernel failed; says the operator, the shapes and the user's line.
        """
        if self.loss is not None:
            self._check_loss(env)
        ins: dict[str, Any] = {}
        lods: dict[str, Any] = {}
        for slot, names, many in self.inputs:
            try:
                values = [None if n == EMPTY else env[n] for n in names]
            except KeyError as error:
                raise self.not_written(error.args[0]) from None
            ragged = self.instance.input_slots[slot].ragged
            for i, value in enumerate(values):
                if type(value) is LoDTensor and not ragged:
                    values[i] = value.data
                    lods.setdefault(slot, value.offsets)
            ins[slot] = values if many else values[0]
        for slot, name in self.updates:
            ins[slot] = env.get(name)
        try:
            outs = f.apply(self.instance, ins, self.want)
        except Exception as error:
            raise self._explained(error, ins) from error
        for slot, names, many in self.outputs:
            found = outs.get(slot)
            lod = _shared_lod(self.instance, slot, lods) if lods else ()
            for i, name in enumerate(names):
                if name == EMPTY:
                    continue
                if many and found is not None and i >= len(found):
                    raise self._explained(
                        SlotError(f"expected {len(found)} variables in {slot}, got {len(names)}"),
                        ins,
                    )
                value = (found[i] if found is not None else None) if many else found
                if value is None:
                    if self.instance.output_slots[slot].hidden:
                        continue  # the mask of a dropout that drops nothing
                    value = self._zeros(slot, i, ins)
                env[name] = LoDTensor(value, lod) if lod and _has_rows(value, lod) else value
        self.let_go(env)

    def let_go(self, env: Environment) -> None:
        """Drop what nothing reads any more."""
        for name in self.free:
            env.pop(name, None)

    def not_written(self, name: str) -> FluidError:
        """The error that a variable is read which nothing has written."""
        variable = self.op.block.find_var_recursive(name)
        return located(
            NotInitializedError(
                f"variable {name!r} is read, and nothing has written it in this run: the branch or "
                f"loop that does was not taken"
            ),
            self.op,
            [(name, None if variable is None else variable.spec)],
        )

    def _check_loss(self, env: Environment) -> None:
        """Refuse a loss of several elements: a seed of one would get its gradient wrong."""
        found = spec_of(env.get(self.loss or ""))
        if self.loss and found is not None and size_of(found.shape) != 1:
            raise located(
                ShapeError(
                    f"expected a loss of one element, {self.loss!r} has shape {list(found.shape)} "
                    f"in this run; "
                    "reduce it first: layers.mean or layers.reduce_sum"
                ),
                self.op,
                [(self.loss, found)],
            )

    def zeros_like(self, slot: str, index: int, ins: dict[str, Any]) -> Any:
        """The value whose form a gradient has that is left out; None for other outputs."""
        slots = {out: into for into, out in getattr(self.instance, "grad_slots", {}).items()}
        like = ins.get(slots.get(slot, ""))
        return like[index] if isinstance(like, list) else like

    def _zeros(self, slot: str, index: int, ins: dict[str, Any]) -> Any:
        """What a gradient operator leaves out because nothing flows there."""
        like = self.zeros_like(slot, index, ins)
        if like is None:
            raise OpError(f"{self.op.type} computed nothing for its output {slot}\n  {self.op}")
        return zeros_like(like)

    def _explained(self, error: Exception, ins: dict[str, Any]) -> FluidError:
        """The failure of a kernel with the operator, the shapes it was given and the user's line.

        The shape rule is asked first: it knows better what is wrong than the array library.
        """
        specs = {slot: spec_of(value) for slot, value in ins.items()}
        if not isinstance(error, FluidError):
            try:
                self.instance.infer_outputs(specs)
            except FluidError as better:
                error = better
            except (
                Exception
            ):  # the rule met what it did not expect either: keep the kernel's own words
                pass
        if not isinstance(error, FluidError):
            error = OpError(str(error) or type(error).__name__)
        pairs = []
        for slot, names, _ in self.inputs:
            found = specs[slot] if isinstance(specs[slot], list) else [specs[slot]]
            pairs += list(zip(names, found, strict=True))
        return located(error, self.op, pairs)


class BlockPlan:
    """The steps of a block.

    Args:
        block: what to run.
        keep: names whose values are wanted after the last step; outer names are kept in any case.
        read_by_gradients: for the blocks inside it, what is kept of each pass.
        touched: of each operator, the names that it reads and those that it writes.
    """

    def __init__(
        self,
        block: Block,
        keep: Iterable[str],
        read_by_gradients: Mapping[int, set[str]],
        touched: Sequence[tuple[Sequence[str], Sequence[str]]] | None = None,
    ) -> None:
        self.block = block
        ops = _without_edges(block)
        self.ops = ops
        touched = _touched(ops) if touched is None else touched
        #: own variables that blocks of gradients read
        self.saved = read_by_gradients.get(block.idx, set())
        losses = [name for op in ops if (name := loss_seeded_by(op)) is not None]
        outer: set[str] = set()
        if block.idx:
            outer = {n for both in touched for names in both for n in names} - set(block.vars)
        keep = {*keep, *losses, *self.saved, *outer}
        self.steps = [
            Step(op, both, free, _body(op, read_by_gradients))
            for op, both, free in zip(
                ops, touched, last_mentions([(*r, *w) for r, w in touched], keep), strict=True
            )
        ]
        #: what is run: stretches of steps, and steps that drive blocks
        self.items = _stretches(self.steps)
        #: outer names that the block writes
        self.exports = [
            n for n in dict.fromkeys(n for _, names in touched for n in names) if n in outer
        ]

    @property
    def source(self) -> str:
        """What runs: see :func:`source_of`."""
        return source_of(self.items)

    def keep_everything(self) -> None:
        """Let go of no value, in the blocks inside neither."""
        for step in self.steps:
            step.free = []
            if step.body is not None:
                step.body.keep_everything()


class Stretch:
    """Steps in a row that drive no blocks.

    Args:
        steps: in order.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        reads: dict[str, None] = {}
        written: dict[str, None] = {}
        for step in steps:
            for name in step.reads:
                if name not in written:
                    reads[name] = None
            for name in step.writes:
                written[name] = None
        #: what they read that comes from before them
        self.reads = list(reads)
        freed = {name for step in steps for name in step.free}
        #: what they write that is wanted behind them
        self.writes = [name for name in written if name not in freed]
        self.free = [name for name in self.reads if name in freed and name not in written]
        #: what of that replaces a value of the scope
        self.commits: set[str] = set()
        #: gradients of parameters that are to be looked at
        self.gradients: frozenset[str] = frozenset()
        #: the same in parts, where a specialised function can unroll loops that no other can
        self.parts: list[Stretch | Step] = []
        if any(step.instance.is_control for step in steps):
            self.parts = _stretches(steps, unroll=False)
        #: shapes of what is read -> the function that does what the steps do
        self.functions: OrderedDict[Any, Any] = OrderedDict()
        #: the function that was used last
        self.last: Any = None


def stretches_in(items: Iterable[Stretch | Step]) -> Iterator[Stretch]:
    """Stretches, and those that are parts of them."""
    for item in items:
        if isinstance(item, Stretch):
            yield item
            yield from stretches_in(item.parts)


def source_of(items: Iterable[Stretch | Step]) -> str:
    """What runs: the source of each stretch of steps that has been specialised, for the shapes that
    it was last given, and the operators one by one where it has not.
    """
    parts = []
    for item in items:
        if not isinstance(item, Stretch):
            parts.append(f"# runs blocks: {item.op}\n")
            if item.body is not None:
                parts.append(indent(item.body.source, "    "))
        elif item.last is not None and (source := item.last.source):
            parts.append(source)
        elif item.parts:
            parts.append(source_of(item.parts))
        else:
            parts.append("".join(f"# interpreted: {s.op}\n" for s in item.steps))
    return "\n".join(parts)


def _stretches(steps: Iterable[Step], unroll: bool = True) -> list[Stretch | Step]:
    """Steps in as few parts as can be specialised.

    Args:
        steps: in order.
        unroll: whether loops of a number of passes that follows from shapes are part of them.
    """
    items: list[Stretch | Step] = []
    row: list[Step] = []
    for step in steps:
        if not step.instance.is_control or (unroll and step.instance.unrolls):
            row.append(step)
            continue
        if row:
            items.append(Stretch(row))
        items.append(step)
        row = []
    return [*items, Stretch(row)] if row else items


def _body(op: Operator, read_by_gradients: Mapping[int, set[str]]) -> BlockPlan | None:
    """The steps of the block that an operator drives."""
    for block in blocks_of(op) if op.attrs else ():
        # the block's variables that go by the names of outputs are what is handed out
        keep = [*op.instance().kept_names(op.inputs), *writes_of(op)]
        return BlockPlan(block, keep, read_by_gradients)
    return None


class Plan(BlockPlan):
    """The steps of a program's block 0, for one set of feeds and fetches.

    Args:
        program: what to run.
        fetches: names to keep.
    """

    @collector_paused()
    def __init__(self, program: Program, fetches: Iterable[str]) -> None:
        block = program.global_block()
        touched = _touched(_without_edges(block))
        mentioned = {n for both in touched for names in both for n in names}
        self.persistable = {
            n for n in mentioned if (v := block.find_var_recursive(n)) is not None and v.persistable
        }
        keep = self.persistable.union(fetches)
        super().__init__(block, keep, read_by_gradients(program), touched)
        #: names that are read before an operator writes them -> the operator that does
        self.needs: dict[str, Operator] = {}
        #: names that an operator may leave unwritten: a branch that is not taken
        self.open: set[str] = set()
        self.written: set[str] = set()
        for step in self.steps:
            if step.instance.is_control:
                self.open |= self.persistable.intersection(step.writes).difference(self.written)
            for name in step.reads:
                if name not in self.written:
                    self.needs.setdefault(name, step.op)
            self.written.update(step.writes)
        self.commits = [
            name
            for name in dict.fromkeys(n for step in self.steps for n in step.writes)
            if name in self.persistable
        ]
        #: gradients of parameters that something is done to before an optimizer gets them; what
        #: is not finite in the others is seen in what the optimizer writes
        updates = [op for op in self.ops if op.role == OpRole.OPTIMIZE]
        taken = {name for op in updates for name in op.inputs.get("Grad", ())}
        grads = frozenset(f"{n}@GRAD" for n in self.persistable)
        self.gradients = (grads & self.written) - taken
        #: what is committed -> the stretches that write it; the last of those with a function does
        self._writers: dict[str, list[Stretch]] = {}
        for stretch in stretches_in(self.items):
            stretch.commits = set(self.commits).difference(fetches).intersection(stretch.writes)
            stretch.gradients = self.gradients
            for name in stretch.commits:
                self._writers.setdefault(name, []).append(stretch)

    @property
    def function(self) -> Any:
        """The specialised function that computed everything in the last run; None where there is
        none.
        """
        only = self.items[0] if len(self.items) == 1 else None
        return only.last if isinstance(only, Stretch) else None

    @property
    def footprint(self) -> Footprint | None:
        """What a run takes of memory; None where not all of the program has been specialised:
        before the second run with the same shapes, and where a part depends on values.
        """
        found: Footprint | None = None
        for item in self.items:
            more = item.last.footprint if isinstance(item, Stretch) and item.last else None
            if more is None:
                return None
            found = more if found is None else found.beside(more)
        return found

    def reuse(self, name: str, old: Any) -> None:
        """Let the next run write to an array that was replaced in the scope, if nobody else has
        it.

        Args:
            name: of the variable.
            old: the array; the caller has one reference to it.
        """
        writers = [w.last for w in self._writers.get(name, ()) if w.last is not None]
        function = writers[-1] if writers else None
        if (
            function is not None
            and type(old) is np.ndarray
            and old.base is None
            and old.flags.writeable
            and sys.getrefcount(old) <= REFERENCES
        ):
            function.take_spare(name, old)

    def _repr_html_(self) -> str:
        return views().html(self)


_EDGES = ("feed", "fetch")


def _without_edges(block: Block) -> list[Operator]:
    return [op for op in block.ops if op.type not in _EDGES]


def _touched(ops: Iterable[Operator]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """What operators read and write."""
    return [(tuple(reads_of(op)), tuple(writes_of(op))) for op in ops]


class _Hand:
    """Counts the references to what is handed to a method, which differ between Pythons."""

    def reuse(self, name: str, old: Any) -> int:
        return sys.getrefcount(old)


def _references() -> int:
    """The references to an array that only those hold who hand it to :meth:`Plan.reuse`."""
    hand = _Hand()
    for name in ("any",):
        _, old = None, np.empty(0)
        found = hand.reuse(name, old)
    return found


REFERENCES = _references()


def _shared_lod(op: Op, slot: str, lods: Mapping[str, Any]) -> Any:
    """The LoD that an output takes over from the inputs.

    A gradient takes that of the input that it belongs to.

    Args:
        op: the operator.
        slot: the output's slot.
        lods: by input slot, where there is any.
    """
    if isinstance(op, DerivedGrad):
        forward = next(s for s, out in op.grad_slots.items() if out == slot)
        for read in op.reads:
            if read.source == "in" and read.of == forward:
                return lods.get(read.slot, ())
        first = op.derived_from.inputs[0].name if op.derived_from is not None else forward
        return next(iter(lods.values())) if forward == first else ()
    if op.lod == "first":
        return next(iter(lods.values()))
    return lods.get(op.lod or "", ())


_SEEDING = int(OpRole.BACKWARD | OpRole.LOSS)


def loss_seeded_by(op: Operator) -> str | None:
    """The loss whose gradient an operator begins; None for other operators."""
    if op.role != _SEEDING:
        return None
    return op.output_arg_names[0].partition("@GRAD")[0]


def _has_rows(value: Any, lod: Any) -> bool:
    if isinstance(value, SelectedRows):
        return False
    shape: Any = getattr(value, "shape", ())
    return bool(shape) and shape[0] == lod[-1][-1]


def spec_of(value: Any) -> Any:
    """Shape and element type of a value; a list of them for a list; None for other things."""
    if isinstance(value, list):
        return [spec_of(v) for v in value]
    if isinstance(value, LoDTensor):
        return Spec(value.data.shape, as_dtype(value.data.dtype), lod_level=len(value.offsets))
    if isinstance(value, SelectedRows):
        return Spec(value.shape, as_dtype(value.dtype), Kind.SELECTED_ROWS)
    return Spec(value.shape, as_dtype(value.dtype)) if isinstance(value, np.ndarray) else None
