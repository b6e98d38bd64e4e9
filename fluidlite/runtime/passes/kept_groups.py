"""What decides how the instructions of a graph are grouped, as a key of what was found before.

To find groups takes many tries, and to write their kernels in C takes as long.  A later process
that plans the same need do neither: by the key it finds which instructions were together, and the
compiled kernel of each group.  It looks only whether they are a group; where a kernel is missing,
it is worked out anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from ...opdef.user_results import is_users
from ..graph import Instruction
from ..value import Value

FORM = 2  #: of the keys; another one where groups are found in another way
FEWEST = 8  #: instructions of a graph from which on groups are kept


class KeptGroup(NamedTuple):
    """A group as it is kept."""

    place: float
    members: list[int]  #: numbers of its instructions
    pays: bool  #: whether it has a kernel, once that is compiled
    kernel: Any = None  #: what the library finds that by; None where it was not there
    inputs: Sequence[int] = ()  #: what the kernel reads, as numbers among :func:`values_read`
    outputs: Sequence[int] = ()  #: what it makes, as numbers among the results of the members


def key_of(order: Sequence[Instruction], composed: Collection[Instruction], *more: Any) -> str:
    """What graphs have in common whose groups are the same.

    Args:
        order: the instructions.
        composed: those whose kernel does more than their operator says.
        more: what else decides it.
    """
    return _Key(order, composed, (FORM, *more)).text


class _Key:
    def __init__(
        self, order: Sequence[Instruction], composed: Collection[Instruction], more: Any
    ) -> None:
        self._places = {instruction: k for k, instruction in enumerate(order)}
        self._composed = composed
        self._numbers: dict[int, int] = {}
        self._operators: dict[int, Any] = {}
        self._layouts: dict[Any, Any] = {}
        made = blake2b(repr(more).encode(), digest_size=16)
        for instruction in order:
            made.update(repr(self._about(instruction)).encode("utf-8", "surrogatepass"))
        self.text: str = made.hexdigest()

    def _about(self, it: Instruction) -> tuple[Any, ...]:
        """All of an instruction that decides whether it is in a group, and in which."""
        kernel = it.kernel
        working = None if kernel is None else type(kernel.scratch).__name__
        flags = it.draws, bool(it.bodies), it in self._composed, it.is_backward, it.rematerializes
        operands = [self._value(each) for each in it.operands]
        made = [(slot, self._value(each)) for slot, each in it.outs.items()]
        return self._operator(it), it.slots, it.variant, it.phase, working, flags, operands, made

    def _operator(self, it: Instruction) -> Any:
        shared = it.typed or it.fused
        if shared is None:
            return it.op.type
        if id(shared) not in self._operators:
            fused = it.fused
            if fused is None:
                form: Any = _form(it.op)
            else:
                parts = _form(fused.consumer.op), _form(fused.producer.op)
                form = repr((*parts, fused.slot, fused.takes))
            self._operators[id(shared)] = form
        return self._operators[id(shared)]

    def _value(self, value: Any) -> Any:
        """The number of a value; at first with what it is like, and who reads it."""
        if value is None or isinstance(value, list):
            return None if value is None else [self._value(each) for each in value]
        known = self._numbers.get(value.number)
        if known is not None:
            return known
        self._numbers[value.number] = len(self._numbers)
        number = None
        if value.constant is not None and value.size == 1:
            number = value.constant.reshape(()).item()
        readers = [self._places.get(user) for user in value.users]
        like = value.shape, value.dtype.char, int(value.kind), self._layout(value.layout)
        return (*like, value.constant is None, number, value.is_output, readers)

    def _layout(self, layout: Any) -> Any:
        if layout is None:
            return None
        if layout not in self._layouts:
            about = repr(layout), layout.padded, layout.order, layout.block
            self._layouts[layout] = len(self._layouts), about
        return self._layouts[layout]


def _form(op: Any) -> str:
    """An operator with all its attributes, zeros with their signs."""
    return f"{op.type}{op.__dict__!r}"


def values_read(order: Iterable[Instruction]) -> list[Value]:
    """The values that instructions read, in the order in which they first do."""
    return list({value.number: value for each in order for value in each.inputs}.values())


def has_users_code(order: Iterable[Instruction]) -> bool:
    """Whether operators of the user's own are among some, which no key tells from others."""
    return any(it.op is not None and is_users(type(it.op)) for it in order)


def as_text(groups: Iterable[KeptGroup]) -> str:
    """Groups as they are kept."""
    return json.dumps(list(groups))


def from_text(text: str, count: int, values: int) -> list[KeptGroup] | None:
    """Groups that were kept, of so many instructions that read so many values; None where they are
    none.
    """
    try:
        groups = [_group(*each) for each in json.loads(text)]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    numbers = [number for group in groups for number in group.members]
    fits = len(set(numbers)) == len(numbers) and all(0 <= each < count for each in numbers)
    fits = fits and all(0 <= each < values for group in groups for each in group.inputs)
    return groups if fits and all(group.members for group in groups) else None


def _group(
    place: Any, members: Any, pays: Any, kernel: Any, inputs: Any, outputs: Any
) -> KeptGroup:
    numbers = (list(map(int, each)) for each in (inputs, outputs))
    return KeptGroup(float(place), list(map(int, members)), bool(pays), kernel, *numbers)
