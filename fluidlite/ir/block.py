"""Blocks: variables by name and operators in order.

Which variables and operators a block holds changes through the methods here only, which bump the
program's revision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

from .. import unique_name
from ..errors import (
    ArgumentError,
    DuplicateVariableError,
    FluidError,
    UnknownVariableError,
    suggestion,
)
from ..ground import state
from ..ground.callsite import CallSite, caller, warn
from ..ground.dtypes import Kind, as_dtype
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundary, quick_api_boundary
from ..opdef.definition import Op, lookup
from .builder import Builder
from .declared import taken_over, warn_of_namesakes
from .descriptions import BlockDesc
from .device import device_of
from .display_hooks import VIEWS
from .eager_append import blank_at_once, run_at_once, runner_at_once
from .fluid_names import OldBlock
from .foreign import mark_in
from .message_text import ProgramTexts, block_message, texts
from .name_scope import current_name_scope
from .operator import FRAMEWORK_ATTRIBUTES, Operator
from .operator_arguments import attributes_given, by_number, names_by_slot
from .readable_text import readable_block
from .rebuilding import building_site
from .shape_inference import declare_outputs, declare_shape, declare_type
from .text import block_text
from .variable import Parameter, Variable, as_shape

if TYPE_CHECKING:
    from .program import Program

T = TypeVar("T")
P = ParamSpec("P")


def _inserting(
    insert: Callable[Concatenate[T, int, P], Operator], name: str, doc: str, index: int
) -> Callable[Concatenate[T, P], Operator]:
    """The method of blocks that puts operators in one position."""
    inserting: Any = Spelling({})(insert, name, doc, fixed={"index": index}, scope=globals())
    inserting.__qualname__ = f"Block.{name}"
    return inserting


class Block(OldBlock):
    """A list of operators and the variables they name.  Made by :meth:`Program.create_block`."""

    __slots__ = (
        "__dict__",  # scripts keep notes there
        "__weakref__",
        "carried",
        "driver",
        "forward_block_idx",
        "idx",
        "ops",
        "parent_idx",
        "program",
        "vars",
    )

    def __init__(
        self, program: Program, idx: int, parent_idx: int = -1, forward_block_idx: int = -1
    ) -> None:
        self.program: Program = program
        self.idx: int = idx
        self.parent_idx: int = parent_idx
        self.forward_block_idx: int = forward_block_idx
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        #: the type of the operator to come that will drive it; empty where nobody said
        self.driver: str = ""
        #: what a program file says of it that has no field here; ``proto/`` keeps it
        self.carried: Any = None

    # -- variables ---------------------------------------------------------------------------------

    @api_boundary
    def create_var(
        self, name: str | None = None, dtype: Any = None, *args: Any, **more: Any
    ) -> Any:
        """Declare a variable: :meth:`declare_var`.  In the program of what runs at once, under
        ``dygraph.guard()``, it is a tensor that waits for what :meth:`append_op` gives it.

        Args:
            name, dtype, args, more: as of :meth:`declare_var`.
        """
        if self.program.at_once and state.eager.get():
            return blank_at_once(name, dtype, bool(more.get("stop_gradient")))
        return self.declare_var(name, dtype, *args, **more)

    def declare_var(
        self,
        name: str | None = None,
        dtype: Any = None,
        shape: Iterable[int] | None = None,
        type: Any = Kind.LOD_TENSOR,
        lod_level: int | None = None,
        persistable: bool | None = None,
        stop_gradient: bool = False,
        is_data: bool = False,
        need_check_feed: bool = False,
        error_clip: Any = None,
        initializer: Any = None,
        **ignored: Any,
    ) -> Variable:
        """Declare a variable; an equal one that is there already is returned.

        Args:
            name: generated when None.
            dtype: element type; inferred from the operator that writes it when None.
            shape: sizes, -1 where unknown; inferred when None.
            type: what it holds.
            lod_level: number of levels of sequences.
            persistable: whether its value stays in the scope between runs.
            stop_gradient: whether gradients stop here.
            is_data: whether it is fed.
            need_check_feed: whether what is fed to it must have its shape and element type.
            error_clip: how to clip its gradient.
            initializer: appends the operator that gives it its first value.
            ignored: names that fluid 1.8 took and that mean nothing here (``capacity``,
                ``belong_to_optimizer``).

        Raises:
            DuplicateVariableError: a variable of that name has another shape, dtype or kind.
        """
        for unknown in ignored and sorted(ignored.keys() - {"capacity", "belong_to_optimizer"}):
            hint = suggestion(unknown, _CREATE_VAR)
            warn(f"create_var has no argument {unknown!r}{hint}; it is left out", None)
        if name is None:
            name = unique_name.generate("_generated_var")
        elif isinstance(name, bytes):
            name = name.decode()
        there = self.vars.get(name)
        kind = type if type.__class__ is Kind else Kind(type)
        if there is not None:
            self._check_equal(there, kind, shape, dtype, lod_level)
            if persistable is not None:
                there.persistable = persistable
            return there
        variable = Variable(
            self,
            name,
            kind=kind,
            shape=shape,
            dtype=dtype,
            lod_level=lod_level or 0,
            persistable=bool(persistable),
            stop_gradient=stop_gradient,
            is_data=is_data,
            need_check_feed=need_check_feed,
            error_clip=error_clip,
        )
        self.declare(variable)
        if initializer is not None:
            initializer(variable, self)
        return variable

    def declare(self, variable: Variable) -> None:
        """Put in a variable that was made for this block, in place of one of its name."""
        self.vars[variable.name] = variable
        self.program.touch()

    def set_vars(self, variables: Iterable[Variable]) -> None:
        """Hold these variables of the block and no others, in this order."""
        self.vars = {variable.name: variable for variable in variables}
        self.program.touch()

    def _check_equal(
        self, there: Variable, kind: Kind, shape: Any, dtype: Any, lod_level: int | None
    ) -> None:
        clashes = []
        if kind != there.kind:
            clashes.append(f"kind {there.kind.name}, not {kind.name}")
        if shape is not None and there.has_shape and as_shape(shape, there.name) != there.shape:
            clashes.append(f"shape {list(there.shape)}, not {list(as_shape(shape, there.name))}")
        if dtype is not None and there.has_dtype and as_dtype(dtype) != there.dtype:
            clashes.append(f"dtype {there.dtype}, not {as_dtype(dtype)}")
        if lod_level is not None and lod_level != there.lod_level:
            clashes.append(f"lod_level {there.lod_level}, not {lod_level}")
        if clashes:
            raise DuplicateVariableError(
                f"variable {there.name!r} of block {self.idx} is there already, with "
                f"{'; '.join(clashes)}; "
                "use another name, or declare it alike"
            )

    @api_boundary
    def create_parameter(
        self,
        shape: Iterable[int],
        dtype: Any,
        name: str | None = None,
        initializer: Any = None,
        **more: Any,
    ) -> Parameter:
        """Declare a parameter in block 0.

        Args:
            shape: positive sizes.
            dtype: element type.
            name: generated when None.
            initializer: appends the operator that gives it its first value.
            more: ``trainable``, ``optimize_attr``, ``regularizer``, ``gradient_clip_attr``,
                ``do_model_average``, ``need_clip``, ``stop_gradient``.

        Raises:
            DuplicateVariableError: a variable of that name has another shape or dtype, or is no
                parameter.
            ArgumentError: a size is not positive.
        """
        block = self.program.global_block()
        name = unique_name.generate("_generated_var") if name is None else name
        there = block.vars.get(name)
        if there is not None:
            block._check_equal(there, Kind.LOD_TENSOR, shape, dtype, None)
            if not isinstance(there, Parameter):
                raise DuplicateVariableError(
                    f"variable {name!r} is there already and is no parameter"
                )
            return there
        more.pop("error_clip", None)
        for unknown in sorted(set(more) - _CREATE_PARAMETER):
            del more[unknown]
            hint = suggestion(unknown, _CREATE_PARAMETER)
            warn(f"create_parameter has no argument {unknown!r}{hint}; it is left out", None)
        parameter = Parameter(
            block, name, shape=shape, dtype=dtype, initializer=initializer, **more
        )
        block.declare(parameter)
        if initializer is not None:
            initializer(parameter, block)
        return parameter

    @quick_api_boundary
    def var(self, name: str) -> Variable:
        """The variable of that name in this block.

        Raises:
            UnknownVariableError: it is not in this block.
        """
        variable = self.vars.get(name)
        if variable is None:
            if not isinstance(name, str):
                raise ArgumentError(f"expected the name of a variable, got {name!r}")
            raise UnknownVariableError(
                f"block {self.idx} has no variable {name!r}{suggestion(name, self.vars)}"
            )
        return variable

    def has_var(self, name: str) -> bool:
        """Whether this block declares a variable of that name."""
        return name in self.vars

    def find_var_recursive(self, name: str) -> Variable | None:
        """The variable of that name in this block or the nearest ancestor; a gradient block also
        sees its forward block.
        """
        block: Block | None = self
        while block is not None:
            variable = block.vars.get(name)
            if variable is not None:
                return variable
            if block.forward_block_idx >= 0:
                variable = block.program.blocks[block.forward_block_idx].find_var_recursive(name)
                if variable is not None:
                    return variable
            block = block.parent
        return None

    def var_recursive(self, name: str) -> Variable:
        """Like :meth:`find_var_recursive`.

        Raises:
            UnknownVariableError: neither the block nor an ancestor has it.
        """
        variable = self.vars.get(name)
        if variable is None:
            variable = self.find_var_recursive(name)
        if variable is None:
            raise UnknownVariableError(
                f"neither block {self.idx} nor its ancestors have a variable "
                f"{name!r}{suggestion(name, self.vars)}"
            )
        return variable

    @property
    def parent(self) -> Block | None:
        """The block that this one belongs to."""
        return None if self.parent_idx < 0 else self.program.blocks[self.parent_idx]

    def all_parameters(self) -> list[Parameter]:
        """The parameters declared here, in order."""
        return [v for v in self.vars.values() if isinstance(v, Parameter)]

    def rename_var(self, name: str, new_name: str) -> Variable:
        """Give a variable another name, here and in every operator of the program that means it.

        Raises:
            UnknownVariableError: there is no such variable.
            DuplicateVariableError: the new name is taken.
        """
        variable = self.var(name)
        if new_name in self.vars:
            raise DuplicateVariableError(f"block {self.idx} has a variable {new_name!r} already")
        for block in self.program.blocks:
            if block.find_var_recursive(name) is variable:
                for op in block.ops:
                    if op.reads(name):
                        op.rename_input(name, new_name)
                    if op.writes(name):
                        op.rename_output(name, new_name)
        variable.name = new_name
        self.set_vars(self.vars.values())
        return variable

    def remove_var(self, name: str) -> None:
        """Take a variable out of the block.

        Raises:
            UnknownVariableError: there is no such variable.
            ArgumentError: an operator of the block still names it.
        """
        self.var(name)
        user = next((op for op in self.ops if op.reads(name) or op.writes(name)), None)
        if user is not None:
            raise ArgumentError(f"variable {name!r} is still used by: {user}")
        self.drop_var(name)

    def drop_var(self, name: str) -> None:
        """Take a variable out of the block, be there operators that name it.

        Raises:
            UnknownVariableError: there is no such variable.
        """
        self.var(name)
        del self.vars[name]
        self.program.touch()

    # -- operators ---------------------------------------------------------------------------------

    def insert_op(
        self,
        index: int,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        stop_gradient: bool = False,
    ) -> Operator:
        """Put an operator in front of position ``index``.

        Args:
            index: a position; one behind the last for the end.
            type: the operator's type.
            inputs: slot -> variable, its name, or a list of them.
            outputs: likewise; their shapes and element types are inferred.
            attrs: attributes; what is left out, or None, has its default.
            stop_gradient: whether gradients stop at outputs that are tensors; variables say
                themselves whether they do.

        A slot or an attribute that the operator does not have is left out, with a warning.  With
        eager tensors in place of variables the operator runs at once, into the given outputs.

        Raises:
            UnknownOperatorError: there is no operator of that type.
            SlotError: a slot is missing or holds too many variables.
            AttributeValueError: an attribute is of the wrong type.
            UnknownVariableError: a name is not declared in the block or an ancestor.
            ShapeError, DTypeError: the inputs do not fit together.
        """
        attributes = dict(attrs or {})
        framework = {
            name: attributes.pop(name) for name in FRAMEWORK_ATTRIBUTES if name in attributes
        }
        attributes = {name: by_number(value) for name, value in attributes.items()}
        site = building_site(self.program)
        try:
            definition = lookup(type)
            attributes = attributes_given(definition, attributes, site)
            runner = runner_at_once(type, inputs, outputs)
            if runner is not None:
                return run_at_once(
                    self, runner, definition, inputs, outputs, attributes, stop_gradient, site
                )
            op = self.make_op(definition(attributes), inputs, outputs, site)
            op.foreign = mark_in(definition, attrs)
        except FluidError as error:
            raise _called(error, site) from None
        framework.pop("op_callstack", None)  # of the operator that the attributes were taken from
        for name, value in framework.items():
            op.set_attr(name, value)
        self.ops.insert(index, op)
        self.program.touch()
        return op

    append_op: Final = api_boundary(
        _inserting(insert_op, "append_op", "Put an operator at the end.", sys.maxsize)
    )
    prepend_op: Final = _inserting(insert_op, "prepend_op", "Put an operator at the front.", 0)

    def insert_blank(self, index: int) -> Operator:
        """Put an operator in front of a position that is to be told its type, slots and attributes;
        it cannot run before.
        """
        made = Operator(self, "", {}, {}, {}, role=self.program.role, callsite=caller())
        self.ops.insert(index, made)
        self.program.touch()
        return made

    def add_op(self, instance: Op, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Put an operator at the end, given its definition with its attributes.

        Args:
            instance: definition and attributes.
            inputs, outputs: as of :meth:`append_op`.
        """
        site = building_site(self.program)
        try:
            op = self.make_op(instance, inputs, outputs, site)
        except FluidError as error:
            raise _called(error, site) from None
        self.take_op(op)

    def take_op(self, op: Operator) -> None:
        """Put an operator that was made for this block at the end."""
        self.ops.append(op)
        self.program.touch()

    def set_ops(self, ops: Iterable[Operator]) -> None:
        """Hold these operators, which were made for the block, and no others, in this order."""
        self.ops = list(ops)
        self.program.touch()

    def make_op(
        self,
        instance: Op,
        inputs: Mapping[str, Any] | None,
        outputs: Mapping[str, Any] | None,
        site: CallSite | None,
    ) -> Operator:
        """An operator that is not yet in the block, its outputs' shapes and element types declared.

        Args:
            instance: definition and attributes.
            inputs, outputs: as of :meth:`append_op`.
            site: the user's line.
        """
        program, definition = self.program, type(instance)
        warn_of_namesakes(self, inputs, site)
        op = Operator(
            self,
            instance.type,
            names_by_slot(definition, inputs, "input", site),
            names_by_slot(definition, outputs, "output", site),
            instance.attr_values(),
            role=program.role,
            role_vars=program.role_vars,
            namescope=current_name_scope(),
            device=device_of(instance, site),
            callsite=site,
        )
        variables = self.vars

        def find(name: str) -> Variable:
            variable = variables.get(name)
            if variable is None:
                variable = self.find_var_recursive(name)
            return taken_over(self, name, (inputs, outputs), site) if variable is None else variable

        declare_outputs(op, instance, find)
        return op

    def infer_again(self, op: Operator, shapes: bool) -> None:
        """Declare anew what an operator writes, parameters included, from what is now declared of
        what it reads.

        Args:
            op: an operator whose variables are in this block, or around it.
            shapes: declare shapes and levels of sequences; element types otherwise.

        Raises:
            UnknownOperatorError: nobody defined the type.
            FluidError: the inputs do not fit the operator or each other.
        """
        declare = declare_shape if shapes else declare_type
        declare_outputs(op, op.instance(), self._var_recursive, declare)
        self.program.touch()

    def remove_op(self, index: int) -> None:
        """Take out the operator at a position."""
        del self.ops[index]
        self.program.touch()

    @property
    def desc(self) -> BlockDesc:
        """What callbacks and old scripts call the block's description."""
        return BlockDesc(self)

    def builder(self, stem: str) -> Builder:
        """An interpreter that appends here; results are called after ``stem``."""
        return Builder(self, stem)

    def __str__(self) -> str:
        if texts.get() is ProgramTexts.READABLE:
            return readable_block(self)
        return block_message(self) if texts.get() is ProgramTexts.MESSAGES else block_text(self)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The block's text; under the alias that of its message, as in fluid 1.8."""
        if texts.get() is not ProgramTexts.OWN:
            return block_message(self, with_details)
        return block_text(self, detail=with_details)

    def __repr__(self) -> str:
        return f"<Block {self.idx}: {len(self.vars)} variables, {len(self.ops)} operators>"

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)


def _called(error: FluidError, site: CallSite | None) -> FluidError:
    """An error that says where the user was."""
    if site is None or f"at {site}" in str(error):
        return error
    return error.__class__(f"{error}\n  called at {site}")


_CREATE_PARAMETER = frozenset(
    [
        "trainable",
        "optimize_attr",
        "regularizer",
        "gradient_clip_attr",
        "do_model_average",
        "is_distributed",
        "need_clip",
        "persistable",
        "stop_gradient",
        "kind",
        "lod_level",
        "is_data",
        "need_check_feed",
    ]
)
_CREATE_VAR = ["name", "dtype", "shape", "type", "lod_level", "persistable", "stop_gradient"]
_CREATE_VAR += ["is_data", "need_check_feed", "error_clip", "initializer"]
