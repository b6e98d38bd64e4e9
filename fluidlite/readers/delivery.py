"""How batches reach the loop: as dictionaries to feed, lists, or eager tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from ..errors import ArgumentError
from ..ground.place import Place
from ..ground.state import in_dygraph_mode
from ..ground.values import LoDTensor
from ..ir.variable import Variable
from .slots import Batch

#: the package of eager tensors; few programs that read need it
_EAGER = f"{__package__.rpartition('.')[0]}.dygraph"
_TENSORS = f"{__package__.rpartition('.')[0]}.functions.creation"


def place_count(what: str, places: Any) -> int:
    """How many places get a batch of their own at each step.

    Args:
        what: the reader, for messages.
        places: a place, or a list of them; None for one.

    Raises:
        ArgumentError: it is something else.
    """
    if places is None or isinstance(places, Place):
        return 1
    if not isinstance(places, (list, tuple)) or not places:
        raise ArgumentError(f"{what}: expected a place or a list of them, got {places!r:.60}")
    return len(places)


class Delivery:
    """The form in which batches are given.

    Args:
        what: the reader, for messages.
        feed_list: the variables that are fed, or their names; None for lists.
        return_list: whether to give lists.
        tensors: give lists of eager tensors where neither of these is given.

    Raises:
        ArgumentError: dictionaries need names, and there are none.
    """

    def __init__(
        self, what: str, feed_list: Sequence[Any] | None, return_list: bool, tensors: bool = False
    ) -> None:
        self.eager: bool = in_dygraph_mode()
        self.names: list[str] | None = None
        if feed_list is not None:
            self.names = [v.name if isinstance(v, Variable) else str(v) for v in feed_list]
        self._tensors = tensors and self.names is None and not return_list and not self.eager
        if self.names is None and not return_list and not self.eager and not tensors:
            raise ArgumentError(
                f"{what}: expected feed_list, the variables that are fed; without them set "
                f"return_list=True, which gives lists in place of dictionaries"
            )
        self._lists = return_list

    def steps(self, batches: Iterable[Batch], places: int, drop_last: bool) -> Iterator[Any]:
        """What each step of a loop is given.

        Args:
            batches: they.
            places: how many batches belong to a step.
            drop_last: whether a last step that has fewer is left out.
        """
        if self.eager:
            yield from self._eager(batches)
            return
        if self._tensors:
            yield from map(self._one, batches)
            return
        step: list[Any] = []
        for batch in batches:
            step.append(self._one(batch))
            if len(step) == places:
                yield step
                step = []
        if step and not drop_last:
            yield step

    def _one(self, batch: Batch) -> Any:
        if self._tensors:
            made: Callable[[Any], Any] = import_module(_TENSORS).to_tensor
            return [made(v.data if isinstance(v, LoDTensor) else v) for v in batch]
        tensors = [v if isinstance(v, LoDTensor) else LoDTensor(v) for v in batch]
        if self._lists or self.names is None:
            return tensors
        return dict(zip(self.names, tensors))

    def _eager(self, batches: Iterable[Batch]) -> Iterator[list[Any]]:
        make: Callable[[Any], Any] = import_module(_EAGER).to_variable
        for batch in batches:
            yield [make(v.data if isinstance(v, LoDTensor) else v) for v in batch]


__all__ = ["Delivery", "place_count"]
