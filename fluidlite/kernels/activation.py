"""The error function, and activations made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .half import in_single
from .special import BLOCK, SPACE, erf


def _prepared(X: Spec, function: Any) -> Prepared | None:
    """A kernel that works in its result, part by part, and in what the error function needs."""
    if not X.shape or not X.dtype.is_float:
        return None
    between = min(SPACE, 4 * size_of(X.shape) * X.dtype.dtype.itemsize)
    step = BLOCK // X.dtype.dtype.itemsize

    def run(x: Any, out: Any = None) -> Any:
        lies = out is not None and out.flags.c_contiguous
        result = out if lies else np.empty(x.shape, x.dtype)
        elements, results = x.reshape(-1), result.reshape(-1)
        for begin in range(0, elements.size, step):
            function(elements[begin : begin + step], results[begin : begin + step])
        if out is None or lies:
            return result
        np.copyto(out, result)
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

    def run(x: Any, out: Any) -> None:
        erf(np.multiply(x, root, out=out), out=out)
        np.add(out, 1, out=out)
        np.multiply(out, half, out=out)  # before the product, which could be infinite without it
        np.multiply(out, x, out=out)

    return _prepared(X, run)
