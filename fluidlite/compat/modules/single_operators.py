"""``fluid.op``: one operator, run on the variables of a scope; and what gradient it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...backward.program import gradients
from ...errors import ArgumentError, UnknownOperatorError
from ...ground.dtypes import Kind, as_dtype
from ...ground.values import LoDTensor, LoDTensorArray, SelectedRows
from ...ir.descriptions import OpDesc
from ...ir.operator import EMPTY
from ...ir.program import Program
from ...opdef.definition import is_defined, lookup, registered
from ...runtime.executor import Executor
from ...scope import Scope


class OpInfo:
    """What a factory knows of an operator.

    Args:
        name: its type.
    """

    def __init__(self, name: str) -> None:
        definition = lookup(name)
        self.name = name
        self.inputs: list[str] = [slot.name for slot in definition.inputs]
        self.outputs: list[str] = [slot.name for slot in definition.outputs]
        self.attrs: list[str] = list(definition.attributes)
        self.intermediate_outputs: list[str] = [s.name for s in definition.outputs if s.hidden]


class SingleOperator(OpDesc):
    """An operator with the names of what it reads and writes, which :meth:`run` looks up.

    Made by :class:`OperatorFactory`.
    """

    def run(self, scope: Scope, place: Any = None) -> None:
        """Compute what it writes, in a scope.

        Args:
            scope: has what is read, and gets what is written.
            place: accepted for old scripts; there is one place.

        Raises:
            FluidError: as an executor does.
        """
        block = Program().global_block()
        for name in {*self.input_arg_names(), *self.output_arg_names()} - {EMPTY}:
            found = scope.find_var(name)
            form = _form(None if found is None else found.value)
            block.create_var(name=name, persistable=True, **form)
        op = self.op
        block.append_op(op.type, op.inputs, op.outputs, {n: op.attr(n) for n in op.attr_names})
        Executor().run(block.program, scope=scope)

    def __str__(self) -> str:
        return str(self.op)


def _form(value: Any) -> dict[str, Any]:
    """How a variable that holds a value is declared."""
    if isinstance(value, SelectedRows):
        return dict(type=Kind.SELECTED_ROWS, shape=value.shape, dtype=as_dtype(value.dtype))
    if isinstance(value, LoDTensorArray):
        return dict(type=Kind.LOD_TENSOR_ARRAY)
    array = value.data if isinstance(value, LoDTensor) else value
    if not isinstance(array, np.ndarray):
        return {}
    lod_level = len(value.offsets) if isinstance(value, LoDTensor) else 0
    return dict(shape=array.shape, dtype=as_dtype(array.dtype), lod_level=lod_level)


class OperatorFactory:
    """Makes operators: the type, slots with names of variables, attributes with their values.

    >>> scope = fluid.Scope()
    >>> scope.var("X").get_tensor().set(np.ones([2], "float32"))
    >>> Operator = fluid.compat.modules.single_operators.Operator
    >>> Operator("scale", X="X", Out="Y", scale=3.0).run(scope, fluid.CPUPlace())
    >>> np.array(scope.find_var("Y").get_tensor())
    array([3., 3.], dtype=float32)
    """

    def __call__(self, *args: str, **keywords: Any) -> SingleOperator:
        """An operator.

        Args:
            args: its type, which may be given as ``type``, too.
            keywords: names of variables, or lists of them, by slot; and attributes.

        Raises:
            ArgumentError: the type is missing, or given twice; or a name is neither a slot nor an
                attribute.
            UnknownOperatorError: there is no operator of the type.
        """
        if len(args) + ("type" in keywords) != 1:
            raise ArgumentError("expected the type of an operator, and what is named by its slots")
        type = keywords.pop("type") if "type" in keywords else args[0]
        known = self.get_op_info(type)
        slots: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "attrs": {}}
        for name, value in keywords.items():
            kind = next((kind for kind in slots if name in getattr(known, kind)), None)
            if kind is None:
                raise ArgumentError(
                    f"{type}: expected slots {', '.join([*known.inputs, *known.outputs])} or "
                    f"attributes {', '.join(known.attrs)}, got {name}"
                )
            is_list = kind == "attrs" or isinstance(value, (list, tuple))
            slots[kind][name] = value if is_list else [value]
        block = Program().global_block()
        for each in (*slots["inputs"].values(), *slots["outputs"].values()):
            for name in each:
                block.create_var(name=name)
        made: Any = slots
        return SingleOperator(block.append_op(type, **made))

    def types(self) -> list[str]:
        """The types of all operators."""
        return sorted(d.type for d in registered() if not d.type.endswith("_grad"))

    def get_op_info(self, t: str) -> OpInfo:
        """What is known of an operator.

        Args:
            t: its type.

        Raises:
            UnknownOperatorError: there is none of that type.
        """
        if not is_defined(t):
            raise UnknownOperatorError(f"there is no operator {t!r:.60}")
        return OpInfo(t)

    def get_op_input_names(self, type: str) -> list[str]:
        """The input slots of an operator."""
        return self.get_op_info(type).inputs

    def get_op_output_names(self, type: str) -> list[str]:
        """The output slots of an operator."""
        return self.get_op_info(type).outputs

    def get_op_attr_names(self, type: str) -> list[str]:
        """The attributes of an operator."""
        return self.get_op_info(type).attrs


Operator: OperatorFactory = OperatorFactory()


def is_str(s: object) -> bool:
    """Whether something is a text."""
    return isinstance(s, str)


def get_grad_op_desc(
    op_desc: OpDesc, no_grad_set: Iterable[str], grad_sub_block_list: Sequence[Any] = ()
) -> tuple[list[OpDesc], dict[str, str]]:
    """The operators that compute the gradients of an operator.

    Args:
        op_desc: the operator.
        no_grad_set: names of gradients, as ``x@GRAD``, that are not wanted.
        grad_sub_block_list: must be empty: operators that drive a block are differentiated in
            their program.

    Returns:
        descriptions of the operators; and for each gradient that they read or write the variable
        that it is of.

    Raises:
        ArgumentError: the operator drives a block.
        NoGradientError: it has no gradient.
    """
    op = op_desc.op
    if grad_sub_block_list or lookup(op.type).execute is not None:
        raise ArgumentError(
            f"{op.type} drives a block: differentiate its program (fluid.gradients)"
        )
    unwanted = {name.removesuffix("@GRAD") for name in no_grad_set}
    wanted = [name for name in op.input_arg_names if name not in unwanted | {EMPTY}]
    if not wanted:
        return [], {}
    program = op.block.program.clone()
    block = program.block(op.block.idx)
    for name in {*op.input_arg_names, *op.output_arg_names} - {EMPTY}:
        block.var_recursive(name).stop_gradient = name in unwanted
    while block.ops:
        block._remove_op(len(block.ops) - 1)
    copied = block.append_op(op.type, op.inputs, op.outputs, {n: op.attr(n) for n in op.attr_names})
    written = [block.var_recursive(n) for n in copied.output_arg_names if n != EMPTY]
    weights = [
        block.create_var(name=f"{v.name}@GRAD", shape=v.shape, dtype=v.dtype) for v in written
    ]
    gradients(written, [block.var_recursive(n) for n in wanted], weights)
    found = block.ops[1:]
    names = {n for each in found for n in (*each.input_arg_names, *each.output_arg_names)}
    ends = {n: n.removesuffix("@GRAD") for n in sorted(names) if n.endswith("@GRAD")}
    return [OpDesc(each) for each in found], ends
