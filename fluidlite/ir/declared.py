"""Variables that are fed, and may hold something else than they were declared to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import DType
from ..errors import DTypeError, FluidError
from ..opdef.definition import Op
from .callsite import CallSite, warn

if TYPE_CHECKING:
    from .operator import Operator
    from .variable import Variable


def may_hold_integers(variable: Variable | None) -> bool:
    """Whether integers may be fed to a variable that is declared to hold floats: nothing checks
    what is fed to it, and it has the element type that is declared where none is said.
    """
    return (
        variable is not None
        and variable.is_data
        and not variable.need_check_feed
        and variable.has_dtype
        and variable.dtype is DType.FP32
    )


def warn_of_integers(variable: Variable, reader: str, site: CallSite | None = None) -> None:
    """Say that integers have to be fed to a variable.

    Args:
        variable: is declared to hold floats.
        reader: what needs the integers.
        site: where the user put it; where fluidlite is called when None.
    """
    warn(
        f"{reader} needs integers of {variable.name!r}, which is declared as {variable.dtype}; "
        f"feed it integers, and declare them: dtype='int64'",
        site,
    )


def inferred_of_integers(
    op: Operator, instance: Op, specs: Mapping[str, Any], error: FluidError
) -> tuple[dict[str, Any], list[Variable]] | None:
    """What an operator infers when a slot holds integers that are fed to variables declared as
    floats, and which these are; None where that does not help.

    Args:
        op: the operator.
        instance: its definition with its attributes.
        specs: what is declared, by input slot.
        error: what the operator says of that.
    """
    if not isinstance(error, DTypeError):
        return None
    for slot, names in op.inputs.items():
        variables = [op.block.find_var_recursive(name) for name in names]
        doubtful = [v for v in variables if v is not None and may_hold_integers(v)]
        if not doubtful:
            continue
        given = specs[slot]
        if isinstance(given, list):
            changed: Any = [
                spec.with_dtype(DType.INT64) if v in doubtful else spec
                for spec, v in zip(given, variables)
            ]
        else:
            changed = given.with_dtype(DType.INT64)
        try:
            return instance.infer_outputs({**specs, slot: changed}), doubtful
        except FluidError:
            continue
    return None
