"""A block with gradients as a question of memory: which forward values are let go of and computed
again, what that costs, and how many bytes are held then.

A value that is let go of has a *level*.  At level 1 it is held from the first time that it is
computed again; at level k it is let go of k - 1 times more, so that the operators behind it are run
again in ever smaller parts: the recursion of checkpoints between checkpoints (Griewank and Walther,
Evaluating Derivatives, 2nd edition, SIAM 2008, chapter 12).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ground.dtypes import Kind
from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block
from ..ir.costs import bytes_of, multiply_adds
from ..ir.operator import EMPTY, Operator
from ..ir.recomputed import SUBPROGRAM
from .recompute import draws_anew, seed_name, takes_seed

#: a byte that is read or written takes about as long as so many multiplications of a product
BYTE_COST = 4
_EDGES = ("feed", "fetch")
_SEED_BYTES = 4
_MOST = 2**50  #: bytes of a value: a file may declare any sizes

Ints = NDArray[np.int64]
#: value that is let go of -> its level
Dropped = Mapping[str, int]


class Insertion(NamedTuple):
    """An operator that is put in."""

    position: int  #: in the trace, of the operator that it is a copy of or made for
    kind: str  #: "again", "save" or "seed"
    reads: dict[str, str]  #: name -> the one to read in its place
    writes: dict[str, str]  #: output -> the name under which it is written


class Schedule(NamedTuple):
    """In which order operators run."""

    added: Mapping[int, Sequence[Insertion]]  #: what comes before the operator at a place
    names: Mapping[int, Mapping[str, str]]  #: by place: what is read under another name there
    cost: int  #: of what is computed again
    copies: int  #: of operators
    held: Held

    @property
    def peak(self) -> int:
        """The most bytes that are held."""
        return self.held.peak


class Held(NamedTuple):
    """The values of a schedule, and from which operator to which they are held."""

    names: Sequence[str]
    begins: Ints
    ends: Ints
    sizes: Ints
    places: Ints  #: of the operators of the trace in the schedule
    live: Ints  #: bytes while each operator runs

    @property
    def peak(self) -> int:
        """The most bytes that are held."""
        return int(self.live.max(initial=0))

    def at_peak(self) -> tuple[int, list[tuple[str, int]]]:
        """Which operator of the trace, or what is put in for it, runs when most is held, and the
        values that are held, largest first.
        """
        moment = int(self.live.argmax())
        there = np.flatnonzero((self.begins <= moment) & (moment <= self.ends))
        values = [(self.names[k], int(self.sizes[k])) for k in map(int, there)]
        place = int(np.searchsorted(self.places, moment))
        return place, sorted(values, key=lambda value: -value[1])


class GradientTrace:
    """The operators of a block that has gradients.

    Args:
        block: whose values are looked at; those of blocks inside do not count.
        first: the position in it of the first gradient operator.
        fixed: operators that must stay as they are, by identity, where they stand behind it.
        keep: names that are read behind the last operator.
        batch_size: what sizes of -1 are taken for.
    """

    def __init__(
        self, block: Block, first: int, fixed: Collection[int], keep: Iterable[str], batch_size: int
    ) -> None:
        self.block = block
        self.ops: list[Operator] = [op for op in block.ops if op.type not in _EDGES]
        edges = sum(op.type in _EDGES for op in block.ops[:first])
        #: the place of the first gradient operator
        self.first: int = first - edges
        self.touched: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
            (tuple(dict.fromkeys(reads_of(op))), tuple(writes_of(op))) for op in self.ops
        ]
        mentioned = dict.fromkeys(name for both in self.touched for ns in both for name in ns)
        variables = {name: block.find_var_recursive(name) for name in mentioned}
        #: bytes of the values that do not stay between runs
        self.sizes: dict[str, int] = {}
        stays: dict[str, int] = {}
        for name, variable in variables.items():
            size = 0 if variable is None else bytes_of(variable, batch_size)
            into = stays if variable is not None and variable.persistable else self.sizes
            into[name] = min(size, _MOST)
        #: bytes of what stays between runs
        self.stays: Mapping[str, int] = stays
        self._kept = {*keep, *stays}
        self.writers: dict[str, list[int]] = {}
        self.unwritten: dict[str, None] = {}
        for position, (reads, writes) in enumerate(self.touched):
            for name in reads:
                if name not in self.writers:
                    self.unwritten[name] = None
            for name in writes:
                places = self.writers.setdefault(name, [])
                if not places or places[-1] != position:
                    places.append(position)
        self.costs: list[int] = [
            multiply_adds(op, batch_size) + BYTE_COST * self._bytes(self.touched[k])
            for k, op in enumerate(self.ops[: self.first])
        ]
        #: the forward operators that would draw other numbers when they are run again
        self.drawing: set[int] = {k for k in range(self.first) if draws_anew(self.ops[k])}
        pinned = self._pinned(fixed)
        #: value that may be let go of -> the place of the operator that makes it
        self.made_at: dict[str, int] = {}
        for position, op in enumerate(self.ops[: self.first]):
            if _can_run_again(op) and not self._needs_more_than_it_makes(position):
                for name in self.touched[position][1]:
                    if self._is_free(name) and name not in pinned:
                        self.made_at[name] = position
        #: of each operator the values among its inputs that may be let go of
        self.free_reads: list[tuple[str, ...]] = [
            tuple(name for name in reads if name in self.made_at) for reads, _ in self.touched
        ]
        self.number: int = self._first_free_number()
        self._set_intervals()
        #: the values that gradients read -> the last place that does
        self.saved: dict[str, int] = {
            name: place
            for place in range(self.first, len(self.ops))
            for name in self.free_reads[place]
        }

    def _bytes(self, both: Iterable[Iterable[str]]) -> int:
        return sum(self.size(name) for names in both for name in names)

    def size(self, name: str) -> int:
        """The bytes of a value."""
        size = self.sizes.get(name)
        return self.stays.get(name, 0) if size is None else size

    def _pinned(self, fixed: Collection[int]) -> set[str]:
        """What is read under its own name behind the forward operators: by blocks, and by operators
        that stay as they are.
        """
        pinned = set(self._kept)
        for op, (reads, _) in zip(self.ops[self.first :], self.touched[self.first :]):
            if id(op) in fixed or op.definition is None or op.definition.execute is not None:
                pinned.update(reads)
        return pinned

    def _is_free(self, name: str) -> bool:
        """Whether a name holds one value, a tensor that may be let go of."""
        variable = self.block.find_var_recursive(name)
        return (
            name in self.sizes
            and len(self.writers[name]) == 1
            and name not in self.unwritten
            and variable is not None
            and variable.kind is Kind.LOD_TENSOR
        )

    def _needs_more_than_it_makes(self, position: int) -> bool:
        """Whether copies of what is overwritten would take as much as an operator's results."""
        reads, writes = self.touched[position]
        stale = [name for name in reads if self.is_stale(name, position, self.first)]
        if not stale:
            return False
        return self._bytes([stale]) >= self._bytes([[n for n in writes if self._is_free(n)]])

    def is_stale(self, name: str, position: int, place: int) -> bool:
        """Whether a name that is read at a position holds another value at a later place."""
        writers = self.writers.get(name, ())
        k = bisect_left(writers, position)
        return k < len(writers) and writers[k] < place

    def _first_free_number(self) -> int:
        numbers = [
            int(end)
            for name in self.block.vars
            if (end := name.rpartition(SUBPROGRAM)[2]).isdigit() and SUBPROGRAM in name
        ]
        return max(numbers, default=-1) + 1

    def _set_intervals(self) -> None:
        """From which operator to which each value is held, as the block is."""
        names = [*self.sizes]
        self.values: list[str] = names
        self.index: dict[str, int] = {name: k for k, name in enumerate(names)}
        last, forward = {}, {}
        for place, (reads, writes) in enumerate(self.touched):
            for name in (*reads, *writes):
                last[name] = place
                if place < self.first:
                    forward[name] = place
        end = len(self.ops) - 1
        begins = [-1 if n in self.unwritten else self.writers[n][0] for n in names]
        ends = [end if n in self._kept else last[n] for n in names]
        self.begins: Ints = np.array(begins, np.int64)
        self.ends: Ints = np.array(ends, np.int64)
        self.bytes: Ints = np.array([self.sizes[name] for name in names], np.int64)
        #: value that may be let go of -> the last forward operator that has it
        self.forward_end: dict[str, int] = {name: forward[name] for name in self.made_at}
        #: the gradient operators that read what may be let go of
        self.readers: list[int] = [
            place for place in range(self.first, len(self.ops)) if self.free_reads[place]
        ]

    def schedule(self, dropped: Dropped) -> Schedule:
        """What runs, and what it takes, where values are let go of behind their last forward reader
        and computed again for the first gradient operator that reads them.

        Args:
            dropped: the values.
        """
        return _Writing(self, dropped).finished()


