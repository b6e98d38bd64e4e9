"""Gradients that are recorded, to be differentiated again, as one node for a whole graph.

What a sweep through a graph computes is known by the rules of its nodes, by its edges, and by what
the rules read in common.  A sweep through a graph of a structure that is seen often is written out,
as a single rule is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np

from ..backend import numpy_
from .composite import WrittenOut
from .nodes import GradNode
from .noting import Noted
from .pullback import Pullback
from .recorded_rules import noted, records_rules, rule_of
from .recording import TensorRecord, rules
from .straight_line import spec_of
from .sweep import node_of

MOST_NODES = 64  #: of a graph that is written out
_ndarray = np.ndarray
_age = attrgetter("count")
#: a rule, where the cotangents of its inputs go, and the numbers of the arguments that it reads
_Step = tuple[Any, tuple["int | None", ...], tuple["int | None", ...]]
#: what gives the cotangents of a rule's inputs by their places
_Runs = Callable[[Any, Sequence[Any], Any, tuple[bool, ...]], Sequence[tuple[int, Any]]]


def recorded_gradients(
    starts: Sequence[tuple[Any, Any]],
    follow: Collection[GradNode],
    ends: Sequence[Any],
    results: type[TensorRecord],
) -> dict[Any, Any] | None:
    """The recorded cotangents of edges; None where operators are to be recorded one by one.

    Args:
        starts: edges, and the cotangents that come to them.
        follow: the nodes through which cotangents flow.
        ends: the edges whose cotangents are to be found.
        results: the class of tensors that are made.
    """
    if not 0 < len(follow) <= MOST_NODES or results.flat_zeros or not records_rules():
        return None
    nodes = sorted(follow, key=_age, reverse=True)
    slots: dict[Any, int] = {node: k for k, node in enumerate(nodes)}
    for edge in ends:
        node = node_of(edge)
        if node is not None and node.hooks is not None:
            return None
        slots.setdefault(edge, len(slots))
    begins, arguments = list[int](), _Arguments(results)
    for edge, seed in starts:
        if edge in slots:
            begins.append(slots[edge])
            arguments.values.append(seed)
        elif node_of(edge) in follow:
            return None
    steps: list[_Step] = []
    for node in nodes:
        read = arguments.of(node)
        if read is None:
            return None
        goals = []
        for edge in node.edges:
            if type(edge) is tuple:
                return None
            goals.append(None if edge is None else slots.get(edge))
        steps.append((node.how, tuple(goals), read))
    sweep = _Sweep(begins, steps, [slots[edge] for edge in ends])
    values = arguments.values

    def noting(line: Noted, stands: Sequence[Any]) -> list[tuple[int, Any]]:
        return sweep.noted(line, stands, values)

    def again(tensors: Sequence[Any]) -> list[tuple[int, Any]]:
        return sweep.run(tensors, results)

    known = nodes[0].how.recorded_rules
    rule = rule_of(known, (results, *sweep.key, *map(_form, values)), "grad", noting, values)
    if rule is None:
        return None
    try:
        pairs = rule.call(values, again, results)
    except Exception:  # the operators say what is wrong
        return None
    return {ends[place]: flow for place, flow in pairs}


class _Arguments:
    """What the rules of a graph read, each once.

    Args:
        results: the class of tensors that are made.
    """

    def __init__(self, results: type[TensorRecord]) -> None:
        self.values: list[Any] = []
        self._results = results
        self._numbers: dict[tuple[int, int], int] = {}

    def of(self, node: GradNode) -> tuple[int | None, ...] | None:
        """The numbers of what a rule reads, in its order; None where this cannot be told."""
        how, edges = node.how, node.edges
        if edges is None or node.hooks is not None:
            return None
        if type(how) is WrittenOut:
            tensors, _, versions, _ = node.saved
            if any(t.version != version for t, version in zip(tensors, versions)):
                return None
            return tuple([self._number(t, t.array, edge, t) for t, edge in zip(tensors, edges)])
        if type(how) is not Pullback or not how.single:
            return None
        numbers: list[int | None] = []
        versions = node.versions or repeat(0)
        for (place, form), saved, version in zip(how.keeps, node.saved, versions):
            if form is not None:
                continue
            if isinstance(saved, TensorRecord):
                if saved.version != version:
                    return None
                array = saved.array
                numbers.append(self._number(saved, array, edges[place], array))
            elif saved is None:
                numbers.append(None)
            elif type(saved) is _ndarray:
                numbers.append(self._number(None, saved, None, saved))
            else:
                return None
        if how.keeps_out:
            if type(node.out) is not _ndarray:
                return None
            numbers.append(self._number(None, node.out, node, None))
        return tuple(numbers)

    def _number(self, tensor: Any, array: Any, edge: Any, constant: Any) -> int:
        """The number of a value: a tensor or, where nothing flows through it, a constant."""
        key = (id(constant), 0) if edge is None else (id(array), id(edge))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.values)
            if edge is None:
                self.values.append(constant)
            elif edge is tensor:
                self.values.append(tensor)
            else:
                self.values.append(self._results(array, edge, False))
        return number


class _Sweep:
    """A sweep through a graph, apart from the tensors in it.

    Args:
        begins: the slots of the cotangents that come.
        steps: the rules, whose numbers are the slots of their results' cotangents.
        ends: the slots of the cotangents to be found.
    """

    __slots__ = ("begins", "ends", "steps")

    def __init__(self, begins: Sequence[int], steps: Sequence[_Step], ends: Sequence[int]) -> None:
        self.begins = tuple(begins)
        self.steps = tuple(steps)
        self.ends = tuple(ends)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for sweeps that compute the same of their arguments."""
        return self.begins, self.steps, self.ends

    def noted(
        self, line: Noted, values: Sequence[Any], arguments: Sequence[Any]
    ) -> list[tuple[int, Any]]:
        """Pairs of an end's number and its cotangent.

        Args:
            line: takes what the rules apply.
            values: stand for the arguments.
            arguments: what the rules read, the cotangents that come at first.
        """
        like = {id(v): a for v, a in zip(values, arguments)}

        def runs(how: Any, read: Sequence[Any], flow: Any, take: Any) -> Sequence[tuple[int, Any]]:
            if type(how) is WrittenOut:
                return how.noted(line, read, [like[id(v)] for v in read], flow, take)
            rest = iter(read)
            saved = [
                next(rest) if form is None else line.value(spec_of(form), "form")
                for _, form in how.keeps
            ]
            form = how.outs[how.op.outputs[0].name]
            out = next(rest) if how.keeps_out else line.value(spec_of(form), "form")
            return noted(line, how, saved, out, flow, take)

        def add(a: Any, b: Any) -> Any:
            return line.combine("__add__", "elementwise_add", a, b, False)

        return self._swept(values, runs, add)

    def run(self, arguments: Sequence[Any], results: type[TensorRecord]) -> list[tuple[int, Any]]:
        """The same by operators on tensors."""

        def runs(how: Any, read: Sequence[Any], flow: Any, take: Any) -> Sequence[tuple[int, Any]]:
            if type(how) is WrittenOut:
                return how.again(read, flow, take, results)
            rest = iter(read)
            saved = [next(rest) if form is None else form for _, form in how.keeps]
            out = next(rest) if how.keeps_out else None
            pairs = how.gradients(rules, saved, out, flow, take)
            return [(place, _settled(part, results)) for place, part in pairs]

        return self._swept(arguments, runs, rules.elementwise_add)

    def _swept(
        self, arguments: Sequence[Any], runs: _Runs, add: Callable[[Any, Any], Any]
    ) -> list[tuple[int, Any]]:
        flows: dict[int, Any] = {}

        def deliver(slot: int, flow: Any) -> None:
            old = flows.get(slot)
            flows[slot] = flow if old is None else add(old, flow)

        for slot, seed in zip(self.begins, arguments):
            deliver(slot, seed)
        for slot, (how, goals, reads) in enumerate(self.steps):
            if slot not in flows:
                continue
            take = tuple([goal is not None for goal in goals])
            read = [None if k is None else arguments[k] for k in reads]
            for place, part in runs(how, read, flows[slot], take):
                goal = goals[place]
                if goal is not None and part is not None:
                    deliver(goal, part)
        return [(k, flows[slot]) for k, slot in enumerate(self.ends) if slot in flows]


def _settled(flow: Any, results: type[TensorRecord]) -> Any:
    """What a rule gave as a tensor."""
    return flow if isinstance(flow, TensorRecord) else results(numpy_.asarray(flow))


def _form(argument: Any) -> tuple[Any, ...]:
    """What a rule depends on of an argument."""
    if isinstance(argument, TensorRecord):
        return argument.array.shape, argument.array.dtype, argument.stop
    return argument.shape, argument.dtype
