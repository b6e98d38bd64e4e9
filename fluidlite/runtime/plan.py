"""Plans: how the blocks of a program are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ground.allocator import give_back_freed_memory, keep_freed_memory
from ..ground.dtypes import Kind
from ..ground.state import collector_paused
from ..ground.weak_tables import WeakTable
from ..ir.analysis import (
    GradientReads,
    blocks_of,
    last_mentions,
    read_by_gradients,
    reads_of,
    writes_of,
)
from ..ir.block import Block
from ..ir.display_hooks import VIEWS
from ..ir.nesting import check_nesting
from ..ir.operator import Operator, OpRole
from ..ir.program import Program
from ..ir.variable import Parameter
from .admission import admit
from .ownership import reusable
from .ragged import ragged_names
from .reader_steps import ReaderSteps, readers_first
from .segment import Segment, segments_in, segments_of, source_of
from .step import Step, StepForm, loss_seeded_by

if TYPE_CHECKING:
    from .buffers import Footprint

#: the names that an operator reads, and those that it writes
Touched = tuple[Sequence[str], Sequence[str]]


class BlockPlan:
    """The steps of a block.

    Args:
        block: what to run.
        keep: names to fetch after the last step; outer names are always kept.
        read_by_gradients: for the blocks inside it, what is kept of each pass.
        ops: those of the block that run, with what each reads and writes; all when None.
        ragged: names of variables whose number of rows depends on lengths of sequences.
    """

    def __init__(
        self,
        block: Block,
        keep: Iterable[str],
        read_by_gradients: Mapping[int, GradientReads],
        ops: list[tuple[Operator, Touched]] | None = None,
        ragged: frozenset[str] = frozenset(),
    ) -> None:
        self.block = block
        pairs = _with_touched(_without_edges(block)) if ops is None else ops
        self.ops: list[Operator] = [op for op, _ in pairs]
        touched = [names for _, names in pairs]
        reads = read_by_gradients.get(block.idx, GradientReads())
        #: own variables that blocks of gradients read
        self.saved = reads.own
        #: outer variables that these read as they were before each pass
        self.overwritten = reads.overwritten
        losses = [name for op in self.ops if (name := loss_seeded_by(op)) is not None]
        outer: set[str] = set()
        if block.idx:
            outer = {n for both in touched for names in both for n in names} - set(block.vars)
        keep = {*keep, *losses, *self.saved, *outer}
        forms: dict[Any, StepForm] = {}
        self.steps: list[Step] = [
            Step(op, both, free, _body(op, read_by_gradients, ragged), forms)
            for op, both, free in zip(
                self.ops, touched, last_mentions([(*r, *w) for r, w in touched], keep), strict=True
            )
        ]
        #: what JAX compiles and what the host runs, where JAX runs the plan
        self.staged: Callable[[], list[Any]] | None = None
        #: what is run: segments, and steps that drive blocks
        self.items: list[Segment | Step] = segments_of(readers_first(self.steps), ragged=ragged)
        #: outer names that the block writes
        self.exports: list[str] = [
            n for n in dict.fromkeys(n for _, names in touched for n in names) if n in outer
        ]

    @property
    def source(self) -> str:
        """What runs: see :func:`source_of`."""
        return source_of(self.items)

    @property
    def stages(self) -> list[Any]:
        """The graph behind each pass that changed it, of each compiled segment: their name, text
        and difference to the one before; computed anew. Of a plan that JAX runs: what it compiles,
        and what the host runs and why.
        """
        if self.staged is not None:
            return self.staged()
        last = [segment.last for segment in segments_in(self.items)]
        return VIEWS.get().stages([compiled for compiled in last if compiled is not None])

    def keep_everything(self) -> None:
        """Let go of no value, in the blocks inside neither."""
        for step in self.steps:
            step.free = []
            if step.body is not None:
                step.body.keep_everything()


def _body(
    op: Operator, read_by_gradients: Mapping[int, GradientReads], ragged: frozenset[str]
) -> BlockPlan | None:
    """The steps of the block that an operator drives."""
    for block in blocks_of(op) if op.attrs else ():
        # the block's variables that go by the names of outputs are what is handed out
        keep = [*op.instance().kept_names(op.inputs), *writes_of(op)]
        return BlockPlan(block, keep, read_by_gradients, ragged=ragged)
    return None


class Pruned(NamedTuple):
    """A run that is cut down to what is fetched."""

    targets: frozenset[Operator]  #: operators that run in any case
    fed: frozenset[str]  #: names that need not be computed

    def select(
        self, ops: list[Operator], fetches: Sequence[str]
    ) -> tuple[list[Operator], Sequence[str]]:
        """The operators that run, and the names to keep."""
        return _needed(ops, fetches, self), fetches


class ProgramPart(NamedTuple):
    """The operators from one place up to another one; what those behind read is kept, too."""

    first: int
    end: int | None = None
    #: what all of them are cut down to, before places are counted
    cut: Pruned | ProgramPart | None = None

    def select(
        self, ops: list[Operator], fetches: Sequence[str]
    ) -> tuple[list[Operator], Sequence[str]]:
        """The operators that run, and the names to keep."""
        if self.cut is not None:
            ops, fetches = self.cut.select(ops, fetches)
        behind = [] if self.end is None else ops[self.end :]
        return ops[self.first : self.end], [*fetches, *(n for op in behind for n in reads_of(op))]


def update_stages(
    program: Program, fetches: Sequence[str] = (), cut: Pruned | ProgramPart | None = None
) -> Iterator[tuple[ProgramPart, bool]]:
    """The parts of a program that are of optimizers or are not, in turn, and whether they are.

    Args:
        program: to be run.
        fetches: names to keep.
        cut: what a run is cut down to.
    """
    first = 0
    ops = _without_edges(program.global_block())
    if cut is not None:
        ops, _ = cut.select(ops, fetches)
    for updates, row in groupby(ops, lambda op: op.role == OpRole.OPTIMIZE):
        end = first + len(list(row))
        yield ProgramPart(first, end, cut), updates
        first = end


def pruned_to(program: Program, targets: Sequence[Operator], feed: Iterable[str]) -> Pruned:
    """A run cut down to some operators of optimizers; to all of them if there are none."""
    optimizers = [op for op in program.global_block().ops if op.role == OpRole.OPTIMIZE]
    return Pruned(frozenset(targets or optimizers), frozenset(feed))


class Plan(BlockPlan):
    """The steps of a program's block 0, for one set of feeds and fetches.

    Args:
        program: what to run.
        fetches: names to keep.
        cut: which of its operators run; all when None.
    """

    @collector_paused()
    def __init__(
        self, program: Program, fetches: Sequence[str], cut: Pruned | ProgramPart | None = None
    ) -> None:
        check_nesting(program)
        block = program.global_block()
        ops = _without_edges(block)
        if cut is not None:
            ops, fetches = cut.select(ops, fetches)
        admit(ops)
        pairs = _with_touched(ops)
        mentioned = {n for _, both in pairs for names in both for n in names}
        self.persistable: set[str] = {
            n for n in mentioned if (v := block.find_var_recursive(n)) is not None and v.persistable
        }
        keep = self.persistable.union(fetches)
        ragged = ragged_names(program)
        give_back_freed_memory()
        if ragged:
            keep_freed_memory()
        super().__init__(block, keep, read_by_gradients(program), pairs, ragged)
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
        self.commits: list[str] = [
            name
            for name in dict.fromkeys(n for step in self.steps for n in step.writes)
            if name in self.persistable
        ]
        #: whether it calls functions of the user's, or waits for what they make
        self.calls_out: bool = _calls_out(self)
        #: parameters, and what is like them in programs that were loaded -> the declared sizes
        self.shapes: dict[str, tuple[int, ...]] = {
            name: v.shape
            for name in self.needs
            if (v := block.find_var_recursive(name)) is not None
            and v.persistable
            and (isinstance(v, Parameter) or name not in self.written)
            and v.kind is Kind.LOD_TENSOR
            and v.shape
            and min(v.shape) > 0
        }
        for segment in segments_in(self.items):
            segment.commits = set(self.commits).difference(fetches).intersection(segment.writes)
        #: the steps in front that read batches, which bound calls are fed
        self.reading: ReaderSteps = ReaderSteps(self.items, self.commits)
        #: by scope: the calls of compiled segments that are bound to it
        self.bound: WeakTable[Any, dict[Any, Any]] = WeakTable()

    @property
    def compiled(self) -> Any:
        """The compiled segment that was all of the last run, but for what read its batches; None
        if there is none.
        """
        return None if self.only_segment is None else self.only_segment.last

    @property
    def only_segment(self) -> Segment | None:
        """The segment that is all of it, but for what reads its batches; None if there is none."""
        before = len(self.reading.steps)
        if len(self.items) != before + 1:
            return None
        only = self.items[before]
        return only if isinstance(only, Segment) else None

    @property
    def functions(self) -> set[Any]:
        """What its segments are for shapes that are known: compiled, or why they are not."""
        return {each for segment in segments_in(self.items) for each in segment.functions.values()}

    @property
    def footprint(self) -> Footprint | None:
        """What a run takes of memory; None where not all of the program is compiled: before the
        second run with the same shapes, and where a part depends on values.
        """
        footprint: Footprint | None = None
        for item in self.items:
            more = item.last.footprint if isinstance(item, Segment) and item.last else None
            if more is None:
                return None
            footprint = more if footprint is None else footprint.beside(more)
        return footprint

    def donate(self, names: Sequence[str], olds: Sequence[Any]) -> None:
        """Let the next run write to arrays that were replaced in the scope and nobody else holds:
        of each name what its variable had.
        """
        compiled = [s for s in segments_in(self.items) if s.commits and s.last is not None]
        writers = {name: segment.last for segment in compiled for name in segment.commits}
        for place in reusable(olds, range(len(olds)) if writers else ()):
            if names[place] in writers:
                writers[names[place]].donate(names[place], olds[place])

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)


def _calls_out(plan: BlockPlan) -> bool:
    return any(
        step.instance.calls_out or (step.body is not None and _calls_out(step.body))
        for step in plan.steps
    )


_EDGES = ("feed", "fetch")


def _without_edges(block: Block) -> list[Operator]:
    return [op for op in block.ops if op.type not in _EDGES]


def _with_touched(ops: Iterable[Operator]) -> list[tuple[Operator, Touched]]:
    """Operators with what they read and write."""
    return [(op, ((*reads_of(op), *_updated(op)), tuple(writes_of(op)))) for op in ops]


def _updated(op: Operator) -> list[str]:
    """The tensors of the scope that an operator writes, and whose values before it reads."""
    known = op.definition
    form = known.fluid if known else None
    if form is None or (form.updates_where and not op.attrs.get(form.updates_where)):
        return []
    names = [n for slot in form.updates for n in op.outputs.get(slot, ())]
    found = [(name, op.find_var(name)) for name in names]
    return [n for n, v in found if v is not None and v.persistable and v.kind is Kind.LOD_TENSOR]


def _needed(ops: list[Operator], fetches: Sequence[str], pruned: Pruned) -> list[Operator]:
    """The operators that compute what is fetched and that others among them need."""
    wanted, needed = set(fetches), []
    touched = _with_touched(ops)
    changed = _changed(touched, pruned.fed)
    for place, (op, (reads, writes)) in reversed([*enumerate(touched)]):
        computed = {n for n in writes if n not in pruned.fed or (place, n) in changed}
        if op in pruned.targets or not wanted.isdisjoint(computed):
            needed.append(op)
            known = op.definition
            drives = known is not None and known.execute is not None
            if known is None or not (drives or known.fluid.updates):  # they leave what there was
                wanted.difference_update(writes)
            wanted.update(reads)
    return needed[::-1]


def _changed(touched: list[tuple[Operator, Touched]], fed: frozenset[str]) -> set[tuple[int, str]]:
    """Where operators give fed names another value than was fed: what was fed has been read."""
    read: set[str] = set()
    rewritten: set[tuple[int, str]] = set()
    for place, (_, (reads, writes)) in enumerate(touched):
        read.update(reads)
        rewritten.update((place, name) for name in writes if name in fed and name in read)
    return rewritten
