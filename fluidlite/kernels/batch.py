"""Batch normalisation, forward and backward, in few passes over pieces that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec

PIECE = 160 * 1024  #: bytes that are worked on at a time


def row_products(left: Any, right: Any) -> Any:
    """The sum of the products of each row's elements."""
    return np.einsum("ij,ij->i", left, right)


#: the same; NumPy 2 has a faster one
dots: Any = getattr(np, "vecdot", row_products)


def pieces(rows: int, row_bytes: int) -> Iterator[slice]:
    """Slices of rows that stay in the cache."""
    step = max(1, PIECE // max(1, row_bytes))
    for begin in range(0, rows, step):
        yield slice(begin, begin + step)


class Channels:
    """Images as a matrix [channel, position].

    Args:
        op: a batch normalisation.
        X: the images.
    """

    def __init__(self, op: Any, X: Spec) -> None:
        axis = op.axis(X.ndim)
        first = (axis, *(i for i in range(1, X.ndim) if i != axis), 0)
        self._order = first  # samples last: as convolutions keep images
        self._back = tuple(first.index(i) for i in range(X.ndim))
        self._shape = tuple(X.shape[i] for i in first)
        self.count: int = X.shape[axis]
        self.size: int = prod(X.shape) // max(1, self.count)
        self.dtype: np.dtype[Any] = X.dtype.dtype

    def matrix(self, image: Any) -> Any:
        """An image as a matrix: a view where it lies like that, else a copy."""
        inner = np.ascontiguousarray(image.transpose(self._order))
        return inner.reshape(self.count, self.size)

    def new(self, out: Any = None) -> Any:
        """A matrix to write an image to: in ``out``, where that lies like that."""
        if out is not None:
            inner = out.transpose(self._order)
            if inner.flags.c_contiguous:
                return inner.reshape(self.count, self.size)
        return np.empty((self.count, self.size), self.dtype)

    def image(self, matrix: Any) -> Any:
        """The reverse of :meth:`matrix`."""
        return matrix.reshape(self._shape).transpose(self._back)

    def pieces(self) -> Iterator[slice]:
        """Slices of channels that stay in the cache."""
        return pieces(self.count, self.size * self.dtype.itemsize)


@prepares("batch_norm")
def batch_norm(
    op: Any, X: Spec, Scale: Spec, Bias: Spec, Mean: Spec, Variance: Spec, Momentum: Spec | None
) -> Prepared | None:
    """The normalised images, the statistics, and those of the batch."""
    if not op.by_batch or op.passes(X.shape) or 0 in X.shape:
        return None
    if X.dtype != Scale.dtype or X.dtype is DType.FP16:
        return None
    c = Channels(op, X)
    dtype, whole = c.dtype, len([*c.pieces()]) == 1
    share, epsilon = (np.asarray(n, dtype) for n in (1 / c.size, op.epsilon))
    ones, one, zeros = np.ones(c.size, dtype), np.ones((), dtype), np.zeros(c.count, dtype)
    old_share, new_share = (np.asarray(n, dtype) for n in (op.momentum, 1 - op.momentum))

    def normalize(part: Any, piece: Any, own: Any, scale: Any, bias: Any) -> None:
        """Write a piece that is normalised, and of its channels what is their own."""
        mean, variance, inverse = own
        np.multiply(np.dot(part, ones), share, out=mean)
        np.subtract(part, mean[:, None], out=piece)
        np.multiply(dots(piece, piece), share, out=variance)
        np.sqrt(np.add(variance, epsilon, out=inverse), out=inverse)
        slope = np.divide(one, inverse, out=inverse) * scale
        if np.dot(slope, zeros[: len(slope)]) != 0:  # one is beyond the range
            np.multiply(piece, inverse[:, None], out=piece)  # where the result need not be
            slope = scale
        np.multiply(piece, slope[:, None], out=piece)
        np.add(piece, bias[:, None], out=piece)

    def run(x: Any, scale: Any, bias: Any, *before: Any, out: Any = None) -> Any:
        *was, momentum = before
        matrix, normalized = c.matrix(x), c.new(None if out is None else out[0])
        own = np.empty(c.count, dtype), np.empty(c.count, dtype), np.empty(c.count, dtype)
        if whole:
            normalize(matrix, normalized, own, scale, bias)
        else:
            for rows in c.pieces():
                of_rows = [each[rows] for each in own]
                normalize(matrix[rows], normalized[rows], of_rows, scale[rows], bias[rows])
        shares = old_share, new_share
        if momentum is not None:
            shares = momentum.reshape(1), 1 - momentum.reshape(1)
        running = [old * shares[0] + new * shares[1] for old, new in zip(was, own)]
        mean, _, inverse = own
        return c.image(normalized), *running, mean, inverse

    return Prepared(run, out=True)


@prepares("batch_norm_grad")
def batch_norm_grad(op: Any, X: Spec, Scale: Spec, *specs: Any) -> Prepared | None:
    """The cotangents of X, Scale and Bias."""
    _, _, _, _, _, dY, *others = specs
    if not op.by_batch or op.passes(X.shape) or 0 in X.shape:
        return None
    if any(o is not None for o in others) or dY is None:
        return None
    if not X.dtype == Scale.dtype == dY.dtype or X.dtype is DType.FP16:
        return None
    c = Channels(op, X)
    share, ones = np.asarray(1 / c.size, c.dtype), np.ones(c.size, c.dtype)
    whole = len([*c.pieces()]) == 1

    def write_cotangents(image: Any, g: Any, dx: Any, slopes: Any, own: Any) -> None:
        """Write the cotangents of a piece, and of the scale and bias of its channels."""
        (dscale, dbias), (scale, mean, inverse) = slopes, own
        np.subtract(image, mean[:, None], out=dx)
        np.dot(g, ones, out=dbias)
        np.multiply(dots(g, dx), inverse, out=dscale)
        slope = dscale * inverse * share
        np.multiply(dx, slope[:, None], out=dx)
        np.subtract(g, dx, out=dx)
        np.subtract(dx, (dbias * share)[:, None], out=dx)
        np.multiply(dx, (scale * inverse)[:, None], out=dx)

    def run(x: Any, scale: Any, *rest: Any, out: Any = None) -> Any:
        _, _, mean, inverse, _, g, *_ = rest
        images, cotangents = c.matrix(x), c.matrix(g)
        dx = c.new(None if out is None else out[0])
        slopes = np.empty(c.count, c.dtype), np.empty(c.count, c.dtype)
        own = scale, mean, inverse
        if whole:
            write_cotangents(images, cotangents, dx, slopes, own)
        else:
            for rows in c.pieces():
                of_rows = ([each[rows] for each in arrays] for arrays in (slopes, own))
                write_cotangents(images[rows], cotangents[rows], dx[rows], *of_rows)
        return c.image(dx), *slopes

    return Prepared(run, out=True)
