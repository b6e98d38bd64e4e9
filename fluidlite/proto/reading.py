"""What reading programs and reading their operators share."""

from __future__ import annotations

from typing import Any

from .schema import MESSAGES, REPEATED
from .wire import Bytes

#: what a text takes at least, a message, and a number that was packed into a byte
_TEXT, _MESSAGE, _PACKED = 150, 450, 32
_VALUES = {
    "OpDesc.Var.arguments": 60,
    "OpDesc.Attr.strings": 60,
    "OpDesc.Attr.ints": 8,
    "OpDesc.Attr.floats": 8,
    "OpDesc.Attr.bools": 8,
    "OpDesc.Attr.longs": 30,
    "OpDesc.Attr.blocks_idx": 30,
    "VarType.TensorDesc.dims": 40,
    "VarDesc.size_names": 150,
}


def _weights_of(message: str) -> tuple[dict[int, str], dict[int, int]]:
    """Of the fields of a message, by number: the messages in them ("" for packed numbers); what one
    of them takes.
    """
    inner, weights = {}, {}
    for name, (number, kind, label) in MESSAGES[message].items():
        if kind in MESSAGES:
            inner[number], weights[number] = kind, _MESSAGE
        elif label == REPEATED:
            if kind != "string":
                inner[number] = ""
            weights[number] = _VALUES.get(f"{message}.{name}", _MESSAGE)
    return inner, weights


_WEIGHTS = {message: _weights_of(message) for message in MESSAGES}
_LIGHT = 4096  # bytes of a message that is not weighed


def memory_limit(size: int) -> int:
    """What a program read from a file of ``size`` bytes may take: a file that asks for far more is
    none that somebody wrote.
    """
    return max(4 * size + (16 << 20), 8 * size)


class Reading:
    """A program file while it is read.

    Args:
        data: its bytes.
        name: what messages call it: its path.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.bytes: Bytes = Bytes(data, name)
        self.texts: dict[bytes, str] = {}  # equal names are stored once
        self.shared: dict[Any, Any] = {}  # so are records
        self.ignored: dict[str, None] = {}  # attributes and slots that mean nothing here
        self.budget: int = memory_limit(len(data))
        self.spare: int = self.budget // 8  # for what only saves time
        self.count = 0  # of blocks

    def text(self, raw: bytes) -> str:
        """A text, stored once."""
        text = self.texts.get(raw)
        if text is None:
            text = self.texts[raw] = raw.decode("utf-8", "surrogateescape")
            self.budget -= _TEXT + 2 * len(raw)
        return text

    def share(self, value: Any) -> Any:
        """An equal value that was seen before, or this one."""
        return self.shared.setdefault(value, value)

    def charge(self, cost: int, at: int) -> None:
        """Refuse a file that would take far more memory than it has bytes."""
        self.budget -= cost
        if self.budget < 0:
            limit = memory_limit(len(self.bytes.data))
            self.bytes.fail(at, f"a program that fits {limit} bytes of memory", "more of it")

    def spares(self, cost: int) -> bool:
        """Whether there is memory for what only saves time; it is charged apart."""
        self.spare -= cost
        return self.spare >= 0

    def weigh(self, message: str, begin: int, end: int) -> None:
        """Refuse a message that would take far more memory than it has bytes, before anything is
        made of it.

        Args:
            message: its name in the table.
            begin, end: where it lies.
        """
        if end - begin > _LIGHT:
            before = self.budget
            self._weigh(message, begin, end)
            self.budget += (before - self.budget) // 2  # much of it is let go again

    def _weigh(self, message: str, begin: int, end: int) -> None:
        """Charge what the fields of a message take."""
        inner, weights = _WEIGHTS[message]
        count = dict.fromkeys(weights, 0)
        for number, start, stop in self.bytes.spans(begin, end):
            if number in count:
                count[number] += 1
                kind = inner.get(number)
                if kind == "":
                    self.charge(_PACKED * (stop - start), start)
                elif kind is not None and stop - start > 2:
                    self._weigh(kind, start, stop)
        for number, weight in weights.items():
            self.charge(weight * count[number], begin)
