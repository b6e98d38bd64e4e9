"""Rows and elements at numbers: by kernels in C if they are there, else by NumPy's fastest calls.

Sums are added in the order of the numbers, with any number of threads; ``kernels/row_sums.py`` says
where NumPy's order is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from ..errors import OutOfRangeError
from ..ground.ordering import stable_order
from ..kernels import threads
from ..kernels.row_sums import PLAIN, add_at_rows, flat_index, is_below

_KERNELS = f"{__package__}.native.rows"  # read when there is first enough to do
LEAST = 512  #: elements from which on a kernel is called
FEW = 128  #: the same for arrays of known forms, which :func:`known_forms` calls
SHARED = 1 << 18  #: elements from which on threads share the rows
_KINDS = {4: "i", 8: "l"}  #: characters of integers by their bytes
_LONG_ROW = 256  #: elements from which on rows are added up one by one
MOST_WANTED = 64  #: of the largest elements, each of which may be moved for each that comes behind


@lru_cache(maxsize=1024)
def sizes_of(*sizes: int) -> Any:
    """Sizes as functions in C take them."""
    return np.array(sizes, np.int64)


def kind_of_size(dtype: Any) -> str:
    """The character of integers as long as elements of a type; empty where none are."""
    return _KINDS.get(dtype.itemsize, "")


@cache
def _kernels() -> Any:
    return import_module(_KERNELS)


def _run(name: str, kind: str, arrays: tuple[Any, ...], parts: int = 1) -> bool:
    return bool(_kernels().KERNELS.get().computed(name, kind, arrays, parts))


def _never(arrays: tuple[Any, ...]) -> bool:
    return False


def known_forms(
    name: str, kind: str, work: int, most: int, *numbers: Any
) -> Callable[[tuple[Any, ...]], bool]:
    """A function in C for arrays of forms that are known beforehand, without a look at them.

    Of a tuple of arrays it says whether it has computed: not where they do not lie one element
    after the other, or a number is outside, and not while it is being compiled.

    Args:
        name, kind: of the function; it never computes where the kind is empty.
        work: elements that are read or written; it computes nothing where they are few, or so many
            that threads share them.
        most: elements of the largest array.
        numbers: element types of numbers, which have to be int64.
    """
    fits = FEW <= work < SHARED and kind and all(np.dtype(n) == np.int64 for n in numbers)
    if not fits:
        return _never
    slot, is_long = _kernels().KERNELS, most >= _kernels().LONG
    functions = run = None

    def call(arrays: tuple[Any, ...]) -> bool:
        nonlocal functions, run
        now = slot.get()
        if run is None or now is not functions:
            functions, run = now, now.caller(name, kind, is_long)
            if run is None:
                return False
        return run(arrays) == 0

    return call


def _over_rows(name: str, kind: str, index: Any, updates: Any, *out: Any) -> bool:
    """Have rows changed by a kernel: whether that is done.

    Args:
        index: numbers of rows, [n]; rows with negative ones are left out.
        updates: n rows.
        out: what the kernel writes; the last one is the matrix of the rows.
    """
    if updates.size < LEAST or not out[-1].flags.c_contiguous:
        return False
    rows, width = out[-1].shape
    parts = _parts(updates.size, rows)
    arrays = np.ascontiguousarray(index, np.int64), np.ascontiguousarray(updates)
    return _run(name, kind, (*arrays, sizes_of(width, rows, parts), *out), parts)


def added_at(out: Any, index: Any, updates: Any) -> Any:
    """``out``, changed in place: rows are added to it.

    Args:
        out: a matrix of which all elements lie one after the other.
        index: numbers of its rows, [n], all of them in range.
        updates: n rows.
    """
    kind = out.dtype.char
    if not (kind in "fdil" and _over_rows("add_rows", kind, index, updates, out)):
        add_at_rows(out, index, updates)
    return out


def put_at(out: Any, index: Any, updates: Any) -> Any:
    """``out``, changed in place: rows are put there, of those with one number the last one.

    Args:
        out, index, updates: as of :func:`added_at`.
    """
    kind = kind_of_size(out.dtype)
    if not (kind and _over_rows("set_rows", kind, index, updates, out)):
        out[index] = updates
    return out


def _parts(size: int, rows: int) -> int:
    """How many parts threads share that change so many elements in some rows."""
    return threads.count() if size >= SHARED and rows > 1 else 1


def take_at(x: Any, index: Any, out: Any) -> None:
    """Write rows of a matrix to ``out``.

    Args:
        x: the matrix.
        index: numbers of its rows, [n].
        out: n rows, one element after the other.

    Raises:
        OutOfRangeError: a number is not below the number of rows.
    """
    kind = kind_of_size(out.dtype)
    if kind and out.size >= LEAST and x.flags.c_contiguous:
        parts = _parts(out.size, len(out))
        sizes = sizes_of(out.shape[1], len(x), parts)
        if _run("take_rows", kind, (np.ascontiguousarray(index, np.int64), x, sizes, out), parts):
            return
    need_below(index, len(x))
    np.take(x, index, 0, out, "clip")  # "raise" would take a copy of the result


def products_added(out: Any, rows: Any, cols: Any, values: Any, dense: Any) -> bool:
    """Add ``values[k] * dense[cols[k]]`` to ``out[rows[k]]`` for all k in turn, by a kernel;
    whether that is done: not where a number is out of range.
    """
    parts = _parts(len(rows) * out.shape[1], len(out))
    numbers = [np.ascontiguousarray(each, np.int64) for each in (rows, cols)]
    sizes = sizes_of(out.shape[1], len(out), parts, len(dense))
    terms = np.ascontiguousarray(values), np.ascontiguousarray(dense)
    return _run("add_products", out.dtype.char, (*numbers, *terms, sizes, out), parts)


def rows_replaced(x: Any, index: Any, updates: Any, out: Any) -> bool:
    """Write a matrix with some rows replaced, of those of one number by the last one, by a kernel;
    whether that is done.

    Args:
        x: the matrix.
        index: numbers of its rows, [n].
        updates: n rows.
        out: the new matrix, which may be ``x``.
    """
    kind = kind_of_size(out.dtype)
    if not kind or out.size + updates.size < LEAST:
        return False
    parts, last = _parts(out.size + updates.size, len(out)), np.empty(len(out), np.int64)
    given = [np.ascontiguousarray(each) for each in (updates, x)]
    sizes = sizes_of(out.shape[1], len(out), parts)
    arrays = np.ascontiguousarray(index, np.int64), *given, sizes, last, out
    return _run("replace_rows", kind, arrays, parts)


def pooled_segments(how: str, index: Any, x: Any, out: Any = None) -> Any:
    """The rows of segments put together, by a kernel; None where that is not done: numbers are not
    in ascending order from 0 on, or there are few.

    Args:
        how: SUM, MEAN, MAX or MIN.
        index: the segment of each row, n of them.
        x: n rows.
        out: a row for each segment, which is written; a new array when None.
    """
    if x.dtype.char not in ("fdil" if how == "SUM" else "fd") or x.size < LEAST:
        return None
    index = np.ascontiguousarray(index.reshape(-1), np.int64)
    if len(index) != len(x) or (count := int(index[-1]) + 1) <= 0:
        return None
    pooled = np.empty((count, *x.shape[1:]), x.dtype) if out is None else out
    parts = _parts(x.size, len(pooled))
    sizes = sizes_of(prod(x.shape[1:]), len(pooled), parts)
    arrays = index, np.ascontiguousarray(x), sizes, pooled
    return pooled if _run(f"segment_{how.lower()}", x.dtype.char, arrays, parts) else None


def mean_slopes(index: Any, slopes: Any, out: Any) -> bool:
    """Write to ``out`` the cotangents of rows of which segments have means, by a kernel; whether
    that is done.

    Args:
        index: the segment of each row, [n].
        slopes: the cotangents of the means, a row for each segment.
        out: n rows.
    """
    if slopes.dtype.char not in "fd" or out.size < LEAST:
        return False
    parts = _parts(out.size, len(slopes))
    arrays = np.ascontiguousarray(index, np.int64), np.ascontiguousarray(slopes)
    sizes = sizes_of(out.shape[1], len(slopes), parts)
    return _run("segment_mean_slopes", slopes.dtype.char, (*arrays, sizes, out), parts)


def extreme_slopes(index: Any, x: Any, best: Any, slopes: Any, out: Any) -> bool:
    """The same of rows of which segments have the largest or smallest.

    Args:
        index, slopes, out: as of :func:`mean_slopes`.
        x: n rows.
        best: the extremes, a row for each segment.
    """
    if slopes.dtype.char not in "fd" or out.size < LEAST:
        return False
    parts = _parts(out.size, len(out))
    arrays = [np.ascontiguousarray(each) for each in (x, best, slopes)]
    sizes = sizes_of(out.shape[1], len(slopes), parts)
    numbers = np.ascontiguousarray(index, np.int64)
    return _run("segment_extreme_slopes", slopes.dtype.char, (numbers, *arrays, sizes, out), parts)


def largest_of(x: Any, k: int) -> tuple[Any, Any] | None:
    """The largest elements of lists and their places, by a kernel; None where it does not know: one
    is no number, there are few elements, or ``k`` is large.

    Args:
        x: lists along the last dimension.
        k: how many of each list.
    """
    if x.dtype.char not in "fd" or x.size < LEAST or not 0 < k <= min(x.shape[-1], MOST_WANTED):
        return None
    x = np.ascontiguousarray(x)
    shape = (*x.shape[:-1], k)
    out, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    parts = _parts(x.size, x.size // x.shape[-1])
    done = _run(
        "largest_of", x.dtype.char, (x, sizes_of(x.shape[-1], k, parts), out, places), parts
    )
    return (out, places) if done else None


def _as_rows(x: Any, index: Any, updates: Any) -> tuple[Any, Any, Any] | None:
    """A copy of ``x`` as a matrix, numbers of its rows, and new rows; None where that is not what
    an index means.
    """
    if type(x) is not np.ndarray or not x.size or x.dtype.char not in PLAIN:
        return None
    updates = np.asarray(updates)
    flat = flat_index(index, x.shape) if updates.dtype == x.dtype else None
    if flat is None:
        return None
    depth = len(index) if isinstance(index, tuple) else 1
    wanted = (*flat.shape, *x.shape[depth:])
    if updates.shape != wanted:
        updates = np.broadcast_to(updates, wanted)
    width = prod(x.shape[depth:])
    out = np.array(x, order="C").reshape(-1, width)
    return out, flat.reshape(-1), updates.reshape(-1, width)


Plain = Callable[[Any, Any, Any], Any]


def scattering(plain: Plain, rows_written: Callable[..., Any] = added_at) -> Plain:
    """The function that gives a copy of an array with updates added, or put, at an index.

    Args:
        plain: the same of NumPy, for what is no index of places.
        rows_written: :func:`added_at`; or :func:`put_at`, where of those at one place the last one
            stays.
    """

    def scatter(x: Any, index: Any, updates: Any) -> Any:
        parts = _as_rows(x, index, updates)
        return plain(x, index, updates) if parts is None else rows_written(*parts).reshape(x.shape)

    return scatter


def adding(plain: Plain) -> Plain:
    """The function that gives zeros with rows added at numbers; rows at -1 are left out.

    Args:
        plain: the same of NumPy, for unusual types.
    """

    def add_rows(index: Any, updates: Any, size: int) -> Any:
        if not updates.size or updates.dtype.char not in PLAIN:
            return plain(index, updates, size)
        if index.min() < 0:
            kept = index >= 0
            index, updates = index[kept], updates[kept]
        out = np.zeros((size, prod(updates.shape[1:])), updates.dtype)
        rows = updates.reshape(len(updates), out.shape[1])
        return added_at(out, index, rows).reshape(size, *updates.shape[1:])

    return add_rows


def extremes(name: str, plain: Plain) -> Plain:
    """The function that gives the largest or smallest of the rows at each number.

    Args:
        name: "max_rows" or "min_rows".
        plain: the same of NumPy.
    """

    def run(index: Any, updates: Any, size: int) -> Any:
        if updates.dtype.char in "fd" and updates.size:
            out = np.zeros((size, prod(updates.shape[1:])), updates.dtype)
            rows, met = updates.reshape(len(updates), out.shape[1]), np.zeros(size, np.uint8)
            if _over_rows(name, updates.dtype.char, index, rows, met, out):
                return out.reshape(size, *updates.shape[1:])
        order = stable_order(index)
        return plain(index[order], updates.take(order, axis=0), size)

    return run


def checked(plain: Plain) -> Plain:
    """The function that gives an index after a look at its values.

    Args:
        plain: the same of NumPy, which says what is wrong.
    """

    def in_range(index: Any, size: Any, what: Any) -> Any:
        return index if is_below(index, size) else plain(index, size, what)

    return in_range


def lists_along(shape: tuple[int, ...], axis: int) -> tuple[int, int]:
    """How many elements lie along a dimension, counted from the first, and in one step of it."""
    return shape[axis], prod(shape[axis + 1 :])


def _places_along(index: Any, lists: int, rows: int, across: int) -> Any:
    """Numbers of elements for numbers along a dimension.

    Args:
        index: the numbers along the dimension.
        lists, rows, across: how many elements lie before, along and behind it.
    """
    begins = np.arange(0, lists * rows * across, rows * across).reshape(-1, 1, 1)
    return index.reshape(lists, -1, across) * across + (begins + np.arange(across))


def change_along_axis(out: Any, index: Any, updates: Any, axis: int, adds: bool) -> None:
    """Add updates to the elements of ``out`` at ``index`` along a dimension, in place; or put them
    there, of those at one place the last one.

    Args:
        out: an array of which all elements lie one after the other.
        index: numbers along the dimension.
        updates: of the shape of ``index``, and the type of ``out``.
        axis: the dimension, counted from the first.
        adds: whether they are added.

    Raises:
        IndexError: a number is out of range.
    """
    rows, across = lists_along(out.shape, axis)
    name, kind = "add_along", out.dtype.char
    if not adds:
        name, kind = "set_along", kind_of_size(out.dtype)
    lists = out.size // (rows * across)
    parts = _parts(index.size, lists)
    if kind and kind in "fdil" and index.size >= LEAST:
        arrays = np.ascontiguousarray(index, np.int64), np.ascontiguousarray(updates), out
        if _run(name, kind, (*arrays, sizes_of(rows, across, parts, 0), out), parts):
            return
    need_below(index, rows)
    places = _places_along(index, lists, rows, across).reshape(-1)
    if adds:
        np.add.at(out.reshape(-1), places, updates.reshape(-1))
    else:
        out.reshape(-1)[places] = updates.reshape(-1)


def need_below(index: Any, size: int) -> None:
    """Look at numbers.

    Raises:
        OutOfRangeError: one of them is outside of [0, size).
    """
    if not is_below(index, size):
        wrong = index[(index < 0) | (index >= size)][0]
        raise OutOfRangeError(f"expected Index in [0, {size}), got {wrong}")


def taken_along_axis(x: Any, index: Any, axis: int, out: Any = None) -> Any:
    """The elements of ``x`` at ``index`` along a dimension, by a kernel; None where no kernel
    takes them, or a number is outside.

    Args:
        x: an array.
        index: integers, of the shape of ``x`` but along the dimension.
        axis: the dimension, counted from the first.
        out: what is written, one element after the other; a new array when None.
    """
    if index.size < LEAST or not x.size or x.dtype.itemsize not in _KINDS:
        return None
    x, index = np.ascontiguousarray(x), np.ascontiguousarray(index, np.int64)
    out = np.empty(index.shape, x.dtype) if out is None else out
    sizes = sizes_of(*lists_along(x.shape, axis), 1)
    done = _run("take_along", _KINDS[x.dtype.itemsize], (index, x, sizes, out))
    return out if done else None


def take_along_axis(x: Any, index: Any, axis: int = -1) -> Any:
    """The elements of ``x`` at ``index`` along a dimension, as NumPy gives them."""
    arrays = type(x) is np.ndarray and type(index) is np.ndarray and axis is not None
    if not arrays or index.size < LEAST or not x.size or x.dtype.itemsize not in _KINDS:
        return np.take_along_axis(x, index, axis)
    axis %= x.ndim
    alike = x.ndim == index.ndim and all(
        m == n for i, (m, n) in enumerate(zip(x.shape, index.shape)) if i != axis
    )
    if not alike or index.dtype.kind not in "iu":
        return np.take_along_axis(x, index, axis)
    out = taken_along_axis(x, index, axis)
    if out is not None:
        return out
    rows, across = lists_along(x.shape, axis)
    if index.min() < 0 or index.max() >= rows:
        return np.take_along_axis(x, index, axis)
    places = _places_along(index, x.size // (rows * across), rows, across)
    return x.reshape(-1).take(places).reshape(index.shape)


def summed_along(x: Any, axis: int, reverse: bool, out: Any) -> bool:
    """Whether a kernel in C has written the sums up to each element.

    Args:
        x: the elements, which lie one after the other.
        axis: the dimension, counted from the first.
        reverse: sum from the end.
        out: what is written, of the same form.
    """
    rows, across = lists_along(x.shape, axis)
    parts = _parts(x.size, x.size // (rows * across))
    sizes = sizes_of(rows, across, parts, reverse)
    return x.size >= LEAST and _run("sums_along", x.dtype.char, (x, sizes, out), parts)


def cumsum(x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The sums up to each element along a dimension, as NumPy gives them; in ``out``, whose
    elements lie one after the other, where that is given.
    """
    fits = type(x) is np.ndarray and x.size >= LEAST and axis is not None
    if not fits or x.dtype.char not in "fdl" or dtype not in (None, x.dtype):
        # what is traced in place of an array knows of no "out"
        return np.cumsum(x, axis=axis, dtype=dtype, **({} if out is None else {"out": out}))
    axis %= x.ndim
    x = np.ascontiguousarray(x)
    out = np.empty(x.shape, x.dtype) if out is None else out
    if summed_along(x, axis, False, out):
        return out
    rows, across = lists_along(x.shape, axis)
    if across < _LONG_ROW:
        return np.cumsum(x, axis, dtype, out)
    for terms, sums in zip(x.reshape(-1, rows, across), out.reshape(-1, rows, across)):
        sums[0] = terms[0]
        for k in range(1, rows):
            np.add(sums[k - 1], terms[k], out=sums[k])
    return out


def argsort(x: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Where the elements are in ascending order along a dimension; equal ones stay in theirs."""
    return np.argsort(x, axis=axis, kind="stable") if axis is None else stable_order(x, axis)
