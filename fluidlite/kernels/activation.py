"""The error function, and activations made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .finite import is_finite
from .half import in_single
from .memory_order import as_row, empty_in, from_row, order_of
from .special import BLOCK, SPACE, erf


def _prepared(X: Spec, function: Any, arrays: int, **more: Any) -> Prepared | None:
    """A kernel that works in its result, part by part.

    Args:
        X: what it takes, once or several times.
        function: of parts of these, and of the result.
        arrays: how many more the function makes of the size of a part.
        more: of what is prepared.
    """
    if not X.shape or not X.dtype.is_float or X.kind is not Kind.LOD_TENSOR:
        return None
    itemsize = X.dtype.dtype.itemsize
    between = min(arrays * BLOCK, arrays * size_of(X.shape) * itemsize)
    step = BLOCK // itemsize

    def run(*operands: Any, out: Any = None) -> Any:
        x = operands[0]
        order = order_of(x)
        result = empty_in(order, x.shape, x.dtype) if out is None else out
        rows = [as_row(array, order) for array in (*operands, result)]
        for begin in range(0, x.size, step):
            function(*[row[begin : begin + step] for row in rows])
        if out is not None and not np.may_share_memory(out, rows[-1]):
            np.copyto(out, from_row(rows[-1], out.shape, order))
        return result

    return Prepared(run, out=True, between=between, **more)


@prepares("erf")
@in_single
def error_function(op: Any, X: Spec) -> Prepared | None:
    """The error function."""
    return _prepared(X, lambda x, out: erf(x, out=out), SPACE // BLOCK)


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

    return _prepared(X, run, SPACE // BLOCK)


def _sigmoid(x: Any, out: Any, one: Any) -> None:
    """Write 1 / (1 + e^-x); where e^-x is infinite that is 0."""
    np.exp(np.negative(x, out=out), out=out)
    np.divide(one, np.add(out, one, out=out), out=out)


@prepares("sigmoid")
@in_single
def sigmoid(op: Any, X: Spec) -> Prepared | None:
    """The logistic function."""
    one = np.ones((), X.dtype.dtype)
    return _prepared(X, lambda x, out: _sigmoid(x, out, one), 0, over=(0,))


@prepares("swish")
@in_single
def swish(op: Any, X: Spec) -> Prepared | None:
    """X times its sigmoid; where that is 0, so is the product with what is infinite."""
    if op.beta != 1.0:
        return None
    one, least = np.ones((), X.dtype.dtype), np.asarray(np.finfo(X.dtype.dtype).min)

    def run(x: Any, out: Any) -> None:
        _sigmoid(x, out, one)
        if not np.minimum.reduce(x) >= least:  # looking costs less
            x = np.maximum(x, least)
        np.multiply(x, out, out=out)

    return _prepared(X, run, 0)


@prepares("swish_grad")
@in_single
def swish_grad(op: Any, X: Spec, dOut: Spec | None) -> Prepared | None:
    """dOut (s + X s (1 - s)) with the sigmoid s; where s (1 - s) is 0, so is the product with what
    is infinite.
    """
    if op.beta != 1.0 or dOut != X:
        return None
    one, most = np.ones((), X.dtype.dtype), np.asarray(np.finfo(X.dtype.dtype).max)

    def run(x: Any, g: Any, out: Any) -> None:
        slope = np.empty_like(x)
        _sigmoid(x, slope, one)
        rest = np.multiply(np.subtract(one, slope), slope)
        if not is_finite(x):
            x = np.clip(x, -most, most)
        np.add(np.multiply(rest, x, out=rest), slope, out=rest)
        np.multiply(g, rest, out=out)

    return _prepared(X, run, 2, over=(0, 1), like=0)
