"""How programs become bytes.  The package of file formats says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..ground.extension import ExtensionPoint

if TYPE_CHECKING:
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable import Variable


class Encoding(Protocol):
    """Programs as bytes."""

    def encode(self, program: Program, call_sites: bool | None) -> bytes:
        """The bytes of a program; arguments as of :meth:`Program.to_bytes`."""
        ...

    def encode_part(self, part: Block | Operator | Variable) -> bytes:
        """The bytes of a part of a program, as they stand in a program file.

        Args:
            part: a block, an operator or a variable.
        """
        ...

    def decode(self, program: Program, data: bytes, name: str) -> None:
        """Fill an empty program.

        Args:
            program: without variables and operators.
            data: the bytes.
            name: what messages call them: the path of a file.
        """
        ...

    def version(self, program: Program) -> int:
        """The version of the format that the program's bytes name."""
        ...

    def set_version(self, program: Program, version: int) -> None:
        """Let the program's bytes name another version."""
        ...


ENCODING: ExtensionPoint[Encoding] = ExtensionPoint("the bytes of programs")
