"""Operators, variables and blocks under the method names of fluid's descriptions.

A view holds nothing: it reads and changes the operator, the variable or the block itself.  Where
fluid 1.8 takes bytes, text is taken, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.aliases import Alias
from ..ground.arguments import refused
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.reprs import Described
from ..opdef.spec import Spec
from .encoding import ENCODING

if TYPE_CHECKING:
    from .attribute_types import AttrType
    from .block import Block
    from .operator import Operator
    from .variable import Variable


class OpDesc(Described):
    """An operator under the method names of fluid's descriptions."""

    __slots__ = ("op",)

    def __init__(self, op: Operator) -> None:
        self.op: Operator = op

    def type(self) -> str:
        """The operator's type."""
        return self.op.type

    def input_names(self) -> list[str]:
        """The input slots."""
        return self.op.input_names

    def output_names(self) -> list[str]:
        """The output slots."""
        return self.op.output_names

    def input(self, name: str) -> list[str]:
        """The variables in an input slot."""
        return self.op.input(name)

    def output(self, name: str) -> list[str]:
        """The variables in an output slot."""
        return self.op.output(name)

    def inputs(self) -> dict[str, list[str]]:
        """The variables by input slot."""
        return {slot: self.op.input(slot) for slot in self.op.input_names}

    def outputs(self) -> dict[str, list[str]]:
        """The variables by output slot."""
        return {slot: self.op.output(slot) for slot in self.op.output_names}

    def input_arg_names(self) -> list[str]:
        """All variables read."""
        return self.op.input_arg_names

    def output_arg_names(self) -> list[str]:
        """All variables written."""
        return self.op.output_arg_names

    def attr_names(self) -> list[str]:
        """The attributes."""
        return self.op.attr_names

    def has_attr(self, name: str) -> bool:
        """Whether there is an attribute."""
        return self.op.has_attr(name)

    def attr(self, name: str) -> Any:
        """The value of an attribute."""
        return self.op.attr(name)

    def attr_type(self, name: str) -> AttrType:
        """The type of an attribute."""
        return self.op.attr_type(name)

    def get_attr_map(self) -> dict[str, Any]:
        """All attributes with their values."""
        return self.op.all_attrs()

    def id(self) -> int:
        """A number that no other operator has at the time."""
        return id(self.op)

    def block(self) -> BlockDesc:
        """The operator's block."""
        return BlockDesc(self.op.block)

    def set_type(self, type: str) -> None:
        """Make it an operator of another type."""
        self.op.type = type
        self.op.block.program.touch()

    def set_input(self, slot: str, names: list[str]) -> None:
        """Read other variables in an input slot."""
        self.op.set_input(slot, *names)

    def set_output(self, slot: str, names: list[str]) -> None:
        """Write other variables in an output slot."""
        self.op.set_output(slot, *names)

    def copy_from(self, other: OpDesc) -> None:
        """Become like another operator."""
        self.op.take(other.op)

    def remove_input(self, slot: str) -> None:
        """Read nothing in an input slot."""
        if slot in self.op.inputs:
            self.op.set_input(slot)

    def remove_output(self, slot: str) -> None:
        """Write nothing in an output slot."""
        if slot in self.op.outputs:
            self.op.set_output(slot)

    def set_is_target(self, is_target: bool) -> None:
        """Say whether pruning keeps the operator: program files hold it."""
        if not isinstance(is_target, (bool, int, type(None))):
            raise refused("set_is_target", "is_target", "a truth value", is_target)
        self.op.set_target(bool(is_target))

    def set_serialized_attr(self, name: str, text: bytes) -> None:
        """Let an attribute be a text, which is given as bytes."""
        if not isinstance(text, bytes):
            raise refused("set_serialized_attr", "text", "bytes", text)
        self.op.mark(name, text.decode("utf-8", "surrogateescape"))

    def remove_attr(self, name: str) -> None:
        """Take an attribute out."""
        self.op.unmark(name)

    def _set_attr(self, name: str, value: Any) -> None:
        self.op.mark(name, value)

    def set_block_attr(self, name: str, block: BlockDesc) -> None:
        """Let an attribute name a block."""
        self.op.mark(name, block.block)

    def _rename_input(self, old: str, new: str) -> None:
        self.op.rename_input(old, new)

    def _rename_output(self, old: str, new: str) -> None:
        self.op.rename_output(old, new)

    def _block_attr_id(self, name: str) -> int:
        index: int = self.op.attrs[name]
        return index

    def _blocks_attr_ids(self, name: str) -> list[int]:
        return self.op._blocks_attr_ids(name)

    def set_blocks_attr(self, name: str, blocks: list[BlockDesc]) -> None:
        """Let an attribute name blocks."""
        self.op.mark(name, [block.block for block in blocks])

    def serialize_to_string(self) -> bytes:
        """The operator as bytes: fluid's OpDesc."""
        return ENCODING.get().encode_part(self.op)

    def check_attrs(self) -> None:
        """Check the attributes.

        Raises:
            AttributeValueError: a required one is missing.
        """
        self.op.instance()

    def infer_shape(self, block: BlockDesc) -> None:
        """Declare the shapes of what it writes anew, after those of what it reads have changed.

        Args:
            block: where its variables are.

        Raises:
            FluidError: the inputs do not fit the operator or each other; or nobody defined it.
        """
        block.block.infer_again(self.op, shapes=True)

    def infer_var_type(self, block: BlockDesc) -> None:
        """Declare the element types of what it writes anew, as :meth:`infer_shape` does shapes."""
        block.block.infer_again(self.op, shapes=False)


