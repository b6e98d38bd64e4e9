"""Programs that write lines of slots: what the pipe command of a data set runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.protected import answers_protected
from ..ground.reprs import Described

#: pairs of a slot's name and its values
Sample = Sequence[tuple[str, Sequence[Any]]]


@answers_protected
class DataGenerator(Described):
    """The base of generators: a subclass defines ``generate_sample``."""

    def __init__(self) -> None:
        self.batch_size_: int = 32
        self._proto_info: list[tuple[str, str]] | None = None

    def set_batch(self, batch_size: int) -> None:
        """Set how many samples ``generate_batch`` is given.

        Args:
            batch_size: the number.
        """
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Callable[[], Iterable[Any]]:
        """The samples of a line of the input, to be defined by subclasses.

        Args:
            line: it; None where there is no input.

        Returns:
            a function without arguments that gives samples: lists of pairs of a slot's name and its
            values.
        """
        raise UnsupportedError(
            f"class {type(self).__name__} is to define generate_sample(line), which returns a "
            f"function that gives samples: lists such as [('words', [1, 2]), ('label', [0])]"
        )

    def generate_batch(self, samples: list[Any]) -> Callable[[], Iterable[Any]]:
        """What is written of the samples of a batch: they, where subclasses do not define it
        otherwise.

        Args:
            samples: they.
        """
        return lambda: iter(samples)

    def run_from_stdin(self) -> None:
        """Write the samples of each line of the standard input to the standard output."""
        self._write(sample for line in sys.stdin for sample in self.generate_sample(line)())

    def run_from_memory(self) -> None:
        """Write the samples that are generated without an input to the standard output."""
        self._write(iter(self.generate_sample(None)()))

    def _write(self, samples: Iterator[Any]) -> None:
        batch: list[Any] = []
        for sample in samples:
            if sample is None:
                continue
            batch.append(sample)
            if len(batch) == self.batch_size_:
                self._write_batch(batch)
                batch = []
        if batch:
            self._write_batch(batch)

    def _write_batch(self, batch: list[Any]) -> None:
        for sample in self.generate_batch(batch)():
            sys.stdout.write(self._gen_str(sample))

    def _gen_str(self, line: Any) -> str:
        raise UnsupportedError(
            f"class {type(self).__name__} is to derive from MultiSlotDataGenerator"
        )


class MultiSlotStringDataGenerator(DataGenerator):
    """Writes samples whose values are texts as lines of slots."""

    def _gen_str(self, line: Any) -> str:
        words: list[str] = []
        for _, values in _checked(line):
            words += [str(len(values)), *map(str, values)]
        return " ".join(words) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Writes samples of numbers as lines of slots.

    >>> class Words(MultiSlotDataGenerator):
    ...     def generate_sample(self, line):
    ...         return lambda: iter([[("words", [3, 4]), ("label", [1])]])
    >>> Words().run_from_memory()
    2 3 4 1 1
    """

    def _gen_str(self, line: Any) -> str:
        sample = _checked(line)
        types = self._proto_info or []
        if types and len(types) != len(sample):
            raise ArgumentError(
                f"expected every sample to have slots {', '.join(n for n, _ in types)}, got "
                f"{len(sample)} slots"
            )
        known: list[tuple[str, str]] = []
        words: list[str] = []
        for k, (name, values) in enumerate(sample):
            kind = types[k][1] if types else "uint64"
            if types and types[k][0] != name:
                raise ArgumentError(
                    f"expected slot {k} of every sample to be {types[k][0]!r}, got {name!r}"
                )
            if not isinstance(values, list) or not values:
                raise ArgumentError(
                    f"expected a list of one value or more for slot {name!r}, got {values!r:.60}; "
                    f"pad what is empty"
                )
            for value in values:
                if isinstance(value, bool) or not isinstance(value, Real):
                    raise ArgumentError(
                        f"expected numbers in slot {name!r}, got {value!r:.60} of type "
                        f"{type(value).__name__}"
                    )
                kind = kind if isinstance(value, Integral) else "float"
            known.append((name, kind))
            words += [str(len(values)), *map(str, values)]
        self._proto_info = known
        return " ".join(words) + "\n"


def _checked(line: Any) -> list[tuple[Any, Any]]:
    """A sample as a list of pairs.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(line, (list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in line
    ):
        raise ArgumentError(
            f"expected a sample to be a list of pairs such as [('words', [1, 2]), ('label', [0])], "
            f"got {line!r:.60}"
        )
    return [(name, values) for name, values in line]


__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]
