"""Values that are put together of pieces, and parts of values, in the loops of a kernel.

The loops run over the elements of one piece: what is put together is written piece by piece, each
to its place, and of a value that is cut the parts alone are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .index_maps import Map, NotFusible, cut, within
from .symbols import Expression

#: functions that have no elements at the same places as what they are applied to
_ELSEWHERE = frozenset(["part", "sum", "max"])


def _spans(node: Expression) -> Iterator[tuple[Expression, list[int]]]:
    """The pieces of a concatenation, and where each begins along each dimension."""
    starts = [0] * len(node.shape)
    for piece in node.arguments:
        yield piece, starts[:]
        starts[node.data] += piece.shape[node.data]


def piece_of(node: Expression, seen: Map) -> tuple[Expression, Map]:
    """The piece of a concatenation that has all elements that a map names, and the map to it.

    Raises:
        NotFusible: no piece has them all.
    """
    for piece, starts in _spans(node):
        found = within(seen, starts, piece.shape, node.shape)
        if found is not None:
            return piece, found
    raise NotFusible


class Pieces:
    """How the expressions of a kernel are cut.

    Args:
        nodes: the expressions, arguments first.
        outputs: those that are written.
    """

    def __init__(self, nodes: Sequence[Expression], outputs: Iterable[Expression]) -> None:
        self._nodes = nodes
        #: by serial number of what is put together, or computed of it, the concatenation
        self._joined: dict[int, Expression] = {}
        for node in nodes:
            if node.function == "concat":
                self._joined[node.serial] = node
            elif node.function not in _ELSEWHERE:
                for each in node.arguments:
                    if each.serial in self._joined and each.size == node.size:
                        self._joined[node.serial] = self._joined[each.serial]
        self.is_cut: bool = bool(self._joined) or any(node.function == "part" for node in nodes)
        self.size: int = max((node.size for node in self._looped(outputs)), default=0)

    def _looped(self, outputs: Iterable[Expression]) -> Iterator[Expression]:
        """The expressions whose elements the loops may run over."""
        seen: set[int] = set()
        stack = list(outputs)
        while stack:
            node = stack.pop()
            if node.serial in seen:
                continue
            seen.add(node.serial)
            if node.function != "concat" and node.serial in self._joined:
                stack += [each for each in node.arguments if each.serial in self._joined]
                continue
            if node.function != "concat":
                yield node
            if node.function != "part":
                stack += node.arguments

    def maps(self, node: Expression) -> list[Map]:
        """The maps from the loops to the pieces that an expression is written in; none where it is
        in one piece.

        Raises:
            NotFusible: the loops run over something else than a piece.
        """
        whole = self._joined.get(node.serial)
        if whole is None:
            return []
        if any(piece.size != self.size for piece in whole.arguments):
            raise NotFusible
        return [cut(starts, piece.shape, whole.shape) for piece, starts in _spans(whole)]

    def rows(self) -> set[int]:
        """The numbers of columns in which parts and pieces lie one after the other."""
        widths: set[int] = set()
        for node in self._nodes:
            cuts = [(node, node.arguments[0])] if node.function == "part" else []
            cuts += [(piece, node) for piece in node.arguments if node.function == "concat"]
            for some, whole in cuts:
                columns = 1
                for size, all_of_it in zip(reversed(some.shape), reversed(whole.shape)):
                    columns *= size
                    if size != all_of_it:
                        break
                widths.add(columns)
        return widths

    def check(self, computed: Iterable[tuple[Expression, int]]) -> None:
        """Look whether nothing is computed more often than where it is not cut.

        Args:
            computed: expressions, and of how many elements they are computed; one may be there
                several times.

        Raises:
            NotFusible: something is.
        """
        most: dict[int, int] = {}
        for node in self._nodes:
            if node.function == "part":
                (inner,) = node.arguments
                self._allow(inner, inner.size, most)
            elif node.serial in self._joined and node.function != "concat":
                for each in node.arguments:
                    if each.serial not in self._joined:
                        self._allow(each, node.size, most)
        count: dict[int, int] = {}
        for node, size in computed:
            count[node.serial] = count.get(node.serial, 0) + size
        if any(count.get(serial, 0) > size for serial, size in most.items()):
            raise NotFusible

    @staticmethod
    def _allow(node: Expression, size: int, most: dict[int, int]) -> None:
        """Note of an expression, and of what it is computed of, how many elements there may be."""
        stack = [node]
        while stack:
            at = stack.pop()
            if most.get(at.serial, -1) < size:
                most[at.serial] = size
                stack += at.arguments