class VarDesc(Described):
    """A variable under the method names of fluid's descriptions."""

    __slots__ = ("variable",)

    def __init__(self, variable: Variable) -> None:
        self.variable: Variable = variable

    def name(self) -> str:
        """The variable's name."""
        return self.variable.name

    def shape(self) -> list[int]:
        """The sizes; -1 where unknown."""
        return list(self.variable.shape)

    get_shape = shape

    def dtype(self) -> DType:
        """The element type."""
        return self.variable.dtype

    def type(self) -> Kind:
        """What the variable holds."""
        return self.variable.kind

    def lod_level(self) -> int:
        """How many levels of sequences it has."""
        return self.variable.lod_level

    def persistable(self) -> bool:
        """Whether its value stays in the scope between runs."""
        return self.variable.persistable

    def need_check_feed(self) -> bool:
        """Whether what is fed to it is checked."""
        return self.variable.need_check_feed

    def is_parameter(self) -> bool:
        """Whether it is a parameter."""
        return self.variable.is_parameter

    def stop_gradient(self) -> bool:
        """Whether no gradient flows through it."""
        return self.variable.stop_gradient

    def set_name(self, name: str) -> None:
        """Give the variable another name, in every operator that means it."""
        self.variable.block.rename_var(self.variable.name, name)

    def set_shape(self, shape: list[int]) -> None:
        """Declare another shape."""
        self.variable.declare(shape=shape)

    def set_dtype(self, dtype: Any) -> None:
        """Declare another element type."""
        self.variable.declare(dtype=dtype)

    def set_type(self, kind: Kind) -> None:
        """Declare that it holds something else."""
        self.variable.kind = kind
        self.variable.program.touch()

    def set_lod_level(self, level: int) -> None:
        """Declare another number of levels."""
        self.variable.lod_level = level
        self.variable.program.touch()

    def set_persistable(self, persistable: bool) -> None:
        """Say whether its value stays in the scope between runs."""
        self.variable.persistable = persistable
        self.variable.program.touch()

    def set_need_check_feed(self, check: bool) -> None:
        """Say whether what is fed to it is checked."""
        self.variable.need_check_feed = check

    def id(self) -> int:
        """A number that no other variable has at the time."""
        return id(self.variable)

    def shapes(self) -> list[list[int]]:
        """The sizes of each variable of a batch, of a reader."""
        return [list(element.shape) for element in self._elements()]

    def dtypes(self) -> list[DType]:
        """The element type of each variable of a batch, of a reader."""
        return [element.dtype for element in self._elements()]

    def lod_levels(self) -> list[int]:
        """The levels of sequences of each variable of a batch, of a reader."""
        return [element.lod_level for element in self._elements()]

    def set_shapes(self, shapes: list[list[int]]) -> None:
        """Declare how many variables a reader's batches have, and their sizes."""
        self._declare(len(shapes), [{"shape": tuple(map(int, shape))} for shape in shapes])

    def set_dtypes(self, dtypes: list[Any]) -> None:
        """Declare how many variables a reader's batches have, and their element types."""
        self._declare(len(dtypes), [{"dtype": as_dtype(dtype)} for dtype in dtypes])

    def set_lod_levels(self, levels: list[int]) -> None:
        """Declare how many variables a reader's batches have, and their levels of sequences."""
        self._declare(len(levels), [{"lod_level": level} for level in levels])

    def _elements(self) -> list[Spec]:
        if self.variable.kind is not Kind.READER:
            raise ArgumentError(
                f"expected a reader, got {self.variable.name!r}, which is a "
                f"{self.variable.kind.name}: only batches of readers have several variables"
            )
        return list(self.variable.elements)

    def _declare(self, count: int, changes: list[dict[str, Any]]) -> None:
        missing = Spec((), DType.BOOL, Kind.LOD_TENSOR)
        elements = [*self._elements(), *[missing] * count]
        self.variable.elements = tuple(
            element._replace(**change) for element, change in zip(elements, changes)
        )
        self.variable.program.touch()

    def serialize_to_string(self) -> bytes:
        """The variable as bytes: fluid's VarDesc."""
        return ENCODING.get().encode_part(self.variable)


