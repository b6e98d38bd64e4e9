"""What decides how the instructions of a graph are grouped, as a key of what was found before.

To find groups takes many tries, and to write their kernels in C takes as long.  A later process
that plans the same need do neither: by the key it finds which instructions were together, and the
compiled kernel of each group.  It looks only whether they are a group; where a kernel is missing,
it is worked out anew.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from ...opdef.user_results import is_users
from ..graph import Instruction
from ..value import Value

FORM = 3  #: of the keys; another one where groups are found in another way
FEWEST = 8  #: instructions of a graph from which on groups are kept
_ABSENT, _LIST = -1, -2  # in place of the number of a value


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
    """A key in the making: numbers, and what they stand for, which is written once."""

    def __init__(
        self, order: Sequence[Instruction], composed: Collection[Instruction], more: Any
    ) -> None:
        self._places = {instruction: k for k, instruction in enumerate(order)}
        self._composed = composed
        self._values: dict[int, int] = {}
        self._words: dict[Any, int] = {}  # in each place of a word stand things of one type
        self._operators: dict[int, str] = {}
        self._layouts: dict[Any, Any] = {}
        self._steps: dict[Any, tuple[bool, bool]] = {}
        self._numbers: list[int] = []
        for instruction in order:
            self._numbers.append(self._word(self._about(instruction)))
            for each in (*instruction.operands, *instruction.outs.values()):
                self._note(each)
        text = repr((more, list(self._words)))
        made = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
        made.update(array("q", self._numbers))
        self.text: str = made.hexdigest()

    def _word(self, word: Any) -> int:
        return self._words.setdefault(word, len(self._words))

    def _about(self, it: Instruction) -> tuple[Any, ...]:
        """All of an instruction that decides whether it is in a group, and in which, but for its
        values.
        """
        kernel, step = it.kernel, it.origin
        working = "" if kernel is None else type(kernel.scratch).__name__
        if step not in self._steps:
            self._steps[step] = it.is_backward, it.rematerializes
        flags = (it.draws, bool(it.bodies), it in self._composed, *self._steps[step])
        slots = tuple(it.slots), tuple(it.outs)
        return self._operator(it), slots, it.variant, it.phase, kernel is None, working, flags

    def _operator(self, it: Instruction) -> str:
        shared = it.typed or it.fused
        if shared is None:
            return str(it.op.type)
        form = self._operators.get(id(shared))
        if form is None:
            fused = it.fused
            if fused is None:
                form = _form(it.op)
            else:
                parts = _form(fused.consumer.op), _form(fused.producer.op)
                form = repr((*parts, fused.slot, fused.takes))
            self._operators[id(shared)] = form
        return form

    def _note(self, value: Any) -> None:
        """Note the number of a value; at first behind it what it is like, and who reads it."""
        if value is None or isinstance(value, list):
            self._numbers += [_ABSENT] if value is None else [_LIST, len(value)]
            for each in value or ():
                self._note(each)
            return
        count = len(self._values)
        known = self._values.setdefault(value.number, count)
        self._numbers.append(known)
        if known < count:
            return
        number = None
        if value.constant is not None and value.size == 1:
            number = repr(value.constant.reshape(()).item())
        shape = value.shape if value.is_static else repr(value.shape)
        like = value.dtype.char, int(value.kind), self._layout(value.layout), value.is_output
        self._numbers.append(self._word((shape, *like, value.constant is None, number)))
        self._numbers.append(len(value.users))
        self._numbers += [self._places.get(user, _ABSENT) for user in value.users]

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
