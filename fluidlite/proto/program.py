"""Programs as the bytes of program files (fluid's ProgramDesc), and back."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ground.state import collector_paused
from ..ir.block import Block
from ..ir.foreign import mark_read, note_written
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .carried import CarriedProgram
from .decode import ProgramDecoder
from .encode import FORMAT_VERSION, Encoder
from .newer_programs import is_of_paddle2, take_over
from .pir.building import PirDecoder
from .pir.special import SPECIAL
from .wire import MESSAGE_CLASSES, Bytes, read, varint_field


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


def version(program: Program) -> int:
    """The version of the format that the bytes of a program name."""
    carried = program.carried
    if carried is None:
        return FORMAT_VERSION
    message = Bytes(carried.version or b"", "the version", kind="Version")
    number: int = read(MESSAGE_CLASSES["Version"], message).version
    return number


def set_version(program: Program, version: int) -> None:
    """Let the bytes of a program name another version; :func:`version` gives it.

    Raises:
        ArgumentError: it has more than 64 bits.
    """
    if not -(2**63) <= version < 2**63:
        raise ArgumentError(f"expected a version of 64 bits, got {version}")
    carried = program.carried or CarriedProgram(None, None)
    program.carried = carried._replace(version=varint_field(1, version))
    program.touch()


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
    with collector_paused():
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
