"""Looking for values that are not finite in what operators make of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NonFiniteError
from ..ground import state
from ..kernels.finite import is_finite
from ..opdef.definition import Op
from . import engine
from .listening import Listener, hear_everywhere

_FLAG = "FLAGS_check_nan_inf"


class _Finite(Listener):
    """Refuses what is not finite."""

    def ran(self, op: Op, ins: Any, outs: dict[str, Any]) -> None:
        for name, out in outs.items():
            for tensor in out if isinstance(out, (list, tuple)) else [out]:
                bad = _wrong(getattr(tensor, "array", None))
                if bad:
                    raise engine.located(
                        NonFiniteError, f"{name} of operator {op.type} holds {bad}"
                    )

    def pulled(self, kind: str, flows: list[Any]) -> None:
        for flow in flows:
            for part in flow if isinstance(flow, (list, tuple)) else [flow]:
                bad = _wrong(getattr(part, "array", part))
                if bad:
                    raise NonFiniteError(f"a gradient of operator {kind} holds {bad}")


def _wrong(array: Any) -> str:
    """What is not finite in an array; an empty text where all is, or the flag is off again."""
    if not isinstance(array, np.ndarray) or not state.flag_values.get().get(_FLAG):
        return ""
    with np.errstate(all="ignore"):
        if is_finite(array):
            return ""
    nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    return f"{nans} NaN and {infinities} infinities among {array.size} elements ({_FLAG} is on)"


def _follow(flags: dict[str, object]) -> None:
    hear_everywhere(_finite if flags.get(_FLAG) else None)


def follow_flags() -> None:
    """Look at what is made from when ``FLAGS_check_nan_inf`` is on until it is off."""
    state.watch_flags(_follow)


_finite = _Finite()
