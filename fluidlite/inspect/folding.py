"""What of a large program is shown as one: roles, name scopes, layers, and layers that repeat."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .graph import ROLES, ProgramGraph, forward_name

VISIBLE = 300  #: nodes of a picture that opens unfolded
_LONGEST_PERIOD = 64  # operators or groups in a part that repeats
_REPEATED = 3  # times, at least
_TRAILING_NUMBER = re.compile(r"[_\d]+\Z")

Item: TypeAlias = "int | Group"
Path: TypeAlias = tuple[tuple[str, str], ...]  # kinds and labels, from the outside in


@dataclass(eq=False)
class Group:
    """Operators that belong together.

    Kinds: "program", "role", "scope" (a name scope), "layer", "repeat", "pass" (one time of what
    repeats), "block" (an operator that drives a block, and what is in it).
    """

    label: str
    kind: str
    role: str = ""
    children: list[Item] = field(default_factory=list)
    parent: Group | None = None
    number: int = 0

    @property
    def is_box(self) -> bool:
        """Whether an unfolded group is drawn as a box; else its children stand for themselves."""
        return self.kind in ("scope", "repeat", "pass", "block")

    def ops(self) -> Iterator[int]:
        """The numbers of all operators inside."""
        stack: list[Item] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, Group):
                stack.extend(reversed(item.children))
            else:
                yield item


class Folding:
    """The groups of a program.

    Args:
        graph: the program.
        visible: how many nodes may be seen at first.
    """

    def __init__(self, graph: ProgramGraph, visible: int = VISIBLE) -> None:
        self.graph = graph
        self._paths: dict[int, Path] = {}  # of forward operators
        self._inner: dict[int, Group] = {}  # an operator that drives blocks -> its group
        self._driving = set(graph.driver_of.values())
        root = Group("program", "program")
        drivers: dict[int, list[int]] = {}
        for index, number in graph.driver_of.items():
            drivers.setdefault(number, []).append(index)
        # blocks inside others come later: they are ready when what is around them is made
        for block in reversed(graph.program.blocks):
            folded = root if block.idx == 0 else Group(f"block {block.idx}", "block")
            self._fill(folded, block.idx)
            if block.idx == 0:
                continue
            driver = graph.driver_of.get(block.idx)
            if driver is None:
                folded.label = f"block {block.idx}, which no operator drives"
                root.children.append(folded)
                continue
            group = self._inner.get(driver)
            if group is None:
                op = graph.ops[driver]
                group = Group(op.type, "block", graph.roles[driver], [driver])
                self._inner[driver] = group
            group.label = f"{graph.ops[driver].type} ({', '.join(map(_block, drivers[driver]))})"
            group.children += folded.children
        self.root = root
        self._put_inner(root)
        self.groups: list[Group] = []
        self._finish()
        self.open: set[int] = self._opened(visible)

    # -- making ------------------------------------------------------------------------------------

    def _fill(self, root: Group, index: int) -> None:
        """Put the operators of a block into a tree of roles, name scopes and layers."""
        graph = self.graph
        numbers = graph.numbers_of(graph.program.blocks[index])
        by_role = index == 0 and len({graph.roles[n] for n in numbers}) > 1
        groups: dict[tuple[object, ...], Group] = {}
        before: Path = ()
        run = 0  # a layer is made of operators in a row
        for number in numbers:
            path = self._path(number, before)
            run += path != before
            before = path
            role = graph.roles[number]
            if by_role:
                path = (("role", role), *path)
            here = root
            for depth in range(len(path)):
                kind, label = path[depth]
                key = (*path[: depth + 1], role, run if kind == "layer" else 0)
                there = groups.get(key)
                if there is None:
                    there = groups[key] = Group(label, kind, role)
                    here.children.append(there)
                here = there
            here.children.append(number)
        if by_role:
            order = {role: k for k, role in enumerate(ROLES)}
            root.children.sort(key=lambda g: order[g.role] if isinstance(g, Group) else -1)

    def _path(self, number: int, before: Path) -> Path:
        """The groups that an operator belongs to, from the outside in."""
        graph = self.graph
        op = graph.ops[number]
        role = graph.roles[number]
        if role == "backward":
            path = self._backward_path(number, before)
        else:
            path = tuple(("scope", part) for part in op.namescope.split("/") if part)
            if role == "forward" and number not in self._driving:
                stem = _stem(next((name for _, name in graph.names(op, "outputs")), ""))
                path += (("layer", stem),) if stem else ()
        self._paths[number] = path
        return path

    def _backward_path(self, number: int, before: Path) -> Path:
        """That of the forward operator; a sum of gradients stands with what made the variable."""
        graph = self.graph
        forward = graph.forward_of.get(number)
        if forward is None:
            op = graph.ops[number]
            for _, name in graph.names(op, "outputs"):
                variable = graph.variable_number(op.block, forward_name(name) or name)
                writers = [] if variable is None else graph.variables[variable].writers
                if writers and graph.roles[writers[0]] == "forward":
                    forward = writers[0]
                    break
        path = None if forward is None else self._paths.get(forward)
        if number in self._driving and path is not None:
            return tuple(part for part in path if part[0] != "layer")
        return before if path is None else path

    def _put_inner(self, root: Group) -> None:
        """Put what an operator drives where the operator stands."""
        stack = [root]
        while stack:
            group = stack.pop()
            is_own = group in self._inner.values()
            group.children = [
                self._inner.get(child, child)
                if not isinstance(child, Group) and not (is_own and k == 0)
                else child
                for k, child in enumerate(group.children)
            ]
            stack += [child for child in group.children if isinstance(child, Group)]

    def _finish(self) -> None:
        """Leave out groups of one, find what repeats, and number the groups."""
        order: list[Group] = []
        stack = [self.root]
        while stack:
            group = stack.pop()
            order.append(group)
            stack += [child for child in group.children if isinstance(child, Group)]
        looks: dict[object, int] = {}
        for group in reversed(order):
            group.children = [_only_child(child) for child in group.children]
            marks = [looks.setdefault(self._look(item), len(looks)) for item in group.children]
            group.children = self._repeats(group, marks)
        stack = [self.root]
        while stack:
            group = stack.pop()
            group.number = len(self.groups)
            self.groups.append(group)
            inner = [child for child in group.children if isinstance(child, Group)]
            for child in inner:
                child.parent = group
            stack += reversed(inner)

    def _look(self, item: Item) -> object:
        """Equal for items that look alike: of the same kind, with as many operators of each
        type.
        """
        if not isinstance(item, Group):
            return self.graph.ops[item].type
        counts = Counter(self.graph.ops[n].type for n in item.ops())
        return (item.kind, *sorted(counts.items()))

    def _repeats(self, group: Group, marks: Sequence[int]) -> list[Item]:
        """The children of a group with those that repeat put together.

        Args:
            group: whose children.
            marks: equal for children that look alike.
        """
        children = group.children
        count = len(children)
        best: list[tuple[int, int]] = [(0, 0)] * count  # at a position: period, and times
        for period in range(1, min(_LONGEST_PERIOD, count // _REPEATED) + 1):
            run = 0
            for start in range(count - period - 1, -1, -1):
                run = run + 1 if marks[start] == marks[start + period] else 0
                times = run // period + 1
                if times >= _REPEATED and times * period > best[start][0] * best[start][1]:
                    best[start] = (period, times)
        items: list[Item] = []
        start = 0
        while start < count:
            period, times = best[start]
            if not times:
                items.append(children[start])
                start += 1
                continue
            items.append(self._repeat(children[start : start + period * times], period))
            start += period * times
        return items

    def _repeat(self, children: list[Item], period: int) -> Group:
        times = len(children) // period
        first = children[0]
        role = first.role if isinstance(first, Group) else self.graph.roles[first]
        what = ", ".join(self._name(item) for item in children[: min(period, 3)])
        label = f"{times} \u00d7 {what}{', ...' if period > 3 else ''}"
        if period == 1:
            return Group(label, "repeat", role, children)
        passes: list[Item] = [
            Group(f"{k + 1} of {times}", "pass", role, children[k * period : (k + 1) * period])
            for k in range(times)
        ]
        return Group(label, "repeat", role, passes)

    def _name(self, item: Item) -> str:
        if isinstance(item, Group):
            return _TRAILING_NUMBER.sub("", item.label) or item.label
        return self.graph.ops[item].type

    # -- what is seen ------------------------------------------------------------------------------

    def _opened(self, visible: int) -> set[int]:
        """The numbers of the groups that are unfolded at first: as many as fit, outer ones first.
        What repeats stays folded.
        """
        count = len(self.root.children)
        if count > visible:
            return set()
        opened = {0}
        waiting = deque(self._inside(self.root))
        while waiting:
            group = waiting.popleft()
            if group.kind == "repeat" or count - 1 + len(group.children) > visible:
                continue
            count += len(group.children) - 1
            opened.add(group.number)
            waiting.extend(self._inside(group))
        return opened

    def _inside(self, group: Group) -> Iterator[Group]:
        return (child for child in group.children if isinstance(child, Group))

    def items(self, open: Iterable[int] | None = None) -> list[Item]:
        """What is seen when the groups of these numbers are unfolded, in the order of the text;
        what is at first when None.
        """
        unfolded = self.open if open is None else set(open)
        shown: list[Item] = []
        stack: list[Item] = [self.root]
        while stack:
            item = stack.pop()
            if isinstance(item, Group) and item.number in unfolded:
                stack.extend(reversed(item.children))
            else:
                shown.append(item)
        return shown


def _block(index: int) -> str:
    return f"block {index}"


def _stem(name: str) -> str:
    """The layer that a variable is called after.

    >>> _stem("fc_0.tmp_1"), _stem("tmp_3"), _stem("x")
    ('fc_0', '', '')
    """
    stem, mark, _ = name.rpartition(".")
    return stem if mark else ""


def _only_child(item: Item) -> Item:
    """What a group of one holds, else the item itself."""
    while isinstance(item, Group) and len(item.children) == 1 and item.kind != "role":
        item = item.children[0]
    return item
