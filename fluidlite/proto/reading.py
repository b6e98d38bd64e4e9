"""What reading programs and reading their operators share."""

from __future__ import annotations

from typing import Any

from .schema import message_classes
from .wire import Bytes


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
        self.bytes = Bytes(data, name)
        self.messages = message_classes()
        self.texts: dict[str, str] = {}  # equal names are stored once
        self.shared: dict[Any, Any] = {}  # so are records
        self.ignored: dict[str, None] = {}  # attributes and slots that mean nothing here
        self.budget = memory_limit(len(data))
        self.count = 0  # of blocks

    def text(self, raw: bytes) -> str:
        """A text, stored once."""
        text = raw.decode("utf-8", "surrogateescape")
        return self.texts.setdefault(text, text)

    def share(self, value: Any) -> Any:
        """An equal value that was seen before, or this one."""
        return self.shared.setdefault(value, value)

    def charge(self, cost: int, at: int) -> None:
        """Refuse a file that would take far more memory than it has bytes."""
        self.budget -= cost
        if self.budget < 0:
            limit = memory_limit(len(self.bytes.data))
            self.bytes.fail(at, f"a program that fits {limit} bytes of memory", "more of it")


def is_canonical(message: Any, raw: bytes) -> bool:
    """Whether the library writes a message as it read it, without any field that is unknown here.

    It forgets these fields.
    """
    message.DiscardUnknownFields()
    found: bytes = message.SerializeToString()
    return found == raw


def unknown_fields(source: Bytes, begin: int, end: int, last: int) -> bytes:
    """The fields of a message whose numbers are not in the table.

    Args:
        source: all bytes.
        begin, end: where the message lies.
        last: the largest number that is.
    """
    found = source.fields(begin, end, "a message")
    return b"".join([source.data[f.start : f.end] for f in found if f.number > last])
