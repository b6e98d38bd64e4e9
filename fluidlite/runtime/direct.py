"""Direct calls: the short way from names to a kernel and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground.values import LoDTensor, LoDTensorArray
from ..ir.operator import EMPTY, Operator
from ..opdef.definition import Op
from ..opdef.interpreter import kernel_of
from ..opdef.rank_table import RankTable
from .shared_lod import Lods, has_rows, shared_lod

_NOTHING: frozenset[str] = frozenset()
_ABSENT: Any = (None,)


class DirectForm:
    """What direct calls have in common whose operators are of one type, with the same slots.

    Args:
        op: one of these operators.
        instance: its definition and attributes.
    """

    def __init__(self, op: Operator, instance: Op) -> None:
        self.kernel, self.slots, draws = kernel_of(instance, "numpy")
        fluid, takes = instance.fluid, instance.input_slots
        gives = {name: s for name, s in instance.output_slots.items() if name not in fluid.idle}
        #: the slots of the outputs
        self.outputs: list[str] = [slot for slot in op.outputs if slot in gives]
        #: whether such an operator is a plain call of a kernel
        self.is_plain_call: bool = (
            self.kernel is not None
            and not draws
            and type(instance).lods is Op.lods
            and not any(gives[slot].many for slot in self.outputs)
        )
        #: of what the kernel takes the slot, whether that is an output, and whether it has a list
        self.reads: list[tuple[str, bool, bool]] = [
            (slot, not op.inputs.get(slot), slot in takes and takes[slot].many)
            for slot in self.slots
        ]
        self.updates: list[str] = [slot for slot in fluid.updates if slot in op.outputs]
        #: whether the sequences of results follow from what the kernel takes
        self.shares_lod: bool = set(self.slots).issuperset(set(op.inputs).difference(fluid.unread))
        #: slots that take values with their sequences
        self.ragged: frozenset[str] = frozenset(s.name for s in instance.inputs if s.ragged)
        self.has_one: bool = len(instance.outputs) == len(self.outputs) == 1


@dataclass(slots=True, eq=False)
class DirectCall:
    """A kernel with the names that it takes and gives: the fast path of a step."""

    kernel: Any  #: of the operator
    op: Op
    form: DirectForm
    operands: list[Any]  #: names, tuples of them for list slots, None for what is absent
    updates: frozenset[str]  #: names that need not have been written
    outputs: tuple[str, ...]  #: names, in the order of the form's slots
    _is_plain: bool  #: whether each operand is one name that has been written
    _only: str | None  #: the name of the output, where the operator has no other

    @classmethod
    def of(cls, op: Operator, instance: Op, form: DirectForm) -> DirectCall | None:
        """The call of an operator; None where it is no plain call of a kernel.

        Args:
            op: the operator.
            instance: its definition and attributes.
            form: of its type and slots.
        """
        if not form.is_plain_call:
            return None
        reads, writes = op.inputs, op.outputs
        for slots in (reads, writes):
            for names in slots.values():
                if EMPTY in names:
                    return None
        operands: list[Any] = []
        is_plain = True
        updates = _NOTHING
        if form.updates:
            updates = frozenset(writes[slot][0] for slot in form.updates)
        for slot, is_output, many in form.reads:
            names = (writes if is_output else reads).get(slot) or _ABSENT
            operands.append(tuple(names) if many else names[0])
            is_plain = is_plain and not many and names is not _ABSENT and names[0] not in updates
        if form.has_one:
            outputs = writes[form.outputs[0]][:1]
            only = outputs[0]
        else:
            outputs, only = tuple(writes[slot][0] for slot in form.outputs), None
        return cls(form.kernel, instance, form, operands, updates, outputs, is_plain, only)

    def run(self, xp: Any, env: dict[str, Any]) -> bool:
        """Compute the outputs into the environment.

        Returns:
            whether that was done: not where a value is a SelectedRows, where one is missing, or
            where the kernel fails.
        """
        lods: Lods = {}
        try:  # the step says what is wrong
            if self._is_plain:
                values = [env[name] for name in self.operands]
            else:
                values = [
                    each and [env[name] for name in each]
                    if type(each) is not str
                    else env.get(each)
                    if each in self.updates
                    else env[each]
                    for each in self.operands
                ]
            for value in values:
                if type(value) not in _DIRECT and not self._is_bare(value):
                    values = self._values(env, lods)
                    break
            result = self.kernel(self.op, xp, *values)
            if self._only is not None and type(result) in _DIRECT:
                env[self._only] = self._with_lod(result, 0, values, lods) if lods else result
                return True
            outs = self.op.by_slot(result)
            arrays = []
            for k, slot in enumerate(self.form.outputs):
                value = outs[slot]
                value = value() if callable(value) else value
                if type(value) not in _MADE:
                    if not isinstance(value, np.generic):
                        return False
                    value = np.asarray(value)
                arrays.append(self._with_lod(value, k, values, lods) if lods else value)
        except Exception:
            return False
        for name, value in zip(self.outputs, arrays):
            env[name] = value
        return True

    def _is_bare(self, value: Any) -> bool:
        """Whether an operand that is no array is absent, or a list of arrays."""
        if type(value) is not list:
            return value is None and not self._is_plain
        for each in value:  # noqa: SIM110  (a generator takes longer)
            if type(each) not in _DIRECT:
                return False
        return True

    def _values(self, env: dict[str, Any], lods: Lods) -> list[Any]:
        """What the kernel takes.

        Args:
            env: values by name.
            lods: takes the sequences of those that form some.

        Raises:
            KeyError: a value is missing, or is one that needs more than the kernel.
        """
        values: list[Any] = []
        for slot, names in zip(self.form.slots, self.operands, strict=True):
            if names is None:
                values.append(None)
                continue
            operands = [env[name] for name in names] if type(names) is tuple else [env.get(names)]
            for k, operand in enumerate(operands):
                if type(operand) is LoDTensor and self.form.shares_lod:
                    lods.setdefault(slot, [()] * len(operands))[k] = operand.offsets
                    if slot not in self.form.ragged:
                        operands[k] = operand.data
                elif type(operand) not in _DIRECT and names not in self.updates:
                    raise KeyError
            values.append(operands if type(names) is tuple else operands[0])
        return values

    def _with_lod(self, value: Any, number: int, values: list[Any], lods: Lods) -> Any:
        """An output with the sequences that it takes over."""
        if type(value) is LoDTensor:
            return value
        given = dict(zip(self.form.slots, values, strict=True))
        lod = shared_lod(self.op, self.form.outputs[number], 0, given, lods)
        return LoDTensor(value, lod) if lod and has_rows(value, lod) else value


_DIRECT = frozenset({np.ndarray, LoDTensorArray, RankTable})
_MADE = _DIRECT | {LoDTensor}
