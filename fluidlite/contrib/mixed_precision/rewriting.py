"""A program in which some operators work in float16, with casts in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...errors import FluidError
from ...ground.dtypes import DType, Kind
from ...ir.analysis import reads_of, writes_of
from ...ir.block import Block
from ...ir.operator import Operator, OpRole, located
from ...ir.program import Program
from ...ir.variable import Variable
from ...opdef.definition import lookup
from .fp16_lists import AutoMixedPrecisionLists

_NAMES = {DType.FP16: "fp16", DType.FP32: "fp32"}
#: bits of roles that say that an operator belongs to no forward pass
_NOT_FORWARD = int(OpRole.BACKWARD | OpRole.OPTIMIZE | OpRole.LRSCHED)


@contextmanager
def rewritten(program: Program, lists: AutoMixedPrecisionLists) -> Iterator[None]:
    """Make the forward operators of a program's first block work in float16 or float32.

    Parameters stay float32, and so does what operators of other blocks mention.  When what is done
    inside the ``with`` block fails, operators and variables are as they were; new ones are left to
    ``all_or_nothing``.

    Args:
        program: what to change; what was changed before stays.
        lists: which operators work in what.
    """
    changes = _Rewriting(program.global_block(), lists)
    try:
        changes.run()
        yield
    except BaseException:
        changes.undo()
        raise


class _Rewriting:
    """One walk over the operators of a block."""

    def __init__(self, block: Block, lists: AutoMixedPrecisionLists) -> None:
        self.block = block
        self.lists = lists
        #: names that other blocks know
        self.shared = {
            name
            for other in block.program.blocks[1:]
            for op in other.ops
            for name in [*reads_of(op), *writes_of(op)]
        }
        #: variable -> whether what made it works in float16 (True), or has to work in float32
        #: (False); not in it where neither is so
        self.made_in: dict[str, bool] = {}
        #: (variable, element type) -> its copy in that type, until the variable is written again
        self.copies: dict[tuple[str, DType], str] = {}
        #: variables that have another element type than they had
        self.changed: set[str] = set()
        self.ops: list[Operator] = []
        self._before: list[Callable[[], Any]] = []

    def run(self) -> None:
        """Rewrite all forward operators."""
        for op in self.block.ops:
            if not int(op.role) & _NOT_FORWARD:
                self._operator(op)
            self.ops.append(op)
        self.block.set_ops(self.ops)

    def undo(self) -> None:
        """Give operators and variables what they had."""
        for step in reversed(self._before):
            step()

    def _operator(self, op: Operator) -> None:
        if op.definition is None or op.instance().is_control:
            return self._written(op, False)
        in_half = self._works_in_half(op)
        if self._cast_inputs(op, bool(in_half)) or self.changed.intersection(op.input_arg_names):
            self._declare(op)
        self._written(op, in_half)
        return None

    def _works_in_half(self, op: Operator) -> bool | None:
        """Whether an operator works in float16; None where nothing says so, and it does not."""
        names = [*op.input_arg_names, *op.output_arg_names]
        if self.lists.black_varnames.intersection(names) or self._must_be_wide(op):
            return False
        if op.type in self.lists.white_list:
            return True
        if op.type not in self.lists.gray_list:
            return False
        made = {self.made_in[n] for n in op.input_arg_names if n in self.made_in}
        return None if not made else False not in made

    def _must_be_wide(self, op: Operator) -> bool:
        """Whether an operator writes what other blocks know, or what outlives the run."""
        if not self.shared.isdisjoint(op.output_arg_names):
            return True
        if _one_in_half(op) is not None:
            return False
        found = [self.block.find_var_recursive(name) for name in op.output_arg_names]
        return any(v is not None and v.persistable for v in found)

    def _cast_inputs(self, op: Operator, in_half: bool) -> bool:
        """Let an operator read copies in its element type; whether it needs some."""
        wanted, other = (DType.FP16, DType.FP32) if in_half else (DType.FP32, DType.FP16)
        needed = False
        if op.type == "cast":  # reads anything
            (name,) = op.input("X")
            now = self.block.var_recursive(name).dtype
            if now is not op.attr("in_dtype"):
                self._before.append(partial(op.set_attr, "in_dtype", op.attr("in_dtype")))
                op.set_attr("in_dtype", now)
            return False
        only = _one_in_half(op)
        for slot, names in list(op.inputs.items()):
            if in_half and only not in (None, slot):
                continue
            copies = {}
            for name in names:
                variable = self.block.find_var_recursive(name)
                if variable is None or variable.kind is not Kind.LOD_TENSOR:
                    continue
                if variable.has_dtype and variable.dtype is other:
                    copies[name] = self._copy(op, variable, wanted)
            if copies:
                needed = True
                self._before.append(partial(op.set_input, slot, *names))
                op.set_input(slot, *[copies.get(name, name) for name in names])
        return needed

    def _copy(self, op: Operator, variable: Variable, dtype: DType) -> str:
        """The name of a variable's copy in another element type, made in front of an operator."""
        found = self.copies.get((variable.name, dtype))
        if found is not None:
            return found
        name = f"{variable.name}.cast_{_NAMES[dtype]}"
        while self.block.has_var(name):  # the copy of a value that was overwritten
            name += "_1"
        made = self.block.create_var(name=name, stop_gradient=variable.stop_gradient)
        cast = lookup("cast")({"in_dtype": variable.dtype, "out_dtype": dtype})
        copying = self.block.make_op(cast, {"X": variable}, {"Out": made}, op.callsite)
        copying.role = int(op.role) & ~int(OpRole.LOSS)
        self.ops.append(copying)
        self.copies[variable.name, dtype] = name
        return name

    def _declare(self, op: Operator) -> None:
        """Give what an operator writes the element types that follow from what it reads now."""
        instance = op.instance()
        find = self.block.find_var_recursive
        many = instance.input_slots
        variables = {
            slot: [find(n) for n in names] for slot, names in op.inputs.items() if slot in many
        }
        specs_by_slot = {
            slot: [None if v is None else v.spec for v in vs] for slot, vs in variables.items()
        }
        if any(None in specs for specs in specs_by_slot.values()):
            return
        try:
            outputs = instance.infer_outputs(
                {
                    slot: specs if many[slot].many else specs[0]
                    for slot, specs in specs_by_slot.items()
                }
            )
        except FluidError as error:
            pairs = [(v.name, v.spec) for vs in variables.values() for v in vs if v is not None]
            raise located(error, op, pairs) from None
        for slot, names in op.outputs.items():
            one = outputs.get(slot)
            each = one if isinstance(one, list) else [one] * len(names)
            for name, spec in zip(names, each):
                variable = find(name)
                if variable is None or spec is None or variable.dtype is spec.dtype:
                    continue
                self._before.append(partial(variable.declare, dtype=variable.dtype))
                variable.declare(dtype=spec.dtype)
                self.changed.add(name)

    def _written(self, op: Operator, in_half: bool | None) -> None:
        """Note what made the variables that an operator writes."""
        for name in op.output_arg_names:
            for dtype in _NAMES:
                self.copies.pop((name, dtype), None)
            self.made_in.pop(name, None)
            if in_half is not None:
                self.made_in[name] = in_half


def _one_in_half(op: Operator) -> str | None:
    """The input that alone may be float16, of an operator that keeps statistics; None where all
    may be.
    """
    definition = op.definition
    if definition is None or not definition.statistics:
        return None
    return next(iter(definition.input_slots))
