"""From rows, as readers yield them, to the arrays that programs are fed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .errors import ArgumentError, FeedError
from .ground.callsite import warn
from .ground.dtypes import as_dtype
from .ground.missing_names import answer
from .ground.place import Place
from .ground.protected import answers, answers_protected
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ground.values import LoDTensor
from .ir.program import Program, default_main_program
from .ir.variable import Variable

Array = np.ndarray[Any, Any]


@answers_protected
@answers(
    feed_dtypes=lambda self: [as_dtype(column.dtype) for column in self._columns],
    feed_shapes=lambda self: [column.shape for column in self._columns],
    feed_lod_level=lambda self: [column.levels for column in self._columns],
)
class DataFeeder(Described):
    """Turns rows into the dictionary that ``Executor.run`` is fed.

    Args:
        feed_list: the variables that are fed, or their names, in the order of a row's fields.
        place: accepted for old scripts; there is one place.
        program: where names are looked up; the default main program when None.

    Raises:
        ArgumentError: the list holds something else.
        UnknownVariableError: the program has no variable of a name.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> label = fluid.data("label", [None, 1], "int64")
    >>> feeder = fluid.DataFeeder([x, label])
    >>> feed = feeder.feed([([1, 2, 3], 0), ([4, 5, 6], 1)])
    >>> feed["x"].shape, feed["label"].tolist()
    ((2, 3), [[0], [1]])
    """

    _shown = "feed_list=_columns"

    def __init__(
        self,
        feed_list: Sequence[Variable | str],
        place: Place | None = None,
        program: Program | None = None,
    ) -> None:
        if isinstance(feed_list, (str, Variable)) or not isinstance(feed_list, Iterable):
            raise ArgumentError(
                f"expected feed_list to be a list of variables or names, got {feed_list!r:.60}"
            )
        block = (program or default_main_program()).global_block()
        self._columns = []
        for entry in feed_list:
            variable = block.var(entry) if isinstance(entry, str) else entry
            if not isinstance(variable, Variable):
                raise ArgumentError(
                    f"expected variables or names in feed_list, got {entry!r:.60} of type "
                    f"{type(entry).__name__}"
                )
            self._columns.append(_Column(variable))
        self.place = place

    @property
    def feed_names(self) -> list[str]:
        """The names of the variables that are fed."""
        return [column.name for column in self._columns]

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Array | LoDTensor]:
        """The arrays of a mini-batch by the variables' names.

        Args:
            iterable: rows; each has one field per variable: what a row of that variable holds, or
                a sequence of such where the variable has sequences (a list of lists for two levels,
                and so on).

        Returns:
            arrays of the variables' element types and shapes, the number of rows in front; a
            LoDTensor for a variable that has sequences.

        Raises:
            ArgumentError: a row has another number of fields.
            FeedError: a field does not fit its variable.
        """
        rows = list(iterable)
        for number, row in enumerate(rows):
            self._check(number, row)
        return {
            column.name: column.array([row[k] for row in rows])
            for k, column in enumerate(self._columns)
        }

    def feed_parallel(
        self, iterable: Iterable[Iterable[Sequence[Any]]], num_places: int | None = None
    ) -> Iterator[dict[str, Array | LoDTensor]]:
        """The arrays of several mini-batches, one for each device.

        Args:
            iterable: mini-batches; rows each.
            num_places: how many devices there are; as ``CPU_NUM`` in the environment says when
                None.

        Raises:
            ArgumentError: there are not as many mini-batches as devices.
        """
        batches = list(iterable)
        count = _device_count(num_places)
        if len(batches) != count:
            raise ArgumentError(
                f"expected a mini-batch for each of {count} devices, got {len(batches)}"
            )
        return map(self.feed, batches)

    def decorate_reader(
        self,
        reader: Callable[[], Iterable[Iterable[Sequence[Any]]]],
        multi_devices: bool,
        num_places: int | None = None,
        drop_last: bool = True,
    ) -> Callable[[], Iterator[Any]]:
        """A reader of what is fed.

        Args:
            reader: gives mini-batches; rows each.
            multi_devices: whether it gives lists, with a mini-batch for each device.
            num_places: how many devices there are; as ``CPU_NUM`` in the environment says when
                None.
            drop_last: leave out a last list that has fewer; with False it is an error.

        Raises:
            ArgumentError: while reading, the last list has fewer mini-batches.
        """

        def feeds() -> Iterator[Any]:
            if not multi_devices:
                yield from map(self.feed, reader())
                return
            count = _device_count(num_places)
            batches = iter(reader())
            while part := list(islice(batches, count)):
                if len(part) == count:
                    yield list(self.feed_parallel(part, count))
                elif not drop_last:
                    raise ArgumentError(
                        f"expected a mini-batch for each of {count} devices, the last list has "
                        f"{len(part)}; leave it out with drop_last=True"
                    )

        return feeds

    def _check(self, number: int, row: Any) -> None:
        wanted = f"{len(self._columns)} fields ({', '.join(self.feed_names)})"
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            raise ArgumentError(
                f"expected every row to be a tuple of {wanted}, row {number} is {row!r:.60} of "
                f"type {type(row).__name__}"
            )
        if len(row) != len(self._columns):
            raise ArgumentError(
                f"expected every row to have {wanted}, row {number} has {len(row)}: {row!r:.60}"
            )


def _device_count(given: int | None) -> int:
    """How many devices there are: what was said, or what ``CPU_NUM`` says."""
    return int(given or os.environ.get("CPU_NUM") or 1)


class _Column:
    """What the fields of one variable become."""

    def __init__(self, variable: Variable) -> None:
        self.name = variable.name
        self.dtype = variable.dtype.dtype
        self.levels = variable.lod_level
        self.shape = variable.shape
        self.row = self.shape[1:]
        self.known = -1 not in self.row
        #: whether the user has been told that values change with their element type
        self.told = False

    def array(self, fields: list[Any]) -> Array | LoDTensor:
        """The fields of all rows as one array.

        Raises:
            FeedError: one does not fit.
        """
        if self.levels:
            return self._sequences(fields)
        if not fields:
            return np.zeros((0, *(max(n, 0) for n in self.row)), self.dtype)
        return self._shaped(self._stacked([self._entry(field) for field in fields]))

    def _shaped(self, made: Array) -> Array:
        """Rows in the shape of the variable, where their number of dimensions is another one; what
        has the right number stays as it is, and is checked where it is fed.

        Raises:
            FeedError: they cannot have that shape.
        """
        if made.ndim == 1 + len(self.row):
            return made
        try:
            return made.reshape((-1 if self.known else len(made), *self.row))
        except ValueError:
            raise self._misfit(made[0]) from None

    def _sequences(self, fields: list[Any]) -> LoDTensor:
        lengths: list[list[int]] = [[] for _ in range(self.levels)]
        entries: list[Array] = []
        for field in fields:
            self._collect(field, 0, lengths, entries)
        data = (
            np.concatenate(entries)
            if entries
            else np.zeros((0, *(max(n, 0) for n in self.row)), self.dtype)
        )
        made = LoDTensor(data)
        made.set_recursive_sequence_lengths(lengths)
        return made

    def _collect(
        self, field: Any, level: int, lengths: list[list[int]], entries: list[Array]
    ) -> None:
        """Note the entries of a sequence, and how many there are on each level."""
        if isinstance(field, (str, bytes)) or not hasattr(field, "__len__"):
            raise FeedError(
                f"variable {self.name!r} has {self.levels} levels of sequences; expected a "
                f"sequence on level {level}, got {field!r:.60} of type {type(field).__name__}"
            )
        lengths[level].append(len(field))
        if level + 1 < self.levels:
            for inner in field:
                self._collect(inner, level + 1, lengths, entries)
        elif len(field):
            entries.append(self._shaped(self._stacked([self._entry(entry) for entry in field])))

    def _entry(self, value: Any) -> Array:
        """What one row of the variable holds, in its shape and element type."""
        try:
            array = np.asarray(value)
        except (ValueError, UserWarning):  # NumPy 1 only warns, and makes an array of lists
            array = np.empty((), object)
        if array.dtype == object and isinstance(value, (list, tuple)) and None not in value:
            raise FeedError(
                f"variable {self.name!r} takes rows of shape {self._shape()}; got lists of "
                f"different lengths: {value!r:.60}"
            )
        return self._converted(array, value)

    def _converted(self, given: Array, value: Any) -> Array:
        """Values of the variable's element type: texts are read as numbers, and numbers are cut off
        where it says so.

        Raises:
            FeedError: they are no numbers.
        """
        if given.dtype == self.dtype:
            return given
        try:
            with np.errstate(all="ignore"):
                converted = given.astype(self.dtype)
        except (TypeError, ValueError, OverflowError):
            raise FeedError(
                f"variable {self.name!r} is {self.dtype}; expected numbers, got {value!r:.60}"
            ) from None
        if given.dtype.kind in "biuf" and self.dtype.kind != "f" and not self.told:
            if np.any(np.isnan(given)):
                raise FeedError(f"variable {self.name!r} is {self.dtype}, got {value!r:.60}")
            if not np.array_equal(converted, given):
                self.told = True
                warn(
                    f"variable {self.name!r} is {self.dtype}, which changes the values of "
                    f"{value!r:.60}",
                    None,
                )
        return converted

    def _stacked(self, entries: list[Array]) -> Array:
        shapes = {entry.shape for entry in entries}
        if len(shapes) > 1 and self.known and len({entry.size for entry in entries}) == 1:
            entries = [self._shaped(entry[None])[0] for entry in entries]
            shapes = {entry.shape for entry in entries}
        if len(shapes) > 1:
            raise FeedError(
                f"variable {self.name!r}: the rows of a batch need one shape, got "
                f"{' and '.join(str(list(s)) for s in sorted(shapes)[:2])}; pad them, or declare "
                f"the variable with lod_level=1"
            )
        return np.stack(entries)

    def _shape(self) -> str:
        return str([None if n == -1 else n for n in self.row])

    def _misfit(self, made: Array) -> FeedError:
        return FeedError(
            f"variable {self.name!r} takes rows of shape {self._shape()}, got {list(made.shape)}"
        )


__all__ = ["DataFeeder"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
