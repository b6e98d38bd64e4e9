"""The maximum under windows that do not overlap, and its gradient."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec
from . import threads
from .windows import as_bits, equality, mask_of, max_gradient

PART = 1 << 20  #: bytes of an image that are worked on at a time


def _over_parts(function: Any, x: Any, *others: Any) -> None:
    """Call a function with parts of images: those of some channels, or of some samples."""
    axis = 0 if x.strides[0] >= x.strides[1] else 1
    parts = threads.ranges(x.shape[axis], x.nbytes, PART)
    if len(parts) == 1:
        function(x, *others)
        return
    threads.each(lambda k, _: function(*threads.cut([x, *others], axis, parts[k])), len(parts))


def _order(array: Any) -> list[int]:
    """The dimensions of an array, that of the longest steps first."""
    return sorted(range(array.ndim), key=lambda i: -array.strides[i])


def _shaped(like: Any, shape: Any) -> Any:
    """An array of another size whose dimensions lie in memory as those of ``like`` do."""
    order = _order(like)
    return np.empty([shape[i] for i in order], like.dtype).transpose(np.argsort(order))


def _lying(like: Any, array: Any) -> Any:
    """An array whose dimensions lie in memory as those of ``like``: to copy it once is faster than
    to work on arrays that lie in different ways.
    """
    if _order(like) == _order(array):
        return array
    made = _shaped(like, array.shape)
    np.copyto(made, array)
    return made


def _windows(op: Any, X: Spec) -> tuple[int, int] | None:
    """The size of windows that lie side by side and cover the image; None for others."""
    if op.data_format not in ("NCHW", "AnyLayout") or X.ndim != 4 or 0 in X.shape:
        return None
    sizes = []
    for windows, size in zip(op.windows(X.shape), X.shape[2:]):
        step = windows.step
        if step is None or step.before or step.kernel != step.stride or any(windows.empty):
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

    def pool(x: Any, found: Any) -> None:
        by_row = x
        if k0 > 1:
            by_row = np.maximum(x[rows[0]], x[rows[1]], out=found if k1 == 1 else None)
            for row in rows[2:]:
                np.maximum(by_row, x[row], out=by_row)
        if k1 > 1:
            np.maximum(by_row[columns[0]], by_row[columns[1]], out=found)
            for column in columns[2:]:
                np.maximum(found, by_row[column], out=found)
        if k0 == k1 == 1:
            np.copyto(found, x)

    def run(x: Any, out: Any = None) -> Any:
        n, c, height, width = x.shape
        found = _shaped(x, (n, c, height // k0, width // k1)) if out is None else out
        _over_parts(pool, x, found)
        return found

    nbytes = prod(X.shape) * X.dtype.dtype.itemsize
    part = min(nbytes, PART * threads.count())
    return Prepared(run, out=True, between=part // k0 if min(k0, k1) > 1 else 0)


@prepares("pool2d_grad")
def pool2d_grad(op: Any, X: Spec, Out: Spec, dOut: Spec) -> Prepared | None:
    """The cotangent goes to the first of the largest elements, by rows."""
    window = _windows(op, X) if op.pooling_type == "max" else None
    if window is None:
        return max_gradient(op, X, Out, dOut)
    if dOut is None or dOut.dtype != X.dtype:
        return None
    k0, k1 = window
    places = [
        (slice(None), slice(None), slice(i, None, k0), slice(j, None, k1))
        for i, j in itertools.product(range(k0), range(k1))
    ]

    negative_zero = np.iinfo(f"i{X.dtype.dtype.itemsize}").min  # as bits

    def spread(x: Any, largest: Any, g: Any, out: Any) -> None:
        free, equal, bits = None, equality(largest), as_bits(g)
        if bits.min() == negative_zero:  # of which a sum with zeros is none
            bits = as_bits(g + 0)
        out = as_bits(out)
        for place in places[:-1]:
            here = equal(x[place], largest)
            if free is None:
                free = np.logical_not(here)
            else:
                np.logical_and(here, free, out=here)
                np.logical_xor(free, here, out=free)
            np.bitwise_and(bits, mask_of(here), out=out[place])
        if free is None:
            np.copyto(out, bits)
        else:
            np.bitwise_and(bits, mask_of(free), out=out[places[-1]])

    def run(x: Any, largest: Any, g: Any, out: Any = None) -> Any:
        gradient = np.empty_like(x) if out is None else out
        _over_parts(spread, x, _lying(x, largest), _lying(x, g), gradient)
        return gradient

    return Prepared(run, out=True)
