"""Liveness and buffer assignment: which memory each value of a graph lies in, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.values import arrays_in
from ..opdef.prepared import ALIGNMENT
from .buffers import Allocation, Footprint, View, common_to
from .commands import CommandSequence
from .graph import Instruction
from .packing import Stay, packed
from .recording import Recording
from .value import Value, flat

LONGEST = 4000  #: instructions of one generated function
SMALLEST_BUFFER = 4096  #: bytes; smaller results are left to NumPy's own cache of small blocks
#: bytes of buffers from which on values are packed, and how many there may be: small ones lie in
#: what the cache has had last, and to pack takes longer the more there are
SMALLEST_PACKED, MOST_PACKED = 1 << 25, 2000
_NOTHING: frozenset[int] = frozenset()


def last_uses(order: Sequence[Instruction], kept: Iterable[Value]) -> list[list[Value]]:
    """Liveness: for each instruction the values that nothing after it reads; ``kept`` are read
    behind all of them.
    """
    seen = {v.number for v in kept}
    freed: list[list[Value]] = []
    for instruction in reversed(order):
        dead = []
        for value in (*instruction.inputs, *instruction.results):
            if value.number not in seen and value.constant is None:
                seen.add(value.number)
                dead.append(value)
        freed.append(dead)
    freed.reverse()
    return freed


# -- what a run shows ------------------------------------------------------------------------------


class Observation:
    """How values lay in memory in a run: in which order, and whose memory they shared."""

    def __init__(self) -> None:
        self._orders: dict[int, tuple[int, ...]] = {}
        #: number of a value -> numbers of the values whose memory it shared when it was made
        self.shared: dict[int, frozenset[int]] = {}
        #: of values that are no arrays
        self._sizes: dict[int, int] = {}

    def note(self, made: Iterable[tuple[Value, Any]], inputs: Iterable[tuple[Value, Any]]) -> None:
        """Look at what an instruction made of what it read: pairs of values and their arrays."""
        owners: dict[int, list[tuple[int, Any]]] | None = None
        for value, array in made:
            if not isinstance(array, np.ndarray):
                self._sizes[value.number] = sum(part.nbytes for part in arrays_in(array))
                continue
            if not array.flags.c_contiguous:
                steps = array.strides
                order = sorted(range(array.ndim), key=lambda i: -steps[i])
                self._orders[value.number] = tuple(order)
            if owners is None:
                owners = {}
                for other, held in inputs:
                    if isinstance(held, np.ndarray):
                        owners.setdefault(_owner_of(held), []).append((other.number, held))
            near = owners.get(_owner_of(array), ())
            shared = [number for number, held in near if np.may_share_memory(array, held)]
            self.shared[value.number] = frozenset(shared) if shared else _NOTHING

    def size(self, value: Value) -> int:
        """What a value takes where it has memory of its own."""
        return self._sizes.get(value.number, value.nbytes)

    def order(self, value: Value) -> tuple[int, ...]:
        """The dimensions of a value, that of the longest steps first."""
        return self._orders.get(value.number, tuple(range(len(value.stored[0]))))


def _spec(operand: Any) -> Any:
    """What is known of an operand: a value, a list of them, or None."""
    if isinstance(operand, list):
        return [_spec(each) for each in operand]
    return None if operand is None else operand.spec


def _owner_of(array: Any) -> int:
    """What arrays over the same memory have in common: the array that owns it; 0 for memory that
    belongs to something else.
    """
    base = array
    while type(base.base) is np.ndarray:
        base = base.base
    return id(base) if base.base is None else 0


# -- buffer assignment -----------------------------------------------------------------------------


@dataclass(slots=True)
class Placement:
    """Where an instruction writes, and what is let go of behind it."""

    #: of each result the number of a buffer, ``"donated"`` for the array that it replaced in the
    #: scope, or None for a new array
    targets: list[int | str | None] = field(default_factory=list)
    scratch: int | None = None  #: the number of what it works in
    dead: list[Value] = field(default_factory=list)  #: made before, and read by nothing behind it
    lets_go: bool = False  #: whether these are let go of at once, and not when the function ends


class BufferAssignment:
    """The memory of each value, such that values that live at the same time do not share any.

    Args:
        order: the instructions.
        inputs: values that come from outside.
        outputs: values that are given back; their arrays are not written again.
        double_buffered: those of the outputs that replace an array which nobody else holds: they
            may be written to the array that was replaced before.
        observed: how values lay in a run.
        dying: of each instruction, the values that nothing after it reads; see :func:`last_uses`.
        recording: which instructions are commands; None where nothing records them.
        first_late: the first of the instructions at the end that are a sequence of their own.
    """

    def __init__(
        self,
        order: Sequence[Instruction],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        double_buffered: Sequence[Value],
        observed: Observation,
        dying: Sequence[Sequence[Value]],
        recording: Recording | None = None,
        first_late: int | None = None,
    ) -> None:
        self.order = order
        self.inputs = inputs
        self.outputs = outputs
        self._observed = observed
        self._outside = {v.number for v in inputs}
        self._kept = {v.number for v in outputs}
        self._double = {v.number for v in double_buffered}
        #: numbers of results that are written to donated arrays, in order
        self.donated: dict[int, None] = {}
        #: what makes the buffers of one run
        self.makers: list[Any] = []
        self._numbers: dict[Any, int] = {}
        #: value -> the buffer that holds it; and memory by size that no value is in
        self._held: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}
        #: of values in buffers: where instructions write them, and the number of their stay there
        self._written: list[tuple[Placement, int, Value, int]] = []
        self._stays: list[Stay] = []
        self._staying: dict[int, int] = {}  # by number of some memory, the stay that is there now
        #: value -> the values whose memory it may share, and how many share it
        self._shares: dict[int, frozenset[int]] = {}
        self._sharers: dict[int, int] = {}
        self._in_buffers: set[int] = set()
        #: values that lie in arrays of their own -> their size
        self._arrays: dict[int, int] = {}
        #: the size of such arrays, of those among them that the end of a function lets go of, and
        #: the most that there are at a moment
        self._live = self._lingering = self._most = 0
        self._everything = 0
        self.placements: list[Placement] = []
        #: instructions of one generated function each, which lets go of what it names at its end
        self.parts: list[range] = [
            range(first, min(first + LONGEST, len(order)))
            for first in range(0, len(order), LONGEST)
        ]
        #: instructions that one call makes
        self.sequences: list[CommandSequence] = []
        if recording is not None:
            cut = len(order) if first_late is None else first_late
            halves = [_cut(part, cut) for part in self.parts]
            self.sequences = [
                *recording.sequences(order, [early for early, _ in halves], self._kept),
                *recording.sequences(order, [late for _, late in halves], self._kept, fewest=1),
            ]
        self._recorded = {number for sequence in self.sequences for number in sequence.made}
        for part in self.parts:
            self._live, self._lingering = self._live - self._lingering, 0
            for self._index in part:
                self.placements.append(self._place(order[self._index], dying[self._index]))
        self._pack()
        copied = sum(v.nbytes for v in outputs if self.is_copied(v))
        for sequence in self.sequences:
            sequence.place(self.placements, self.donated, self.makers)
        memory = [made for made in self.makers if isinstance(made, Allocation)]
        scratch = [m for m in self.makers if not isinstance(m, (Allocation, View))]
        #: what a run takes
        self.footprint: Footprint = Footprint(
            sum(made.nbytes + ALIGNMENT for made in memory),
            sum(getattr(made, "nbytes", 0) for made in scratch) + common_to(scratch),
            max(self._most, self._live + copied),
            sum(v.nbytes for v in double_buffered if v.number in self.donated),
            self._everything,
        )

    def is_copied(self, value: Value) -> bool:
        """Whether a value that is given back may lie in a buffer."""
        return bool(self._shares.get(value.number, _NOTHING) & self._in_buffers)

    def _place(self, instruction: Instruction, dying: Sequence[Value]) -> Placement:
        kernel, placement = instruction.kernel, Placement()
        if kernel is not None and kernel.scratch is not None and instruction.phase != "wait":
            placement.scratch = self._maker(kernel.scratch)
        writes = kernel is not None and kernel.out and instruction.phase != "start"
        for value in instruction.results:
            target = self._target(value, instruction, dying) if writes else None
            placement.targets.append(target)
            self._define(value, instruction.inputs, target is not None)
            if type(target) is int:
                self._held[value.number] = target
                self._in_buffers.add(value.number)
                place = len(placement.targets) - 1
                stay = self._staying[self.makers[target].root]
                self._written.append((placement, place, value, stay))
        if kernel is None:
            between = instruction.op.temporaries(*map(_spec, instruction.operands))
        else:
            between = kernel.between
        self._most = max(self._most, self._live + between)
        placement.dead = [v for v in dying if v.number not in self._outside]
        placement.lets_go = any(self._is_large(v) for v in placement.dead)
        for value in dying:
            self._release(value, placement.lets_go)
        return placement

    def _is_large(self, value: Value) -> bool:
        """Whether much memory may be free when a value is let go of."""
        shares = self._shares.get(value.number, _NOTHING)
        return value.nbytes >= SMALLEST_BUFFER or any(
            self._arrays.get(number, 0) >= SMALLEST_BUFFER for number in shares
        )

    # -- where values are written ------------------------------------------------------------------

    def _overwritable(self, instruction: Instruction, dying: Sequence[Value]) -> Iterator[Value]:
        """The operands in whose buffers the result may be written."""
        kernel = instruction.kernel
        if kernel is None or not kernel.over:
            return
        dead = {v.number for v in dying}
        rest = [a for i, a in enumerate(instruction.operands) if i not in kernel.over]
        others = {v.number for v in flat(rest)}
        for position in kernel.over:
            operand = instruction.operands[position]
            if (
                isinstance(operand, Value)
                and operand.number not in others
                and operand.number in dead
                and not self._sharers.get(operand.number, 0)
            ):
                yield operand

    def _target(
        self, value: Value, instruction: Instruction, dying: Sequence[Value]
    ) -> int | str | None:
        """What a value is written to; None for a new array."""
        if value.number in self._kept:
            if value.number not in self._double:
                return None
            self.donated[value.number] = None
            return "donated"
        shape, _ = value.stored
        is_small = value.nbytes < SMALLEST_BUFFER or not shape
        if not value.is_static or (is_small and value.number not in self._recorded):
            return None
        for operand in self._overwritable(instruction, dying):
            if operand.number in self._held and self._lies_alike(operand, value):
                root = self.makers[self._held.pop(operand.number)].root
                return self._view(root, value)
        return self._view(self._memory(value.nbytes), value)

    def _lies_alike(self, one: Value, other: Value) -> bool:
        """Whether two values have each element at the same place of their memory.

        Kernels work in parts, each of which reads its own part of the operand: over an operand in
        another order of dimensions one part would write what the next one has yet to read.
        """
        if one.stored != other.stored:
            return False
        shape = one.stored[0]
        mine, its = (
            [i for i in self._observed.order(value) if shape[i] > 1] for value in (one, other)
        )
        return mine == its

    def _memory(self, nbytes: int) -> int:
        """The number of some memory that no value is in: of the smallest that is large enough, else
        of the largest, which grows, else of new memory.
        """
        sizes = [size for size, roots in self._free.items() if roots]
        if not sizes:
            self.makers.append(Allocation(nbytes))
            root = len(self.makers) - 1
        else:
            root = self._free[min((s for s in sizes if s >= nbytes), default=max(sizes))].pop()
            if self.makers[root].nbytes < nbytes:
                self.makers[root] = Allocation(nbytes)
        self._staying[root] = len(self._stays)
        self._stays.append(Stay(nbytes, self._index, len(self.order)))
        return root

    def _pack(self) -> None:
        """Put large buffers into one memory, where that takes less."""
        size = sum(made.nbytes for made in self.makers if isinstance(made, Allocation))
        if size < SMALLEST_PACKED or len(self._stays) > MOST_PACKED:
            return
        offsets, total = packed(self._stays)
        if total >= size:
            return
        makers, self.makers, self._numbers = self.makers, [Allocation(total)], {}
        for placement in self.placements:
            if placement.scratch is not None:
                placement.scratch = self._maker(makers[placement.scratch])
        for placement, place, value, stay in self._written:
            placement.targets[place] = self._view(0, value, offsets[stay])

    def _view(self, root: int, value: Value, offset: int = 0) -> int:
        """The number of a buffer for a value over some memory."""
        return self._maker(View(root, *value.stored, self._observed.order(value), offset))

    def _maker(self, maker: Any) -> int:
        """The number of what a maker makes; equal ones have the same."""
        number = self._numbers.setdefault(maker, len(self.makers))
        if number == len(self.makers):
            self.makers.append(maker)
        return number

    # -- whose memory a value shares ---------------------------------------------------------------

    def _define(self, value: Value, inputs: Sequence[Value], is_placed: bool) -> None:
        """Note that a value is made of others, whose memory it shares, or placed in memory that is
        there.
        """
        shared = self._observed.shared.get(value.number)
        if not shared or is_placed:
            size = self._observed.size(value)
            self._everything += 0 if value.number in self._kept else size
            if not is_placed:
                self._arrays[value.number] = size
                self._live += size
        if is_placed or (shared is not None and not shared):
            self._shares[value.number] = _NOTHING
            return
        sources: set[int] = set()
        for other in inputs:
            if shared is None or other.number in shared:
                sources.add(other.number)
                sources |= self._shares.get(other.number, _NOTHING)
        self._shares[value.number] = frozenset(sources)
        for number in sources:
            self._sharers[number] = self._sharers.get(number, 0) + 1

    def _release(self, value: Value, at_once: bool) -> None:
        """Note that nothing reads a value any more, which the function lets go of now or at its
        end.
        """
        pending = [value.number]
        for number in self._shares.pop(value.number, ()):
            self._sharers[number] -= 1
            pending.append(number)
        for number in pending:
            if number not in self._shares and not self._sharers.get(number, 0):
                buffer = self._held.pop(number, None)
                size = self._arrays.pop(number, 0)
                if at_once:
                    self._live -= size
                else:
                    self._lingering += size
                if buffer is not None:
                    root = self.makers[buffer].root
                    stay = self._staying[root]
                    self._stays[stay] = self._stays[stay]._replace(last=self._index)
                    self._free.setdefault(self.makers[root].nbytes, []).append(root)


def _cut(part: range, place: int) -> tuple[range, range]:
    """The numbers before a place, and the others."""
    count = min(max(place - part.start, 0), len(part))
    return part[:count], part[count:]


def is_fresh(value: Value, observed: Observation) -> bool:
    """Whether a result shares no memory with anything else."""
    made = value.producer is not None and value.kind is Kind.LOD_TENSOR
    return made and not observed.shared.get(value.number)
