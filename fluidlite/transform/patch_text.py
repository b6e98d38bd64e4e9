"""The text of patches: a unified diff of the texts of two programs.

::

    --- program of 1 block, 2 operators, 3 variables: <digest>
    +++ program of 1 block, 2 operators, 3 variables: <digest>
    @@ -6,5 +6,5 @@ block 0
         y = relu(X=x)
    -    z = scale(X=y, scale=2.0)
    +    z = scale(X=y, scale=3.0)
       }
     }

A hunk says behind its numbers in which block it begins, and in which section of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from ..errors import PatchError
from ..ground.quantities import quantity
from ..ground.quoting import escaping, printable

_SHOWN = 120  # characters of a line that a message shows
_COUNTS = re.compile(
    r"program of (\d{1,9}) blocks?, (\d{1,9}) operators?, (\d{1,9}) variables?: ([0-9a-f]{32})"
)
_NUMBERS = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")


@dataclass(frozen=True)
class Identity:
    """Which program: how much is in it, and a digest of its text."""

    blocks: int
    operators: int
    variables: int
    digest: str

    def __str__(self) -> str:
        counts = [
            quantity(count, word)
            for count, word in (
                (self.blocks, "block"),
                (self.operators, "operator"),
                (self.variables, "variable"),
            )
        ]
        return f"program of {', '.join(counts)}: {self.digest}"


@dataclass(frozen=True)
class PatchLine:
    """A line of a hunk."""

    mark: str  #: "+" only after, "-" only before, " " the same
    text: str
    number: int = field(default=0, compare=False)  #: of the line in the file of the patch


@dataclass(frozen=True)
class Hunk:
    """Changed lines that stand together, and those around them."""

    before: int  #: the number of its first line before
    after: int  #: and after
    heading: str  #: the block and the section in which it begins
    lines: tuple[PatchLine, ...]

    def side(self, mark: str) -> list[PatchLine]:
        """The lines that are there before (``"-"``) or after (``"+"``)."""
        return [line for line in self.lines if line.mark in (mark, " ")]

    @property
    def number(self) -> int:
        """The number of its first line in the file of the patch."""
        return self.lines[0].number

    def reversed(self) -> Hunk:
        """The hunk that takes it back."""
        lines = [
            PatchLine({"+": "-", "-": "+"}.get(e.mark, " "), e.text, e.number) for e in self.lines
        ]
        ordered: list[PatchLine] = []
        waiting: list[PatchLine] = []  # what is added stands behind what is taken away
        for line in lines:
            if line.mark == "+":
                waiting.append(line)
            elif line.mark == "-":
                ordered.append(line)
            else:
                ordered += [*waiting, line]
                waiting = []
        return Hunk(self.after, self.before, self.heading, (*ordered, *waiting))

    @escaping
    def __str__(self) -> str:
        counts = (len(self.side("-")), len(self.side("+")))
        head = f"@@ -{self.before},{counts[0]} +{self.after},{counts[1]} @@ {self.heading}"
        return "\n".join([head.rstrip(), *(f"{line.mark}{line.text}" for line in self.lines)])


@dataclass(frozen=True)
class Patch:
    """What makes another program of a program; false when the two are the same.

    Made by :func:`make_patch` and :meth:`parse`; its text is that of the file.

    >>> before = fluid.Program()
    >>> patch = fluid.transform.make_patch(before, before.clone())
    """

    before: Identity
    after: Identity
    hunks: tuple[Hunk, ...]

    def __bool__(self) -> bool:
        return bool(self.hunks)

    def reversed(self) -> Patch:
        """The patch that takes this one back.

        >>> before = fluid.Program.parse("program (seed=0) {\\n block 0 {\\n }\\n}")
        >>> after = fluid.Program.parse("program (seed=7) {\\n block 0 {\\n }\\n}")
        >>> patch = fluid.transform.make_patch(before, after)
        >>> fluid.transform.apply_patch(patch.reversed(), after).random_seed
        0
        """
        return Patch(self.after, self.before, tuple(hunk.reversed() for hunk in self.hunks))

    def __str__(self) -> str:
        head = f"--- {self.before}\n+++ {self.after}\n"
        return head + "".join(f"{hunk}\n" for hunk in self.hunks)

    def to_bytes(self) -> bytes:
        """The text, as a file holds it."""
        return str(self).encode("utf-8", "surrogatepass")

    @classmethod
    def parse(cls, text: str) -> Patch:
        """The patch that a text describes: the inverse of ``str(patch)``.

        Args:
            text: a patch; empty lines and lines that begin with ``#`` may stand before it.

        Raises:
            PatchError: it is none; says in which line.
        """
        return _Reader(text).patch()


def quoted(line: str) -> str:
    """A line of a program in a message."""
    shown = printable(line.strip())
    return repr(shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...")


class _Reader:
    """Reads the lines of a patch."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.place = 0

    def fail(self, message: str) -> NoReturn:
        if self.place < len(self.lines):
            message += f", got {quoted(self.lines[self.place])}"
        else:
            message += ", got the end of the patch"
        raise PatchError(f"line {self.place + 1} of the patch: {message}")

    def take(self) -> str:
        line = self.lines[self.place]
        self.place += 1
        return line.removesuffix("\r")

    def at(self, begin: str) -> bool:
        return self.place < len(self.lines) and self.lines[self.place].startswith(begin)

    def patch(self) -> Patch:
        while self.at("#") or (self.place < len(self.lines) and not self.lines[self.place].strip()):
            self.place += 1
        before, after = self.identity("--- "), self.identity("+++ ")
        hunks: list[Hunk] = []
        end = 0
        while self.place < len(self.lines):
            hunk = self.hunk(end)
            hunks.append(hunk)
            end = hunk.before + len(hunk.side("-"))
        return Patch(before, after, tuple(hunks))

    def identity(self, begin: str) -> Identity:
        match = _COUNTS.fullmatch(self.lines[self.place].rstrip()[4:]) if self.at(begin) else None
        if match is None:
            self.fail(f"expected '{begin}program of 1 block, 2 operators, 3 variables: <digest>'")
        self.place += 1
        blocks, operators, variables, digest = match.groups()
        return Identity(int(blocks), int(operators), int(variables), digest)

    def hunk(self, end: int) -> Hunk:
        match = _NUMBERS.fullmatch(self.lines[self.place].rstrip())
        if match is None:
            self.fail("expected '@@ -line,count +line,count @@ block' or the end of the patch")
        before, olds, after, news = (int(n) if n is not None else 1 for n in match.groups()[:4])
        if before < max(end, 1) or after < 1:
            self.fail("expected hunks in the order of their lines, which begin at 1")
        self.place += 1
        lines = tuple(self.hunk_lines(olds, news))
        if not any(line.mark != " " for line in lines):
            self.place -= len(lines) + 1
            self.fail("expected a hunk that changes lines")
        return Hunk(before, after, match[5], lines)

    def hunk_lines(self, olds: int, news: int) -> Iterator[PatchLine]:
        """So many lines of before and of after."""
        while olds or news:
            if self.place >= len(self.lines):
                self.fail(f"expected {olds} lines more of before and {news} of after in this hunk")
            line = self.lines[self.place].removesuffix("\r") or " "  # some editors cut blanks
            olds -= line[0] in " -"
            news -= line[0] in " +"
            if line[0] not in " +-" or olds < 0 or news < 0:
                self.fail("expected a line of the hunk as its numbers say: ' ', '+' or '-' first")
            self.place += 1
            yield PatchLine(line[0], line[1:], self.place)
