"""The maximum under windows that do not overlap, and its gradient."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec


def _windows(op: Any, X: Spec) -> tuple[int, int] | None:
    """The size of windows that lie side by side and cover the image; None for others."""
    if op.data_format not in ("NCHW", "AnyLayout") or X.ndim != 4 or 0 in X.shape:
        return None
    sizes = []
    for windows, size in zip(op.windows(X.shape), X.shape[2:]):
        step = windows.step
        if step is None or step.before or step.kernel != step.stride:
            return None
        if len(windows.ranges) * step.kernel != size:
            return None
        sizes.append(step.kernel)
    return sizes[0], sizes[1]


@prepares("pool2d")
def pool2d(op: Any, X: Spec) -> Prepared | None:
    """The maximum, along the rows and then along the columns."""
    window = _windows(op, X) if op.pooling_type == "max" else None
    if window is None:
        return None
    k0, k1 = window
    rows = [(slice(None), slice(None), slice(i, None, k0)) for i in range(k0)]
    columns = [(slice(None), slice(None), slice(None), slice(j, None, k1)) for j in range(k1)]

    def run(x: Any, out: Any = None) -> Any:
        by_row = x[rows[0]] if k0 == 1 else np.maximum(x[rows[0]], x[rows[1]])
        for row in rows[2:]:
            np.maximum(by_row, x[row], out=by_row)
        if k1 == 1:
            return by_row
        found = np.maximum(by_row[columns[0]], by_row[columns[1]], out=out)
        for column in columns[2:]:
            np.maximum(found, by_row[column], out=found)
        return found

    return Prepared(run, out=k1 > 1)


@prepares("pool2d_grad")
def pool2d_grad(op: Any, X: Spec, Out: Spec, dOut: Spec) -> Prepared | None:
    """The cotangent goes to the first of the largest elements, by rows."""
    window = _windows(op, X) if op.pooling_type == "max" else None
    if window is None or dOut is None or dOut.dtype != X.dtype:
        return None
    k0, k1 = window
    places = [
        (slice(None), slice(None), slice(i, None, k0), slice(j, None, k1))
        for i, j in itertools.product(range(k0), range(k1))
    ]

    def run(x: Any, largest: Any, g: Any, out: Any = None) -> Any:
        made = np.empty_like(x) if out is None else out
        free = None
        for place in places[:-1]:
            here = np.equal(x[place], largest)
            if free is None:
                free = np.logical_not(here)
            else:
                np.logical_and(here, free, out=here)
                np.logical_xor(free, here, out=free)
            np.multiply(g, here, out=made[place])
        if free is None:
            np.copyto(made, g)
        else:
            np.multiply(g, free, out=made[places[-1]])
        return made

    return Prepared(run, out=True)
