"""The expressions of a group of instructions, of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...opdef.view_analysis import Look, look_of, looks
from .index_maps import NotFusible
from .symbols import Expression
from .tracing import TracedResults, is_plain

__all__ = ["Expressions", "Nodes", "NotFusible", "Trace"]
MOST_ARRAYS, MOST_EXPRESSIONS = 40, 300
#: functions that are only another look at something
MOVES = frozenset(["view", "stretch", "index", "part", "concat"])
#: those that compute nothing
_IDLE = MOVES | {"input", "number", "cast"}

Trace = Callable[[Any], TracedResults | None]


class Nodes:
    """The expressions of all groups of a graph: those that are equal are one."""

    def __init__(self) -> None:
        self._same: dict[Any, Expression] = {}
        self._inputs: dict[int, Expression] = {}
        #: what is computed of expressions, by the trace that says how
        self._computed: dict[tuple[int, ...], list[Expression]] = {}

    def input(self, value: Any) -> Expression:
        """A value that a kernel is given.

        Raises:
            NotFusible: its elements cannot be worked on.
        """
        symbol = self._inputs.get(value.number)
        if symbol is None:
            if not is_plain(value.spec):
                raise NotFusible
            symbol = Expression("input", (), tuple(value.stored[0]), value.dtype)
            self._inputs[value.number] = symbol
        return symbol

    def node(
        self, function: str, arguments: Sequence[Expression], shape: Any, dtype: Any, data: Any
    ) -> Expression:
        """An expression."""
        if function == "view" and arguments[0].function == "view":
            arguments = arguments[0].arguments
        if function == "view" and arguments[0].shape == shape:
            return arguments[0]
        if function == "cast" and arguments[0].function == "number" and dtype.kind == "f":
            function, data, arguments = "number", float(arguments[0].data), ()
        serials = tuple([argument.serial for argument in arguments])
        key = function, serials, shape, dtype, None if data is None else repr(data)
        same = self._same.get(key)
        if same is None:
            same = self._same[key] = Expression(function, arguments, shape, dtype, data)
        return same

    def seen(self, node: Expression, shape: Any) -> Expression:
        """An expression in another shape."""
        return node if node.shape == shape else self.node("view", (node,), shape, node.dtype, None)

    def computed(self, trace: TracedResults, given: Sequence[Expression]) -> list[Expression]:
        """The results of an instruction, one after the other.

        Args:
            trace: of the instruction; it stays.
            given: what it reads, one after the other, in the shapes that the trace has.
        """
        key = (id(trace), *[node.serial for node in given])
        results = self._computed.get(key)
        if results is None:
            known = {inner.serial: node for inner, node in zip(flat(trace.operands), given)}
            traced = flat(list(trace.results.values()))
            results = self._computed[key] = [self._copied(node, known) for node in traced]
        return results

    def _copied(self, node: Expression, known: dict[int, Expression]) -> Expression:
        """An expression of what an instruction reads, of expressions that are known."""
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
            known[at.serial] = self.node(at.function, given, at.shape, at.dtype, at.data)
            stack.pop()
        return known[node.serial]


class Expressions:
    """What the members of a group compute.

    A group that grows begins with what its first members compute.

    Args:
        nodes: of all groups.
        cuts: whether parts of values are taken from these in the loops; else they are arrays that
            the kernel is given.
        before: those of the first members; None if there are none.
    """

    def __init__(self, nodes: Nodes, cuts: bool = True, before: Expressions | None = None) -> None:
        self._nodes, self._cuts = nodes, cuts
        self._made: set[int] = set() if before is None else before._made.copy()
        #: by number of a value what it is, and of those that are read from outside, the values
        self._values: dict[int, Expression] = {} if before is None else before._values.copy()
        self._given: dict[int, Any] = {} if before is None else before._given.copy()

    def add(self, members: Sequence[Any], trace: Trace) -> None:
        """Add members behind those that there are.

        Args:
            members: in order.
            trace: gives the expressions of an instruction.

        Raises:
            NotFusible: one has no expressions.
        """
        self._made.update(value.number for member in members for value in member.results)
        for member in members:
            found = trace(member)
            if found is None:
                raise NotFusible
            self._add(member, found)

    def together(self, outputs: Sequence[Any]) -> tuple[list[Any], int]:
        """What is read to make values, and how many functions that takes which are not only another
        look at something.

        Raises:
            NotFusible: they are too many for one kernel, or two are one.
        """
        results = self.of(outputs)
        used = _below(results)
        inputs = [value for n, value in self._given.items() if self._values[n].serial in used]
        if (
            not results
            or len(results) + len(inputs) > MOST_ARRAYS
            or len(set(results)) < len(results)
            or len(used) > MOST_EXPRESSIONS
        ):
            raise NotFusible
        return inputs, sum([node.function not in _IDLE for node in used.values()])

    def of(self, values: Sequence[Any]) -> list[Expression]:
        """The expressions of values."""
        return [self._values[value.number] for value in values]

    def _add(self, member: Any, trace: TracedResults) -> None:
        nodes = [
            self._nodes.seen(self._of(value), inner.shape)
            for value, inner in zip(flat(member.operands), flat(trace.operands), strict=True)
        ]
        values = flat([member.outs[slot] for slot in trace.results])  # what anything reads
        made = self._nodes.computed(trace, nodes)
        for value, node in zip(values, made, strict=True):
            self._values[value.number] = self._nodes.seen(node, tuple(value.stored[0]))

    def _of(self, value: Any) -> Expression:
        """The expression of a value that a member reads."""
        expression = self._values.get(value.number)
        if expression is not None:
            return expression
        node = self._nodes.node
        if value.constant is not None and value.size == 1:
            data = value.constant.reshape(()).item()
            return node("number", (), tuple(value.shape), value.dtype, data)
        look = self._look(value)
        if look is not None:
            below = self._of(look.whole)
            if not look.is_all:
                below = node("part", (below,), look.sizes, value.dtype, look.starts)
            return node("view", (below,), tuple(value.shape), value.dtype, None)
        expression = self._values[value.number] = self._nodes.input(value)
        self._given[value.number] = value
        return expression

    def _look(self, value: Any) -> Look | None:
        """What a value shows of another one, where its elements are taken from that."""
        look = look_of(value)
        if look is None or look.whole.layout is not None:
            return None
        if look.is_all:
            is_known = look.whole.number in self._values or self._look(look.whole) is not None
        else:  # a part that is an array as it is taken stays one: wherever it begins
            is_known = self._cuts and (look.begin is None or self._is_made(look.whole))
        return look if is_known else None

    def _is_made(self, value: Any) -> bool:
        """Whether a value shows what a member makes."""
        return value.number in self._made or any(
            look.whole.number in self._made for look in looks(value)
        )


def flat(found: Sequence[Any]) -> list[Any]:
    """Things and those in lists, one after the other, without None."""
    if list not in map(type, found):
        return [each for each in found if each is not None]
    return [each for each in _each(found) if each is not None]


def _each(found: Sequence[Any]) -> Iterator[Any]:
    for one in found:
        yield from one if isinstance(one, list) else [one]


def _below(outputs: Sequence[Expression]) -> dict[int, Expression]:
    nodes: dict[int, Expression] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.serial not in nodes:
            nodes[node.serial] = node
            stack += node.arguments
    return nodes