class _Writing:
    """A schedule being written.

    Args:
        trace: of what.
        dropped: what is computed again.
    """

    def __init__(self, trace: GradientTrace, dropped: Dropped) -> None:
        self.trace = trace
        self.dropped = dropped
        self.counts: dict[int, int] = {}
        #: value that is let go of -> the name under which it is there again
        self.again: dict[str, str] = {}
        self.saved: dict[str, Insertion] = {}
        self.seeds: dict[str, Insertion] = {}
        self.added: dict[int, list[Insertion]] = {}
        self.names: dict[int, dict[str, str]] = {}
        self.cost = 0
        for place in trace.readers:
            self._add(place)

    def _add(self, place: int) -> None:
        """Add before a gradient operator what computes again what it reads."""
        reads = [name for name in self.trace.free_reads[place] if name in self.dropped]
        if reads:
            wanted = [name for name in reads if name not in self.again]
            fresh = self._compute(wanted, place) if wanted else {}
            self.names[place] = {name: fresh.get(name) or self.again[name] for name in reads}

    def _compute(self, wanted: list[str], place: int) -> dict[str, str]:
        """Compute values again, and give all their names; those whose level is reached are held."""
        trace, dropped, counts = self.trace, self.dropped, self.counts
        fresh: dict[str, str] = {}
        steps = self.added[place] = []
        for position in sorted(self._behind(wanted)):
            count = counts[position] = counts.get(position, 0) + 1
            self.cost += trace.costs[position]
            reads, writes = {}, {}
            for name in trace.touched[position][0]:
                if name in dropped:
                    reads[name] = fresh.get(name) or self.again[name]
                elif trace.is_stale(name, position, place):
                    reads[name] = self._save(name, position)
            if position in trace.drawing:
                self._seed(position)
            for name in trace.touched[position][1]:
                if name in dropped:
                    new = f"{name}{SUBPROGRAM}{trace.number + count - 1}"
                    writes[name] = fresh[name] = new
            steps.append(Insertion(position, "again", reads, writes))
        for name, new in fresh.items():
            if dropped[name] <= counts[trace.made_at[name]]:
                self.again[name] = new
        return fresh

    def _behind(self, wanted: list[str]) -> set[int]:
        """The positions of the operators that have to run again for some values."""
        positions: set[int] = set()
        dropped, again, made_at = self.dropped, self.again, self.trace.made_at
        open_names = [*wanted]
        while open_names:
            position = made_at[open_names.pop()]
            if position not in positions:
                positions.add(position)
                open_names += [
                    name
                    for name in self.trace.free_reads[position]
                    if name in dropped and name not in again
                ]
        return positions

    def _save(self, name: str, position: int) -> str:
        """The name of a copy of what a name holds before an operator."""
        trace = self.trace
        copy = f"{name}@SAVED_{bisect_left(trace.writers[name], position)}"
        if copy not in trace.block.vars and copy not in self.saved:
            self.saved[copy] = Insertion(position, "save", {name: name}, {name: copy})
        return copy

    def _seed(self, position: int) -> None:
        """Let an operator draw what it draws from a number that is kept."""
        name = seed_name(self.trace.ops[position])
        self.seeds.setdefault(name, Insertion(position, "seed", {}, {name: name}))

    def finished(self) -> Schedule:
        """The schedule, with what it takes."""
        read = {new for names in self.names.values() for new in names.values()}
        for steps in self.added.values():
            for step in steps:
                read.update(step.reads.values())
        for steps in self.added.values():
            for step in steps:  # only what something reads is made
                for name in [n for n, new in step.writes.items() if new not in read]:
                    del step.writes[name]
        for step in (*self.saved.values(), *self.seeds.values()):
            self.added.setdefault(step.position, []).append(step)
        copies = sum(self.counts.values())
        return Schedule(self.added, self.names, self.cost, copies, self._held())

    def _held(self) -> Held:
        """From where to where values are held."""
        trace = self.trace
        counts = np.zeros(len(trace.ops), np.int64)
        for place, steps in self.added.items():
            counts[place] = len(steps)
        places = np.arange(len(trace.ops)) + np.cumsum(counts)
        ends = trace.ends.copy()
        for name in self.dropped:
            ends[trace.index[name]] = trace.forward_end[name]
        begins = np.where(trace.begins < 0, 0, places[trace.begins])
        fresh = _Fresh(trace, begins, places[ends])
        for place, steps in self.added.items():
            moment = int(places[place]) - len(steps)
            for step in steps:
                fresh.add(step, moment)
                moment += 1
        for place, names in self.names.items():
            for new in names.values():
                fresh.read(new, int(places[place]))
        for name, step in self.seeds.items():
            fresh.read(name, int(places[step.position]))
        return fresh.held(places)


