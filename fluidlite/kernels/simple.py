"""Element-wise operators with numbers, and those that only look at a value in another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, resolved


@prepares("scale")
def scale(op: Any, X: Spec, ScaleTensor: Spec | None) -> Prepared | None:
    """A product with a number, or a number added."""
    if ScaleTensor is not None or X.kind is not Kind.LOD_TENSOR or not X.shape:
        return None
    factor, bias = (np.asarray(n, X.dtype.dtype) for n in (op.scale, op.bias))
    if op.bias and op.scale == 1.0:
        return Prepared(lambda x, _, out=None: np.add(x, bias, out=out), out=True, over=(0,))
    if op.bias or op.scale == 1.0:
        return None
    return Prepared(lambda x, _, out=None: np.multiply(x, factor, out=out), out=True, over=(0,))


@prepares("relu")
def relu(op: Any, X: Spec) -> Prepared | None:
    """The larger of X and zero: an array of zeros is faster than the number."""
    if not X.shape:
        return None
    zero = np.zeros((), X.dtype.dtype)
    return Prepared(lambda x, out=None: np.maximum(x, zero, out=out), out=True, over=(0,))


@prepares("cast")
def cast(op: Any, X: Spec) -> Prepared | None:
    """Another element type."""
    dtype = op.out_dtype.dtype
    if X.kind is not Kind.LOD_TENSOR or not X.shape or X.dtype is op.out_dtype:
        return None

    def converted(x: Any, out: Any = None) -> Any:
        if out is None:
            return x.astype(dtype)
        np.copyto(out, x, casting="unsafe")
        return out

    return Prepared(converted, out=True)


@prepares("sum")
def total(op: Any, X: list[Spec]) -> Prepared | None:
    """The sum of several values."""
    if len(X) < 2 or any(x.kind is not Kind.LOD_TENSOR or not x.shape for x in X):
        return None

    def added(values: list[Any], out: Any = None) -> Any:
        found = np.add(values[0], values[1], out=out)
        for value in values[2:]:
            np.add(found, value, out=found)
        return found

    return Prepared(added, out=True)


@prepares("reshape")
def reshape(op: Any, X: Spec, Shape: Spec | None, ShapeTensor: Any) -> Prepared | None:
    """The same elements in another shape."""
    if Shape is not None or ShapeTensor:
        return None
    shape = resolved(op.shape, X.shape)
    return Prepared(lambda x, *_: x.reshape(shape))


@prepares("transpose")
def transpose(op: Any, X: Spec) -> Prepared:
    """Other dimensions first."""
    axes = tuple(op.axis)
    return Prepared(lambda x: x.transpose(axes))


@prepares("expand")
def expand(op: Any, X: Spec, ExpandTimes: Spec | None, each: Any) -> Prepared | None:
    """Repetition along dimensions of size 1: a view."""
    if ExpandTimes is not None or each or not X.shape:
        return None
    times = op.expand_times
    if any(n != 1 and t != 1 for n, t in zip(X.shape, times)):
        return None
    shape = tuple(n * t for n, t in zip(X.shape, times))
    return Prepared(lambda x, *_: np.broadcast_to(x, shape))


@prepares("relu_grad")
def relu_grad(op: Any, Out: Spec, dOut: Spec) -> Prepared | None:
    """The cotangent where Out is above zero."""
    if dOut is None or not Out.shape or dOut.shape != Out.shape or dOut.dtype != Out.dtype:
        return None

    def run(value: Any, g: Any, out: Any = None) -> Any:
        return np.multiply(g, np.greater(value, 0), out=out)

    return Prepared(run, out=True, over=(0, 1), like=0)
