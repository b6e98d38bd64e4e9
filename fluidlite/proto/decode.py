"""From the bytes of program files to programs: blocks and variables."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import FileFormatError
from ..ground.dtypes import Kind
from ..ground.files import excerpt
from ..ground.quoting import terminal_text
from ..ir.block import Block
from ..ir.nesting import nesting_fault
from ..ir.program import Program
from ..ir.size_names import SizeName, is_size_name
from ..ir.variable import Parameter, Variable
from ..opdef.spec import Spec
from .carried import CarriedBlock, CarriedProgram, CarriedVariable, Original
from .encode import KINDS, WITH_TENSOR, Encoder, dtype_of
from .newer_programs import is_of_paddle2
from .operators import OperatorDecoder
from .reading import Reading
from .wire import MESSAGE_CLASSES, Message, read, write

#: what one of them takes, in bytes
_BLOCK, _VARIABLE = 1000, 450
_NAME = 0x0A  # the tag of the name
_KEPT = 10_000  # kinds of variables


class TypeOf(NamedTuple):
    """What the type of a variable says."""

    kind: Kind
    fields: dict[str, Any]  #: more of a variable
    lod_level: bool  #: whether it says a level
    usual: bool  #: whether that is all of it
    elements: tuple[Spec, ...] = ()  #: of a reader


class KnownVariable(NamedTuple):
    """What a variable's message says behind the name."""

    fields: dict[str, Any]
    spec: Spec | None
    carried: CarriedVariable


