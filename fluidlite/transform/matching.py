"""Finding a pattern in a block: which operators and values stand for its nodes and operands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from ..ir.operator import EMPTY
from ..opdef.definition import lookup
from .block_values import BlockValues, Slots, Spelt, Value
from .matches import Match, spec_finder
from .patterns import PatternNode, Variant
from .spellings import (
    commutes,
    element_count,
    meet_at_ends,
    readings,
    reads_one_way,
    same_attribute,
)

MOST_READERS = 64  #: of a value, that are tried for another result of a pattern


class Mismatch(NamedTuple):
    """Why a pattern does not match."""

    depth: int  #: how many operators matched before
    reason: Callable[[], str]


#: a value of the pattern and one of the block that has to be it; or a node and a position
Goal: TypeAlias = tuple[Any, Any]
Goals: TypeAlias = "tuple[Goal, Goals] | None"  #: in a linked list, which alternatives share


def _pairs(
    node: PatternNode, inputs: Slots, outputs: Slots
) -> list[tuple[str, Value | None]] | str:
    """What values of a pattern have to be where an operator stands for a node; the input slot where
    their numbers differ.
    """
    pairs: list[tuple[str, Value | None]] = []
    for slot, names in node.outputs.items():
        pairs += zip(names, outputs.get(slot, ()))
    wanted = node.inputs
    for slot in wanted if wanted.keys() == inputs.keys() else {**wanted, **inputs}:
        names, values = wanted.get(slot, ()), inputs.get(slot, ())
        if len(names) != len(values):
            return slot
        pairs += zip(names, values)
    return pairs


_END: Any = object()  #: in place of goals: there are no alternatives any more


class Matcher:
    """Tries a pattern at operators of a block.

    Args:
        variant: the pattern.
        values: of the block.
        explain: whether ``failure`` is noted.
    """

    def __init__(self, variant: Variant, values: BlockValues, explain: bool = True) -> None:
        self.variant = variant
        self._explain = explain
        self.values = values
        self._spec_of = spec_finder(values)
        self._found: dict[str, Value] = {}
        self._positions: dict[int, int] = {}
        self._taken: set[int] = set()
        #: what was found, in order: values of the pattern, and positions of nodes
        self._trail: list[str | int] = []
        self.failure: Mismatch | None = None

    def match(self, at: int) -> Match | None:
        """The match whose root is the operator at a position; None if there is none, and
        ``failure`` says why.
        """
        self._found, self._positions, self.failure = {}, {}, None
        if not self._explain:
            if self.variant.makers_before and not self._has_makers(at):
                return None
            if self.variant.is_straight:
                is_match = self._match_straight(at)
                if is_match is not None:
                    return self._match() if is_match else None
                self._found, self._positions = {}, {}
        self._taken = set()
        self._trail.clear()
        choices: list[tuple[Iterator[Goals], int]] = []
        goals: Goals = ((self.variant.root, at), None)
        while True:
            goals = self._plain(goals)
            if goals is None and len(self._positions) == len(self.variant.nodes):
                return self._match()
            step = self._rest() if goals is None else self._step(*goals)
            if step is None or isinstance(step, tuple):
                goals = step
                continue
            choices.append((step, len(self._trail)))
            while choices:  # the next alternative of the last choice that has one
                alternatives, mark = choices[-1]
                self._undo(mark)
                goals = next(alternatives, _END)
                if goals is not _END:
                    break
                choices.pop()
            else:
                return None

    def _match(self) -> Match:
        return Match(self.variant, self.values, self._found, self._positions)

    def _has_makers(self, at: int) -> bool:
        """Whether operators that could stand for the nodes before the last one make something of
        what the operator at a position reads.
        """
        maker, ops = self.values.maker, self.values.ops
        types: set[str] = set()
        for value in self.values.reads[at]:
            position = maker.get(value)
            if isinstance(position, int):
                types.add(ops[position].type)
        return not any(types.isdisjoint(accepted) for accepted in self.variant.makers_before)

    def _match_straight(self, at: int) -> bool | None:
        """Whether a pattern without alternatives matches at a position; None where an operator has
        to be read as another one for that.
        """
        values, maker, bound, positions = (
            self.values,
            self.variant.maker,
            self._found,
            self._positions,
        )
        waiting = [(self.variant.root, at)]
        while waiting:
            node, at = waiting.pop()
            op = values.ops[at]
            if op.type != node.type:
                return None
            if node.at in positions:
                if positions[node.at] != at:
                    return False
                continue
            if at in positions.values():
                return False
            if op.attrs != node.attrs and not self._attributes_agree(node, values.spelt(at), at):
                return False
            positions[node.at] = at
            pairs = self._plain_pairs(node, at)
            if pairs is None:
                spelt = values.spelt(at)
                pairs = _pairs(node, spelt.inputs, spelt.outputs)
            if isinstance(pairs, str):
                return False
            for wanted, value in pairs:
                if value is None or wanted == EMPTY:
                    if value is not None or wanted != EMPTY:
                        return False
                    continue
                before = bound.setdefault(wanted, value)
                if before is not value and before != value:
                    return False
                earlier = maker.get(wanted)
                if earlier is not None and earlier.at not in positions:
                    made_at = values.maker.get(value)
                    if (
                        not isinstance(made_at, int)
                        or values.ops[made_at].type not in earlier.accepts
                    ):
                        return False
                    waiting.append((earlier, made_at))
        return True

    def _plain_pairs(
        self, node: PatternNode, at: int
    ) -> list[tuple[str, Value | None]] | str | None:
        """What :func:`_pairs` gives where all slots have one value each; None where not."""
        values, pairs = self.values, list[tuple[str, Value | None]]()
        op = values.ops[at]
        for plain, slots, there in (
            (node.writes, op.outputs, values.writes[at]),
            (node.reads, op.inputs, values.reads[at]),
        ):
            if plain is None or plain[0] != tuple(slots) or len(there) != len(slots):
                return None
            for wanted, names, value in zip(plain[1], slots.values(), there):
                if len(names) != 1 or names[0] != value[0]:
                    return None
                pairs.append((wanted, value))
        return pairs

    def _plain(self, goals: Goals) -> Goals:
        """What is left behind goals that are reached at once: operands that stand for a value for
        the first time, results of operators that were found, and values that are known to be equal.
        """
        bound, is_made, sizes = self._found, self.variant.maker, self.variant.rule.shapes
        while goals is not None:
            (wanted, value), rest = goals
            if value is None or wanted.__class__ is not str or wanted == EMPTY:
                break
            before = bound.get(wanted)
            if before is None and wanted not in sizes:
                node = is_made.get(wanted)
                if node is not None and node.at not in self._positions:
                    break
                bound[wanted] = value
                self._trail.append(wanted)
            elif before is None or before != value:
                break
            goals = rest
        return goals

    def _undo(self, mark: int) -> None:
        """Forget what was found since the trail had a length."""
        while len(self._trail) > mark:
            last = self._trail.pop()
            if isinstance(last, str):
                del self._found[last]
            else:
                self._taken.discard(self._positions.pop(last))

    def _fail(self, reason: Callable[[], str], depth: int | None = None) -> Iterator[Goals]:
        """Note why there is no way on; no alternatives."""
        if not self._explain:
            return iter(())
        depth = len(self._positions) if depth is None else depth
        if self.failure is None or depth > self.failure.depth:
            self.failure = Mismatch(depth, reason)
        return iter(())

    def _step(self, goal: Goal, rest: Goals) -> Goals | Iterator[Goals]:
        """What is left to reach after a goal; alternatives where there is not one way."""
        what, value = goal
        if isinstance(what, str):
            return self._equal(what, value, rest)
        at: int = value
        if at in self._taken:
            return self._fail(lambda: f"{self._said(at)} would stand for two operators")
        self._positions[what.at] = at
        self._taken.add(at)
        self._trail.append(what.at)
        if self.values.ops[at].type != what.type or not reads_one_way(what.type):
            return self._alternatives(what, at, rest)
        only = self.values.spelt(at)
        goals = _END
        if self._attributes_agree(what, only, at):
            goals = self._goals(what, only.inputs, only.outputs, at, rest)
        return iter(()) if goals is _END else goals

    def _alternatives(self, node: PatternNode, at: int, rest: Goals) -> Iterator[Goals]:
        """The ways in which an operator may stand for a node: what is left to reach then."""
        is_read = False
        for reading in readings(self.values.spelt(at), self._spec_of):
            if reading.type == node.type:
                is_read = True
                if self._attributes_agree(node, reading, at):
                    for inputs in self._arranged(reading):
                        goals = self._goals(node, inputs, reading.outputs, at, rest)
                        if goals is not _END:
                            yield goals
        if not is_read:
            reason = partial("{}, expected `{}`".format, self._said(at), node.type)
            self._fail(reason, len(self._positions) - 1)

    def _goals(
        self, node: PatternNode, inputs: Slots, outputs: Slots, at: int, rest: Goals
    ) -> Goals:
        """What is left to reach where an operator stands for a node; ``_END`` where slots differ.

        Args:
            node: of the pattern.
            inputs, outputs: of the operator as it is read.
            at: its position.
            rest: what is left to reach besides.
        """
        pairs = _pairs(node, inputs, outputs)
        if isinstance(pairs, str):
            widths = (len(side.get(pairs, ())) for side in (node.inputs, inputs))
            self._fail(partial(self._other_slot, at, pairs, *widths))
            return _END
        goals = rest
        for pair in reversed(pairs):
            goals = (pair, goals)
        return goals

    def _arranged(self, reading: Spelt) -> Iterator[Slots]:
        """The inputs of an operator; then exchanged, where they commute."""
        inputs = reading.inputs
        yield inputs
        if not commutes(reading.type):
            return
        x, y = inputs.get("X", ()), inputs.get("Y", ())
        if len(x) == len(y) == 1:
            if meet_at_ends(reading.attrs.get("axis", -1), *self._measures(reading)):
                yield {**inputs, "X": y, "Y": x}
        elif len(x) == 2 and not y:
            yield {"X": x[::-1]}

    def _measures(self, reading: Spelt) -> tuple[list[int], list[int]]:
        """The numbers of dimensions and of elements of the inputs; -1 where not known."""
        specs = [self._spec_of(values[0]) for values in reading.inputs.values() if values]
        ranks = [-1 if spec is None else len(spec.shape) for spec in specs]
        return ranks, [element_count(spec) for spec in specs]

    def _attributes_agree(self, node: PatternNode, reading: Spelt, at: int) -> bool:
        if node.free is None or reading.attrs == node.attrs:
            return True
        definition = lookup(node.type)
        ranks, sizes = self._measures(reading)
        for name in {**node.attrs, **reading.attrs}:
            declared = definition.attributes.get(name)
            if declared is None or declared.inert or name in node.free:
                continue  # nothing reads it
            if not same_attribute(definition, name, node.attrs, reading.attrs, ranks, sizes):
                default = declared.default
                mine, theirs = node.attrs.get(name, default), reading.attrs.get(name, default)
                said = f"{name}={theirs!r}, expected {mine!r}"
                self._fail(partial(self._has, at, said))
                return False
        return True

    def _equal(self, wanted: str, value: Value | None, rest: Goals) -> Goals | Iterator[Goals]:
        """Let a value of the block stand for one of the pattern."""
        if wanted == EMPTY or value is None:
            if wanted == EMPTY and value is None:
                return rest
            return self._fail(lambda: "a list has an empty position here, or in the pattern")
        before = self._found.get(wanted)
        if before is not None:
            if before == value:
                return rest
            return self._fail(partial(self._other_value, wanted, before[0], value[0]))
        node = self.variant.maker.get(wanted)
        if node is not None and node.at not in self._positions:
            return self._made(node, wanted, value, rest)
        if node is None and not self._fits(wanted, value):
            return iter(())
        self._found[wanted] = value
        self._trail.append(wanted)
        return rest

    def _made(
        self, node: PatternNode, wanted: str, value: Value, rest: Goals
    ) -> Goals | Iterator[Goals]:
        """Let the operator that makes a value stand for a node."""
        maker = self.values.maker.get(value)
        if maker is None:
            return self._fail(
                lambda: f"{value[0]!r} is written by no operator before, expected `{node.type}`"
            )
        if not isinstance(maker, int):
            return self._fail(lambda: f"{value[0]!r} is given by another match")
        if self.values.ops[maker].type not in node.accepts:
            return self._fail(lambda: f"{self._said(maker)}, expected `{node.type}`")
        return (node, maker), ((wanted, value), rest)

    def _fits(self, operand: str, value: Value) -> bool:
        """Whether a value has the sizes that the rule wants of an operand."""
        wanted = self.variant.rule.shapes.get(operand)
        if wanted is None:
            return True
        spec = self._spec_of(value)
        shape = None if spec is None else spec.shape
        if (
            shape is not None
            and len(shape) == len(wanted)
            and all(a in (-1, b) for a, b in zip(wanted, shape))
        ):
            return True
        said = f"{operand} is {value[0]!r} of shape {shape and list(shape)}"
        self._fail(partial("{}, expected {}".format, said, list(wanted)))
        return False

    def _rest(self) -> Iterator[Goals]:
        """Ways to find a node that no result found so far depends on, by a value that it reads."""
        for node in self.variant.nodes:
            if node.at in self._positions:
                continue
            known = [n for names in node.inputs.values() for n in names if n in self._found]
            if known:
                value = min(
                    (self._found[n] for n in known),
                    key=lambda v: len(self.values.readers.get(v, ())),
                )
                return self._among_readers(node, value)
        return self._fail(lambda: "the results of the pattern have no operand in common")

    def _among_readers(self, node: PatternNode, value: Value) -> Iterator[Goals]:
        readers = self.values.readers.get(value, [])
        near = max(bisect_right(readers, max(self._taken)) - MOST_READERS // 2, 0)
        reason = f"no `{node.type}` reads {value[0]!r} as the pattern has it"
        self._fail(partial(str, reason))
        for at in islice(readers, near, near + MOST_READERS):
            is_free = at not in self._taken and at not in self.values.gone
            if is_free and self.values.ops[at].type in node.accepts:
                yield (node, at), None

    # -- messages ----------------------------------------------------------------------------------

    def _said(self, at: int) -> str:
        op = self.values.ops[at]
        names = op.output_arg_names
        return f"{names[0]!r} is written by `{op.type}`" if names else f"`{op.type}`"

    def _other_value(self, wanted: str, one: str, other: str) -> str:
        return f"{self._name(wanted)} is {one!r} and {other!r}, expected one value"

    def _has(self, at: int, said: str) -> str:
        return f"{self._said(at)} has {said}"

    def _other_slot(self, at: int, slot: str, wanted: int, there: int) -> str:
        inputs = f"{there or 'no'} input{'s' * (there > 1)}"
        return f"{self._said(at)} has {inputs} in slot {slot}, expected {wanted or 'none'}"

    def _name(self, wanted: str) -> str:
        node = self.variant.maker.get(wanted)
        return f"operand {wanted}" if node is None else f"the result of `{node.type}`"
