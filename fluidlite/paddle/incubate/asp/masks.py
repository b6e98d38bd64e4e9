"""Masks that leave at most a part of each few neighbours of a matrix."""

from __future__ import annotations

import functools
import itertools
from enum import Enum
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries

_MATRICES = Family({"mat": "a matrix.", "n": "how many.", "m": "of how many."})


class MaskAlgo(Enum):
    """The ways to choose what stays."""

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(Enum):
    """The ways to check it."""

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: MaskAlgo) -> CheckMethod:
        """The check of what a way makes.

        Args:
            mask_algo: the way.

        Raises:
            ArgumentError: there is no such way.
        """
        if not isinstance(mask_algo, MaskAlgo):
            raise ArgumentError(f"expected one of MaskAlgo, got {mask_algo!r:.60}")
        one = mask_algo is MaskAlgo.MASK_1D
        return CheckMethod.CHECK_1D if one else CheckMethod.CHECK_2D


def calculate_density(x: Any) -> float:
    """Which part of the elements is not zero.

    Args:
        x: an array.
    """
    array = np.asarray(x)
    return int(np.count_nonzero(array)) / array.size


def _rows(mat: Any, m: int) -> tuple[Any, tuple[int, int]]:
    """Rows of ``m`` neighbours, with zeros behind the last ones, and the sizes with these."""
    array = np.asarray(mat)
    array = array.reshape(1, -1) if array.ndim <= 1 else array
    padded = np.pad(array, ((0, 0), (0, -array.shape[1] % m)))
    return padded.reshape(-1, m), padded.shape


