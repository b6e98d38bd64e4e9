"""Loops over channels: values that are reduced over the dimensions around one, or before one.

The elements of the largest value are numbered as samples of channels of positions of lanes.  What
is reduced has one element for each lane of each channel.  A channel is worked on in passes over its
samples and positions, one after each reduction that others wait for; so no channel waits for
another one, and results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import prod
from typing import NamedTuple

from .index_maps import Map, NotFusible, identity, merged
from .loops import COLUMN, ROW, Element, KnownElements, Nest, local
from .symbols import Expression

WIDE = 64  #: lanes of a channel, where channels are cut out of a last dimension
MOST_LANES = 1 << 10
#: positions that are added up in single precision, one after the other and side by side
IN_TURN, BESIDE = 64, 1024


class ChannelSpace(NamedTuple):
    """How elements are numbered."""

    samples: int
    channels: int
    positions: int
    lanes: int


def channels_of(node: Expression) -> ChannelSpace:
    """The channels that a reduction leaves.

    Raises:
        NotFusible: it leaves more than one dimension, or the first ones.
    """
    shape = node.arguments[0].shape
    flags = [(i in node.data, n) for i, n in enumerate(shape) if n != 1]
    parts = [(over, prod(n for _, n in some)) for over, some in groupby(flags, lambda f: f[0])]
    if parts and not parts[0][0]:
        parts.insert(0, (True, 1))
    sizes = [n for _, n in parts]
    if len(sizes) == 2:  # rows
        wide = max(k for k in range(1, min(WIDE, sizes[1]) + 1) if sizes[1] % k == 0)
        sizes = [sizes[0], sizes[1] // wide, 1, wide]
    if len(sizes) == 3:
        sizes.append(1)
    if len(sizes) != 4 or sizes[3] > MOST_LANES:
        raise NotFusible
    return ChannelSpace(*sizes)


class ChannelNest(Nest):
    """Loops over channels.

    Args:
        space: how elements are numbered.
        leaves: C names of arrays by the serial number of the expression that they hold.
        known: as of :class:`Nest`.
    """

    def __init__(
        self, space: ChannelSpace, leaves: dict[int, str], known: KnownElements | None = None
    ) -> None:
        super().__init__(prod(space), 0, leaves, known)
        self.space = space

    @property
    def by_row(self) -> Map:
        """The map to a value that has one element for each lane of each channel."""
        samples, channels, positions, lanes = self.space
        return merged([(samples, 0), (channels, lanes), (positions, 0), (lanes, 1)])

    def _level(self, seen: Map) -> tuple[int, str]:
        if all(step == 0 for _, step in seen):
            return 0, "0"
        if seen == identity(self.size):
            return ROW | COLUMN, "at + l"
        if seen == self.by_row:
            return ROW, f"r * {self.space.lanes}L + l"
        raise NotFusible

    def _along_row(self, node: Expression, seen: Map) -> Element:
        (inner,) = node.arguments
        fits = node.function == "sum" and inner.size == self.size and seen == self.by_row
        if not fits or channels_of(node) != self.space:
            raise NotFusible
        given = self.element(inner, identity(self.size))
        return Element(node, ROW, given.phase + 1, "", (given,), is_reduction=True)

    def check(self) -> None:
        if self.has_checks:
            raise NotFusible

    def written(self) -> Iterator[str]:
        return _ChannelWriter(self, self._order).written()


class _ChannelWriter:
    """Writes the passes over a channel."""

    def __init__(self, nest: ChannelNest, order: Sequence[Element]) -> None:
        self._nest, self._order, self._space = nest, order, nest.space
        self._phases = max((e.phase for e in order), default=0) + 1

    def written(self) -> Iterator[str]:
        """The C of some channels."""
        lanes = self._space.lanes
        for element in self._order:
            if not element.level:
                yield f"  const {local(element.node)} {element.name} = {self._code(element)};"
        yield "  for (i64 r = first; r < last; r++) {"
        for element in self._order:
            if element.level == ROW:
                yield f"    {local(element.node)} {element.name}[{lanes}];"
        for phase in range(self._phases):
            by_lane = [e for e in self._order if e.level == ROW and not e.is_reduction]
            yield from self._for_lanes(
                f"{self._name(e)} = {self._code(e)};" for e in by_lane if e.phase == phase
            )
            yield from self._pass(phase)
        yield from self._for_lanes(
            f"{store.array}[r * {lanes}L + l] = {self._name(store.found)};"
            for store in self._nest.stores
            if store.by_row
        )
        yield "  }"

    @staticmethod
    def _name(each: Element) -> str:
        return f"{each.name}[l]" if each.level == ROW else each.name

    def _code(self, each: Element) -> str:
        return each.code.format(*map(self._name, each.given))

    def _for_lanes(self, lines: Iterable[str]) -> Iterator[str]:
        found = [f"      {line}" for line in lines]
        if found:
            yield f"    for (i64 l = 0; l < {self._space.lanes}; l++) {{"
            yield from found
            yield "    }"

    def _needed(self, sinks: Iterable[Element]) -> list[Element]:
        """What a pass computes for each element, arguments first."""
        needed: dict[Element, None] = {}
        for sink in sinks:
            self._visit(sink, needed)
        return list(needed)

    def _visit(self, each: Element, needed: dict[Element, None]) -> None:
        # no function within _needed: that would be a cycle, which only the collector frees
        if each not in needed and each.level & COLUMN:
            for other in each.given:
                self._visit(other, needed)
            needed[each] = None

    def _pass(self, phase: int) -> Iterator[str]:
        stores = [
            (store.array, store.found)
            for store in self._nest.stores
            if not store.by_row and store.found.phase == phase
        ]
        reductions = [e for e in self._order if e.is_reduction and e.phase == phase + 1]
        if not stores and not reductions:
            return
        sinks = [each for _, each in stores] + [e.given[0] for e in reductions]
        body = [
            f"const {local(e.node)} {e.name} = {self._code(e)};"
            for e in self._needed(dict.fromkeys(sinks))
        ]
        body += [f"{array}[at + l] = {self._name(each)};" for array, each in stores]
        samples, channels, positions, lanes = self._space
        if positions == 1:  # samples take their place
            outer, inner, base, step = 1, samples, f"r * {lanes}L", channels * lanes
        else:
            base = f"(s * {channels}L + r) * {positions * lanes}L"
            outer, inner, step = samples, positions, lanes
        for reduction in reductions:
            yield f"    double all_{reduction.name}[{lanes}] = {{0}};"
        part = BESIDE if lanes == 1 else IN_TURN
        yield f"    for (i64 s = 0; s < {outer}; s++)"
        yield f"    for (i64 begin = 0; begin < {inner}; begin += {part}) {{"
        yield f"      const i64 end = {inner}L - begin < {part} ? {inner}L : begin + {part};"
        yield from self._part(reductions, body, base, step)
        for reduction in reductions:
            found = f"part_{reduction.name}{'[l]' if lanes > 1 else ''}"
            yield f"      for (i64 l = 0; l < {lanes}; l++) all_{reduction.name}[l] += {found};"
        yield "    }"
        for reduction in reductions:
            name = reduction.name
            yield f"    for (i64 l = 0; l < {lanes}; l++) {name}[l] = all_{name}[l];"

    def _part(
        self, reductions: Sequence[Element], body: Sequence[str], base: str, step: int
    ) -> Iterator[str]:
        """The loops over some positions of a sample."""
        lanes = self._space.lanes
        if lanes == 1:
            for reduction in reductions:
                yield f"      {local(reduction.node)} part_{reduction.name} = 0;"
            names = ", ".join(f"part_{each.name}" for each in reductions)
            clause = f" reduction(+:{names})" if names else ""
            yield f"      const i64 l = 0, start = {base};"
            yield f"#pragma omp simd{clause}"
            yield "      for (i64 p = begin; p < end; p++) {"
            yield f"        const i64 at = start + p * {step}L;"
        else:
            for reduction in reductions:
                yield f"      {local(reduction.node)} part_{reduction.name}[{lanes}] = {{0}};"
            yield "      for (i64 p = begin; p < end; p++) {"
            yield f"        const i64 at = {base} + p * {step}L;"
            yield "#pragma omp simd"
            yield f"        for (i64 l = 0; l < {lanes}; l++) {{"
        yield from (f"          {line}" for line in body)
        for reduction in reductions:
            where = "[l]" if lanes > 1 else ""
            yield f"          part_{reduction.name}{where} += {self._name(reduction.given[0])};"
        yield "        }" if lanes > 1 else ""
        yield "      }"
