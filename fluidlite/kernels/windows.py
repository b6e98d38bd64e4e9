"""The gradient of the maximum under windows that overlap, or reach beyond the image."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec

MOST = 128  #: elements of a window, for each of which all windows are looked at


def equality(largest: Any) -> Any:
    """A function that finds the elements that are as large as the largest of their windows: where
    that is NaN, those that are NaN.
    """
    if not np.isnan(largest.max()):
        return np.equal
    return lambda x, found: np.logical_or(np.equal(x, found), np.not_equal(x, x))


def as_bits(g: Any) -> Any:
    """An array of floats as whole numbers of the same bits."""
    return g.view(f"i{g.dtype.itemsize}")


def mask_of(here: Any) -> Any:
    """Truths as whole numbers: all bits are set where one holds.  What is chosen with them is not
    multiplied by zero elsewhere, where it may be NaN.
    """
    return np.negative(here.view(np.int8))


def max_gradient(op: Any, X: Spec, Out: Spec, dOut: Spec | None) -> Prepared | None:
    """The cotangent goes to the first of the largest elements, by rows.

    Args:
        op: a pooling.
        X, Out, dOut: specs of its input, its output, and that one's cotangent.
    """
    if op.pooling_type != "max" or op.axes[0] != 2 or 0 in X.shape or not X.dtype.is_float:
        return None
    windows = op.windows(X.shape)
    if dOut is None or dOut.dtype != X.dtype:
        return None
    if any(w.step is None or any(w.empty) for w in windows):
        return None
    kernel = [w.step.kernel for w in windows]
    if prod(kernel) > MOST:
        return None
    pads = [w.padding for w in windows]
    every = (slice(None), slice(None))
    inside = (*every, *(slice(b, b + w.size) for w, (b, _) in zip(windows, pads)))
    padded = (*X.shape[:2], *(w.size + b + a for w, (b, a) in zip(windows, pads)))
    is_padded = any(map(any, pads))
    places = [
        (
            *every,
            *(
                slice(k, k + (len(w.ranges) - 1) * w.step.stride + 1, w.step.stride)
                for k, w in zip(element, windows)
            ),
        )
        for element in itertools.product(*map(range, kernel))
    ]

    def run(x: Any, largest: Any, g: Any) -> Any:
        order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
        back = np.argsort(order)
        gradient = np.zeros([padded[i] for i in order], x.dtype).transpose(back)
        image = x
        if is_padded:
            image = np.full([padded[i] for i in order], -np.inf, x.dtype).transpose(back)
            image[inside] = x
        free = np.ones_like(largest, bool)
        equal, bits = equality(largest), as_bits(g)
        for place in places:
            here = equal(image[place], largest)
            np.logical_and(here, free, out=here)
            np.logical_xor(free, here, out=free)
            part = gradient[place]
            np.add(part, np.bitwise_and(bits, mask_of(here)).view(g.dtype), out=part)
        return gradient[inside]

    return Prepared(run)


@prepares("pool3d_grad")
def pool3d_grad(op: Any, X: Spec, Out: Spec, dOut: Spec | None) -> Prepared | None:
    """The gradient of the maximum under a window that moves over a volume."""
    return max_gradient(op, X, Out, dOut)
