"""Descriptions of what files of slots hold, as texts of protocol buffers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import ArgumentError, FileFormatError, UnknownVariableError, suggestion
from ..ground.arguments import integer
from ..ground.files import Path, read_text
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from .multislot import FileSlot

_TOKEN = re.compile(r'\s*(?:#[^\n]*\n)?\s*([A-Za-z_]\w*|"(?:[^"\\]|\\.)*"|-?[\d.]+|[{}:])')


class DataFeedDesc(Described):
    """What files of slots hold, read from a description.

    Args:
        proto_file: the path of the description: the text of a ``DataFeedDesc`` message.

    Raises:
        FileFormatError: it is no such text.
        OSError: it cannot be read.

    >>> with open("feed.prototxt", "w") as file:
    ...     _ = file.write('multi_slot_desc { slots { name: "words" type: "uint64" } }')
    >>> description = fluid.DataFeedDesc("feed.prototxt")
    >>> description.set_use_slots(["words"])
    >>> "is_used: true" in description.desc()
    True
    """

    _shown = "name=_name batch_size=_batch_size slots=_slots"

    def __init__(self, proto_file: Path) -> None:
        fields = _parsed(read_text(proto_file), str(proto_file))
        self._name = _one(fields, "name", "MultiSlotDataFeed")
        self._batch_size = int(_one(fields, "batch_size", 32))
        self._pipe_command = _one(fields, "pipe_command", "cat")
        slots: list[Any] = []
        for group in fields.get("multi_slot_desc", []):
            slots += group.get("slots", [])
        self._slots = {slot.name: slot for slot in map(_slot, slots)}

    def set_batch_size(self, batch_size: int) -> None:
        """Set how many lines a batch has.

        Raises:
            ArgumentError: it is no positive integer.
        """
        self._batch_size = integer(self, "batch_size", batch_size)

    def set_dense_slots(self, dense_slots_name: Sequence[str]) -> None:
        """Say which slots have as many values in each line.

        Raises:
            UnknownVariableError: there is no slot of a name.
        """
        for name in self._known(dense_slots_name):
            self._slots[name] = self._slots[name]._replace(is_dense=True)

    def set_use_slots(self, use_slots_name: Sequence[str]) -> None:
        """Say which slots are fed.

        Raises:
            UnknownVariableError: there is no slot of a name.
        """
        for name in self._known(use_slots_name):
            self._slots[name] = self._slots[name]._replace(is_used=True)

    def _known(self, names: Sequence[str]) -> list[str]:
        if isinstance(names, str):
            raise ArgumentError(f"DataFeedDesc: expected a list of names of slots, got {names!r}")
        for name in names:
            if name not in self._slots:
                raise UnknownVariableError(
                    f"DataFeedDesc: there is no slot {name!r}{suggestion(name, self._slots)}; "
                    f"there are {', '.join(self._slots) or 'none'}"
                )
        return list(names)

    def desc(self) -> str:
        """The description as a text."""
        return text_of(self._name, self._batch_size, self._slots.values(), self._pipe_command)


def text_of(name: str, batch_size: int, slots: Iterable[FileSlot], pipe_command: str) -> str:
    """The text of a description.

    Args:
        name: of what reads the files.
        batch_size: how many lines a batch has.
        slots: what a line has.
        pipe_command: what each file goes through.
    """
    lines = [f'name: "{name}"', f"batch_size: {batch_size}", "multi_slot_desc {"]
    for slot in slots:
        lines += ["  slots {", f'    name: "{slot.name}"', f'    type: "{slot.type}"']
        lines.append(f"    is_dense: {str(slot.is_dense).lower()}")
        lines.append(f"    is_used: {str(slot.is_used).lower()}")
        lines += [f"    shape: {size}" for size in slot.shape]
        lines.append("  }")
    quoted = pipe_command.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
    return "\n".join([*lines, "}", f'pipe_command: "{quoted}"', ""])


def _slot(fields: dict[str, list[Any]]) -> FileSlot:
    shape = tuple(int(size) for size in fields.get("shape", []))
    dense, used = (_one(fields, name, "false") == "true" for name in ("is_dense", "is_used"))
    return FileSlot(_one(fields, "name", ""), _one(fields, "type", "uint64"), dense, shape, used)


def _one(fields: dict[str, list[Any]], name: str, default: Any) -> Any:
    return fields.get(name, [default])[-1]


def _parsed(text: str, file: str) -> dict[str, list[Any]]:
    """Fields by name, of groups in braces and of values."""
    groups: list[dict[str, list[Any]]] = [{}]
    at, name = 0, ""
    text = re.sub(r"(?m)#[^\n\"]*$", "", text).rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            number = text.count("\n", 0, at) + 1
            raise FileFormatError(f"{file}, line {number}: expected the text of a DataFeedDesc")
        token, at = match[1], match.end()
        if token == "{":
            group: dict[str, list[Any]] = {}
            groups[-1].setdefault(name, []).append(group)
            groups.append(group)
            name = ""
        elif token == "}" and len(groups) > 1:
            groups.pop()
        elif token == ":":
            continue
        elif name:
            value = token[1:-1] if token[0] == '"' else token
            groups[-1].setdefault(name, []).append(value)
            name = ""
        else:
            name = token
    if len(groups) > 1:
        raise FileFormatError(f"{file}: expected a }} at the end for each {{")
    return groups[0]


__all__ = ["DataFeedDesc", "text_of"]


api_boundaries(globals())
