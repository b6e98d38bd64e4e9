"""The error function, and activations made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .half import in_single
from .special import SPACE, erf


def _prepared(X: Spec, function: Any) -> Prepared | None:
    """A kernel that works in its result, and in what the error function needs."""
    if not X.shape or not X.dtype.is_float:
        return None
    between = min(SPACE, 4 * size_of(X.shape) * X.dtype.dtype.itemsize)

    def run(x: Any, out: Any = None) -> Any:
        lies = out is not None and out.flags.c_contiguous
        made = function(x, out if lies else np.empty(x.shape, x.dtype))
        if out is None or lies:
            return made
        np.copyto(out, made)
        return out

    return Prepared(run, out=True, between=between)


@prepares("erf")
@in_single
def error_function(op: Any, X: Spec) -> Prepared | None:
    """The error function."""
    return _prepared(X, lambda x, out: erf(x, out=out))


@prepares("gelu")
@in_single
def gelu(op: Any, X: Spec) -> Prepared | None:
    """X times the normal distribution of X, without its approximation."""
    if op.approximate:
        return None
    root, half = (np.asarray(number, X.dtype.dtype) for number in (0.5**0.5, 0.5))

    def run(x: Any, out: Any) -> Any:
        erf(np.multiply(x, root, out=out), out=out)
        np.add(out, 1, out=out)
        np.multiply(out, half, out=out)  # before the product, which could be infinite without it
        return np.multiply(out, x, out=out)

    return _prepared(X, run)
