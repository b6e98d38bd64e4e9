"""Element-wise fusion: chains and trees of instructions that work element by element are one loop.

A group may reduce along rows, over rows or over everything; what its loops cannot hold starts
another group.  Instructions keep an order in which each value is made before it is read: a group
stands where the last of what it reads has been made, and before the first that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ...opdef.prepared import KernelLibrary
from ..graph import Graph, Instruction
from ..value import Value
from . import kept_groups
from .form import Context, Pass
from .fusion_members import MemberRules, is_numpys, joins
from .shown_elements import ShownElements, is_used, shows

MOST = 48  #: instructions of one group
LARGE = 1 << 16  #: work from which on a loop in place of two is worth compiling
#: instructions of a graph that is looked at: looking takes as long as all other passes together
LONGEST = 10_000


def fuse_elementwise(graph: Graph, context: Context) -> bool:
    """Fuse what works element by element, where a library generates kernels.

    Rounding: sums are taken in another order, and elementary functions have other approximations,
    to a few units in the last place.
    """
    library = next((each for each in context.libraries if each.most_arrays), None)
    if library is None or len(graph) > LONGEST:
        return False
    return _Fusion(graph, context, library).run()


@dataclass(eq=False)
class _Group:
    """Instructions that are to be one, in order."""

    members: list[Instruction]
    place: float
    made: Any = None  #: what they compute together, as the library says; None for one that was kept
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    source: Any = None  #: of its kernel, where it pays
    kept: kept_groups.KeptGroup | None = None  #: how it was kept
    makers: set[Instruction | None] = field(default_factory=set)  #: of what members read


class _Fusion:
    def __init__(self, graph: Graph, context: Context, library: KernelLibrary) -> None:
        self._graph, self._context, self._library = graph, context, library
        self._numbers: dict[Instruction, int] = {}
        self._places: dict[Instruction, float] = {}
        self._groups: dict[Instruction, _Group] = {}
        self._views = ShownElements()
        self._members = MemberRules(context, library)

    def run(self) -> bool:
        order = list(self._graph)
        self._numbers = {instruction: k for k, instruction in enumerate(order)}
        self._places = {instruction: float(k) for k, instruction in enumerate(order)}
        key = self._key(order)
        self._group(order, key)
        all_groups = list(dict.fromkeys(self._groups.values()))
        groups = [group for group in all_groups if self._pays(group)]
        specs = [[v.stored for v in group.outputs] for group in groups]
        sources = [group.source for group in groups]
        teams = (library.team for library in self._context.libraries)
        team = next((team for team in teams if team is not None), None)
        kernels = self._library.kernels(sources, specs, team)
        if key and any(group.kept is None for group in all_groups):
            self._keep(key, order, all_groups)
        fused = [(g, kernel) for g, kernel in zip(groups, kernels) if kernel is not None]
        for group, kernel in fused:
            self._replace(group, kernel)
        if fused:
            self._graph.reorder(sorted(self._graph, key=self._position))
        return bool(fused)

    def _key(self, order: Sequence[Instruction]) -> str:
        """The key by which groups of instructions are kept; empty where they are not."""
        library = self._library
        if len(order) < kept_groups.FEWEST or not library.remembers:
            return ""
        if kept_groups.has_users_code(order):
            return ""
        return kept_groups.key_of(order, self._context.composed, library.most_arrays, MOST)

    def _group(self, order: Sequence[Instruction], key: str) -> None:
        """Put instructions into groups: those that were found for the same before, or by trying."""
        if key and self._takes(order, key):
            return
        for instruction in order:
            if self._members.fits(instruction):
                self._add(instruction)
        self._join_what_is_cut()

    def _keep(self, key: str, order: Sequence[Instruction], groups: Iterable[_Group]) -> None:
        """Keep groups, and what their kernels are found by."""
        numbers = {v.number: k for k, v in enumerate(kept_groups.values_read(order))}
        notes = []
        described: dict[Any, Any] = {}  # by source: layers repeat themselves
        for group in groups:
            made = [value for member in group.members for value in member.results]
            places = {value.number: k for k, value in enumerate(made)}
            members = [self._numbers[each] for each in group.members]
            note = group.kept or kept_groups.KeptGroup(group.place, members, self._pays(group))
            if note.pays and note.kernel is None:
                if group.source not in described:
                    described[group.source] = self._library.as_kept(group.source)
                note = note._replace(
                    kernel=described[group.source],
                    inputs=[numbers[value.number] for value in group.inputs],
                    outputs=[places[value.number] for value in group.outputs],
                )
            notes.append(note)
        text = kept_groups.as_text(notes)
        if text != self._library.recalled(key):
            self._library.remember(key, text)

    def _takes(self, order: Sequence[Instruction], key: str) -> bool:
        """Take groups that were kept, if they are groups here."""
        values = kept_groups.values_read(order)
        groups = kept_groups.from_text(self._library.recalled(key), len(order), len(values))
        for note in () if groups is None else groups:
            members = [order[number] for number in note.members]
            group, inside = _Group(members, note.place), set(members)
            results = [value for member in members for value in member.results]
            group.outputs = self._views.read_outside(results, inside)
            if len(members) > MOST or not all(map(self._members.may_join, members)):
                break
            if not (self._is_as_kept(group, note, results, values) or self._is_group(group)):
                break
            group.makers = self._makers_of(members)
            self._put(group)
        else:
            if groups is None:
                return False
            groups_now = dict.fromkeys(self._groups.values())
            bounds = [(g.place, self._bounds(g, set(g.members))) for g in groups_now]
            if all(found and found[0] < place < found[1] for place, found in bounds):
                return True
        self._groups.clear()
        self._places = {instruction: float(k) for instruction, k in self._numbers.items()}
        return False

    def _is_as_kept(
        self,
        group: _Group,
        kept: kept_groups.KeptGroup,
        made: Sequence[Value],
        values: Sequence[Value],
    ) -> bool:
        """Whether a group needs no kernel, or has the one that was kept."""
        places = {value.number: k for k, value in enumerate(made)}
        if kept.pays:
            if [places[value.number] for value in group.outputs] != kept.outputs:
                return False
            group.inputs = [values[k] for k in kept.inputs]
            read = {value for member in group.members for value in member.inputs}
            if not set(map(self._views.source, read)).issuperset(
                map(self._views.source, group.inputs)
            ):
                return False
            source = None if kept.kernel is None else self._library.kept(kept.kernel)
            if source is None or source.inputs != len(group.inputs):
                return False
            group.source = source
        group.kept = kept
        return True

    def _is_group(self, group: _Group) -> bool:
        """Whether the library has a kernel for the members of a group."""
        if all(self._library.trace(member) is not None for member in group.members):
            group.made = self._library.group(group.members, group.outputs)
        group.inputs = [] if group.made is None else group.made.inputs
        return group.made is not None

    def _position(self, instruction: Instruction) -> tuple[float, int]:
        """Where an instruction goes: what shows elements of a value behind what makes that, and
        those of a group that has no kernel in the order that they had.
        """
        at = instruction
        while shows(at):
            maker = at.inputs[0].producer
            if maker is None or maker.graph is not self._graph:
                return -1.0, self._numbers[instruction]
            at = maker
        return self._places[at], self._numbers.get(instruction, -1)

    # -- groups ------------------------------------------------------------------------------------

    def _add(self, instruction: Instruction) -> None:
        """Put an instruction into the groups that make what it reads, or read what it reads, or
        into one of its own.  What only puts values together goes where these are made.
        """
        before = self._makers(instruction)
        if joins(instruction):
            makers = [self._views.source(value).producer for value in instruction.inputs]
            early = instruction.is_backward and not all(m and m.is_backward for m in makers)
            if all(maker in self._groups for maker in makers) and not early:
                self._put(self._merged(list(before), [instruction]))
            return
        choices: list[list[_Group]] = [list(before)] if len(before) > 1 else []
        # one that leaves more arrays to be read than a kernel takes need not be tried
        read = [v for v in instruction.inputs if v.constant is None or v.size > 1]
        arrays = set(map(self._views.source, read))
        fewest = len(arrays) - self._library.most_arrays
        choices += [[group] for group, made in reversed(before.items()) if made > fewest]
        choices += [[group] for group in self._readers(instruction) if group not in before]
        for groups in [*choices, []]:
            if self._put(self._merged(groups, [instruction])):
                return

    def _put(self, merged: _Group | None) -> bool:
        """Let instructions be of a group, if there is one."""
        for member in () if merged is None else merged.members:
            assert merged is not None
            self._groups[member] = merged
            self._places[member] = merged.place
        return merged is not None

    def _join_what_is_cut(self) -> None:
        """Let groups that read parts of a value make it, where nothing else reads it: not before
        all its parts are read in one group do the parts alone make a loop.
        """
        for reader in dict.fromkeys(self._groups.values()):
            for value in reader.inputs:
                group, source = self._groups[reader.members[0]], value.producer
                maker = None if source is None else self._groups.get(source)
                if maker is None or maker is group:
                    continue
                if not self._views.read_outside([value], {*maker.members, *group.members}):
                    self._put(self._merged([maker, group], []))

    def _makers(self, instruction: Instruction) -> dict[_Group, int]:
        """The groups that make what an instruction reads, and how many of the values each makes."""
        counts: dict[_Group, int] = {}
        for value in dict.fromkeys(map(self._views.source, instruction.inputs)):
            if value.producer in self._groups:
                group = self._groups[value.producer]
                counts[group] = counts.get(group, 0) + 1
        return counts

    def _readers(self, instruction: Instruction) -> list[_Group]:
        groups: dict[_Group, None] = {}
        for value in instruction.inputs:
            for user in reversed(list(islice(reversed(value.users), 8))):
                if user in self._groups and value.constant is None:
                    groups[self._groups[user]] = None
        return list(groups)[-2:]

    def _merged(self, groups: Sequence[_Group], more: Sequence[Instruction]) -> _Group | None:
        """A group of the members of some and further ones; None where they do not fit."""
        groups = sorted(groups, key=lambda group: group.place)
        members = [member for group in groups for member in group.members]
        members += more
        firsts = (*(group.members[0] for group in groups), *more)
        if len(members) > MOST or len(set(map(self._members.repeats, firsts))) > 1:
            return None
        group = _Group(members, 0.0)
        made = [value for each in groups for value in each.outputs]
        made += [value for each in more for value in each.results]
        inside = set(members)
        group.outputs = self._views.read_outside(made, inside)
        before = groups[0].made if groups else None
        group.made = self._library.group(members, group.outputs, before)
        if group.made is None:
            return None
        group.inputs = group.made.inputs
        group.makers = self._makers_of(more).union(*(each.makers for each in groups))
        bounds = self._bounds(group, inside)
        if bounds is None:
            return None
        first, last = bounds
        group.place = (first + min(last, first + 1)) / 2
        return group

    def _makers_of(self, members: Iterable[Instruction]) -> set[Instruction | None]:
        """What makes what members read, also what a kernel does without: there may be none."""
        source = self._views.source
        return {source(value).producer for member in members for value in member.inputs}

    def _bounds(self, group: _Group, inside: set[Instruction]) -> tuple[float, float] | None:
        """Between which places a group may stand; None where there is no place."""
        source, places = self._views.source, self._places
        if not inside.isdisjoint(source(value).producer for value in group.inputs):
            return None  # it would read what it makes
        makers = group.makers - inside
        first = max([places[m] for m in makers if m is not None and m in places], default=-1.0)
        readers = {user for value in group.outputs for user in self._views.readers(value)}
        last = min([places[u] for u in readers - inside if u in places], default=first + 1)
        return (first, last) if first < (first + min(last, first + 1)) / 2 < last else None

    def _pays(self, group: _Group) -> bool:
        """Whether one loop is better than the instructions by themselves; it then has a source."""
        if group.kept is None and group.source is None and self._is_better(group):
            group.source = group.made.source
        return group.source is not None

    @staticmethod
    def _is_better(group: _Group) -> bool:
        """Whether the loop of a group is better than its instructions by themselves."""
        if len(group.members) > 1:
            return True
        (alone,) = group.members
        if any(v.layout for v in alone.results) and not is_numpys(alone):
            return False  # a library has a kernel for values as it lays them out
        work = group.made.work
        return bool(work > 2 or (work > 1 and group.made.source.work >= LARGE))

    # -- rewriting ---------------------------------------------------------------------------------

    def _replace(self, group: _Group, kernel: Any) -> None:
        """One instruction in place of a group."""
        last = group.members[-1]
        slots = tuple(f"In{k}" for k in range(len(group.inputs)))
        fused = Instruction(last.op, slots, list(group.inputs), {}, last.origin)
        fused.kernel, fused.library = kernel, self._library.name
        fused.variant = f" and {len(group.members) - 1} more" if len(group.members) > 1 else ""
        self._graph.insert(fused, last)
        read = [value for member in group.members for value in member.inputs]
        for member in group.members:
            for value in member.inputs:
                value.users.pop(member, None)
            member.set_outs({})
        for value in read:
            self._drop_views(value)
        for member in reversed(group.members):
            self._graph.erase(member)
        fused.set_outs({f"Out{k}": value for k, value in enumerate(group.outputs)})
        self._places[fused] = group.place
        self._context.choices[fused] = f"{self._library.name}, {len(group.members)} instructions"

    def _drop_views(self, value: Value) -> None:
        """Take out what shows a value, and others through which it does, where nothing reads it."""
        maker = value.producer
        while maker is not None and maker.graph is self._graph and shows(maker):
            if any(map(is_used, maker.results)):
                return
            self._graph.erase(maker)
            maker = maker.inputs[0].producer


ELEMENTWISE_FUSION = Pass("elementwise_fusion", fuse_elementwise, exact=False)
