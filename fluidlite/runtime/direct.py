"""Direct calls: the short way from names to a kernel and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ground.values import LoDTensor, LoDTensorArray
from ..ir.operator import EMPTY, Operator
from ..opdef.definition import Op
from ..opdef.interpreter import kernel_of
from ..opdef.rank_table import RankTable
from .shared_lod import Lods, has_rows, shared_lod


@dataclass(slots=True, eq=False)
class DirectCall:
    """A kernel with the names that it takes and gives: the fast path of a step."""

    kernel: Any  #: of the operator
    op: Op
    slots: Sequence[str]  #: those that the kernel takes
    shares_lod: bool  #: whether the sequences of results follow from these slots
    operands: list[Any]  #: names, tuples of them for list slots, None for what is absent
    updates: frozenset[str]  #: names that need not have been written
    outputs: list[tuple[str, str]]  #: pairs of a slot and a name
    _is_plain: bool = field(init=False)  #: whether each operand is one name that has been written
    _ragged: frozenset[str] = field(init=False)  #: slots that take values with their sequences
    _only: str | None = field(init=False)  #: the name of the output, where there is only one

    def __post_init__(self) -> None:
        self._is_plain = all(type(n) is str and n not in self.updates for n in self.operands)
        self._ragged = frozenset(slot.name for slot in self.op.inputs if slot.ragged)
        self._only = self.outputs[0][1] if len(self.op.outputs) == len(self.outputs) == 1 else None

    @classmethod
    def of(cls, op: Operator, instance: Op) -> DirectCall | None:
        """The call of an operator; None where it is no plain call of a kernel."""
        kernel, reads, draws = kernel_of(instance, "numpy")
        if kernel is None or draws or type(instance).lods is not Op.lods:
            return None
        slots = {
            slot.name: slot for slot in instance.outputs if slot.name not in instance.fluid.idle
        }
        outputs = [(slot, names[0]) for slot, names in op.outputs.items() if slot in slots]
        lists = any(slots[slot].many for slot, _ in outputs)
        if lists or EMPTY in op.output_arg_names or EMPTY in op.input_arg_names:
            return None
        operands: list[Any] = []
        for slot in reads:
            names = op.inputs.get(slot) or op.outputs.get(slot) or (None,)
            many = slot in instance.input_slots and instance.input_slots[slot].many
            operands.append(tuple(names) if many else names[0])
        updates = frozenset(
            op.outputs[slot][0] for slot in instance.fluid.updates if slot in op.outputs
        )
        shares = set(reads).issuperset(set(op.inputs).difference(instance.fluid.unread))
        return cls(kernel, instance, reads, shares, operands, updates, outputs)

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
            for k, (slot, _) in enumerate(self.outputs):
                value = outs[slot]
                value = value() if callable(value) else value
                if type(value) not in _MADE:
                    if not isinstance(value, np.generic):
                        return False
                    value = np.asarray(value)
                arrays.append(self._with_lod(value, k, values, lods) if lods else value)
        except Exception:
            return False
        for (_, name), value in zip(self.outputs, arrays):
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
        for slot, names in zip(self.slots, self.operands, strict=True):
            if names is None:
                values.append(None)
                continue
            operands = [env[name] for name in names] if type(names) is tuple else [env.get(names)]
            for k, operand in enumerate(operands):
                if type(operand) is LoDTensor and self.shares_lod:
                    lods.setdefault(slot, [()] * len(operands))[k] = operand.offsets
                    if slot not in self._ragged:
                        operands[k] = operand.data
                elif type(operand) not in _DIRECT and names not in self.updates:
                    raise KeyError
            values.append(operands if type(names) is tuple else operands[0])
        return values

    def _with_lod(self, value: Any, number: int, values: list[Any], lods: Lods) -> Any:
        """An output with the sequences that it takes over."""
        if type(value) is LoDTensor:
            return value
        given = dict(zip(self.slots, values, strict=True))
        lod = shared_lod(self.op, self.outputs[number][0], 0, given, lods)
        return LoDTensor(value, lod) if lod and has_rows(value, lod) else value


_DIRECT = frozenset({np.ndarray, LoDTensorArray, RankTable})
_MADE = _DIRECT | {LoDTensor}
