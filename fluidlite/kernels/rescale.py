"""The gradient of normalisation over neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec


@prepares("lrn_grad")
def lrn_grad(
    op: Any, X: Spec, MidOut: Spec, dOut: Spec | None, dMidOut: Spec | None, Out: Spec | None
) -> Prepared | None:
    """The cotangent of X."""
    if dOut is None or dMidOut is not None or X.dtype is DType.FP16 or 0 in X.shape:
        return None
    if not X.dtype == MidOut.dtype == dOut.dtype:
        return None
    axis, half, channels = op.axis, op.n // 2, X.shape[op.axis]
    shifts = [s for s in range(-half, half + 1) if abs(s) < channels]

    def along(begin: int, end: int) -> tuple[slice, ...]:
        return (slice(None),) * axis + (slice(begin, end),)

    parts = [
        (along(max(0, s), channels + min(0, s)), along(max(0, -s), channels - max(0, s)))
        for s in shifts
    ]

    def run(x: Any, middle: Any, g: Any, *rest: Any) -> Any:
        share = np.power(middle, -op.beta, dtype=x.dtype)
        gradient = g * share
        np.multiply(gradient, x, out=share)
        np.divide(share, middle, out=share)
        spread = np.zeros_like(share)
        for target, source in parts:
            spread[target] += share[source]
        np.multiply(spread, x, out=spread)
        np.multiply(spread, np.asarray(-2 * op.alpha * op.beta, x.dtype), out=spread)
        return np.add(gradient, spread, out=gradient)

    return Prepared(run)