class _Fresh:
    """From where to where values are held that a schedule makes, and longer those that it reads.

    Args:
        trace: of what.
        begins, ends: of the trace's own values in the schedule; ``ends`` are changed.
    """

    def __init__(self, trace: GradientTrace, begins: Ints, ends: Ints) -> None:
        self.trace = trace
        self.begins = begins
        self.ends = ends
        self._index: dict[str, int] = {}
        self._made: list[tuple[int, int, int]] = []  # begin, end, bytes

    def add(self, step: Insertion, moment: int) -> None:
        """Add what a step reads and writes."""
        trace = self.trace
        if step.kind == "again":
            for name in trace.touched[step.position][0]:
                self.read(step.reads.get(name, name), moment)
            if step.position in trace.drawing:
                self.read(seed_name(trace.ops[step.position]), moment)
        for name, new in step.writes.items():
            size = _SEED_BYTES if step.kind == "seed" else trace.size(name)
            self._write(new, moment, size)

    def _write(self, name: str, moment: int, size: int) -> None:
        place = self._index.setdefault(name, len(self._made))
        begin, end = moment, moment
        if place == len(self._made):
            self._made.append((moment, moment, size))
        else:  # it was read at a later moment
            _, end, _ = self._made[place]
            self._made[place] = (begin, end, size)

    def read(self, name: str, moment: int) -> None:
        """A value is held at a moment."""
        known = self.trace.index.get(name)
        if known is not None:
            self.ends[known] = max(self.ends[known], moment)
            return
        if name in self.trace.stays:
            return
        place = self._index.setdefault(name, len(self._made))
        if place == len(self._made):
            self._made.append((moment, moment, 0))
        else:
            begin, end, size = self._made[place]
            self._made[place] = (begin, max(end, moment), size)

    def held(self, places: Ints) -> Held:
        """All of them together."""
        trace = self.trace
        made = np.array(self._made, np.int64).reshape(-1, 3)
        begins = np.concatenate([self.begins, made[:, 0]])
        ends = np.concatenate([self.ends, made[:, 1]])
        sizes = np.concatenate([trace.bytes, made[:, 2]])
        count = int(places[-1]) + 1 if len(places) else 0
        changes = np.zeros(count + 1, np.int64)
        np.add.at(changes, begins, sizes)
        np.subtract.at(changes, ends + 1, sizes)
        names = [*trace.values, *self._index]
        return Held(names, begins, ends, sizes, places, np.cumsum(changes)[:-1])


def _can_run_again(op: Operator) -> bool:
    """Whether an operator gives the same when it is run again, and does nothing else."""
    definition = op.definition
    if definition is None or definition.execute is not None or definition.fluid.updates:
        return False
    if definition.effect is not None or definition.communicates or definition.calls_out:
        return False
    if EMPTY in op.output_arg_names[:1]:
        return False
    return not draws_anew(op) or takes_seed(op)
