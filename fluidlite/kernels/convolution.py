"""Convolutions of images, forward and both adjoints, with their room to work in made once.

As ``ops/conv.py`` says, images are kept as [channel, row, column, sample], and the patches of a few
output rows at a time are copied into a buffer that stays in the cache, and multiplied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Shape, Spec

PATCH_BYTES = 1 << 19
INNER, OUTER = (1, 2, 3, 0), (3, 0, 1, 2)


class Geometry:
    """A convolution of images of one shape with filters of another.

    Args:
        op: its attributes: a convolution or an adjoint of one.
        image: [sample, channel, row, column].
        filter: [filter, channel, row, column].
    """

    def __init__(self, op: Any, image: Shape, filter: Shape) -> None:
        self.samples, self.channels, self.height, self.width = image
        self.filters, _, self.k0, self.k1 = filter
        self.s0, self.s1 = op.strides
        self.d0, self.d1 = op.dilations
        (self.top, self.bottom), (self.left, self.right) = op.pads(image[2:], filter[2:])
        _, _, self.rows, self.columns = op.convolved(image, filter)
        self.depth = self.channels * self.k0 * self.k1
        padded = (self.height + self.top + self.bottom, self.width + self.left + self.right)
        self.padded: Shape = (self.channels, *padded, self.samples)
        self.inside = (
            slice(None),
            slice(self.top, self.top + self.height),
            slice(self.left, self.left + self.width),
        )

    def step(self, itemsize: int) -> int:
        """How many output rows are worked on at a time."""
        row = self.depth * self.columns * self.samples * itemsize
        return max(1, min(self.rows, PATCH_BYTES // max(1, row)))

    def under(self, i: int, j: int, first: int, last: int) -> tuple[slice, ...]:
        """Where an element of the window lies in the padded image for some output rows."""
        top, left = first * self.s0 + i * self.d0, j * self.d1
        return (
            slice(None),
            slice(top, top + (last - first - 1) * self.s0 + 1, self.s0),
            slice(left, left + (self.columns - 1) * self.s1 + 1, self.s1),
        )


class Room:
    """What a convolution works in.

    Args:
        geometry: of the convolution.
        dtype: of its values.
        padded: whether it needs a padded image.
    """

    def __init__(self, geometry: Geometry, dtype: Any) -> None:
        g = geometry
        self.image = np.zeros(g.padded, dtype)
        self.inside = self.image[g.inside]
        self.rows = g.step(self.image.itemsize)
        c, y, x, n = self.image.strides
        strides = (c, y * g.d0, x * g.d1, y * g.s0, x * g.s1, n)
        shape = (g.channels, g.k0, g.k1, g.rows, g.columns, g.samples)
        self.windows = np.lib.stride_tricks.as_strided(self.image, shape, strides)
        self.patches = np.empty((g.depth, self.rows * g.columns * g.samples), dtype)

    def blocks(self, g: Geometry) -> Any:
        """Pairs of a slice of output positions and their patches, which are copied one by one."""
        per_row = g.columns * g.samples
        for first in range(0, g.rows, self.rows):
            last = min(first + self.rows, g.rows)
            size = (last - first) * per_row
            patches = self.patches
            if size != patches.shape[1]:
                patches = self.patches.reshape(-1)[: g.depth * size].reshape(g.depth, size)
            shape = (g.channels, g.k0, g.k1, last - first, g.columns, g.samples)
            np.copyto(patches.reshape(shape), self.windows[:, :, :, first:last])
            yield slice(first * per_row, last * per_row), patches


def _fits(op: Any, *specs: Spec) -> bool:
    """Whether a convolution is of the kind that is prepared here."""
    return (
        op.groups == 1
        and op.data_format in ("NCHW", "AnyLayout")
        and all(s.ndim == 4 and s.dtype.is_float and 0 not in s.shape for s in specs)
    )


def _as_matrix(image: Any, room: Any = None) -> Any:
    """An image [sample, channel, row, column] as [channel, position]."""
    inner = image.transpose(INNER)
    return np.ascontiguousarray(inner).reshape(inner.shape[0], -1)


@prepares("conv2d", "depthwise_conv2d")
def conv2d(op: Any, Input: Spec, Filter: Spec, Bias: Spec | None, *more: Any) -> Prepared | None:
    """The convolution."""
    if Bias is not None or not _fits(op, Input, Filter):
        return None
    g = Geometry(op, Input.shape, Filter.shape)
    dtype = Input.dtype.dtype

    def run(image: Any, filter: Any, *rest: Any, out: Any = None) -> Any:
        room = rest[-1]
        np.copyto(room.inside, image.transpose(INNER))
        made = None if out is None else out.transpose(INNER)
        if made is None or not made.flags.c_contiguous:
            made = np.empty((g.filters, g.rows, g.columns, g.samples), dtype)
        flat = made.reshape(g.filters, -1)
        weights = filter.reshape(g.filters, -1)
        for where, patches in room.blocks(g):
            np.matmul(weights, patches, out=flat[:, where])
        return made.transpose(OUTER)

    return Prepared(run, out=True, scratch=lambda: Room(g, dtype))


@prepares("conv2d_adjoint_filter")
def adjoint_filter(op: Any, Input: Spec, G: Spec) -> Prepared | None:
    """The map to the cotangent of the filters."""
    if not _fits(op, Input, G):
        return None
    g = Geometry(op, Input.shape, tuple(op.size))
    dtype = Input.dtype.dtype

    def run(image: Any, cotangent: Any, room: Any) -> Any:
        np.copyto(room.inside, image.transpose(INNER))
        flat = _as_matrix(cotangent)
        total = None
        for where, patches in room.blocks(g):
            part = np.matmul(patches, flat[:, where].T)
            total = part if total is None else np.add(total, part, out=total)
        assert total is not None
        return np.ascontiguousarray(total.T).reshape(op.size)

    return Prepared(run, scratch=lambda: Room(g, dtype))


class AdjointRoom:
    """What the map to the cotangent of an image works in."""

    def __init__(self, g: Geometry, dtype: Any) -> None:
        self.image = np.empty(g.padded, dtype)
        self.rows = g.step(self.image.itemsize)
        self.patches = np.empty((g.depth, self.rows * g.columns * g.samples), dtype)


@prepares("conv2d_adjoint_input")
def adjoint_input(op: Any, G: Spec, Filter: Spec) -> Prepared | None:
    """The map to the cotangent of the image."""
    if not _fits(op, G, Filter):
        return None
    g = Geometry(op, tuple(op.size), Filter.shape)
    dtype = G.dtype.dtype
    per_row = g.columns * g.samples

    def run(cotangent: Any, filter: Any, room: Any, out: Any = None) -> Any:
        flat = _as_matrix(cotangent)
        weights = filter.reshape(g.filters, -1).T
        image = room.image
        image.fill(0)
        for first in range(0, g.rows, room.rows):
            last = min(first + room.rows, g.rows)
            size = (last - first) * per_row
            patches = room.patches.reshape(-1)[: g.depth * size].reshape(g.depth, size)
            np.matmul(weights, flat[:, first * per_row : last * per_row], out=patches)
            shape = (g.channels, g.k0, g.k1, last - first, g.columns, g.samples)
            elements = patches.reshape(shape)
            for i in range(g.k0):
                for j in range(g.k1):
                    image[g.under(i, j, first, last)] += elements[:, i, j]
        made = None if out is None else out.transpose(INNER)
        if made is None:
            made = np.empty((g.channels, g.height, g.width, g.samples), dtype)
        np.copyto(made, image[g.inside])
        return made.transpose(OUTER)

    return Prepared(run, out=True, scratch=lambda: AdjointRoom(g, dtype))
