"""The sequences that results take over from what they are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ground.values import SelectedRows, offsets_from
from ..opdef.definition import Op, first_slot
from ..opdef.gradient import DerivedGrad
from ..opdef.sequences import has_no_sequences, lengths_of

#: of the values of input slots: by slot, where one has sequences
Lods = dict[str, list[Any]]


def shared_lod(op: Op, slot: str, index: int, ins: Mapping[str, Any], lods: Lods) -> Any:
    """The LoD that an output takes over from the inputs.

    A gradient takes that of the input that it belongs to.

    Args:
        op: the operator.
        slot: the output's slot.
        index: its position in a list.
        ins: values by input slot.
        lods: of the inputs.
    """
    if isinstance(op, DerivedGrad):
        forward = next((s for s, out in op.grad_slots.items() if out == slot), "")
        for read in op.reads:
            if read.source == "in" and read.of == forward:
                input_lods = lods.get(read.slot, ())
                return input_lods[index] if index < len(input_lods) else ()
        first = op.derived_from.inputs[0].name if op.derived_from is not None else forward
        return next(iter(lods.values()))[0] if forward == first else ()
    if has_no_sequences(op.output_slots[slot]):
        return ()
    if op.lod not in ("first", "joined"):
        return lods[op.lod][0] if op.lod in lods else ()
    input_lods = lods.get(first_slot(op, ins), [()])
    if op.lod == "joined" and all(input_lods) and len({len(lod) for lod in input_lods}) == 1:
        return tuple(
            offsets_from(np.concatenate([lengths_of(level) for level in levels]))
            for levels in zip(*input_lods)
        )
    return input_lods[0]


def has_rows(value: Any, lod: Any) -> bool:
    """Whether a value has as many rows as its sequences are to have.

    Where all of them are empty, one row may stand in their place, as ``ctc_align`` writes it.
    """
    if isinstance(value, SelectedRows):
        return False
    shape: Any = getattr(value, "shape", ())
    return bool(shape) and shape[0] in (lod[-1][-1], lod[-1][-1] or 1)
