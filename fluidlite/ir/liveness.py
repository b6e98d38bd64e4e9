"""How many bytes of values are held while operators run one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Holding(NamedTuple):
    """While an operator runs."""

    live: int  #: bytes of all values that are held, its outputs included
    written: int  #: of its outputs
    freed: int  #: let go of after it


def held_while(
    steps: Iterable[tuple[Iterable[str], Iterable[str]]],
    held: dict[str, int],
    sizes: Mapping[str, int],
) -> Iterator[Holding]:
    """What is held while each operator runs, what it writes included.

    Args:
        steps: of each operator the names that it writes and those that are let go of after it.
        held: what is held before the first one, name -> bytes; while the operators are gone through
            it is what is held while the one at hand runs.
        sizes: name -> bytes; missing names take nothing.

    >>> steps = [(["y"], []), (["z"], ["x", "y"])]
    >>> [holding.live for holding in held_while(steps, {"x": 8}, {"x": 8, "y": 4, "z": 2})]
    [12, 14]
    """
    live = sum(held.values())
    for writes, free in steps:
        written = 0
        for name in dict.fromkeys(writes):
            size = sizes.get(name)
            if size is not None:
                written += size
                live += size - held.get(name, 0)
                held[name] = size
        freed = sum(held.get(name, 0) for name in dict.fromkeys(free))
        yield Holding(live, written, freed)
        live -= freed
        for name in free:
            held.pop(name, None)