class BlockDesc(Described):
    """A block under the method names of fluid's descriptions."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block: Block = block

    id: Alias[int] = Alias("block.idx", "The block's index.")
    parent: Alias[int] = Alias(
        "block.parent_idx", "The index of the block that it belongs to; -1 for block 0."
    )

    def get_forward_block_idx(self) -> int:
        """The block whose gradient it computes; -1 where it computes none."""
        return self.block.forward_block_idx

    def _set_forward_block_idx(self, index: int) -> None:
        self.block.forward_block_idx = index

    def has_var(self, name: bytes | str) -> bool:
        """Whether the block declares a variable of that name."""
        return self.block.has_var(_text(name))

    def has_var_recursive(self, name: bytes | str) -> bool:
        """Whether the block or one around it does."""
        return self.block.find_var_recursive(_text(name)) is not None

    def find_var(self, name: bytes | str) -> VarDesc | None:
        """The block's variable of that name."""
        found = self.block.vars.get(_text(name))
        return None if found is None else VarDesc(found)

    def find_var_recursive(self, name: bytes | str) -> VarDesc | None:
        """The variable of that name in the block, or in the nearest around it."""
        found = self.block.find_var_recursive(_text(name))
        return None if found is None else VarDesc(found)

    def var(self, name: bytes | str) -> VarDesc:
        """The block's variable of that name, declared if it is missing."""
        return self.find_var(name) or VarDesc(self.block.create_var(name=_text(name)))

    def all_vars(self) -> list[VarDesc]:
        """The block's variables."""
        return [VarDesc(variable) for variable in self.block.vars.values()]

    def _remove_var(self, name: bytes | str) -> None:
        self.block.drop_var(_text(name))

    def _rename_var(self, old: bytes | str, new: bytes | str) -> None:
        self.block.rename_var(_text(old), _text(new))

    def op_size(self) -> int:
        """How many operators there are."""
        return len(self.block.ops)

    def op(self, index: int) -> OpDesc:
        """The operator at a position."""
        return OpDesc(self.block.ops[index])

    def append_op(self) -> OpDesc:
        """A new operator without a type at the end: give it one, or copy another one."""
        return self._insert_op(len(self.block.ops))

    def _prepend_op(self) -> OpDesc:
        return self._insert_op(0)

    def _insert_op(self, index: int) -> OpDesc:
        return OpDesc(self.block.insert_blank(index))

    def _remove_op(self, begin: int, end: int) -> None:
        ops = self.block.ops
        self.block.set_ops([*ops[:begin], *ops[end:]])

    def serialize_to_string(self) -> bytes:
        """The block as bytes: fluid's BlockDesc."""
        return ENCODING.get().encode_part(self.block)


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name
