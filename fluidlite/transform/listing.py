"""A program line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.text import TextLine, program_lines
from ..ir.variable import Variable
from .patch_text import Identity


@dataclass(frozen=True)
class Listing:
    """A program line by line."""

    program: Program
    lines: list[TextLine]
    texts: list[str]
    headings: list[str]  #: of each line, the block and the section in which it stands

    @classmethod
    def of(cls, program: Program) -> Listing:
        """The lines of a program, without comments."""
        lines = list(program_lines(program, call_sites=False, notes=False))
        return cls(program, lines, [line.text for line in lines], list(_headings(lines)))

    @property
    def identity(self) -> Identity:
        """Which program it is."""
        import hashlib

        blocks, operators, variables = (
            sum(isinstance(line.item, kind) for line in self.lines) for kind in _KINDS
        )
        text = "\n".join(self.texts).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        return Identity(blocks, operators, variables, digest)

    def parts(self) -> Iterator[tuple[int, int]]:
        """Begin and end of what is compared with its like: the first line; of each block the line
        that begins it, the variables, and the operators to the line that ends it.
        """
        begins = [0]
        for i, line in enumerate(self.lines):
            if isinstance(line.item, Block):
                begins += [i, i + 1, i + 1 + len(line.item.vars)]
        begins.append(len(self.lines) - 1)
        yield from zip(begins, [*begins[1:], len(self.lines)])


_KINDS = (Block, Operator, Variable)


def _headings(lines: Iterable[TextLine]) -> Iterator[str]:
    block, section = "program", ""
    for line in lines:
        if isinstance(line.item, Block):
            block, section = f"block {line.item.idx}", ""
        elif line.item is None and line.text.startswith("    -- "):
            section = f" {line.text.strip()}"
        yield block + section
