"""From what generators give to the values of a batch's variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ..data_feeder import DataFeeder
from ..errors import ArgumentError, FeedError
from ..ground.values import LoDTensor
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.spec import Spec

#: the values of a batch, one for each variable
Batch = list[Any]


class Slots:
    """The variables that a reader gives.

    Args:
        variables: they; None where nothing is known of them.
        what: the reader, for messages.
    """

    def __init__(self, variables: Sequence[Variable] | None, what: str) -> None:
        self.what = what
        self.names: list[str] | None = None
        self._feeder: DataFeeder | None = None
        if variables is not None:
            self._feeder = DataFeeder(list(variables))
            self.names = self._feeder.feed_names

    @classmethod
    def of_specs(cls, specs: Sequence[Spec], what: str) -> Slots:
        """The variables of a reader of which only shapes and element types are known.

        Args:
            specs: of each.
            what: the reader, for messages.
        """
        block = Program().global_block()
        return cls(
            [
                block.create_var(f"{what}[{k}]", spec.dtype, spec.shape, lod_level=spec.lod_level)
                for k, spec in enumerate(specs)
            ],
            what,
        )

    def of_samples(self, rows: Iterable[Sequence[Any]]) -> Batch:
        """The values of samples, each of which has a field for each variable.

        Raises:
            ArgumentError: a sample has another number of fields.
            FeedError: a field does not fit its variable.
        """
        if self._feeder is None:
            return [np.stack([np.asarray(f) for f in fields]) for fields in zip(*rows, strict=True)]
        return list(self._feeder.feed(_rows(rows)).values())

    def of_batch(self, item: Any, copies: bool = True) -> Batch:
        """The values of a batch that is given whole.

        Args:
            item: arrays, or LoDTensors, one for each variable; an array alone if there is one
                variable; or a dictionary of them by name.
            copies: whether arrays are copied, because a generator may write there again.

        Raises:
            FeedError: these are not as many as there are variables, or no arrays.
        """
        if isinstance(item, Mapping):
            item = self._by_name(item)
        elif not isinstance(item, (list, tuple)):
            item = [item]
        if self.names is not None and len(item) != len(self.names):
            raise FeedError(
                f"expected a batch of {len(self.names)} values ({', '.join(self.names)}), got "
                f"{len(item)}{_of_samples(item)}"
            )
        return [self._value(k, each, copies) for k, each in enumerate(item)]

    def _by_name(self, item: Mapping[str, Any]) -> list[Any]:
        if self.names is None:
            return list(item.values())
        missing = [name for name in self.names if name not in item]
        if missing:
            raise FeedError(
                f"expected a batch with {', '.join(map(repr, missing))}, it has "
                f"{', '.join(map(repr, item)) or 'nothing'}"
            )
        return [item[name] for name in self.names]

    def _value(self, k: int, given: Any, copies: bool) -> Any:
        name = repr(self.names[k]) if self.names is not None else f"number {k}"
        lod = given.offsets if isinstance(given, LoDTensor) else ()
        data = given.data if isinstance(given, LoDTensor) else given
        try:
            array = np.array(data) if copies else np.asarray(data)
        except ValueError:
            array = np.empty((), object)
        if array.dtype.kind not in "biuf":
            raise FeedError(
                f"expected an array of numbers for variable {name}, got {data!r:.60} of type "
                f"{type(data).__name__}"
            )
        return LoDTensor(array, lod) if lod else array


def _rows(rows: Iterable[Any]) -> Iterable[Any]:
    """Samples; a sample that is an array alone is a field."""
    return [row if isinstance(row, (list, tuple)) else (row,) for row in rows]


def _of_samples(item: Sequence[Any]) -> str:
    if all(isinstance(each, (list, tuple)) for each in item):
        return "; a list of samples is what set_sample_list_generator takes"
    return ""


@dataclass(frozen=True)
class Batches:
    """Called, gives the batches of a generator.

    It can be pickled where the generator can.
    """

    generator: Callable[[], Iterable[Any]]
    form: str  #: what it gives: "sample", "sample_list" or "batch"
    slots: Slots
    site: str  #: the user's line, for messages
    size: int = 1  #: of a batch made of samples
    drop_last: bool = True  #: whether a last batch that is shorter is left out

    def __call__(self) -> Iterator[Batch]:
        items = iter(self.generator())
        try:
            if self.form == "sample":
                while rows := list(islice(items, self.size)):
                    if len(rows) == self.size or not self.drop_last:
                        yield self._made(self.slots.of_samples, rows)
                return
            made = self.slots.of_batch if self.form == "batch" else self.slots.of_samples
            for item in items:
                yield self._made(made, item)
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    def _made(self, make: Callable[[Any], Batch], item: Any) -> Batch:
        """The values of an item; an error says which reader it is of."""
        try:
            return make(item)
        except (ArgumentError, FeedError) as error:
            raise type(error)(
                f"{self.slots.what}, {self.form} generator set at {self.site}: {error}"
            ) from None


__all__ = ["Batch", "Batches", "Slots"]