class ProgramDecoder(Reading):
    """Reads one program file.

    Args:
        program: takes what is read; without variables and operators.
        data: the bytes.
        name: what messages call them: the path of a file.
    """

    def __init__(self, program: Program, data: bytes, name: str) -> None:
        super().__init__(data, name)
        self.program = program
        self.encoder: Encoder = Encoder()
        self.types: dict[bytes, TypeOf] = {}
        self.known: dict[bytes, KnownVariable] = {}
        self.operators: OperatorDecoder = OperatorDecoder(self, self.encoder)

    # -- programs and blocks ---------------------------------------------------------------------

    def run(self) -> None:
        """Read everything.

        Raises:
            FileFormatError: the bytes are no program.
        """
        data = self.bytes.data
        if not data:
            self.bytes.fail(0, "a program", "nothing: the file is empty")
        desc = read(MESSAGE_CLASSES["ProgramDesc"], self.bytes)
        if not desc.blocks:
            self.bytes.fail(len(data), "a block", "the end of the file")
        self.count: int = len(desc.blocks) // 2
        for begin, end in _ranges(desc.version):
            read(MESSAGE_CLASSES["Version"], self.bytes, begin, end)  # refused where it is none
        version, compatible = self.content(desc, "version"), self.content(desc, "op_compatible_map")
        self.program.carried = CarriedProgram(version, compatible, desc.rest)
        self.encoder.of_paddle2 = is_of_paddle2(self.program)
        self.program.blocks = []
        for number, (begin, end) in enumerate(_ranges(desc.blocks)):
            self.block(number, begin, end)
        self.program.touch()
        fault = nesting_fault(self.program)
        if fault:
            raise FileFormatError(
                f"{self.bytes.name}: expected blocks in each other, found {fault}"
            )
        if self.ignored:
            message = (
                f"{self.bytes.name}: fluidlite does not know {', '.join(self.ignored)}; the "
                "program runs without them, and they are kept when it is saved"
            )
            warnings.warn(terminal_text(message), UserWarning, stacklevel=2)

    def block(self, number: int, begin: int, end: int) -> None:
        """Read a block, and put it into the program."""
        desc = read(MESSAGE_CLASSES["BlockDesc"], self.bytes, begin, end)
        parent = desc.parent_idx if desc.has("parent_idx") else None
        forward = desc.forward_block_idx if desc.has("forward_block_idx") else -1
        fail = self.bytes.fail
        if not desc.has("idx") or desc.idx != number:
            found = f"block {desc.idx}" if desc.has("idx") else "no index"
            fail(begin, f"block {number}", found)
        if parent is None or not (parent == -1 if number == 0 else 0 <= parent < number):
            wanted = "no parent (-1)" if number == 0 else f"a parent before block {number}"
            fail(begin, wanted, "none" if parent is None else str(parent))
        if not -1 <= forward < number:
            fail(begin, f"a forward block before block {number}", str(forward))
        block = Block(self.program, number, parent, forward)
        says_forward = desc.has("forward_block_idx")
        if desc.rest or (says_forward and forward < 0):
            block.carried = CarriedBlock(says_forward, desc.rest)
        self.program.blocks.append(block)
        self.charge(_BLOCK, begin)
        for begin, end in _ranges(desc.vars):
            self.variable(block, begin, end)
        operator = self.operators.operator
        block.set_ops([operator(block, begin, end) for begin, end in _ranges(desc.ops)])

    def content(self, desc: Message, name: str) -> bytes | None:
        """The bytes of a message within the program; None if it is missing."""
        if not desc.has(name):
            return None
        ranges = _ranges(getattr(desc, name))
        return b"".join([self.bytes.data[begin:end] for begin, end in ranges])

    # -- variables -------------------------------------------------------------------------------

    def variable(self, block: Block, begin: int, end: int) -> None:
        """Read a variable, and declare it."""
        self.charge(_VARIABLE, begin)
        raw = self.bytes.data[begin:end]
        # Most variables differ in their names only, which come first.
        size = raw[1] if len(raw) > 1 and raw[0] == _NAME and raw[1] < 128 else len(raw)
        behind = raw[2 + size :]
        known = self.known.get(behind)
        if known is not None:
            name = self.text(raw[2 : 2 + size])
            variable = Variable(block, name, **known.fields)
            variable.carried = known.carried
            if known.spec is not None:
                variable.take_spec(known.spec)
        else:
            variable = self.unknown_variable(block, raw, behind, begin)
            name = variable.name
        if name in block.vars:
            what = f"variables of different names in block {block.idx}"
            self.bytes.fail(begin, what, f"{excerpt(name)} a second time")
        block.declare(variable)

    def unknown_variable(self, block: Block, raw: bytes, behind: bytes, begin: int) -> Variable:
        """Read a variable unlike those before.

        Args:
            block: where it is declared.
            raw: its message.
            behind: what follows its name.
            begin: where the message lies.
        """
        end = begin + len(raw)
        self.weigh("VarDesc", begin, end)
        desc = read(MESSAGE_CLASSES["VarDesc"], self.bytes, begin, end)
        if not desc.has("name"):
            self.bytes.fail(begin, "a variable with a name", "one without")
        type_ = self.type_of(desc, behind, begin)
        flags = {
            "kind": type_.kind,
            "persistable": desc.persistable,
            "need_check_feed": desc.need_check_feed,
            "is_data": desc.need_check_feed,
            "stop_gradient": desc.stop_gradient,
        }
        shape = type_.fields.get("shape", ())
        parameter = desc.is_parameter and block.idx == 0 and shape and min(shape) > 0
        kind: type[Variable] = Parameter if parameter else Variable
        variable = kind(block, self.text(desc.name), **flags, **type_.fields)
        variable.elements = type_.elements
        variable.carried = self.share(
            CarriedVariable(
                desc.has("persistable"),
                desc.has("need_check_feed"),
                type_.lod_level,
                desc.has("is_parameter"),
                desc.has("stop_gradient"),
            )
        )
        usual = type_.usual and not type_.elements
        if desc.size_names:
            self.name_sizes(variable, [self.text(name) for name in desc.size_names])
            usual = usual and bool(variable.size_names)
        if not usual or not desc.usual:
            self.carry_variable(variable, desc, raw, begin)
        elif (
            behind
            and not parameter
            and not desc.size_names
            and len(self.known) < _KEPT
            and self.spares(_VARIABLE + len(behind))
        ):
            spec = variable.spec if variable.has_dtype else None
            fields = flags if spec is not None else {**flags, **type_.fields}
            self.known[behind] = KnownVariable(fields, spec, variable.carried)
        return variable

    def name_sizes(self, variable: Variable, names: list[str]) -> None:
        """Name the sizes of a variable; names that are none are carried as a field of others."""
        sizes = variable.shape
        if len(names) == len(sizes) and all(
            not name or (n == -1 and is_size_name(name)) for n, name in zip(sizes, names)
        ):
            variable.size_names = tuple(SizeName(n, variable.name) if n else None for n in names)

    def type_of(self, desc: Any, behind: bytes, at: int) -> TypeOf:
        """What the type of a variable says; taken apart once for equal types.

        Args:
            desc: the message of the variable.
            behind: what follows its name: the type is first.
            at: where the message lies.
        """
        if desc.type is None:
            return TypeOf(Kind.RAW, {}, False, False)
        type_ = desc.type
        short = desc.usual and len(behind) > 1 and behind[1] < 0x80
        raw = behind[2 : 2 + behind[1]] if short else write(type_)
        variable_type = self.types.get(raw)
        if variable_type is not None:
            return variable_type
        usual = type_.type in KINDS
        kind = Kind(type_.type) if usual else Kind.RAW
        fields: dict[str, Any] = {}
        tensor = level = None
        field, _ = WITH_TENSOR.get(kind, ("", ""))
        if field:
            tensor = getattr(type_, field)
            if field != "selected_rows" and tensor is not None:
                level, tensor = tensor, tensor.tensor
                fields["lod_level"] = level.lod_level
        if tensor is not None and tensor.has("data_type"):
            fields["dtype"] = dtype_of(tensor.data_type)
            if tensor.dims:
                self.charge(40 * len(tensor.dims), at)
                fields["shape"] = tuple(tensor.dims)
            usual = usual and fields["dtype"] is not None
        elif field:
            usual = False
        elements = self.elements(type_.reader, at) if kind is Kind.READER and type_.reader else ()
        usual = usual and len(type_.told) == (2 if field or elements else 1)
        self.charge(300 + len(raw), at)
        explicit = level is not None and level.has("lod_level")
        variable_type = self.types[raw] = TypeOf(kind, fields, explicit, usual, elements)
        return variable_type

    def elements(self, reader: Any, at: int) -> tuple[Spec, ...]:
        """What a reader gives; nothing where an element type is unknown here."""
        specs = []
        for element in reader.lod_tensor:
            tensor = element.tensor or MESSAGE_CLASSES["VarType.TensorDesc"]()
            self.charge(200 + 40 * len(tensor.dims), at)
            dtype = dtype_of(tensor.data_type)
            if dtype is None:
                return ()
            shape = tuple(tensor.dims)
            specs.append(Spec(shape, dtype, Kind.LOD_TENSOR, element.lod_level))
        return tuple(specs)

    def carry_variable(self, variable: Variable, desc: Any, raw: bytes, begin: int) -> None:
        """Keep of a variable's message what is not in the variable."""
        self.charge(4 * len(raw) + 1500, begin)
        if any(variable.size_names):
            del desc.size_names
        variable.carried = variable.carried._replace(message=desc)
        seen = self.encoder.variable(variable)
        if raw != seen:
            variable.carried = variable.carried._replace(original=Original(raw, seen))


def _ranges(spans: Any) -> Iterator[tuple[int, int]]:
    """Where messages begin and end, of these numbers in turn."""
    return zip(spans[::2], spans[1::2])
