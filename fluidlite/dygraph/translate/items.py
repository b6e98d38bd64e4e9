"""What gives the items of a loop, where only the program knows how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...ground import state
from ...ground.dtypes import DType
from ...ir.variable import Variable
from ...layers.array import array_length, array_read
from ...layers.creation import assign, fill_constant
from ...layers.elementwise import elementwise_min
from ...layers.indexing import gather
from ...layers.reshaping import shape as shape_of
from ...layers.reshaping import squeeze
from ...layers.slicing import slice as slice_
from .merging import as_variable, is_array, is_static, refused, same


class RangeItems:
    """What ``range`` gives of variables.

    Args:
        args: as of Python's.
    """

    def __init__(self, *args: Any) -> None:
        first, last, step = (0, args[0], 1) if len(args) == 1 else (*args[:2], *args[2:], 1)[:3]
        self.first, self.last, self.step = first, last, step
        if is_static(step) or not step:
            raise refused("range needs a step that is a number of Python, not 0")

    def length(self) -> Variable:
        """How many numbers there are."""
        last: Any = as_variable(self.last, DType.INT64)
        span = last - as_variable(self.first, DType.INT64)
        if self.step == 1:
            return span
        step = self.step
        ahead = span + (step - 1) if step > 0 else (span * -1) + (-step - 1)
        return ahead // abs(step)

    def at(self, place: Any) -> Any:
        """One of the numbers."""
        if isinstance(self.first, int) and self.first == 0 and self.step == 1:
            return _number(assign(place))
        steps: Any = place * self.step if self.step != 1 else place
        return _number(steps + as_variable(self.first, DType.INT64))


@dataclass
class RowItems:
    """The parts of a tensor along its first dimension."""

    tensor: Variable

    def length(self) -> Variable:
        """How many there are."""
        first = self.tensor.shape[0] if self.tensor.has_shape else -1
        if first >= 0:
            return fill_constant([1], "int64", first)
        sizes = slice_(shape_of(self.tensor), axes=[0], starts=[0], ends=[1])
        return as_variable(sizes, DType.INT64)

    def at(self, place: Any) -> Any:
        """One of them."""
        found = gather(self.tensor, place)
        if self.tensor.ndim > 1:
            return squeeze(found, [0])
        return _number(found)


@dataclass
class ArrayItems:
    """The tensors of an array."""

    array: Variable

    def length(self) -> Variable:
        """How many there are."""
        return array_length(array=self.array)

    def at(self, place: Any) -> Any:
        """One of them."""
        return array_read(self.array, place)


class CountedItems:
    """The numbers from a first one on, without end.

    Args:
        first: the number to begin with.
    """

    def __init__(self, first: Any = 0) -> None:
        self._first = first

    def length(self) -> None:
        """There is no last one."""

    def at(self, place: Any) -> Any:
        """One of them."""
        return _number(assign(place) if same(self._first, 0) else place + self._first)


class JoinedItems:
    """What ``zip`` and ``enumerate`` give of such.

    Args:
        sources: each gives a part of an item.
    """

    def __init__(self, *sources: Any) -> None:
        self._sources = sources

    def length(self) -> Variable:
        """How many items there are: as many as the shortest source has."""
        ends = [n for each in self._sources if (n := each.length()) is not None]
        least = ends[0]
        for each in ends[1:]:
            least = elementwise_min(least, each)
        return least

    def at(self, place: Any) -> Any:
        """One of them."""
        return tuple(each.at(place) for each in self._sources)


def _number(one: Any) -> Any:
    """One element as a number, which has no dimensions in paddle 2."""
    return one[0] if state.builds.get() else one


SOURCES = (RangeItems, RowItems, ArrayItems, JoinedItems)


def source(found: Any) -> Any:
    """What gives the items of a loop, where only the program knows how many there are."""
    if isinstance(found, SOURCES):
        return found
    if is_array(found):
        return ArrayItems(found)
    return RowItems(found) if is_static(found) else None
