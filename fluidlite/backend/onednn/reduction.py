"""Sums over everything but the channels, of images as they lie: the gradients of biases."""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from .offers import Layouts, OneDnnKernels, serves

SIDE = 64  #: positions that are taken side by side


@serves("reduce_sum", alone=False)
def channel_sums(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """A sum for each channel, of long rows first, without the threads of the BLAS."""
    (x,), op = instruction.operands[:1], instruction.op
    layout = layouts[x.number][0]
    others = (0, *range(2, x.ndim))
    if layout is None or op.out_dtype != -1 or tuple(op.axes(x.ndim)) != others:
        return None
    shape, samples, channels = instruction.results[0].shape, x.shape[0], x.shape[1]
    add: Any = np.add.reduce
    if layout.order is not None:
        positions = x.size // channels
        side = gcd(positions, SIDE)

        def by_rows(a: Any) -> Any:
            sums = add(a.reshape(positions // side, side * channels), 0)
            return add(sums.reshape(side, channels), 0).reshape(shape)

        return Offer(Prepared(by_rows), (layout,), (None,))
    block = layout.block
    if block is None:
        return None
    size = prod(x.shape[2:])

    def by_blocks(a: Any) -> Any:
        sums = add(a.reshape(samples, -1), 0).reshape(-1, size, block)
        return add(sums, 1).reshape(-1)[:channels].reshape(shape)

    return Offer(Prepared(by_blocks), (layout,), (None,))
