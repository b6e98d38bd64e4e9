"""Convolutions of images that are stored samples last: [channels, height, width, batch].

Patches of some output positions are copied into a buffer that stays in the second-level cache and
multiplied into place; every copied run is as long as a row of the output times the batch.  For the
gradients the patches are copied again, which is cheaper than keeping them.
"""

from __future__ import annotations

import os

import numpy as np
from machine import processors
from numpy.lib.stride_tricks import as_strided
from problems import Array

from .arrays import LINE, empty, zeros

LIMIT = 640 * 1024  # bytes of a buffer of patches
PITCH = LINE  # bytes between rows of patches, whose length would else be a power of two
# OpenBLAS multiplies up to this many pairs of numbers as they lie, on one thread, which is faster
# than packing them first by a quarter or more where there are few filters
UNPACKED = 1_000_000


class Piece:
    """Some output positions of a convolution: rows, columns, and their patches as a view."""

    def __init__(self, patches: Array, top: int, rows: int, left: int, columns: int) -> None:
        self.patches = patches
        self.rows, self.columns = slice(top, top + rows), slice(left, left + columns)
        self.top, self.left = top, left

    def of(self, image: Array) -> Array:
        """The positions of an image of the output's size as [channels, positions]; a view."""
        part = image[:, self.rows, self.columns]
        flat = part.reshape(part.shape[0], -1)
        if not np.shares_memory(flat, image):
            raise ValueError(f"expected a view of a piece, {part.shape} has to be copied")
        return flat


class Patches:
    """The patches under a filter, piece by piece.

    Args:
        image: [channels, height, width, batch], padded.
        size, stride: of the filter.
        filters: how many columns the weight has.
        least: how many positions a piece has to have for its product to be kept small enough to
            stay unpacked; where there would be fewer, calls cost more than that saves.
        one_row: pieces are one row of the output, or a part of it; if not, several rows.
    """

    def __init__(
        self, image: Array, size: int, stride: int, filters: int, least: int, one_row: bool
    ) -> None:
        channels, high, wide, batch = image.shape
        self.high, self.wide = (high - size) // stride + 1, (wide - size) // stride + 1
        self.size, self.stride = size, stride
        self.depth = channels * size * size
        cost = self.depth * batch * image.itemsize  # of a position
        most = LIMIT // cost  # output positions of an image
        unpacked = UNPACKED // (self.depth * filters * batch)
        if unpacked * batch >= least:
            most = min(most, unpacked)
        columns = _divisor(self.wide, most)
        rows = _divisor(self.high, most // columns) if columns == self.wide else 1
        if one_row:
            rows = 1
        length = rows * columns * batch
        pitch = length + PITCH // image.itemsize
        self.buffer = zeros((self.depth, pitch), image.dtype)[:, :length]
        self.turned = self.buffer.T
        shape = (channels, size, size, rows, columns, batch)
        step = image.itemsize
        self.window = as_strided(
            self.buffer,
            shape,
            (
                size * size * pitch * step,
                size * pitch * step,
                pitch * step,
                columns * batch * step,
                batch * step,
                step,
            ),
        )
        c, h, w, n = image.strides
        strides = (c, h, w, stride * h, stride * w, n)
        self.pieces = [
            Piece(
                as_strided(image[:, top * stride :, left * stride :], shape, strides),
                top,
                rows,
                left,
                columns,
            )
            for top in range(0, self.high, rows)
            for left in range(0, self.wide, columns)
        ]


def _divisor(of: int, limit: int) -> int:
    """The largest divisor up to a limit, at least 1."""
    return max((d for d in range(1, min(of, limit) + 1) if of % d == 0), default=1)


def _single() -> bool:
    """Whether BLAS has one thread."""
    told = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
    return processors() == 1 or told == "1"


class Convolution:
    """A convolution between two images that stay where they are.

    Args:
        image: [channels, height, width, batch], padded.
        weight: [channels * size * size, filters].
        out: [filters, height, width, batch]; not padded, or the inside of what is.
        size, stride: of the filter.
    """

    def __init__(self, image: Array, weight: Array, out: Array, size: int, stride: int = 1) -> None:
        one_row, least = not out.flags.c_contiguous, 128 if _single() else 1024
        self._patches = patches = Patches(image, size, stride, weight.shape[1], least, one_row)
        self._weight = weight.T
        self._work = [(piece.patches, piece.of(out)) for piece in patches.pieces]

    def run(self) -> None:
        """Compute ``out``."""
        buffer, window, weight = self._patches.buffer, self._patches.window, self._weight
        for patches, out in self._work:
            np.copyto(window, patches)
            np.matmul(weight, buffer, out=out)


class Gradients:
    """The gradients of a convolution by its weight and, scattered, by its image.

    Args:
        image, weight, size, stride: as of ``Convolution``.
        back: the gradient by the output.
        weight_back: where the gradient by the weight goes.
        image_back: where that by the image is added to; None where nobody wants it.
    """

    def __init__(
        self,
        image: Array,
        weight: Array,
        back: Array,
        weight_back: Array,
        image_back: Array | None = None,
        *,
        size: int,
        stride: int = 1,
    ) -> None:
        one_row = not back.flags.c_contiguous or image_back is not None
        self._patches = patches = Patches(image, size, stride, weight.shape[1], 1024, one_row)
        self._weight, self._weight_back, self._image_back = weight, weight_back, image_back
        self._part = empty(weight.shape, weight.dtype)
        self._work = []
        for piece in patches.pieces:
            flat = piece.of(back)
            self._work.append((piece.patches, flat, flat.T, self._targets(piece)))

    def _targets(self, piece: Piece) -> list[tuple[Array, Array]]:
        """Where the columns of a filter add to: all its rows at once, since they never meet."""
        if self._image_back is None:
            return []
        window, patches = self._patches.window, self._patches
        columns, stride = window.shape[4], patches.stride
        top, left = piece.top * stride, piece.left * stride
        return [
            (
                window[:, :, j, 0],
                self._image_back[
                    :,
                    top : top + patches.size,
                    left + j : left + j + stride * (columns - 1) + 1 : stride,
                ],
            )
            for j in range(patches.size)
        ]

    def run(self) -> None:
        """Compute the gradient by the weight, and add that by the image."""
        found, part, weight = self._weight_back, self._part, self._weight
        buffer, window = self._patches.buffer, self._patches.window
        into = found
        for patches, back, turned, targets in self._work:
            np.copyto(window, patches)
            np.matmul(buffer, turned, out=into)
            if into is part:
                np.add(found, part, out=found)
            into = part
            if targets:
                np.matmul(weight, back, out=buffer)
                for share, target in targets:
                    np.add(target, share, out=target)


def turned(weight: Array, out: Array, size: int) -> None:
    """The weight of the convolution that takes gradients back, for a stride of 1.

    Args:
        weight: [channels * size * size, filters].
        out: [filters * size * size, channels].
        size: of the filter.
    """
    filters, channels = weight.shape[1], out.shape[1]
    source = weight.reshape(channels, size, size, filters)[:, ::-1, ::-1]
    np.copyto(out.reshape(filters, size, size, channels), source.transpose(3, 1, 2, 0))


def flattened(weight: Array) -> Array:
    """A filter as in fluid 1.8, [filters, channels, height, width], as [..., filters]."""
    return weight.reshape(weight.shape[0], -1).T


def restored(weight: Array, shape: tuple[int, ...]) -> Array:
    """The inverse of ``flattened``; a copy."""
    return np.ascontiguousarray(weight.T).reshape(shape)
