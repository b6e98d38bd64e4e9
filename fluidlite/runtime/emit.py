"""From kernels to the source of one Python function, and the buffers that it works in.

The source reads as NumPy: a line for each kernel, behind it the operator and the user's line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import Prepared
from .tidy import last_uses
from .trace import Kernel, Value

ALIGNMENT = 64  #: bytes; of buffers
SMALLEST_BUFFER = 4096  #: bytes; smaller results are left to NumPy's own cache of small blocks


class Emission:
    """The source of a function for kernels, and what it refers to.

    Args:
        kernels: in order.
        inputs: values that come from outside.
        outputs: values that are given back; their arrays are not written again.
        rotating: those of the outputs that replace an array which nobody else holds: they may be
            written to an array that was replaced before.
        memory: where the values lay in a run.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        rotating: Sequence[Value],
        memory: Memory,
    ) -> None:
        self.memory = memory
        self._spares = {v.number: f"s{v.number}" for v in rotating}
        self.spares: list[int] = []
        self.constants: list[Any] = []
        self.names: dict[str, Any] = {"asarray": np.asarray, "ndarray": np.ndarray}
        #: what makes the buffers of one run
        self.makers: list[Any] = []
        self.inputs = inputs
        self.outputs = outputs
        self._kept = {v.number for v in outputs}
        self._outside = {v.number for v in inputs}
        #: value -> the buffer that holds it, and buffers that no value is in
        self._held: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}
        self._numbers: dict[Any, int] = {}
        #: value -> the values whose memory it may share
        self._shares: dict[int, set[int]] = {}
        self._readers: dict[int, int] = {}
        self._named: dict[int, str] = {}
        #: values that lie in buffers
        self._in_buffers: set[int] = set()
        #: the lines of each kernel
        self._lines = [
            self._kernel(index, kernel, dying)
            for index, (kernel, dying) in enumerate(
                zip(kernels, last_uses(list(kernels), self.outputs), strict=True)
            )
        ]
        self._results = ", ".join(self._result(v) for v in outputs)
        self.source = self.written()

    def written(self, after: Mapping[int, str] | None = None) -> str:
        """The source.

        Args:
            after: a further line behind the kernel of a number, before what it read is let go of;
                the function then takes ``hook``, which such lines may call.
        """
        arguments = ["B", "S", "G"]
        arguments += [f"v{v.number}" for v in self.inputs]
        if after is not None:
            arguments += ["*", "hook"]
        body = [f"def run({', '.join(arguments)}):"]
        if self.spares:
            body.append(f"    {', '.join(f's{n}' for n in self.spares)}, = S")
        if self.makers:
            body.append(f"    {', '.join(f'b{k}' for k in range(len(self.makers)))}, = B")
        for index, lines in enumerate(self._lines):
            extra = None if after is None else after.get(index)
            if extra is not None:
                last = len(lines) - lines[-1].startswith("del ")
                lines = [*lines[:last], extra, *lines[last:]]
            body += [f"    {line}" for line in lines]
        body.append(f"    return ({self._results}{',' if len(self.outputs) == 1 else ''})")
        return "\n".join(body) + "\n"

    def _kernel(self, index: int, kernel: Kernel, dying: Iterable[Value]) -> list[str]:
        dead = {v.number for v in dying}
        prepared = kernel.prepared
        where = f"  # {kernel.title}"
        if kernel.step.op.callsite is not None:
            where += f", {kernel.step.op.callsite.file.rpartition('/')[2]}"
            where += f":{kernel.step.op.callsite.line}"
        where += f", {kernel.library}" if kernel.library else ""
        arguments = [self._argument(a) for a in kernel.arguments]
        if prepared is None:
            lines = self._interpreted(index, kernel, arguments, where)
        else:
            lines = self._prepared(index, kernel, prepared, arguments, dead, where)
        gone = [v for v in dying if v.number not in self._outside]
        for value in dying:
            self._release(value)
        names = [f"v{v.number}" for v in gone if v.number in self._named]
        if names and any(v.nbytes >= SMALLEST_BUFFER for v in gone):
            lines.append(f"del {', '.join(names)}")
        return lines

    # -- kernels that are called as they are -------------------------------------------------------

    def _interpreted(
        self, index: int, kernel: Kernel, arguments: list[str], where: str
    ) -> list[str]:
        op, function = f"o{index}", f"k{index}"
        self.names[op], self.names[function] = kernel.op, kernel.function
        rng = [f"G({kernel.random_key!r})"] if kernel.takes_rng else []
        call = f"{function}({', '.join([op, 'xp', *rng, *arguments])})"
        slots = list(kernel.op.outputs)
        for value in kernel.outputs:
            self._define(value, kernel.inputs)
        if len(slots) == 1 and not slots[0].many:
            (value,) = kernel.outputs
            name = self._name(value)
            if value.kind is not Kind.LOD_TENSOR:
                return [f"{name} = {call}{where}"]
            return [
                f"{name} = {call}{where}",
                f"if type({name}) is not ndarray: {name} = asarray({name})",
            ]
        lines = [f"r = o{index}.by_slot({call}){where}"]
        for slot in slots:
            made = kernel.outs.get(slot.name)
            if isinstance(made, list):
                names = ", ".join(self._name(v) for v in made)
                lines.append(f"{names}, = map(asarray, r[{slot.name!r}])")
            elif made is not None:
                lines.append(f"{self._name(made)} = asarray(r[{slot.name!r}])")
        return [*lines, "r = None"]

    # -- kernels that were made ready --------------------------------------------------------------

    def _prepared(
        self,
        index: int,
        kernel: Kernel,
        prepared: Prepared,
        arguments: list[str],
        dead: set[int],
        where: str,
    ) -> list[str]:
        function = f"k{index}"
        self.names[function] = prepared.function
        if prepared.scratch is not None:
            arguments = [*arguments, f"b{self._maker(prepared.scratch)}"]
        outputs = kernel.outputs
        targets = []
        for value in outputs:
            target = self._target(value, kernel, prepared, dead) if prepared.out else None
            targets.append(target or "None")
            self._define(value, () if target else kernel.inputs)
            if target and target[0] == "b":
                self._held[value.number] = int(target[1:])
                self._in_buffers.add(value.number)
        if any(target != "None" for target in targets):
            out = targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
            arguments = [*arguments, f"out={out}"]
        call = f"{function}({', '.join(arguments)})"
        if len(outputs) == 1 and not outputs[0].shape:  # NumPy gives a number of its own kind then
            call = f"asarray({call})"
        return [f"{', '.join(self._name(v) for v in outputs)} = {call}{where}"]

    def _target(
        self, value: Value, kernel: Kernel, prepared: Prepared, dead: set[int]
    ) -> str | None:
        """What a value is written to; None for a new array."""
        if value.number in self._kept:
            spare = self._spares.get(value.number)
            if spare is not None and value.number not in self.spares:
                self.spares.append(value.number)
            return spare
        if value.nbytes < SMALLEST_BUFFER or not value.shape:
            return None
        for position in prepared.over:
            operand = kernel.arguments[position]
            if (
                isinstance(operand, Value)
                and operand.number in dead
                and operand.number in self._held
                and self._readers.get(operand.number, 0) == 0
                and (operand.shape, operand.dtype) == (value.shape, value.dtype)
            ):
                return f"b{self._view(self.makers[self._held.pop(operand.number)].root, value)}"
        return f"b{self._view(self._room(value.nbytes), value)}"

    def _room(self, nbytes: int) -> int:
        """The number of some memory that no value is in: of the smallest that is large enough, else
        of the largest, which grows, else of new memory.
        """
        sizes = [size for size, roots in self._free.items() if roots]
        if not sizes:
            self.makers.append(_Memory(nbytes))
            return len(self.makers) - 1
        root = self._free[min((s for s in sizes if s >= nbytes), default=max(sizes))].pop()
        if self.makers[root].nbytes < nbytes:
            self.makers[root] = _Memory(nbytes)
        return root

    def _view(self, root: int, value: Value) -> int:
        """The number of a buffer for a value over some memory."""
        return self._maker(_View(root, value.shape, value.dtype, self.memory.order(value)))

    def _maker(self, maker: Any) -> int:
        """The number of what a maker makes; equal ones have the same."""
        number = self._numbers.setdefault(maker, len(self.makers))
        if number == len(self.makers):
            self.makers.append(maker)
        return number

    # -- which memory a value lies in --------------------------------------------------------------

    def _define(self, value: Value, inputs: Iterable[Value]) -> None:
        """Note that a value is made, and whose memory it shares."""
        sources: set[int] = set()
        shared = self.memory.shared.get(value.number)
        for other in inputs:
            if shared is None or other.number in shared:
                sources.add(other.number)
                sources |= self._shares.get(other.number, set())
        self._shares[value.number] = sources
        for number in sources:
            self._readers[number] = self._readers.get(number, 0) + 1

    def _release(self, value: Value) -> None:
        """Note that nothing reads a value any more."""
        pending = [value.number]
        for number in self._shares.pop(value.number, ()):
            self._readers[number] -= 1
            pending.append(number)
        for number in pending:
            if number not in self._shares and not self._readers.get(number, 0):
                buffer = self._held.pop(number, None)
                if buffer is not None:
                    root = self.makers[buffer].root
                    self._free.setdefault(self.makers[root].nbytes, []).append(root)

    # -- names -------------------------------------------------------------------------------------

    def _name(self, value: Value) -> str:
        self._named[value.number] = f"v{value.number}"
        return f"v{value.number}"

    def _value(self, value: Value) -> str:
        if value.constant is None:
            return f"v{value.number}"
        name = f"c{value.number}"
        self.names[name] = value.constant
        return name

    def _result(self, value: Value) -> str:
        """A value that is given back: a copy where it may lie in a buffer."""
        shared = self._shares.get(value.number, set()) & self._in_buffers
        return self._value(value) + (".copy()" if shared else "")

    def _argument(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list):
            return f"[{', '.join(self._argument(v) for v in value)}]"
        return self._value(value)


