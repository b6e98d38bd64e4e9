"""The expressions of a group of instructions, of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from .index_maps import Misfit
from .source import KernelSource, kernel_source
from .symbols import Expression
from .tracing import TracedResults, is_plain

__all__ = ["GroupKernel", "GroupKernels", "Misfit"]
MOST_ARRAYS, MOST_EXPRESSIONS = 40, 300

Trace = Callable[[Any], TracedResults | None]


class GroupForm:
    """All that decides the kernel of a group, and the values that it numbers: what each member is
    like, which values it reads and makes, and what these are like.
    """

    def __init__(self, before: GroupForm | None = None) -> None:
        self.count: int = 0 if before is None else before.count  #: of members
        self.parts: list[int] = [] if before is None else before.parts[:]
        self.values: list[Any] = [] if before is None else before.values[:]
        self.places: dict[int, int] = {} if before is None else before.places.copy()

    def add(self, feature: int, values: Sequence[tuple[Any, int]]) -> None:
        """Add a member: what it is like, its values, and what each of these is like."""
        self.count += 1
        self.parts.append(feature)
        for value, feature in values:
            place = self.places.get(value.number)
            if place is None:
                place = self.places[value.number] = len(self.values)
                self.values.append(value)
                self.parts.append(feature)
            self.parts.append(place)


class GroupKernel(NamedTuple):
    """The kernel of a group of instructions."""

    form: GroupForm
    inputs: list[Any]  #: the values that it reads
    source: KernelSource
    work: int  #: functions that are not only another look at something


class GroupKernels:
    """The kernels of groups, each made once: long programs repeat themselves, and a group is made
    anew with each instruction that joins it.

    Args:
        trace: gives the expressions of an instruction, the same object for instructions alike.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        #: by form the kernel, its inputs as places among the values that the form numbers
        self._made: dict[tuple[int, ...], tuple[list[int], KernelSource, int] | None] = {}
        self._features: dict[Any, int] = {}  #: numbers of what values and instructions are like
        self._members: dict[Any, tuple[int, list[tuple[Any, int]]]] = {}

    def of(
        self, members: Sequence[Any], outputs: Sequence[Any], before: GroupKernel | None = None
    ) -> GroupKernel | None:
        """What instructions compute together; None where that is not one loop.

        Args:
            members: the instructions, in order.
            outputs: the values that the kernel is to make.
            before: the kernel of the first of them, where that is known.
        """
        form = GroupForm(before and before.form)
        for member in members[form.count :]:
            known = self._members.get(member)
            if known is None:
                known = self._members[member] = self._looked_at(member)
            form.add(*known)
        key = (*form.parts, -1, *(form.places[value.number] for value in outputs))
        if key not in self._made:
            try:
                made = Expressions(self._trace, members, outputs)
            except Misfit:
                self._made[key] = None
            else:
                inputs = [form.places[value.number] for value in made.inputs]
                self._made[key] = inputs, made.source, made.work
        found = self._made[key]
        if found is None:
            return None
        inputs, source, work = found
        return GroupKernel(form, [form.values[place] for place in inputs], source, work)

    def _looked_at(self, member: Any) -> tuple[int, list[tuple[Any, int]]]:
        """What an instruction is like, and what each value is like that it reads, or that it reads
        another look at, or makes.
        """
        trace = self._trace(member)
        operands = [each if isinstance(each, list) else [each] for each in member.operands]
        chains = [[list(_seen_through(value)) for value in each] for each in operands]
        lengths = tuple(tuple(map(len, each)) for each in chains)
        values = [v for each in chains for chain in each for v in chain] + member.results
        feature = self._feature((id(trace), lengths, tuple(member.outs), len(values)))
        return feature, [(value, self._feature(_kind_of(value))) for value in values]

    def _feature(self, found: Any) -> int:
        return self._features.setdefault(found, len(self._features))


def _seen_through(value: Any) -> Iterator[Any]:
    """A value, and what it is another look at, step by step; nothing for None."""
    while value is not None:
        yield value
        maker = value.producer
        is_view = maker is not None and maker.op.reshapes() and maker.results[0] is value
        value = maker.inputs[0] if is_view else None


def _kind_of(value: Any) -> Any:
    number = None
    if value.constant is not None and value.size == 1:
        number = repr(value.constant.reshape(()).item())
    return tuple(value.shape), value.stored[0], str(value.dtype), value.kind, number


class Expressions:
    """What a group of instructions computes, as one kernel.

    Args:
        trace: gives the expressions of an instruction.
        members: the instructions, in order.
        outputs: the values that the kernel is to make.

    Raises:
        Misfit: they do not fit into one loop.
    """

    def __init__(
        self,
        trace: Trace,
        members: Sequence[Any],
        outputs: Sequence[Any],
    ) -> None:
        self._values: dict[int, Expression] = {}
        self._given: dict[int, tuple[Any, Expression]] = {}
        self._same: dict[Any, Expression] = {}
        self._shared: dict[int, Expression] = {}
        for member in members:
            found = trace(member)
            if found is None:
                raise Misfit
            self._add(member, found)
        made = [self._values[value.number] for value in outputs]
        used = _below(made)
        given = [(value, node) for value, node in self._given.values() if node.serial in used]
        if not made or len(made) + len(given) > MOST_ARRAYS or len(set(made)) < len(made):
            raise Misfit
        if len(used) > MOST_EXPRESSIONS:
            raise Misfit
        self.inputs = [value for value, _ in given]
        nodes = [used[s] for s in used]
        #: functions that are not only another look at something
        self.work = sum(
            n.function not in ("input", "number", "view", "stretch", "cast", "index") for n in nodes
        )
        self.source = kernel_source([node for _, node in given], made)

    def _add(self, member: Any, trace: TracedResults) -> None:
        known: dict[int, Expression] = {}
        for operand, node in zip(member.operands, trace.operands, strict=True):
            pairs = zip(operand, node) if isinstance(operand, list) else [(operand, node)]
            for value, inner in pairs:
                if value is not None:
                    known[inner.serial] = self._seen(self._of(value), inner.shape)
        for slot, value in member.outs.items():
            results = trace.results[slot]
            pairs = zip(value, results) if isinstance(value, list) else [(value, results)]
            for each, node in pairs:
                made = self._copied(node, known)
                lying = tuple(each.stored[0])
                self._values[each.number] = self._seen(made, lying)

    def _seen(self, node: Expression, shape: Any) -> Expression:
        """An expression in another shape."""
        return node if node.shape == shape else self._node("view", (node,), shape, node.dtype, None)

    def _of(self, value: Any) -> Expression:
        """The expression of a value that a member reads."""
        found = self._values.get(value.number)
        if found is not None:
            return found
        if value.constant is not None and value.size == 1:
            data = value.constant.reshape(()).item()
            return self._node("number", (), tuple(value.shape), value.dtype, data)
        maker = value.producer
        if maker is not None and maker.op.reshapes() and maker.results[0] is value:
            inner = maker.inputs[0]
            if inner.number in self._values or (
                inner.producer is not None and inner.producer.op.reshapes()
            ):
                below = self._of(inner)
                return self._node("view", (below,), tuple(value.shape), value.dtype, None)
        if not is_plain(value.spec):
            raise Misfit
        node = Expression("input", (), tuple(value.stored[0]), value.dtype)
        self._values[value.number] = node
        self._given[value.number] = value, node
        return node

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
    found: dict[int, Expression] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.serial not in found:
            found[node.serial] = node
            stack += node.arguments
    return found


def elements(shape: Sequence[int]) -> int:
    """How many elements there are in a shape."""
    return prod(shape)
