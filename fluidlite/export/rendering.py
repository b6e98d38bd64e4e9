"""Statements as lines of Python: names, expressions put into each other, comments."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..ground.quoting import python_comment, python_string
from ..onnx.tracing import Cell
from .literals import Namer, Part, Reference, identifier, is_large, operand
from .statements import Compound, Statement, Update, cells_in

WIDTH = 88
#: names that layers make up; what has one may be put into the expression that reads it
_MADE_UP = re.compile(r"\.tmp_\d+$|@|^_generated_var_\d+$|^$")
_NUMBER = re.compile(r"(?<![\w.])\d+")


def live(statements: list[Any], wanted: Iterable[Cell]) -> list[Any]:
    """The statements that the targets depend on."""
    needed, remaining = set(wanted), []
    for item in reversed(statements):
        if isinstance(item, Compound):
            if needed.isdisjoint(item.bound):
                continue
            inside = needed.union(item.bound)
            item = replace(item, clauses=[(h, live(s, inside)) for h, s in item.clauses])
        elif needed.isdisjoint(item.targets) and not _pops(item):
            continue
        remaining.append(item)
        needed.update(cells_in(item))
    return remaining[::-1]


def _pops(item: Any) -> bool:
    """Whether a statement counts even if nothing reads what it gives."""
    return isinstance(item, Update) and item.unpacks


class Renderer:
    """Writes the statements of a function as lines.

    Args:
        namer: gives names.
        keys: by cell of a parameter what the file of arrays calls it.
    """

    def __init__(self, namer: Namer, keys: dict[Cell, str]) -> None:
        self._namer, self._keys = namer, keys
        self.names: dict[Cell, str] = {}
        self.arrays: dict[str, Any] = {}  #: constants that are too large for the text
        self._taken = set(keys.values())
        self._constants: dict[Any, str] = {}
        self._inlined: dict[Cell, Statement] = {}
        self._uses: Counter[Cell] = Counter()
        self._lines: list[str] = []

    def render(self, statements: list[Any], outputs: Iterable[Cell]) -> list[str]:
        """The lines of statements, and no others than outputs depend on; however long they are.

        Args:
            statements: of the function.
            outputs: cells that are read behind them.
        """
        outputs = list(outputs)
        statements = live(statements, outputs)
        self._uses.update(outputs)
        self._uses.update(outputs)  # they keep names of their own
        for item in statements:
            self._uses.update(cells_in(item))
        self._block(statements, "    ")
        return self._lines

    def name(self, cell: Cell) -> str:
        """The name of a value."""
        if cell not in self.names:
            self.names[cell] = self._namer.name(cell.name or "t")
        return self.names[cell]

    def read(self, value: Any) -> str:
        """A value behind all statements."""
        return self._operand(Reference(value.cell))

    def reads(self, cell: Cell) -> bool:
        """Whether anything reads a parameter."""
        return bool(self._uses[cell])

    # -- blocks ------------------------------------------------------------------------------------

    def _block(self, statements: list[Any], indent: str) -> None:
        self._inlined |= self._joined(statements)
        said = _runs(statements)
        for k, item in enumerate(statements):
            if k in said:
                self._lines.append(f"{indent}# {said[k]}")
            if isinstance(item, Statement) and item.targets[0] in self._inlined:
                continue
            if indent == "    ":
                self._bind(item)
            if isinstance(item, Statement):
                self._statement(item, indent)
            elif isinstance(item, Update):
                self._update(item, indent)
            else:
                self._compound(item, indent)

    def _bind(self, item: Any) -> None:
        """Give names to parameters that are read several times."""
        for cell in dict.fromkeys(self._all_cells(item)):
            if cell in self._keys and cell not in self.names and self._uses[cell] > 1:
                key = python_string(self._keys[cell])
                self._lines.append(f"    {self.name(cell)} = params[{key}]")

    def _all_cells(self, item: Any) -> Iterator[Cell]:
        for cell in cells_in(item):
            yield cell
            if cell in self._inlined:
                yield from self._all_cells(self._inlined[cell])

    def _joined(self, statements: list[Any]) -> dict[Cell, Statement]:
        """The statements whose expressions go to where they are read."""
        inlined: dict[Cell, Statement] = {}
        lengths: dict[Cell, int] = {}  #: of expressions with those in them
        readers: dict[Cell, int] = {}
        for k, item in enumerate(statements):
            if isinstance(item, Statement):
                readers.update(dict.fromkeys(item.reads(), k))
        loops = [k for k, item in enumerate(statements) if isinstance(item, Compound)]
        for k, item in enumerate(statements):
            if not isinstance(item, Statement) or len(item.targets) != 1:
                continue
            cell = item.targets[0]
            if self._uses[cell] != 1 or cell not in readers or not _MADE_UP.search(cell.name):
                continue
            if any(k < loop < readers[cell] for loop in loops):
                continue
            lengths[cell] = sum(
                _length(part) if isinstance(part, str) else lengths.get(part.cell, 8)
                for part in item.parts
            )
            if lengths[cell] > 2 * WIDTH:  # it gets a line of its own in any case
                del lengths[cell]
                continue
            inlined[cell] = item
        return inlined

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, item: Statement, indent: str) -> None:
        guessed = [self.names.get(c, identifier(c.name)) for c in item.targets]
        begin = f"{indent}{', '.join(guessed)} = "
        while _length(begin + self._expression(item.parts)) > WIDTH:
            inner = list(self._within(item))
            if not inner:
                break
            self._statement(self._inlined.pop(self._best_of(inner, item, begin)), indent)
        text = self._expression(item.parts)
        targets = ", ".join(self.name(c) if self._uses[c] else "_" for c in item.targets)
        line = f"{indent}{targets} = {text}"
        if len(item.targets) > 1 and len(line.partition("(")[0]) >= WIDTH:
            names = [f"{indent}    {name}," for name in targets.split(", ")]
            self._lines += [f"{indent}(", *names, f"{indent}) = {text}"]
            return
        self._lines.append(line)

    def _within(self, item: Statement) -> Iterator[Cell]:
        """The values whose expressions stand in an expression."""
        for cell in item.reads():
            if cell in self._inlined:
                yield cell
                yield from self._within(self._inlined[cell])

    def _best_of(self, inner: list[Cell], item: Statement, begin: str) -> Cell:
        """What gets a line of its own: the shortest expression without which the line fits."""
        whole = _length(begin + self._expression(item.parts))
        sizes = {c: _length(self._expression(self._inlined[c].parts)) for c in inner}
        enough = [c for c in inner if whole - sizes[c] + len(identifier(c.name)) + 2 <= WIDTH]
        if enough:
            return min(enough, key=lambda c: (sizes[c], inner.index(c)))
        direct = [c for c in item.reads() if c in self._inlined]
        return max(direct, key=lambda c: sizes[c])

    def _update(self, item: Update, indent: str) -> None:
        if item.unpacks:
            self._lines += self._unpacked(item, indent)
            return
        if item.appends:
            for target, parts in zip(item.targets, item.sources, strict=True):
                text = f"{self.name(target)}.append({self._expression(parts)})"
                self._lines.append(indent + text)
            return
        pairs = [
            (self.name(target), self._expression(parts))
            for target, parts in zip(item.targets, item.sources, strict=True)
        ]
        pairs = [(name, text) for name, text in pairs if name != text]
        if not pairs:
            return
        if not _is_swap(pairs):
            for name, text in pairs:
                self._lines.append(f"{indent}{name} = {text}")
            return
        names, texts = (", ".join(each) for each in zip(*pairs))
        self._lines.append(f"{indent}{names} = {texts}")

    def _unpacked(self, item: Update, indent: str) -> list[str]:
        names = [self.name(cell) for cell in item.targets]
        source = self._expression(item.sources[0])
        if not names:
            return [f"{indent}{source}"]
        line = f"{indent}{', '.join(names)}{',' if len(names) == 1 else ''} = {source}"
        if len(names) == 1:
            line = f"{indent}({names[0]},) = {source}"
        if _length(line) <= WIDTH:
            return [line]
        return [f"{indent}(", *(f"{indent}    {name}," for name in names), f"{indent}) = {source}"]

    def _compound(self, item: Compound, indent: str) -> None:
        for header, statements in item.clauses:
            self._lines.append(f"{indent}{self._expression(header)}")
            count = len(self._lines)
            self._block(statements, indent + "    ")
            if len(self._lines) == count:
                self._lines.append(f"{indent}    pass")

    def _constant(self, cell: Cell, level: int) -> str:
        array = np.asarray(cell.constant)
        if not is_large(array):
            return "".join(map(str, operand(array, level)))
        content = array.dtype.str, array.shape, array.tobytes()
        if content not in self._constants:
            key, count = "constant", 1
            while key in self._taken:
                count += 1
                key = f"constant.{count}"
            self._taken.add(key)
            self._constants[content] = key
            self.arrays[key] = array
        return f"params[{python_string(self._constants[content])}]"

    def _expression(self, parts: list[Part]) -> str:
        return "".join(p if isinstance(p, str) else self._operand(p) for p in parts)

    def _operand(self, part: Reference) -> str:
        cell = part.cell
        if cell.constant is not None and cell not in self._keys:
            return self._constant(cell, part.level)
        if cell in self._inlined:
            inner = self._inlined[cell]
            text = self._expression(inner.parts)
            return f"({text})" if inner.level < part.level else text
        if cell in self._keys and cell not in self.names and self._uses[cell] == 1:
            return f"params[{python_string(self._keys[cell])}]"
        return self.name(cell)


def _is_swap(pairs: list[tuple[str, str]]) -> bool:
    """Whether an assignment reads what one before it has written."""
    written: set[str] = set()
    for name, text in pairs:
        if written.intersection(re.findall(r"\w+", text)):
            return True
        written.add(name)
    return False


def _length(line: str) -> int:
    """The length of a line, sizes counted alike."""
    return len(_NUMBER.sub("00", line))


def _runs(statements: list[Any]) -> dict[int, str]:
    """What is written above a statement, by its position: the user's line, and the operators."""
    comments, begin, last = {}, -1, ""
    types: dict[str, None] = {}
    for k, item in enumerate([*statements, None]):
        type, _, place = ("", "", "") if item is None else item.origin.partition(" at ")
        if place != last or item is None:
            if last:
                comments[begin] = python_comment(
                    f"{os.path.basename(last)}: {', '.join(types)}", WIDTH - 6
                )
            begin, last, types = k, place, {}
        types[type] = None
    return comments