@dataclass(frozen=True)
class _Memory:
    """Makes memory."""

    nbytes: int

    def __call__(self) -> Any:
        room = np.empty(self.nbytes + ALIGNMENT, "uint8")
        begin = -room.ctypes.data % ALIGNMENT
        return room[begin : begin + self.nbytes]


@dataclass(frozen=True)
class _View:
    """An array over the memory that another maker, of number ``root``, makes."""

    root: int
    shape: tuple[int, ...]
    dtype: Any
    order: tuple[int, ...]  #: the dimensions, that of the longest steps first

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return int(np.prod(self.shape)) * int(self.dtype.itemsize)

    def of(self, memory: Any) -> Any:
        """The array."""
        stored = memory[: self.nbytes].view(self.dtype).reshape([self.shape[i] for i in self.order])
        return stored.transpose(np.argsort(self.order))


class Memory:
    """Where values lay in a run: in which order, and whose memory they shared."""

    def __init__(self) -> None:
        self._orders: dict[int, tuple[int, ...]] = {}
        #: number of a value -> numbers of the values whose memory it shared when it was made
        self.shared: dict[int, set[int]] = {}

    def note(self, value: Value, array: Any, inputs: Iterable[tuple[Value, Any]]) -> None:
        """Look at a value that a kernel made.

        Args:
            value: it.
            array: what was made.
            inputs: what the kernel read.
        """
        if isinstance(array, np.ndarray):
            steps = array.strides
            self._orders[value.number] = tuple(sorted(range(array.ndim), key=lambda i: -steps[i]))
            self.shared[value.number] = {
                other.number
                for other, held in inputs
                if isinstance(held, np.ndarray) and np.may_share_memory(array, held)
            }

    def order(self, value: Value) -> tuple[int, ...]:
        """The dimensions of a value, that of the longest steps first."""
        return self._orders.get(value.number, tuple(range(value.ndim)))


class Buffers:
    """The buffers of a function, one set for each run that is under way.

    Args:
        makers: what makes them, in order.
    """

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self._makers = makers
        self._lock = threading.Lock()
        self._idle: list[tuple[Any, ...]] = []

    def take(self) -> tuple[Any, ...]:
        """A set that no other run has."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        made: list[Any] = []
        for maker in self._makers:
            made.append(maker.of(made[maker.root]) if isinstance(maker, _View) else maker())
        return tuple(made)

    def give_back(self, taken: tuple[Any, ...]) -> None:
        """Let another run have a set."""
        with self._lock:
            if len(self._idle) < 2:
                self._idle.append(taken)
