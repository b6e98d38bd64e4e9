"""From kernels to the source of a Python function, and the buffers that it works in.

The source reads as NumPy: a line for each kernel, behind it the operator and the user's line.  Of
many kernels it is cut into functions that are called one after the other: what Python needs to
compile one grows with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import ALIGNMENT, Prepared
from .buffers import Footprint, Memory, Room, View, common_to
from .trace import Kernel, Value, flat

LONGEST = 4000  #: kernels of one function
SMALLEST_BUFFER = 4096  #: bytes; smaller results are left to NumPy's own cache of small blocks
_NOTHING: frozenset[int] = frozenset()


class Emission:
    """The source of a function for kernels, and what it refers to.

    Args:
        kernels: in order.
        inputs: values that come from outside.
        outputs: values that are given back; their arrays are not written again.
        rotating: those of the outputs that replace an array which nobody else holds: they may be
            written to an array that was replaced before.
        memory: where the values lay in a run.
        dying: for each kernel the values that nothing after it reads.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        rotating: Sequence[Value],
        memory: Memory,
        dying: Sequence[Iterable[Value]],
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
        self._shares: dict[int, frozenset[int]] = {}
        self._readers: dict[int, int] = {}
        self._named: dict[int, str] = {}
        #: values that lie in buffers
        self._in_buffers: set[int] = set()
        #: values that lie in arrays of their own -> their size
        self._arrays: dict[int, int] = {}
        #: the size of such arrays, of those among them that the end of a function lets go of, and
        #: the most that there are at a moment
        self._live = self._lingering = self._most = 0
        self._everything = 0
        #: function of the library -> its name
        self._functions: dict[int, str] = {}
        #: the lines of each kernel
        self._lines: list[list[str]] = []
        self._parts = [
            _Part(range(first, min(first + LONGEST, len(kernels))))
            for first in range(0, len(kernels), LONGEST)
        ]
        #: value -> the part that makes it
        self._made_in: dict[int, _Part] = {}
        for part in self._parts:
            self._part = part
            self._lines += [self._kernel(index, kernels[index], dying[index]) for index in part.own]
            if part is not self._parts[-1]:
                self._live, self._lingering = self._live - self._lingering, 0
        name = "v{}" if len(self._parts) < 2 else "V[{}]"
        self._results = [self._result(v, name) for v in outputs]
        copied = sum(v.nbytes for v in outputs if self._is_copied(v))
        rooms = [made for made in self.makers if isinstance(made, Room)]
        scratch = [m for m in self.makers if not isinstance(m, (Room, View))]
        #: what a run takes
        self.footprint = Footprint(
            sum(made.nbytes + ALIGNMENT for made in rooms),
            sum(getattr(made, "nbytes", 0) for made in scratch) + common_to(scratch),
            max(self._most, self._live + copied),
            sum(v.nbytes for v in rotating if v.number in self.spares),
            self._everything,
        )

    def written(self, after: Mapping[int, str] | None = None) -> Iterator[str]:
        """The source, function by function; the last one, ``run``, is what runs.

        Args:
            after: a further line behind the kernel of a number, before what it read is let go of;
                the function then takes ``hook``, which such lines may call.
        """
        arguments = ["B", "S", "G"]
        given = [f"v{v.number}" for v in self.inputs]
        hook = [] if after is None else ["*", "hook"]
        if len(self._parts) < 2:
            body = [f"def run({', '.join([*arguments, *given, *hook])}):"]
            if self.spares:
                body.append(f"    {', '.join(f's{n}' for n in self.spares)}, = S")
            if self.makers:
                body.append(f"    {', '.join(f'b{k}' for k in range(len(self.makers)))}, = B")
            body += self._body(range(len(self._lines)), after)
            yield _function(body, self._results)
            return
        call = f"(B, S, G, V{'' if after is None else ', hook'})"
        for number, part in enumerate(self._parts):
            body = [f"def part{number}{call}:"]
            body += [f"    {name} = {where}" for name, where in self._taken(part)]
            body += self._body(part.own, after)
            body += [f"    V[{n}] = v{n}" for n in part.gives]
            yield _function(body)
        body = [f"def run({', '.join([*arguments, *given, *hook])}):"]
        body.append(f"    V = {{{', '.join(f'{v.number}: v{v.number}' for v in self.inputs)}}}")
        body += [f"    part{number}{call}" for number in range(len(self._parts))]
        yield _function(body, self._results)

    def _body(self, own: Iterable[int], after: Mapping[int, str] | None) -> Iterator[str]:
        """The lines of kernels."""
        for index in own:
            lines = self._lines[index]
            extra = None if after is None else after.get(index)
            if extra is not None:
                last = len(lines) - lines[-1].startswith("del ")
                lines = [*lines[:last], extra, *lines[last:]]
            for line in lines:
                yield f"    {line}"

    def _taken(self, part: _Part) -> Iterator[tuple[str, str]]:
        """What a part begins with: names, and where they come from."""
        places = {number: place for place, number in enumerate(self.spares)}
        for number in part.spares:
            yield f"s{number}", f"S[{places[number]}]"
        for number in part.buffers:
            yield f"b{number}", f"B[{number}]"
        for number, is_last in part.takes.items():
            yield f"v{number}", f"V.pop({number})" if is_last else f"V[{number}]"

    def _note_part(self, kernel: Kernel, dying: Iterable[Value]) -> None:
        """Note what goes from part to part."""
        part = self._part
        for value in kernel.inputs:
            if value.constant is None:
                maker = self._made_in.get(value.number)
                if maker is not part:
                    part.takes.setdefault(value.number, False)
                    if maker is not None:
                        maker.gives[value.number] = None
        for value in kernel.outputs:
            self._made_in[value.number] = part
            if value.number in self._kept:
                part.gives[value.number] = None
        for value in dying:
            if value.number in part.takes and value.number not in self._outside:
                part.takes[value.number] = True

    def _kernel(self, index: int, kernel: Kernel, dying: Iterable[Value]) -> list[str]:
        if len(self._parts) > 1:
            self._note_part(kernel, dying)
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
        between = 0 if prepared is None else prepared.between
        self._most = max(self._most, self._live + between)
        names = [
            f"v{v.number}"
            for v in dying
            if v.number in self._named and v.number not in self._outside
        ]
        lets_go = bool(names) and any(self._is_large(v) for v in dying)
        if lets_go:
            lines.append(f"del {', '.join(names)}")
        for value in dying:
            self._release(value, lets_go)
        return lines

    def _is_large(self, value: Value) -> bool:
        """Whether much memory may be free when a value is let go of."""
        if value.number in self._outside:
            return False
        shares = self._shares.get(value.number, _NOTHING)
        return value.nbytes >= SMALLEST_BUFFER or any(
            self._arrays.get(number, 0) >= SMALLEST_BUFFER for number in shares
        )

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
        function = self._functions.setdefault(id(prepared.function), f"k{index}")
        self.names[function] = prepared.function
        if prepared.scratch is not None:
            arguments = [*arguments, self._buffer(self._maker(prepared.scratch))]
        outputs = kernel.outputs
        targets = []
        for value in outputs:
            target = self._target(value, kernel, prepared, dead) if prepared.out else None
            targets.append(target or "None")
            self._define(value, kernel.inputs, is_placed=target is not None)
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
            if spare is not None:
                self._part.spares[value.number] = None
            return spare
        if value.nbytes < SMALLEST_BUFFER or not value.shape:
            return None
        rest = [a for i, a in enumerate(kernel.arguments) if i not in prepared.over]
        others = {v.number for v in flat(rest)} if prepared.over else ()
        for position in prepared.over:
            operand = kernel.arguments[position]
            if (
                isinstance(operand, Value)
                and operand.number not in others
                and operand.number in dead
                and operand.number in self._held
                and self._readers.get(operand.number, 0) == 0
                and (operand.shape, operand.dtype) == (value.shape, value.dtype)
            ):
                root = self.makers[self._held.pop(operand.number)].root
                return self._buffer(self._view(root, value))
        return self._buffer(self._view(self._room(value.nbytes), value))

    def _buffer(self, number: int) -> str:
        """The name of a buffer."""
        self._part.buffers[number] = None
        return f"b{number}"

    def _room(self, nbytes: int) -> int:
        """The number of some memory that no value is in: of the smallest that is large enough, else
        of the largest, which grows, else of new memory.
        """
        sizes = [size for size, roots in self._free.items() if roots]
        if not sizes:
            self.makers.append(Room(nbytes))
            return len(self.makers) - 1
        root = self._free[min((s for s in sizes if s >= nbytes), default=max(sizes))].pop()
        if self.makers[root].nbytes < nbytes:
            self.makers[root] = Room(nbytes)
        return root

    def _view(self, root: int, value: Value) -> int:
        """The number of a buffer for a value over some memory."""
        return self._maker(View(root, value.shape, value.dtype, self.memory.order(value)))

    def _maker(self, maker: Any) -> int:
        """The number of what a maker makes; equal ones have the same."""
        number = self._numbers.setdefault(maker, len(self.makers))
        if number == len(self.makers):
            self.makers.append(maker)
        return number

    # -- which memory a value lies in --------------------------------------------------------------

    def _define(self, value: Value, inputs: Iterable[Value], is_placed: bool = False) -> None:
        """Note that a value is made, and whose memory it shares.

        Args:
            value: it.
            inputs: what its kernel read.
            is_placed: whether it is written to memory that there is.
        """
        shared = self.memory.shared.get(value.number)
        if not shared or is_placed:
            size = self.memory.size(value)
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
            self._readers[number] = self._readers.get(number, 0) + 1

    def _release(self, value: Value, at_once: bool) -> None:
        """Note that nothing reads a value any more.

        Args:
            value: it.
            at_once: whether the function lets go of it now, and not at its end.
        """
        pending = [value.number]
        for number in self._shares.pop(value.number, ()):
            self._readers[number] -= 1
            pending.append(number)
        for number in pending:
            if number not in self._shares and not self._readers.get(number, 0):
                buffer = self._held.pop(number, None)
                size = self._arrays.pop(number, 0)
                if at_once:
                    self._live -= size
                else:
                    self._lingering += size
                if buffer is not None:
                    root = self.makers[buffer].root
                    self._free.setdefault(self.makers[root].nbytes, []).append(root)

    # -- names -------------------------------------------------------------------------------------

    def _name(self, value: Value) -> str:
        self._named[value.number] = f"v{value.number}"
        return f"v{value.number}"

    def _value(self, value: Value, name: str = "v{}") -> str:
        if value.constant is None:
            return name.format(value.number)
        name = f"c{value.number}"
        self.names[name] = value.constant
        return name

    def _result(self, value: Value, name: str) -> str:
        """A value that is given back: a copy where it may lie in a buffer."""
        return self._value(value, name) + (".copy()" if self._is_copied(value) else "")

    def _is_copied(self, value: Value) -> bool:
        """Whether a value that is given back may lie in a buffer."""
        return bool(self._shares.get(value.number, _NOTHING) & self._in_buffers)

    def _argument(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list):
            return f"[{', '.join(self._argument(v) for v in value)}]"
        return self._value(value)


class _Part:
    """Kernels that one function runs.

    Args:
        own: their numbers.
    """

    def __init__(self, own: range) -> None:
        self.own = own
        #: values that come from outside, and whether nothing behind the part reads them
        self.takes: dict[int, bool] = {}
        #: values that go on, spares and buffers
        self.gives: dict[int, None] = {}
        self.spares: dict[int, None] = {}
        self.buffers: dict[int, None] = {}


def _function(body: list[str], results: list[str] | None = None) -> str:
    if results is not None:
        body.append(f"    return ({', '.join(results)}{',' if len(results) == 1 else ''})")
    return "\n".join(body) + "\n"