def wrapped_text(text: str) -> str:
    """Lines of a function, the long ones broken."""
    return "\n".join(part for line in text.split("\n") for part in wrapped(line))


def wrapped(line: str) -> list[str]:
    """A line, broken within its last brackets where it is too long; not a comment."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line]
    found = _last_brackets(line)
    if found is None:
        return [line]
    begin, end = found
    indent = line[: len(line) - len(line.lstrip())]
    head, inner, tail = line[: begin + 1], line[begin + 1 : end], line[end:]
    if not inner:
        return [line]
    tail = f"{indent}{tail}"
    if len(indent) + 4 + len(inner) <= WIDTH and inner[-1] != ",":
        return [head, f"{indent}    {inner}", tail]
    lines = [head]
    arguments = _arguments(inner)
    if len(arguments) == 1:
        return [head, *wrapped(f"{indent}    {inner}"), tail]
    for each in arguments:
        lines += wrapped(f"{indent}    {each},")
    return [*lines, tail]


def _code(text: str) -> Iterator[tuple[int, str]]:
    """The characters that no text encloses, and their places."""
    quote = ""
    for k, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[k - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        else:
            yield k, c


def _arguments(text: str) -> list[str]:
    """The parts between commas that no bracket encloses."""
    arguments, depth, begin = [], 0, 0
    for k, c in _code(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            arguments.append(text[begin:k].strip())
            begin = k + 1
    last = text[begin:].strip()
    return [*arguments, last] if last else arguments


def _last_brackets(line: str) -> tuple[int, int] | None:
    """Where the last outermost brackets open and close."""
    stack: list[int] = []
    brackets = None
    for k, c in _code(line):
        if c in "([{":
            stack.append(k)
        elif c in ")]}" and stack:
            begin = stack.pop()
            if not stack:
                brackets = begin, k
    return brackets