def _blocks(mat: Any, m: int) -> tuple[Any, tuple[int, int]]:
    """Blocks of ``m`` by ``m``, with zeros behind the last ones, and the sizes with these."""
    array = np.asarray(mat)
    array = array.reshape(1, -1) if array.ndim <= 1 else array
    padded = np.pad(array, [(0, -size % m) for size in array.shape])
    high, wide = padded.shape
    parts = padded.reshape(high // m, m, wide // m, m).swapaxes(1, 2)
    return parts.reshape(-1, m, m), (high, wide)


def _joined(blocks: Any, sizes: tuple[int, int], shape: tuple[int, int]) -> Any:
    """A matrix of its blocks, without what was added."""
    high, wide = sizes
    m = blocks.shape[-1]
    whole = blocks.reshape(high // m, wide // m, m, m).swapaxes(1, 2).reshape(high, wide)
    return whole[: shape[0], : shape[1]]


def _sizes(mat: Any) -> tuple[int, int]:
    array = np.asarray(mat)
    return (1, array.size) if array.ndim <= 1 else (array.shape[0], array.shape[1])


@_MATRICES
def check_mask_1d(mat: Any, n: int, m: int) -> bool:
    """Whether of each ``m`` neighbours in a row at least ``n`` are zero.

    >>> from fluidlite.paddle.incubate import asp
    >>> asp.check_mask_1d(np.array([[0, 1, 3, 0], [1, 0, 0, 1]]), 2, 4)
    True
    """
    rows, _ = _rows(mat, m)
    return bool(((rows != 0).sum(1) <= m - n).all())


@_MATRICES
def get_mask_1d(mat: Any, n: int, m: int) -> Any:
    """A mask that takes the ``n`` smallest of each ``m`` neighbours in a row away.

    >>> from fluidlite.paddle.incubate import asp
    >>> asp.get_mask_1d(np.array([[0.0, 1.0, -3.0, 0.5]]), 2, 4).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    rows, sizes = _rows(mat, m)
    mask = np.ones(rows.shape)
    smallest = np.argsort(np.abs(rows), axis=1, kind="stable")[:, :n]
    np.put_along_axis(mask, smallest, 0.0, axis=1)
    high, wide = _sizes(mat)
    return mask.reshape(sizes)[:high, :wide]


@_MATRICES
def check_mask_2d(mat: Any, n: int, m: int) -> bool:
    """Whether no block of ``m`` by ``m`` has both a row and a column with fewer than ``n`` zeros.

    Args:
        m: the size of blocks.
    """
    blocks, _ = _blocks(mat, m)
    full = (blocks != 0).sum(2) > m - n, (blocks != 0).sum(1) > m - n
    return not (full[0].any(1) & full[1].any(1)).any()


@_MATRICES
def get_mask_2d_greedy(mat: Any, n: int, m: int) -> Any:
    """A mask that leaves at most ``n`` elements in each row and column of blocks of ``m`` by ``m``:
    the largest first, as long as there is room.

    Args:
        m: the size of blocks.
    """
    blocks, sizes = _blocks(mat, m)
    masks = np.zeros(blocks.shape)
    order = np.argsort(-np.abs(blocks.reshape(len(blocks), -1)), axis=1, kind="stable")
    for mask, places in zip(masks, order):
        for place in places:
            row, column = divmod(int(place), m)
            if mask[row].sum() < n and mask[:, column].sum() < n:
                mask[row, column] = 1.0
    return _joined(masks, sizes, _sizes(mat))


@functools.cache
def _patterns(n: int, m: int) -> Any:
    """All blocks of ``m`` by ``m`` with ``n`` ones in each row and column."""
    rows = [
        [float(k in chosen) for k in range(m)] for chosen in itertools.combinations(range(m), n)
    ]
    squares = [
        block
        for block in itertools.product(rows, repeat=m)
        if all(sum(column) == n for column in zip(*block))
    ]
    return np.array(squares)


@_MATRICES
def get_mask_2d_best(mat: Any, n: int, m: int) -> Any:
    """A mask that leaves ``n`` elements in each row and column of blocks of ``m`` by ``m``: those
    with the largest sum.

    Args:
        m: the size of blocks.
    """
    blocks, sizes = _blocks(mat, m)
    patterns = _patterns(n, m)
    sums = np.einsum("brc,prc->bp", blocks, patterns)
    return _joined(patterns[sums.argmax(1)], sizes, _sizes(mat))


_MASKS = {
    MaskAlgo.MASK_1D: get_mask_1d,
    MaskAlgo.MASK_2D_GREEDY: get_mask_2d_greedy,
    MaskAlgo.MASK_2D_BEST: get_mask_2d_best,
}
_CHECKS = {CheckMethod.CHECK_1D: check_mask_1d, CheckMethod.CHECK_2D: check_mask_2d}


def _matrix(tensor: Any) -> tuple[Any, tuple[int, ...]]:
    """An array as a matrix of its last dimension, and the order of its dimensions for that."""
    array = np.asarray(tensor)
    if not 1 <= array.ndim <= 4:
        raise ArgumentError(f"expected 1 to 4 dimensions, got shape {list(array.shape)}")
    order = (0, 1, 3, 2) if array.ndim == 4 else tuple(range(array.ndim))
    turned = array.transpose(order)
    return turned.reshape(-1, turned.shape[-1]), order


@_MATRICES
def create_mask(tensor: Any, func_name: MaskAlgo = MaskAlgo.MASK_1D, n: int = 2, m: int = 4) -> Any:
    """A mask of an array of up to four dimensions.

    Args:
        tensor: the array.
        func_name: which way to choose.
        n: how many are taken away, or stay.

    Raises:
        ArgumentError: there is no such way, or there are more dimensions.
    """
    if not isinstance(func_name, MaskAlgo):
        raise ArgumentError(f"expected func_name to be one of MaskAlgo, got {func_name!r:.60}")
    matrix, order = _matrix(tensor)
    array = np.asarray(tensor)
    mask = _MASKS[func_name](matrix, n, m).reshape([array.shape[axis] for axis in order])
    return mask.transpose(np.argsort(order)).astype(array.dtype)


@_MATRICES
def check_sparsity(
    tensor: Any, func_name: CheckMethod = CheckMethod.CHECK_1D, n: int = 2, m: int = 4
) -> bool:
    """Whether an array of up to four dimensions is as a mask leaves it.

    Args:
        tensor: the array.
        func_name: which way to check.
        n: how many are zero.

    Raises:
        ArgumentError: there is no such way, or there are more dimensions.
    """
    if not isinstance(func_name, CheckMethod):
        raise ArgumentError(f"expected func_name to be one of CheckMethod, got {func_name!r:.60}")
    return _CHECKS[func_name](_matrix(tensor)[0], n, m)


list_public_names(globals())
api_boundaries(globals())
