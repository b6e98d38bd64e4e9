"""Operators that are compositions of others, gradient operators among them, written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.state import keeps_doubles
from ..ir.analysis import blocks_driven_by, undeclared_inside
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .editing import transformed
from .inserting import FreeNames


def expand(
    program: Program,
    types: Iterable[str] | Callable[[Operator], bool] | None = None,
    *,
    whole: bool = False,
) -> Program:
    """A program in which operators that are compositions stand as their parts.

    Gradient operators become what the rules of their operators say, so that a gradient is plain
    arithmetic.  Shapes have to be known: :func:`specialize` declares them.  In the block of a loop,
    operators that read what the loop hands in without a declaration stay as they are.

    Args:
        program: stays as it is.
        types: the types that are expanded, or a function that says of an operator whether it is;
            gradient operators when None.
        whole: go on with compositions among the parts.

    Raises:
        ArgumentError: a shape is not known.

    >>> from fluidlite import transform
    >>> x = fluid.data("x", [3])
    >>> x.stop_gradient = False
    >>> (gradient,) = fluid.gradients(fluid.layers.reduce_sum(fluid.layers.tanh(x)), x)
    >>> plain = transform.expand(fluid.default_main_program())
    >>> print(transform.formula(plain, gradient))
    x@GRAD = expand(1.0, expand_times=[3]) * (-(tanh_0.tmp_0 * tanh_0.tmp_0) + 1.0)
    where
      tanh_0.tmp_0 = tanh(x)
    """
    chosen = _chooser(types)

    def change(copied: Program) -> None:
        current, undeclared = copied.current_block_idx, undeclared_inside(copied)
        with unique_name.guard(FreeNames(copied)), keeps_doubles.guard(True):
            for block in copied.blocks:
                copied.current_block_idx = block.idx  # where arithmetic on variables goes
                unknown = undeclared.get(block.idx, set())
                block.set_ops(_expanded(block, chosen, whole, unknown))
        copied.current_block_idx = current

    return transformed(program, change)


def _chooser(
    types: Iterable[str] | Callable[[Operator], bool] | None,
) -> Callable[[Operator], bool]:
    if types is None:
        return lambda op: getattr(op.definition, "derived_from", None) is not None
    if callable(types):
        return types
    listed = frozenset([types] if isinstance(types, str) else types)
    return lambda op: op.type in listed


def _expanded(
    block: Block, chosen: Callable[[Operator], bool], whole: bool, unknown: set[str]
) -> list[Operator]:
    """The operators of a block, some of them as their parts; those that read names whose shapes in
    the block are unknown stay.
    """
    ops: list[Operator] = []
    waiting = list(reversed(block.ops))
    begun: set[int] = set()  #: parts, of which further parts may be taken
    while waiting:
        op = waiting.pop()
        definition = op.definition
        is_composite = definition is not None and definition.expand is not None
        wanted = id(op) in begun or chosen(op)
        is_known = unknown.isdisjoint(op.input_arg_names)
        if not (is_composite and wanted and is_known) or blocks_driven_by(op):
            ops.append(op)
            continue
        parts = _composed_parts(op, block)
        if whole:
            begun.update(map(id, parts))
            waiting += reversed(parts)
        else:
            ops += parts
    return ops


def _composed_parts(op: Operator, block: Block) -> list[Operator]:
    """The operators that an operator is composed of, which write what it writes."""
    for name in op.input_arg_names:
        if name != EMPTY:
            _need_sizes(op, block, name)
    instance = op.instance()
    return parts_of(op, block, lambda f, ins: instance.outputs_for(f, ins, list(op.outputs)))


def parts_of(
    op: Operator, block: Block, composed: Callable[[Builder, dict[str, Any]], dict[str, Any] | None]
) -> list[Operator]:
    """The operators that write what an operator writes, as a function composes them.

    Args:
        op: the operator; stays as it is.
        block: its block.
        composed: is given what appends operators and the inputs by slot, and gives the outputs by
            slot; None for none, and for no operators.
    """
    ins = op.operands(block.var_recursive)
    first = next(n for names in op.outputs.values() for n in names if n != EMPTY)
    before = block.ops
    block.set_ops([])
    try:
        f = Builder(block, f"{first}@PART")  # x@GRAD_0 would be one more gradient of x
        outs = composed(f, ins)
        if outs is None:
            return []
        pairs = list(_targets(op, outs, f))
        read = set(op.input_arg_names)
        made = {name for part in block.ops for name in part.output_arg_names}
        renamed: dict[str, str] = {}
        for target, value in pairs:
            is_free = value.name in made and value.name not in renamed and target not in read
            if is_free:
                renamed[value.name] = target
        for target, value in pairs:
            if renamed.get(value.name) != target:
                f.append(lookup("assign")({}), {"X": value}, {"Out": block.var_recursive(target)})
        parts = block.ops
    finally:
        block.set_ops(before)
    for part in parts:
        part.rename(renamed)
        part.role, part.role_vars, part.callsite = op.role, op.role_vars, op.callsite
        part.namescope, part.device, part.foreign = op.namescope, op.device, op.foreign
    for name in renamed:
        block.drop_var(name)
    return parts


def _targets(op: Operator, outs: dict[str, Any], f: Builder) -> Iterable[tuple[str, Variable]]:
    """Names that are written, and the values that were made for them: zeros where a rule says that
    nothing flows.
    """
    gives = op.instance().output_slots
    for slot, names in op.outputs.items():
        value = outs.get(slot)
        values = value if isinstance(value, (list, tuple)) else [value]
        if slot not in gives:
            continue
        for target, part in zip(names, values):
            if target == EMPTY:
                continue
            like = op.block.var_recursive(target)
            if part is not None:
                yield target, part
            elif like.has_shape and -1 not in like.shape:
                yield target, f.fill_constant(shape=like.shape, dtype=like.dtype, value=0.0)


def _need_sizes(op: Operator, block: Block, name: str) -> None:
    variable = block.var_recursive(name)
    if not variable.has_shape or -1 in variable.shape:
        where = "" if op.callsite is None else f", made at {op.callsite},"
        shape = list(variable.shape) if variable.has_shape else "nothing is known of"
        raise ArgumentError(
            f"expand: operator {op.type}{where} reads {name!r} of shape {shape}: rules need known "
            f"sizes; declare them by transform.specialize(program, shapes=...)"
        )
