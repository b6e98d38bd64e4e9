"""Values that programs compute with: arrays of numbers, arrays of sequences (LoDTensor), arrays of
tensors (LoDTensorArray), and tensors of which some rows are stored (SelectedRows).

A tensor without sequences is a bare array inside the library.  LoD (level of detail) says how rows
form sequences; inside it is a tuple of tuples of offsets: ``((0, 2, 5),)`` are a sequence of 2 rows
and one of 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, OutOfRangeError, ShapeError
from . import state
from .dtypes import DType, as_dtype
from .filled_tensors import Allocated
from .ordering import stable_order
from .place import CPUPlace, Place
from .protected import answers_protected
from .shaped import Shaped
from .tracebacks import quick_api_boundary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Lod = tuple[tuple[int, ...], ...]


class Elements:
    """The base of arrays that are not NumPy's, and that values hold as they are."""

    __slots__ = ()


def _held(data: Any) -> Any:
    """What a value holds of its elements: an array."""
    return data if isinstance(data, Elements) else np.asarray(data)


@answers_protected
class LoDTensor(Allocated):
    """An array and how its rows form sequences.

    Args:
        data: the array, None for an empty tensor.
        lod: offsets of each level, outermost first.

    >>> x = fluid.LoDTensor(np.ones((3, 1), "float32"))
    >>> x.set_recursive_sequence_lengths([[2, 1]])
    >>> x.lod()
    [[0, 2, 3]]
    """

    __slots__ = ("_content",)

    def __init__(self, data: ArrayLike | None = None, lod: Iterable[Iterable[int]] = ()) -> None:
        self._content: tuple[Any, Lod] = (None, ())
        self._store(None if data is None else _held(data), tuple(tuple(level) for level in lod))

    def _load(self) -> tuple[Any, Lod]:
        """The array and the offsets; subclasses keep them elsewhere."""
        return self._content

    def _store(self, data: Any, lod: Lod) -> None:
        self._content = (data, lod)

    @property
    def data(self) -> Any:
        """The array; None when nothing has been set."""
        return self._load()[0]

    @property
    def offsets(self) -> Lod:
        """The LoD as offsets."""
        return self._load()[1]

    def _place(self) -> Place:
        return CPUPlace()

    def _copy(self, place: Place | None = None) -> LoDTensor:
        data, lod = self._load()
        return LoDTensor(None if data is None else np.array(data), lod)

    def set(self, array: ArrayLike, place: Place | None = None) -> None:
        """Take a copy of an array as the value.

        Args:
            array: anything that NumPy makes an array of a known element type of.
            place: accepted for old scripts; there is one place.
        """
        value = np.array(array)
        as_dtype(value.dtype)
        self._store(value, self.offsets)

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Set the LoD as offsets.

        Raises:
            ArgumentError: the offsets of a level do not ascend from 0, or do not end where the next
                level ends.
        """
        self._store(self.data, checked_offsets(lod, self._rows()))

    def set_recursive_sequence_lengths(self, lengths: Sequence[Sequence[int]]) -> None:
        """Set the LoD as lengths of sequences.

        Raises:
            ArgumentError: the lengths of a level do not add up to the number of entries of the
                next.
        """
        self._store(self.data, checked_offsets(map(offsets_from, lengths), self._rows()))

    def lod(self) -> list[list[int]]:
        """The LoD as offsets."""
        return [list(level) for level in self.offsets]

    def recursive_sequence_lengths(self) -> list[list[int]]:
        """The LoD as lengths of sequences."""
        return [[b - a for a, b in pairwise(level)] for level in self.offsets]

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether the LoD fits the rows."""
        try:
            checked_offsets(self.offsets, self._rows())
        except ArgumentError:
            return False
        return True

    def shape(self) -> list[int]:
        """The sizes of the array."""
        return list(getattr(self, "_sizes", (0,)) if self.data is None else self.data.shape)

    def _share_data_with(self, other: LoDTensor) -> None:
        self._store(other.data, self.offsets)

    def _dtype(self) -> DType:
        """The element type; named as in fluid 1.8."""
        return as_dtype(self.data.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(np.zeros(0, "float32") if self.data is None else on_host(self.data), dtype)

    def __getitem__(self, index: Any) -> LoDTensor:
        """Some rows, or a part of them, without sequences; a number keeps its dimension."""
        parts = index if isinstance(index, tuple) else (index,)
        slices = [slice(k, k + 1 or None) if isinstance(k, (int, np.integer)) else k for k in parts]
        for k, size in zip(parts, self.shape()):
            if isinstance(k, (int, np.integer)) and not -size <= k < size:
                raise IndexError(f"expected an index from {-size} to {size - 1}, got {k}")
        return LoDTensor(np.array(self.data[tuple(slices)]))

    def __len__(self) -> int:
        return self._rows() or 0

    def _rows(self) -> int | None:
        return None if self.data is None else len(self.data)

    def __str__(self) -> str:
        """The text that fluid 1.8 prints; that of paddle 2 in programs for it."""
        newer = state.as_paddle_2.get()
        if self.data is None:
            return "  - shape: []\n  - layout: NCHW\nuninited\n" if newer else repr(self)
        levels = "".join("{" + ", ".join(map(str, level)) + "}" for level in self.offsets)
        kind = str(self.data.dtype)
        numbers = [f"{each:g}" if kind[0] == "f" else str(int(each)) for each in self.data.flat]
        if newer:
            lod = [f"lod: {{{levels}}}"] * bool(levels)
            place = ["layout: NCHW", "place: Place(cpu)", f"dtype: {kind}"]
            told = [*lod, f"shape: {list(self.data.shape)}", *place]
            return "\n".join(f"  - {line}" for line in [*told, f"data: [{' '.join(numbers)}]"])
        return (
            f"\tlod: {{{levels}}}\n\tdim: {', '.join(map(str, self.data.shape))}\n\tlayout: NCHW\n"
            f"\tdtype: {_PRINTED.get(kind, kind)}\n\tdata: [{' '.join(numbers)}]\n"
        )

    def __repr__(self) -> str:
        if self.data is None:
            return "LoDTensor(empty)"
        lod = f", lod={self.lod()}" if self.offsets else ""
        return f"LoDTensor({self.data.dtype}{list(self.data.shape)}{lod})\n{self.data}"


#: element types as fluid 1.8 prints them, where they have other names
_PRINTED = {"float32": "float", "float64": "double", "int32": "int", "int64": "int64_t"}


def offsets_from(lengths: Any) -> tuple[int, ...]:
    """The offsets of one level of sequences, from their lengths.

    >>> offsets_from([2, 3])
    (0, 2, 5)
    """
    return (0, *np.cumsum(np.asarray(lengths, np.int64)).tolist())


def checked_offsets(lod: Iterable[Iterable[int]], rows: int | None) -> Lod:
    """Offsets as tuples.

    Raises:
        ArgumentError: they are no LoD of ``rows`` rows.
    """
    levels = tuple(tuple(int(n) for n in level) for level in lod)
    for k, level in enumerate(levels):
        if len(level) < 2 or level[0] != 0 or any(a > b for a, b in pairwise(level)):
            raise ArgumentError(
                f"expected LoD offsets that ascend from 0, level {k} is {list(level)}"
            )
        below = len(levels[k + 1]) - 1 if k + 1 < len(levels) else rows
        if below is not None and level[-1] != below:
            what = "entries of the next level" if k + 1 < len(levels) else "rows"
            raise ArgumentError(
                f"level {k} of the LoD covers {level[-1]} {what}, there are {below}"
            )
    return levels


class LoDTensorArray:
    """A sequence of tensors, some of which may be missing.

    As a gradient, a missing element is zero.

    Args:
        items: the tensors; None where one is missing.

    >>> array = LoDTensorArray().with_item(1, np.ones(2))
    >>> len(array), array.item(0) is None
    (2, True)
    """

    __slots__ = ("items",)

    @quick_api_boundary
    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items: tuple[Any, ...] = tuple(items)

    def item(self, index: int) -> Any:
        """The element at a position; None when it is missing or beyond the end."""
        return self.items[index] if 0 <= index < len(self.items) else None

    def with_item(self, index: int, value: Any) -> LoDTensorArray:
        """The array with another element at a position; it grows as far as needed.

        Raises:
            OutOfRangeError: the position is negative.
        """
        if index < 0:
            raise OutOfRangeError(f"expected a position of 0 or more in an array, got {index}")
        items = self.items
        if index <= len(items):
            return LoDTensorArray((*items[:index], value, *items[index + 1 :]))
        padded = list(items) + [None] * (index + 1 - len(items))
        padded[index] = value
        return LoDTensorArray(padded)

    def append(self, tensor: LoDTensor | np.ndarray[Any, Any]) -> None:
        """Put an element behind the last one.

        Args:
            tensor: an array, or a LoDTensor.
        """
        self.items = (*self.items, _own(tensor))

    def zeros_like(self) -> LoDTensorArray:
        """An array of the same length without elements."""
        return LoDTensorArray([None] * len(self.items))

    def __add__(self, other: Any) -> LoDTensorArray:
        if not isinstance(other, LoDTensorArray):
            return NotImplemented
        longer, shorter = self.items, other.items
        if len(longer) < len(shorter):
            longer, shorter = shorter, longer
        both = [
            b if a is None else a if b is None else added(a, b) for a, b in zip(longer, shorter)
        ]
        return LoDTensorArray([*both, *longer[len(shorter) :]])

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def _move_to_list(self) -> list[LoDTensor | None]:
        """The elements as tensors; none is left here."""
        moved = [self[k] for k in range(len(self.items))]
        self.items = ()
        return moved

    def __getitem__(self, index: int) -> LoDTensor | None:
        """An element as a tensor; what is set there is not set here."""
        found = self.items[index]
        return found if found is None or isinstance(found, LoDTensor) else LoDTensor(found)

    def __setitem__(self, index: int, tensor: Any) -> None:
        items = list(self.items)
        items[index] = _own(tensor)
        self.items = tuple(items)

    def __repr__(self) -> str:
        return f"LoDTensorArray({len(self.items)} elements)"


def added(a: Any, b: Any) -> Any:
    """The sum of two tensors; with the LoD of the first that has one."""
    lod = next((v.offsets for v in (a, b) if type(v) is LoDTensor), ())
    return with_lod(bare(a) + bare(b), lod)


def bare(value: Any) -> Any:
    """The array of a LoDTensor; other values as they are."""
    return value.data if type(value) is LoDTensor else value


def with_lod(data: Any, lod: Lod) -> Any:
    """An array whose rows form sequences; the array itself where there is no LoD."""
    return LoDTensor(data, lod) if lod else data


def _own(tensor: Any) -> Any:
    """A copy of a tensor: a LoDTensor where its rows form sequences, else an array."""
    if isinstance(tensor, LoDTensor) and tensor.offsets:
        return LoDTensor(np.array(tensor.data), tensor.offsets)
    return np.array(tensor)


#: rows of one number up to which they are added one after the other
MOST_ADDED = 8


class SelectedRows(Shaped):
    """A tensor of which only some rows are stored; the others are zero.

    A row that is named several times is the sum of what is stored for it.

    Args:
        rows: numbers of rows, [n].
        height: how many rows the whole tensor has.
        value: the rows, [n, ...]; when None, they are to be set.

    Raises:
        ShapeError: there are not as many rows as numbers.
        OutOfRangeError: a number is outside [0, height).

    >>> SelectedRows([2, 0, 2], 4, np.ones([3, 1])).to_dense()[:, 0]
    array([1., 0., 2., 0.])
    """

    __slots__ = ("_height", "numbers", "value")
    __array_ufunc__ = None  # so that array + rows asks the rows

    def __init__(self, rows: Any = (), height: int = 0, value: Any = None) -> None:
        self.numbers: np.ndarray[Any, Any] = np.asarray(rows, "int64").reshape(-1)
        self._height = int(height)
        if value is None:
            self.value: Any = np.zeros((len(self.numbers), 0), "float32")
            return
        self.value = _held(value)
        if self.value.shape[:1] != self.numbers.shape:
            raise ShapeError(
                f"expected a value of {len(self.numbers)} rows, got shape {list(self.value.shape)}"
            )
        if self.numbers.size and not 0 <= self.numbers.min() <= self.numbers.max() < height:
            raise OutOfRangeError(
                f"expected numbers of rows in [0, {height}), got {self.numbers.min()} to "
                f"{self.numbers.max()}"
            )

    def rows(self) -> list[int]:
        """The numbers of the rows that are stored."""
        found: list[int] = self.numbers.tolist()
        return found

    def height(self) -> int:
        """How many rows the whole tensor has."""
        return self._height

    def numel(self) -> int:
        """The number of elements that are stored."""
        return int(self.value.size)

    def get_tensor(self) -> LoDTensor:
        """The rows as a tensor; what is set there is set here."""
        return _StoredRows(self)

    def set_rows(self, rows: Any) -> None:
        """Say which rows are stored."""
        self.numbers = np.array(rows, "int64").reshape(-1)

    def set_height(self, height: int) -> None:
        """Say how many rows the whole tensor has."""
        self._height = int(height)

    def sync_index(self) -> None:
        """Nothing: there is no index beside the numbers.  Accepted for old scripts."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        return (self._height, *self.value.shape[1:])

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.value.dtype

    def with_value(self, value: Any) -> SelectedRows:
        """The same rows with other elements."""
        return SelectedRows(self.numbers, self._height, value)

    def copy(self) -> SelectedRows:
        """The same tensor in arrays of its own."""
        return SelectedRows(self.numbers.copy(), self._height, self.value.copy())

    def merged(self) -> SelectedRows:
        """The same tensor with every row stored once, in ascending order."""
        if bool((self.numbers[1:] > self.numbers[:-1]).all()):
            return self
        order = stable_order(self.numbers)
        rows, value = self.numbers[order], self.value.take(order, axis=0)
        first = np.ones(len(rows), bool)
        np.not_equal(rows[1:], rows[:-1], out=first[1:])
        begins = np.flatnonzero(first)
        counts = np.full(len(begins), len(rows)) - begins
        counts[:-1] = begins[1:] - begins[:-1]
        if counts.max() > MOST_ADDED:
            total = np.add.reduceat(value, begins, axis=0).astype(self.dtype, copy=False)
        else:  # one row of each number at a time, which is several times faster
            total = value.take(begins, axis=0)
            for number in range(1, int(counts.max())):
                more = np.flatnonzero(counts > number)
                total[more] += value.take(begins[more] + number, axis=0)
        return SelectedRows(rows[begins], self._height, total)

    def to_dense(self) -> np.ndarray[Any, Any]:
        """The whole tensor."""
        dense = np.zeros(self.shape, self.dtype)
        merged = self.merged()
        dense[merged.numbers] = merged.value
        return dense

    def zeros_like(self) -> SelectedRows:
        """The same tensor without any row."""
        return SelectedRows(self.numbers[:0], self._height, self.value[:0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.to_dense(), dtype)

    def __add__(self, other: Any) -> Any:
        if np.shape(other) != self.shape:
            raise ShapeError(
                f"expected two tensors of one shape, got shapes {list(self.shape)} and "
                f"{list(np.shape(other))}"
            )
        if isinstance(other, SelectedRows):
            numbers = np.concatenate([self.numbers, other.numbers])
            value = np.concatenate([self.value, other.value])
            return SelectedRows(numbers, self._height, value)
        dense, merged = np.array(other), self.merged()
        dense[merged.numbers] += merged.value
        return dense

    __radd__ = __add__

    def __mul__(self, factor: Any) -> SelectedRows:
        if np.size(factor) != 1:
            raise ArgumentError("expected one number to multiply rows by, got several")
        factor = np.asarray(factor, self.dtype).reshape(())
        return self.with_value(np.asarray(self.value * factor))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"SelectedRows({len(self.numbers)} of {self._height} rows)"


class HeldTensor(LoDTensor):
    """A tensor whose content something else holds, which subclasses ask.

    Args:
        holder: what has it.
    """

    __slots__ = ("_holder",)

    def __init__(self, holder: Any) -> None:
        self._holder = holder


class _StoredRows(HeldTensor):
    """The rows of a SelectedRows as a tensor."""

    __slots__ = ()

    def _load(self) -> tuple[Any, Lod]:
        return self._holder.value, ()

    def _store(self, data: Any, lod: Lod) -> None:
        self._holder.value = data


class OneElement(np.ndarray[Any, Any]):
    """An array of one element that is a number, too: scripts of fluid 1.8 print
    ``float(exe.run(...)[0])``, which NumPy no longer does for a shape such as [1].

    >>> loss = fluid.layers.fill_constant([1], "float32", 1.5)
    >>> (found,) = fluid.Executor().run(fetch_list=[loss])
    >>> float(found), "%.1f" % found, found
    (1.5, '1.5', array([1.5], dtype=float32))
    """

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def as_fetched(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array as a user gets it: one of one element is a number, too.  Whole numbers are C's
    ``long long``, which arrays say when they are printed, where programs are printed as paddle 2's.
    """
    if array.dtype.char == "l" and state.as_paddle_2.get():
        array = array.view("q")
    return array.view(OneElement) if array.size == 1 and array.ndim else array


def zeros_like(value: Any) -> Any:
    """Zeros in the form of a value."""
    if isinstance(value, (LoDTensorArray, SelectedRows)):
        return value.zeros_like()
    array = bare(value)
    if isinstance(array, np.ndarray) or not hasattr(array, "shape"):
        return np.zeros_like(array)
    return np.zeros(array.shape, array.dtype)  # of another library, perhaps only traced


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays that hold the elements of a value of any kind."""
    if isinstance(value, LoDTensorArray):
        return [array for item in value for array in arrays_in(item)]
    if isinstance(value, LoDTensor):
        value = value.data
    elif isinstance(value, SelectedRows):
        value = value.value
    if isinstance(value, np.ndarray):
        return [value]
    return [_elements(value)] if is_device_array(value) else []


def is_device_array(value: Any) -> bool:
    """Whether a value is an array of another library than NumPy."""
    return hasattr(value, "__array_namespace__") and not isinstance(value, (np.ndarray, np.generic))


def on_host(value: Any) -> Any:
    """A value with its elements in an array of NumPy."""
    if is_device_array(value):
        return _elements(value)
    if isinstance(value, LoDTensor) and is_device_array(value.data):
        return LoDTensor(_elements(value.data), value.offsets)
    if type(value) is LoDTensorArray and any(map(is_device_array, value.items)):
        return LoDTensorArray(map(on_host, value.items))
    return value


def _elements(array: Any) -> np.ndarray:
    """The elements of a device array; of one that is split over processes, all call this."""
    if getattr(array, "is_fully_addressable", True) or array.is_fully_replicated:
        return np.asarray(array)
    gather = import_module("jax.experimental.multihost_utils").process_allgather
    return np.asarray(gather(array, tiled=True))
