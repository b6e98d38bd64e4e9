"""Programs as the bytes of program files (fluid's ProgramDesc), and back."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ir.block import Block
from ..ir.foreign import mark_read, note_written
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .decode import ProgramDecoder
from .encode import Encoder
from .newer_programs import is_of_paddle2, take_over
from .pir.building import PirDecoder
from .pir.special import SPECIAL


def encode(program: Program, call_sites: bool | None = None) -> bytes:
    """The bytes of a program; arguments as of :meth:`Program.to_bytes`."""
    data = Encoder(call_sites).program(program)
    note_written(program, data)
    return data


def encode_part(part: Block | Operator | Variable) -> bytes:
    """The bytes of a block, an operator or a variable, as they stand in a program file."""
    encoder = Encoder()
    program = part.block.program if isinstance(part, Operator) else part.program
    encoder.of_paddle2 = is_of_paddle2(program)
    if isinstance(part, Block):
        return encoder.block(part)
    return encoder.operator(part) if isinstance(part, Operator) else encoder.variable(part)


def decode(program: Program, data: bytes, name: str) -> None:
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
    data = bytes(data)
    if data.lstrip()[:1] == b"{":
        PirDecoder(program, data, name, SPECIAL).run()
    else:
        ProgramDecoder(program, data, name).run()
        take_over(program)
    mark_read(program, data)


def program_from_bytes(data: bytes, name: str = "the program") -> Program:
    """The program that the bytes of a program file describe.

    Args:
        data: the bytes.
        name: what messages call them: the path of the file.

    Raises:
        FileFormatError: they are no program.
    """
    program = Program()
    decode(program, data, name)
    return program
