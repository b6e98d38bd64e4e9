"""Rows added at numbers, of NumPy alone, in the way that was fastest for their shape
(``benchmarks/irregular.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.ordering import stable_order
from .sparse import added_by_product

PLAIN = "fdilFD"  #: characters of the element types for which there is more than ``np.add.at``
_WIDE = 48  #: elements of a row from which on rows are added as a whole
_MANY = 1 << 14  #: elements from which on sorting pays
_SPARSE = 4  #: times as many elements as are added, from which on a product passes too many
_CHUNK = 1 << 15  #: elements that are added at once, one by one
_FEW = 8  #: rows of numbers that occur so often are added by a call for each number


def is_below(index: Any, size: int) -> bool:
    """Whether all integers of an array are in [0, size), as far as that is seen in one pass."""
    if not isinstance(index, np.ndarray) or index.dtype.char not in "il":
        return False
    # as integers without a sign, negative ones are the largest
    return not index.size or bool(index.view(index.dtype.char.upper()).max() < size)


def flat_index(index: Any, shape: tuple[int, ...]) -> Any:
    """Numbers of rows for an index of NumPy's; None where it is no index of places, or one of them
    is outside.

    Args:
        index: integers, or a tuple of such arrays, which broadcast.
        shape: of the dimensions that the arrays go into, or of more.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not 0 < len(parts) <= len(shape):
        return None
    flat: Any = None
    for part, size in zip(parts, shape):
        if not is_below(part, size):
            return None
        flat = part.astype(np.intp, copy=False) if flat is None else flat * size + part
    return flat


def add_at_rows(out: Any, index: Any, updates: Any) -> None:
    """Add rows to those of a matrix, in place.

    Rows of one number are added in their order, as ``np.add.at`` does, but where a number occurs
    much more often than others, and where SciPy adds: the sum of all of them is added at last.

    Args:
        out: a matrix of which all elements lie one after the other.
        index: numbers of its rows, [n], all of them in range.
        updates: n rows.
    """
    width = out.shape[1]
    if width == 1:
        np.add.at(out.reshape(-1), index, updates.reshape(-1))
        return
    is_large, is_wide = updates.size >= _MANY, width >= _WIDE
    goes_to_few = is_wide and out.size >= _SPARSE * updates.size
    if is_large and not goes_to_few:
        if _are_distinct(index, len(out)):  # as of places in a text: to read SciPy takes longer
            out[index] += updates
            return
        if added_by_product(out, index, updates):
            return
    (_by_rounds if is_large and is_wide else _by_elements)(out, index, updates)


def _are_distinct(index: Any, size: int) -> bool:
    """Whether no number of a row is there twice."""
    return len(index) <= size and bool(np.bincount(index, minlength=size).max() < 2)


def _by_elements(out: Any, index: Any, updates: Any) -> None:
    """Element by element, for which NumPy has a fast loop; it has none for rows."""
    width, flat = out.shape[1], out.reshape(-1)
    columns, step = np.arange(width), max(1, _CHUNK // max(1, out.shape[1]))
    for k in range(0, len(index), step):
        places = index[k : k + step, None] * width + columns
        np.add.at(flat, places.reshape(-1), updates[k : k + step].reshape(-1))


def _by_rounds(out: Any, index: Any, updates: Any) -> None:
    """The first row of each number at once, then the second ones, and so on."""
    order = stable_order(index)
    numbers = index[order]
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    lengths = np.diff(begins, append=len(numbers))
    longest_first = stable_order(-lengths)
    begins, lengths = begins[longest_first], lengths[longest_first]
    targets = numbers[begins]
    sums, count, turn = out[targets], len(begins), 0
    while (count := int(np.searchsorted(-lengths[:count], -turn))) > _FEW:
        sums[:count] += updates.take(order[begins[:count] + turn], axis=0)
        turn += 1
    for k in range(count):
        rest = order[begins[k] + turn : begins[k] + lengths[k]]
        sums[k] += np.add.reduce(updates.take(rest, axis=0), axis=0)
    out[targets] = sums
