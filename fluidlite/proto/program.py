"""Programs as the bytes of program files (fluid's ProgramDesc), and back.

Importing this module is what gives :class:`Program` its ``to_bytes`` and ``parse_from_string``.
"""

from __future__ import annotations

from ..errors import ArgumentError
from ..ir.encoding import register_encoding
from ..ir.program import Program
from .decode import Decoder
from .encode import Encoder


class ProgramDesc:
    """The encoding of fluid 1.8 and Paddle 2."""

    def encode(self, program: Program, call_sites: bool | None) -> bytes:
        """The bytes of a program; arguments as of :meth:`Program.to_bytes`."""
        return Encoder(call_sites).program(program)

    def decode(self, program: Program, data: bytes, name: str) -> None:
        """Fill an empty program from the bytes of a program file.

        Args:
            program: without variables and operators.
            data: the bytes.
            name: what messages call them.

        Raises:
            FileFormatError: they are no program.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ArgumentError(f"expected the bytes of a program, got {data!r:.60}")
        Decoder(program, bytes(data), name).run()


def program_from_bytes(data: bytes, name: str = "the program") -> Program:
    """The program that the bytes of a program file describe.

    Args:
        data: the bytes.
        name: what messages call them: the path of the file.

    Raises:
        FileFormatError: they are no program.
    """
    program = Program()
    ProgramDesc().decode(program, data, name)
    return program


register_encoding(ProgramDesc())
