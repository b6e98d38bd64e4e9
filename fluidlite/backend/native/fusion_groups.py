"""The expressions of a group of instructions, of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...opdef.view_analysis import Look, look_of, looks
from .index_maps import NotFusible
from .symbols import Expression
from .tracing import TracedResults, is_plain

__all__ = ["Expressions", "NotFusible", "Trace"]
MOST_ARRAYS, MOST_EXPRESSIONS = 40, 300
#: functions that are only another look at something
MOVES = frozenset(["view", "stretch", "index", "part", "concat"])
#: those that compute nothing
_IDLE = MOVES | {"input", "number", "cast"}

Trace = Callable[[Any], TracedResults | None]


class Expressions:
    """What the members of a group compute.

    Values are known by their places in the form of the group: groups of one form have the same
    expressions.  A group that grows begins with those of its first members.

    Args:
        cuts: whether parts of values are taken from these in the loops; else they are arrays that
            the kernel is given.
        before: those of the first members; None where there are none.
    """

    def __init__(self, cuts: bool = True, before: Expressions | None = None) -> None:
        self._cuts = cuts
        self._places: Mapping[int, int] = {}
        self._made: set[int] = set() if before is None else before._made.copy()
        self._values: dict[int, Expression] = {} if before is None else before._values.copy()
        self._given: dict[int, Expression] = {} if before is None else before._given.copy()
        self._same: dict[Any, Expression] = {} if before is None else before._same.copy()

    def add(self, members: Sequence[Any], trace: Trace, places: Mapping[int, int]) -> None:
        """Add members behind those that there are.

        Args:
            members: in order.
            trace: gives the expressions of an instruction.
            places: of all values that they look at, by number.

        Raises:
            NotFusible: one has no expressions.
        """
        self._places = places
        self._made.update(places[value.number] for each in members for value in each.results)
        for member in members:
            found = trace(member)
            if found is None:
                raise NotFusible
            self._add(member, found)

    def together(self, outputs: Sequence[int]) -> tuple[list[int], list[Expression], int]:
        """What is read to make values: their places, and their expressions; and how many functions
        that takes which are not only another look at something.

        Args:
            outputs: the places of the values.

        Raises:
            NotFusible: they are too many for one kernel, or two are one.
        """
        results = self.results(outputs)
        used = _below(results)
        inputs = [place for place, node in self._given.items() if node.serial in used]
        if (
            not results
            or len(results) + len(inputs) > MOST_ARRAYS
            or len(set(results)) < len(results)
            or len(used) > MOST_EXPRESSIONS
        ):
            raise NotFusible
        work = sum(node.function not in _IDLE for node in used.values())
        return inputs, [self._given[place] for place in inputs], work

    def results(self, outputs: Sequence[int]) -> list[Expression]:
        """The expressions of values, by their places."""
        return [self._values[place] for place in outputs]

    def _add(self, member: Any, trace: TracedResults) -> None:
        known: dict[int, Expression] = {}
        for operand, node in zip(member.operands, trace.operands, strict=True):
            pairs = zip(operand, node) if isinstance(operand, list) else [(operand, node)]
            for value, inner in pairs:
                if value is not None:
                    known[inner.serial] = self._seen(self._of(value), inner.shape)
        for slot, results in trace.results.items():  # of what anything reads
            value = member.outs[slot]
            pairs = zip(value, results) if isinstance(value, list) else [(value, results)]
            for each, node in pairs:
                made = self._copied(node, known)
                lying = tuple(each.stored[0])
                self._values[self._places[each.number]] = self._seen(made, lying)

    def _seen(self, node: Expression, shape: Any) -> Expression:
        """An expression in another shape."""
        return node if node.shape == shape else self._node("view", (node,), shape, node.dtype, None)

    def _of(self, value: Any) -> Expression:
        """The expression of a value that a member reads."""
        place = self._places[value.number]
        found = self._values.get(place)
        if found is not None:
            return found
        if value.constant is not None and value.size == 1:
            data = value.constant.reshape(()).item()
            return self._node("number", (), tuple(value.shape), value.dtype, data)
        look = self._look(value)
        if look is not None:
            below = self._of(look.whole)
            if not look.is_all:
                below = self._node("part", (below,), look.sizes, value.dtype, look.starts)
            return self._node("view", (below,), tuple(value.shape), value.dtype, None)
        if not is_plain(value.spec):
            raise NotFusible
        node = Expression("input", (), tuple(value.stored[0]), value.dtype)
        self._values[place] = self._given[place] = node
        return node

    def _look(self, value: Any) -> Look | None:
        """What a value shows of another one, where its elements are taken from that."""
        look = look_of(value)
        if look is None or look.whole.layout is not None:
            return None
        if look.is_all:
            is_known = (
                self._places[look.whole.number] in self._values
                or self._look(look.whole) is not None
            )
        else:  # a part that is an array as it is taken stays one: wherever it begins
            is_known = self._cuts and (look.begin is None or self._is_made(look.whole))
        return look if is_known else None

    def _is_made(self, value: Any) -> bool:
        """Whether a value shows what a member makes."""
        wholes = (value, *(look.whole for look in looks(value)))
        return any(self._places.get(whole.number) in self._made for whole in wholes)

    def _node(
        self, function: str, arguments: Sequence[Expression], shape: Any, dtype: Any, data: Any
    ) -> Expression:
        """An expression; the same for what is equal."""
        if function == "view" and arguments[0].function == "view":
            arguments = arguments[0].arguments
        if function == "view" and arguments[0].shape == shape:
            return arguments[0]
        if function == "cast" and arguments[0].function == "number" and dtype.kind == "f":
            function, data, arguments = "number", float(arguments[0].data), ()
        key = function, tuple(a.serial for a in arguments), shape, dtype, repr(data)
        found = self._same.get(key)
        if found is None:
            found = self._same[key] = Expression(function, arguments, shape, dtype, data)
        return found

    def _copied(self, node: Expression, known: dict[int, Expression]) -> Expression:
        """An expression of what a member reads, in the group."""
        stack = [node]
        while stack:
            at = stack[-1]
            if at.serial in known:
                stack.pop()
                continue
            missing = [a for a in at.arguments if a.serial not in known]
            if missing:
                stack += missing
                continue
            given = [known[a.serial] for a in at.arguments]
            known[at.serial] = self._node(at.function, given, at.shape, at.dtype, at.data)
            stack.pop()
        return known[node.serial]


def _below(outputs: Sequence[Expression]) -> dict[int, Expression]:
    nodes: dict[int, Expression] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.serial not in nodes:
            nodes[node.serial] = node
            stack += node.arguments
    return nodes
