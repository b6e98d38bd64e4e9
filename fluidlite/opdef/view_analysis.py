"""Values that show elements of another one: all of them in another shape, or a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from ..ground.dtypes import Kind


class Look(NamedTuple):
    """What a value shows of another one, in another shape at most."""

    whole: Any  #: the other value
    starts: tuple[int, ...]  #: where the part begins along each dimension of that
    sizes: tuple[int, ...]  #: of the part along each of them

    @property
    def is_all(self) -> bool:
        """Whether it shows all elements."""
        return self.sizes == tuple(self.whole.shape)

    @property
    def begin(self) -> int | None:
        """The number of the first element that it shows; None where these do not lie one after the
        other.
        """
        shape = tuple(self.whole.shape)
        first = next((k for k, n in enumerate(self.sizes) if n != 1), len(shape))
        if self.sizes[first + 1 :] != shape[first + 1 :]:
            return None
        return sum(start * prod(shape[k + 1 :]) for k, start in enumerate(self.starts))


def look_of(value: Any) -> Look | None:
    """What a value of a graph shows of another one; None where it has elements of its own, or none,
    or of a number that is known only when it runs.
    """
    maker = value.producer
    if maker is None or maker.op is None or maker.phase or not maker.inputs:
        return None
    whole = maker.inputs[0]
    if whole.kind is not Kind.LOD_TENSOR or not value.size:
        return None
    if maker.op.reshapes():
        shape = tuple(whole.shape)
        return Look(whole, (0,) * len(shape), shape) if maker.results[0] is value else None
    if len(maker.inputs) > 1 or not (whole.is_static and value.is_static):
        return None
    cuts = maker.parts.cuts.get(value)
    if cuts is None:
        return None
    return Look(whole, tuple(c.start for c in cuts), tuple(c.stop - c.start for c in cuts))


def looks(value: Any) -> Iterator[Look]:
    """What a value shows of others, step by step."""
    found = look_of(value)
    while found is not None:
        yield found
        found = look_of(found.whole)


def shown(value: Any) -> Iterator[tuple[Any, int]]:
    """The values of which a value shows elements that lie one after the other, and the number of
    the first of these.
    """
    first = 0
    for look in looks(value):
        if look.begin is None or not look.whole.is_static:
            return
        first += look.begin
        yield look.whole, first


def whole_of(parts: Sequence[Any]) -> tuple[Any, list[int]] | None:
    """The value of which some values show all elements, each once, and the order in which they do;
    None if there is none.
    """
    size = sum(part.size for part in parts)
    for whole, _ in shown(parts[0]):
        begins = [next((b for w, b in shown(p) if w is whole), -1) for p in parts]
        if whole.size != size or -1 in begins:
            continue
        order = sorted(range(len(parts)), key=begins.__getitem__)
        ends = [begins[k] + parts[k].size for k in order]
        if [begins[k] for k in order] == [0, *ends[:-1]]:
            return whole, order
    return None
