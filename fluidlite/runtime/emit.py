"""From kernels to the source of one Python function, and the buffers that it works in.

The source reads as NumPy: a line for each kernel, behind it the operator and the user's line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import Prepared
from .tidy import last_uses
from .trace import Kernel, Value

STEPS_PER_FUNCTION = 2000
SMALLEST_BUFFER = 4096  #: bytes; smaller results are left to NumPy's own cache of small blocks


class Emission:
    """The source of a function for kernels, and what it refers to.

    Args:
        kernels: in order.
        inputs: values that come from outside.
        outputs: values that are given back; their arrays are not written again.
    """

    def __init__(
        self, kernels: Sequence[Kernel], inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> None:
        self.constants: list[Any] = []
        self.names: dict[str, Any] = {"asarray": np.asarray, "ndarray": np.ndarray}
        #: what makes the buffers of one run
        self.makers: list[Callable[[], Any]] = []
        self.inputs = inputs
        self.outputs = outputs
        self._kept = {v.number for v in outputs}
        self._outside = {v.number for v in inputs}
        #: value -> the buffer that holds it, and buffers that no value is in
        self._held: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}
        self._sizes: list[int] = []
        #: value -> the values whose memory it may share
        self._shares: dict[int, set[int]] = {}
        self._readers: dict[int, int] = {}
        self._named: dict[int, str] = {}
        #: values that lie in buffers
        self._in_buffers: set[int] = set()
        lines = self._lines(kernels)
        arguments = ", ".join(f"v{v.number}" for v in inputs)
        results = ", ".join(self._result(v) for v in outputs)
        body = [f"def run(B, G{', ' + arguments if arguments else ''}):"]
        if self.makers:
            body.append(f"    {', '.join(f'b{k}' for k in range(len(self.makers)))}, = B")
        body += [f"    {line}" for line in lines]
        body.append(f"    return ({results}{',' if len(outputs) == 1 else ''})")
        self.source = "\n".join(body) + "\n"

    def _lines(self, kernels: Sequence[Kernel]) -> list[str]:
        lines = []
        for index, (kernel, dying) in enumerate(
            zip(kernels, last_uses(list(kernels), self.outputs), strict=True)
        ):
            lines += self._kernel(index, kernel, dying)
        return lines

    def _kernel(self, index: int, kernel: Kernel, dying: Iterable[Value]) -> list[str]:
        dead = {v.number for v in dying}
        prepared = kernel.op.prepared([_spec(a) for a in kernel.arguments])
        where = f"  # {kernel.op.type}"
        if kernel.step.op.callsite is not None:
            where += f", {kernel.step.op.callsite.file.rpartition('/')[2]}"
            where += f":{kernel.step.op.callsite.line}"
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
        slots = [slot for slot in kernel.op.outputs]
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
        for make in prepared.scratch:
            arguments = [*arguments, f"b{len(self.makers)}"]
            self.makers.append(make)
        outputs = kernel.outputs
        if len(outputs) != 1:
            for value in outputs:
                self._define(value, () if prepared.fresh else kernel.inputs)
            names = ", ".join(self._name(v) for v in outputs)
            return [f"{names} = {function}({', '.join(arguments)}){where}"]
        (value,) = outputs
        buffer = None
        if prepared.out and value.number not in self._kept and value.nbytes >= SMALLEST_BUFFER:
            buffer = self._buffer(value, kernel, prepared, dead)
            arguments = [*arguments, f"out=b{buffer}"]
        self._define(value, () if prepared.fresh or buffer is not None else kernel.inputs)
        if buffer is not None:
            self._held[value.number] = buffer
            self._in_buffers.add(value.number)
        call = f"{function}({', '.join(arguments)})"
        if not value.shape:  # NumPy gives a number of its own kind then
            call = f"asarray({call})"
        return [f"{self._name(value)} = {call}{where}"]

    def _buffer(self, value: Value, kernel: Kernel, prepared: Prepared, dead: set[int]) -> int:
        """A buffer to write to: that of an operand that dies here, one that is free, or a new one."""
        for position in prepared.over:
            operand = kernel.arguments[position]
            if (
                isinstance(operand, Value)
                and operand.number in dead
                and operand.number in self._held
                and self._readers.get(operand.number, 0) == 0
                and (operand.shape, operand.dtype) == (value.shape, value.dtype)
            ):
                return self._view(self._held.pop(operand.number), value)
        free = self._free.get(value.nbytes)
        if free:
            return self._view(free.pop(), value)
        self._sizes.append(value.nbytes)
        return self._view(-len(self._sizes), value)

    def _view(self, root: int, value: Value) -> int:
        """The number of a buffer in a value's shape, over the memory of another."""
        if root < 0:  # a new one
            self.makers.append(_Empty(value.shape, value.dtype))
            return len(self.makers) - 1
        maker = self.makers[root]
        base = maker.root if isinstance(maker, _View) else root
        shape, dtype = value.shape, value.dtype
        for number, other in enumerate(self.makers):
            if isinstance(other, (_Empty, _View)) and (other.shape, other.dtype) == (shape, dtype):
                if (other.root if isinstance(other, _View) else number) == base:
                    return number
        self.makers.append(_View(base, shape, dtype))
        return len(self.makers) - 1

    # -- which memory a value lies in --------------------------------------------------------------

    def _define(self, value: Value, may_share: Iterable[Value]) -> None:
        """Note that a value is made, and whose memory it may share."""
        sources: set[int] = set()
        for other in may_share:
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
                    maker = self.makers[buffer]
                    self._free.setdefault(maker.nbytes, []).append(buffer)

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


class _Empty:
    """Makes a buffer."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype
        self.nbytes = int(np.prod(shape)) * dtype.itemsize

    def __call__(self) -> Any:
        return np.empty(self.shape, self.dtype)


class _View:
    """Makes a buffer over the memory of another, whose number is ``root``."""

    def __init__(self, root: int, shape: tuple[int, ...], dtype: Any) -> None:
        self.root, self.shape, self.dtype = root, shape, dtype
        self.nbytes = int(np.prod(shape)) * dtype.itemsize

    def of(self, buffer: Any) -> Any:
        """The view."""
        return buffer.reshape(-1).view(self.dtype).reshape(self.shape)


def _spec(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec(each) for each in value]
    return None if value is None else value.spec


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
