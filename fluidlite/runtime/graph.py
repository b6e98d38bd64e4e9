"""The plan IR: a graph of instructions on values, in single static assignment form.

Each value is made once: by an instruction, as an input, or as a constant.  Instructions stand in
the order in which they run.  Values know the instructions that read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..ground.dtypes import DType, Kind, as_dtype
from ..ir.operator import OpRole
from ..ir.recomputed import is_recomputed
from ..opdef.definition import Definition
from ..opdef.prepared import Prepared
from ..opdef.spec import Spec
from .parts import Parts
from .value import GraphError, Unsupported, Value, flat

HANDLE = Spec((), DType.UINT8)  #: of what an asynchronous instruction gives to the one that waits
_BACKWARD, _OPTIMIZE = int(OpRole.BACKWARD), int(OpRole.OPTIMIZE)


class FusedOperators(NamedTuple):
    """Two operators that are one instruction; the second alone reads what the first makes."""

    consumer: Any  #: the operator typed, as like instructions share it
    producer: Any  #: the same of the one before it
    slot: str  #: of the consumer, where it reads what the producer makes
    #: what the instruction reads: of which of the two, and in which slot
    takes: tuple[tuple[str, str], ...]


@dataclass(slots=True, eq=False, repr=False)
class Instruction:
    """An operator on values."""

    op: Any  #: with its attributes
    slots: Sequence[
        str
    ]  #: what the operands are called, in the order in which the kernel takes them
    operands: list[Any]  #: values, lists of them, and None for what is absent
    outs: dict[str, Any]  #: by output slot the value that it makes, or a list of them
    origin: Any = None  #: the step of the plan that it is part of
    typed: Any = None  #: what it shares with like instructions
    fused: FusedOperators | None = None  #: of a kernel for two operators
    kernel: Prepared | None = None  #: what computes it; the operator's own where None
    library: str = ""  #: whose kernel that is
    variant: str = ""  #: of a kernel that does more than the operator
    random_key: str | tuple[int | str, ...] = ""
    bodies: tuple[Graph, ...] = ()  #: of a control-flow operator
    phase: str = ""  #: of an asynchronous instruction: "start" or "wait"
    graph: Graph | None = None
    previous: Instruction | None = None
    next: Instruction | None = None
    results: list[Value] = field(init=False)
    _inputs: list[Value] | None = None
    _parts: Parts | None = None

    def __post_init__(self) -> None:
        self.results = flat(self.outs.values())
        for value in self.results:
            value.producer = self

    @property
    def inputs(self) -> list[Value]:
        """The values that it reads, also those that its bodies do, one after the other."""
        if self._inputs is None:
            self._inputs = flat(self.operands)
            for body in self.bodies:
                self._inputs += body.captured
        return self._inputs

    @property
    def parts(self) -> Parts:
        """Which parts of its only input the results are, worked out once for all of them."""
        known = self._parts
        if known is None or known.op is not self.op:
            known = self._parts = Parts(self.op, self.inputs[0], self.results)
        return known

    @property
    def result(self) -> Value:
        """The value that it makes, of which there is just one."""
        (made,) = self.results
        return made

    @property
    def draws(self) -> bool:
        """Whether it takes random numbers."""
        return self.typed is not None and self.typed.calling.draws

    @property
    def title(self) -> str:
        """What it does, for readers."""
        phase = f".{self.phase}" if self.phase else ""
        return f"{self.op.type}{self.variant}{phase}"

    @property
    def rematerializes(self) -> bool:
        """Whether the backward pass repeats it on purpose, to hold its value for a shorter time."""
        return self.is_backward and any(map(is_recomputed, self.origin.op.output_arg_names))

    @property
    def is_backward(self) -> bool:
        """Whether it is part of the backward pass."""
        return self.origin is not None and bool(int(self.origin.op.role) & _BACKWARD)

    @property
    def is_update(self) -> bool:
        """Whether it is part of a step of an optimizer."""
        role = 0 if self.origin is None else int(self.origin.op.role)
        return bool(role & _OPTIMIZE) or self.op.is_update

    def __getitem__(self, slot: str) -> Any:
        """The operand in a slot; None if there is none."""
        try:
            return self.operands[self.slots.index(slot)]
        except ValueError:
            return None

    def set_operands(self, operands: list[Any], slots: Sequence[str] | None = None) -> None:
        """Let it read other values, lists of them and None, in the same slots or others."""
        for value in self.inputs:
            value.users.pop(self, None)
        self.operands, self._inputs, self._parts = operands, None, None
        self.slots = self.slots if slots is None else slots
        for value in self.inputs:
            value.users[self] = None

    def set_outs(self, outs: dict[str, Any]) -> None:
        """Let it make other values, which nothing else makes."""
        for value in self.results:
            value.producer = None
        self.outs, self.results, self._parts = outs, flat(outs.values()), None
        for value in self.results:
            value.producer = self

    def __repr__(self) -> str:
        given = ", ".join(
            f"{slot}={operand}" for slot, operand in zip(self.slots, self.operands, strict=True)
        )
        return f"{', '.join(map(repr, self.results))} = {self.title}({given})"


class Graph:
    """Instructions in order, and what comes from outside and is given back.

    Passes change it through its methods, which keep users and producers up to date.

    Args:
        around: the graph that it is a body in; its values may be read here.
    """

    def __init__(self, around: Graph | None = None) -> None:
        self.around = around
        self.depth: int = 0 if around is None else around.depth + 1
        #: how many values there have been
        self.count: int = 0 if around is None else around.count
        self.inputs: dict[str, Value] = {}
        self._outputs: dict[str, Value] = {}
        #: by number of a value, the names that it is given back under
        self.names_of_outputs: dict[int, list[str]] = {}
        #: which names hold which values: the step that writes it, the name, and the value
        self.names: list[tuple[Any, str, Value]] = []
        self.changes: int = 0  #: how often it was changed
        #: the definitions of the operators that there are, or were
        self.definitions: set[Definition] = set()
        self.builder: Any = None  #: the interpreter that appends instructions
        self._end = Instruction(None, (), [], {})  # a sentinel: neighbour of the first and the last
        self._end.previous = self._end.next = self._end

    def __iter__(self) -> Iterator[Instruction]:
        """The instructions in order; any may be erased meanwhile, and others be put before."""
        at = self._end.next
        while at is not self._end:
            assert at is not None
            yield at
            at = at.next  # an instruction that was erased still knows what followed it
            while at is not self._end and at is not None and at.graph is not self:
                at = at.next

    def __reversed__(self) -> Iterator[Instruction]:
        at = self._end.previous
        while at is not self._end:
            assert at is not None
            before = at.previous
            yield at
            at = before

    def __len__(self) -> int:
        return sum(1 for _ in self)

    # -- values ------------------------------------------------------------------------------------

    def value(self, spec: Spec) -> Value:
        """A new value.

        Raises:
            Unsupported: its shape depends on values.
        """
        if -1 in spec.shape or spec.kind not in (Kind.LOD_TENSOR, Kind.SELECTED_ROWS):
            raise Unsupported("a shape that depends on values")
        return Value(self, spec._replace(lod_level=0) if spec.lod_level else spec)

    def constant(self, array: Any) -> Value:
        """A value that is known."""
        return Value(self, Spec(array.shape, as_dtype(array.dtype)), array)

    def add_input(self, name: str, spec: Spec) -> Value:
        """A value that comes from outside."""
        made = self.inputs[name] = self.value(spec)
        return made

    @property
    def outputs(self) -> Mapping[str, Value]:
        """What is given back, by name."""
        return self._outputs

    def set_output(self, name: str, value: Value) -> None:
        """Give a value back under a name."""
        before = self._outputs.get(name)
        if before is not None:
            names = self.names_of_outputs[before.number]
            names.remove(name)
            if not names:
                del self.names_of_outputs[before.number]
        self._outputs[name] = value
        self.names_of_outputs.setdefault(value.number, []).append(name)
        self.changes += 1

    def current(self, value: Value) -> Value:
        """What stands for a value now that passes have run."""
        while value.replaced_by is not None:
            value = value.replaced_by
        return value

    @property
    def captured(self) -> list[Value]:
        """The values of graphs around this one that are read here, or given back."""
        read = [*(v for i in self for v in i.inputs), *self._outputs.values()]
        return [v for v in read if v.graph is not self and v.constant is None]

    # -- instructions ------------------------------------------------------------------------------

    def insert(self, instruction: Instruction, before: Instruction | None = None) -> Instruction:
        """Put an instruction before another one, or at the end."""
        after = self._end if before is None else before
        ahead = after.previous
        assert ahead is not None
        instruction.previous, instruction.next = ahead, after
        ahead.next = after.previous = instruction
        instruction.graph = self
        self.definitions.add(type(instruction.op))
        for value in instruction.inputs:
            value.users[instruction] = None
        self.changes += 1
        return instruction

    def erase(self, instruction: Instruction) -> None:
        """Take an instruction out, whose results nothing reads.

        Raises:
            GraphError: something reads one.
        """
        for value in instruction.results:
            if value.users or (value.is_output and value.producer is instruction):
                raise GraphError(f"{instruction!r} is still read")
        for body in instruction.bodies:
            body.forget_uses()
        for value in instruction.inputs:
            value.users.pop(instruction, None)
        self._unlink(instruction)

    def forget_uses(self) -> None:
        """Let values no longer know the instructions here: the graph is not used any more."""
        for instruction in self:
            for body in instruction.bodies:
                body.forget_uses()
            for value in instruction.inputs:
                value.users.pop(instruction, None)

    def move(self, instruction: Instruction, before: Instruction) -> None:
        """Put an instruction elsewhere."""
        self._unlink(instruction)
        self.insert(instruction, before)

    def reorder(self, order: Sequence[Instruction]) -> None:
        """Put all instructions into another order."""
        at = self._end
        for instruction in order:
            at.next, instruction.previous = instruction, at
            at = instruction
        at.next, self._end.previous = self._end, at
        self.changes += 1

    def _unlink(self, instruction: Instruction) -> None:
        ahead, after = instruction.previous, instruction.next
        if ahead is None or after is None or instruction.graph is not self:
            raise GraphError(f"{instruction!r} is not in this graph")
        ahead.next, after.previous = after, ahead
        instruction.graph = None
        self.changes += 1

    def replace_all_uses(self, old: Value, new: Value) -> None:
        """Let everything that reads a value read another one."""
        if old is new:
            return
        for user in list(old.users):
            user.set_operands(
                [
                    new
                    if each is old
                    else [new if e is old else e for e in each]
                    if type(each) is list
                    else each
                    for each in user.operands
                ]
            )
            for body in user.bodies:
                body._give_back(old, new)
        old.replaced_by = new
        self._give_back(old, new)
        self.changes += 1

    def _give_back(self, old: Value, new: Value) -> None:
        for name in list(self.names_of_outputs.get(old.number, ())):
            self.set_output(name, new)

    def replace(self, instruction: Instruction, *values: Value) -> None:
        """Use values in place of those that an instruction makes, and take it out."""
        for old, new in zip(instruction.results, values, strict=True):
            self.replace_all_uses(old, new)
        self.erase(instruction)

    def split(self, instruction: Instruction) -> tuple[Instruction, Instruction]:
        """Make an instruction asynchronous: one that starts it, and one that waits for its results.

        Returns:
            both, next to each other; passes may move other instructions between them.
        """
        start = Instruction(
            instruction.op,
            instruction.slots,
            list(instruction.operands),
            {"Handle": self.value(HANDLE)},
            instruction.origin,
        )
        wait = Instruction(
            instruction.op, ("Handle",), [start.result], instruction.outs, instruction.origin
        )
        for each, phase in ((start, "start"), (wait, "wait")):
            each.phase, each.kernel, each.library = phase, instruction.kernel, instruction.library
            self.insert(each, instruction)
        for value in instruction.inputs:
            value.users.pop(instruction, None)
        self._unlink(instruction)
        return start, wait


def verify(graph: Graph) -> None:
    """Check the form of a graph, and of the bodies in it.

    Raises:
        GraphError: a value is read before it is made, made twice, or given back and not made; users
            are not up to date; or what is started is not waited for once.

    >>> from fluidlite.runtime import passes
    >>> passes.verify.__name__
    'verify'
    """
    known = set() if graph.around is None else {v.number for v in graph.captured}
    known.update(v.number for v in graph.inputs.values())
    for instruction in graph:
        for value in instruction.inputs:
            if value.constant is None and value.number not in known:
                raise GraphError(f"{instruction!r} reads {value!r}, which is not made before")
            if instruction not in value.users:
                raise GraphError(f"{value!r} does not know that {instruction!r} reads it")
        for body in instruction.bodies:
            verify(body)
        for value in instruction.results:
            if value.number in known or value.producer is not instruction:
                raise GraphError(f"{value!r} is made twice")
            known.add(value.number)
    for instruction in graph:
        for value in instruction.results:
            for user in value.users:
                if all(each is not value for each in user.inputs):
                    raise GraphError(f"{value!r} has a user that does not read it: {user!r}")
            if instruction.phase == "start" and [u.phase for u in value.users] != ["wait"]:
                raise GraphError(f"{instruction!r} is not waited for once")
    for name, value in graph.outputs.items():
        if value.constant is None and value.number not in known:
            raise GraphError(f"{name!r} is given back as {value!r}, which nothing makes")
