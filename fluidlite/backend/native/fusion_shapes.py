"""The kernels of groups of instructions, each made once for all groups alike.

Long programs repeat themselves, and a group is looked at anew with each instruction that joins it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...opdef.view_analysis import Look, looks
from .fusion_groups import Expressions, Nodes, NotFusible, Trace
from .loops import KnownElements
from .source import KernelLoops, KernelSource


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
        for value, kind in values:
            place = self.places.get(value.number)
            if place is None:
                place = self.places[value.number] = len(self.values)
                self.values.append(value)
                self.parts.append(kind)
            self.parts.append(place)


class GroupKernel(NamedTuple):
    """The kernel of a group of instructions."""

    form: GroupForm
    inputs: list[Any]  #: the values that it reads
    loops: KernelLoops
    work: int  #: functions that are not only another look at something
    #: what the members compute, by whether parts are taken in the loops, as far as that was worked
    #: out for them; a group that grows begins with it
    expressions: dict[bool, Expressions]

    @property
    def source(self) -> KernelSource:
        """It in C."""
        return self.loops.source


class GroupKernels:
    """The kernels of groups, each made once.

    Args:
        trace: gives the expressions of an instruction, the same object for instructions alike.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        #: by form the kernel, its inputs as places among the values that the form numbers
        self._made: dict[tuple[int, ...], tuple[list[int], KernelLoops, int] | None] = {}
        self._features: dict[Any, int] = {}  #: numbers of what values and instructions are like
        self._members: dict[Any, tuple[int, list[tuple[Any, int]]]] = {}
        self._uncut: set[Any] = set()  # members that read no parts of values
        # by number of a value: what it shows of others, what it is like, and whether it is no part
        self._seen: dict[int, tuple[Look, ...]] = {}
        self._kinds: dict[int, int] = {}
        self._are_whole: set[int] = set()
        self._nodes = Nodes()
        self._elements: dict[tuple[int, ...], KnownElements] = {}  # by form of loops

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
        key = (*form.parts, -1, *[form.places[value.number] for value in outputs])
        expressions: dict[bool, Expressions] = {}
        if key not in self._made:
            self._made[key] = self._worked_out(members, outputs, form, before, expressions)
        found = self._made[key]
        if found is None:
            return None
        inputs, loops, work = found
        return GroupKernel(form, [form.values[place] for place in inputs], loops, work, expressions)

    def _worked_out(
        self,
        members: Sequence[Any],
        outputs: Sequence[Any],
        form: GroupForm,
        before: GroupKernel | None,
        expressions: dict[bool, Expressions],
    ) -> tuple[list[int], KernelLoops, int] | None:
        """The kernel of instructions, which takes parts of values from these if that fits.

        Args:
            members, outputs, before: as of :meth:`of`.
            form: of the group.
            expressions: takes what the members compute.
        """
        has_parts = not self._uncut.issuperset(members)
        for cuts in (True, False) if has_parts else (False,):
            with suppress(NotFusible):
                group = expressions[cuts] = self._expressions(cuts, members, before)
                inputs, work = group.together(outputs)
                loops = KernelLoops(group.of(inputs), group.of(outputs), self._elements)
                return [form.places[value.number] for value in inputs], loops, work
        return None

    def _expressions(
        self, cuts: bool, members: Sequence[Any], before: GroupKernel | None
    ) -> Expressions:
        """What members compute, of which the first may be worked out."""
        first, count = None, 0
        if before is not None:
            count = before.form.count
            first = before.expressions.get(cuts)
            if first is None and self._uncut.issuperset(members[:count]):
                first = before.expressions.get(not cuts)  # there is nothing to cut
            if first is None:
                first = self._expressions(cuts, members[:count], None)
                before.expressions[cuts] = first
        group = Expressions(self._nodes, cuts, first)
        group.add(members[count:], self._trace)
        return group

    def _looked_at(self, member: Any) -> tuple[int, list[tuple[Any, int]]]:
        """What an instruction is like, and what each value is like that it reads, or that it reads
        another look at, or makes.
        """
        values, wholes, cuts = [], [], []
        for operand in member.operands:
            for value in operand if isinstance(operand, list) else (operand,):
                if value is not None:
                    values.append(value)
                    seen = self._looks(value)
                    wholes += [look.whole for look in seen]
                    cuts.append([(look.starts, look.sizes) for look in seen] if seen else ())
        if self._are_whole.issuperset(value.number for value in values):
            self._uncut.add(member)
        values += [*wholes, *member.results]
        about = (id(self._trace(member)), tuple(member.outs), len(values), repr(cuts))
        return self._feature(about), [(value, self._kind(value)) for value in values]

    def _looks(self, value: Any) -> tuple[Look, ...]:
        """What a value shows of others."""
        known = self._seen.get(value.number)
        if known is None:
            known = self._seen[value.number] = tuple(looks(value))
            if all(look.is_all for look in known):
                self._are_whole.add(value.number)
        return known

    def _kind(self, value: Any) -> int:
        """The number of what a value is like."""
        known = self._kinds.get(value.number)
        if known is None:
            known = self._kinds[value.number] = self._feature(_kind_of(value))
        return known

    def _feature(self, found: Any) -> int:
        return self._features.setdefault(found, len(self._features))


def _kind_of(value: Any) -> Any:
    number = None
    if value.constant is not None and value.size == 1:
        number = repr(value.constant.reshape(()).item())
    return tuple(value.shape), value.stored[0], value.dtype, value.kind, number
