"""Values of variables that two people changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ground.values import LoDTensor, SelectedRows, bare
from ..io.contents import saved_names
from ..ir.program import Program
from .three_way import Conflict, conflict_error


def merge3_values(
    program: Program, base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of the variables of a merged program: those of the side that changed them.

    Args:
        program: what :func:`merge3` gave.
        base, ours, theirs: the values of each side, by name.

    Raises:
        MergeConflictError: both sides changed one.
    """
    values: dict[str, Any] = {}
    conflicts = []
    for name in saved_names(program):
        before, one, other = (side.get(name) for side in (base, ours, theirs))
        chosen = other if is_equal_value(before, one) else one
        if chosen is one and not is_equal_value(other, before) and not is_equal_value(other, one):
            texts = map(_value_text, (before, one, other))
            conflicts.append(Conflict(f"variable {name!r}", "value", *texts))
        if chosen is not None:
            values[name] = chosen
    if conflicts:
        raise conflict_error(conflicts)
    return values


def is_equal_value(one: Any, other: Any) -> bool:
    """Whether two values of a variable are the same to the last bit; None if there is none."""
    if one is None or other is None:
        return one is other
    return _parts(one) == _parts(other)


def _parts(value: Any) -> tuple[Any, ...]:
    rows: tuple[Any, ...] = ()
    if isinstance(value, SelectedRows):
        rows, value = (value.numbers.tolist(), value.height()), value.value
    elif isinstance(value, LoDTensor):
        rows = value.offsets
    array = np.asarray(bare(value))
    return rows, str(array.dtype), array.shape, array.tobytes()


def _value_text(value: Any) -> str:
    if value is None:
        return "nothing"
    array = np.asarray(bare(value.value if isinstance(value, SelectedRows) else value))
    largest = f", up to {np.abs(array).max():.6g}" if array.size else ""
    return f"{array.dtype}{list(array.shape)}{largest}"
