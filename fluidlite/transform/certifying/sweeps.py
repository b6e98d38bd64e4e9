"""What a program claims to be a gradient, as the names of its variables say it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import ArgumentError, suggestion
from ...ir.analysis import reads_of, writes_of
from ...ir.block import Block
from ...ir.operator import EMPTY, Operator, OpRole

_PART = re.compile(r"@GRAD@RENAME@(?!.*@GRAD).*$", re.DOTALL)
_WHOLE = re.compile(r"@GRAD(_\d+)?$")  # with a number where that name was taken
_AGAIN = "grad/"  # what stands before the name of a second gradient of one variable
#: operators that fill what a sweep begins with
_SEEDS = ("fill_constant", "fill_any_like", "fill_constant_batch_size_like", "ones_like")


class Key(NamedTuple):
    """A value: a name, and how often it had been written."""

    name: str
    version: int


class Mention(NamedTuple):
    """An operator of block 0, with the values that it reads and writes."""

    position: int
    op: Operator
    reads: dict[str, Key]
    writes: dict[str, Key]


@dataclass
class ClaimedSweep:
    """One differentiation: operators that compute gradients of some targets."""

    begin: int
    end: int
    #: what is differentiated -> the value that it is weighted with; None for ones
    targets: dict[Key, Key | None] = field(default_factory=dict)
    #: variable -> the values of its gradient, in the order in which they are written
    written: dict[str, list[Key]] = field(default_factory=dict)
    #: what fills the gradients of targets
    seeds: set[int] = field(default_factory=set)
    #: whether its target is computed of gradients, and was told: steps may be something else
    is_rewritten: bool = False


def mentions_of(block: Block) -> list[Mention]:
    """The operators of a block, with the values that they read and write."""
    versions: dict[str, int] = {}
    mentions = []
    for position, op in enumerate(block.ops):
        writes = [name for name in writes_of(op) if name != EMPTY]
        inputs = [name for name in reads_of(op) if name != EMPTY]
        definition = op.definition
        if definition is not None:
            for slot in definition.fluid.updates:  # it reads what they held before
                inputs += [name for name in op.outputs.get(slot, ()) if name in versions]
            if definition.execute is not None:
                inputs += writes  # what it does not write goes through
        reads = {name: Key(name, versions.get(name, 0)) for name in inputs}
        for name in writes:
            versions[name] = versions.get(name, 0) + 1
        mentions.append(Mention(position, op, reads, {n: Key(n, versions[n]) for n in writes}))
    return mentions


def names_in(mentions: Iterable[Mention]) -> set[str]:
    """The names that operators read and write."""
    return {name for m in mentions for name in (*m.reads, *m.writes)}


def differentiated_by(name: str, known: Container[str]) -> tuple[str, bool] | None:
    """The variable that a name says it is the gradient of, and whether of a part; None for others.

    Args:
        name: of a variable.
        known: the names of all variables.
    """
    while True:
        part = _PART.search(name)
        end = part or _WHOLE.search(name)
        if end is not None and name[: end.start()] in known:
            return name[: end.start()], part is not None
        if not name.startswith(_AGAIN):
            return None
        name = name[len(_AGAIN) :]


def sweeps_of(
    block: Block, mentions: Sequence[Mention], weights: Mapping[str, str]
) -> list[ClaimedSweep]:
    """The differentiations that a block shows.

    Args:
        block: the first one of a program.
        mentions: its operators.
        weights: target -> the variable that it is weighted with, empty for ones, where no operator
            fills its gradient.

    Raises:
        ArgumentError: there is none; or a weight is no variable.
    """
    names = names_in(mentions) | set(block.vars)
    for name in filter(None, (*weights, *weights.values())):
        if name not in names:
            raise ArgumentError(
                f"target_gradients: the program has no variable {name!r}{suggestion(name, names)}"
            )
    parts = [m for m in mentions if _computes_gradients(m, names)]
    if any(m.op.role & OpRole.BACKWARD for m in mentions):
        parts = [m for m in mentions if m.op.role & OpRole.BACKWARD]
    if not parts:
        raise ArgumentError(
            "the program has no gradients to certify: append_backward, gradients or minimize "
            "writes them"
        )
    if "" in weights.values():  # constants are no seeds then
        return _told(parts, names, mentions, weights)
    sweeps = [_settled(sweep, mentions) for sweep in _divided(parts, names, True)]
    _weight(sweeps[0], mentions, weights)
    for each in sweeps:
        if not each.targets:
            raise ArgumentError(
                "no operator fills the gradient of what is differentiated; where gradients was "
                "given target_gradients, say which: target_gradients={'y': 'weight'}"
            )
    return sweeps


def _told(
    parts: Sequence[Mention],
    names: Container[str],
    mentions: Sequence[Mention],
    weights: Mapping[str, str],
) -> list[ClaimedSweep]:
    """The sweeps of given targets: one of those that no gradients go into; behind it one
    for each that is computed of gradients, beginning where it is there.

    Raises:
        ArgumentError: nothing behind a target computes gradients.
    """
    of_gradients = {key for part in parts for key in part.writes.values()}
    begins: dict[str, int] = {}
    for mention in mentions:
        if not of_gradients.isdisjoint(mention.reads.values()):
            of_gradients.update(mention.writes.values())
            begins.update(dict.fromkeys(weights.keys() & mention.writes.keys(), mention.position))
    ordered = [-1, *sorted(begins.values())]
    sweeps = []
    for begin, end in zip(ordered, [*ordered[1:], len(mentions)]):
        told = {name: w for name, w in weights.items() if begins.get(name, -1) == begin}
        between = [part for part in parts if begin < part.position < end]
        if told and not between:
            raise ArgumentError(f"target_gradients: nothing computes gradients behind {[*told]}")
        if told:
            (sweep,) = _divided(between, names, False)
            sweep.is_rewritten = begin >= 0
            _weight(_settled(sweep, mentions), mentions, told)
            sweeps.append(sweep)
    return sweeps


def _computes_gradients(mention: Mention, names: Container[str]) -> bool:
    return any(differentiated_by(name, names) is not None for name in mention.writes)


def _divided(
    parts: Sequence[Mention], names: Container[str], has_seeds: bool
) -> Iterator[ClaimedSweep]:
    """The sweeps: one begins where a gradient is filled behind operators that compute some."""
    sweep: ClaimedSweep | None = None
    gradients: set[Key] = set()  # of gradients, in this sweep
    for mention in parts:
        seeded = _seeded(mention, names, gradients) if has_seeds else None
        if sweep is None or (seeded is not None and len(sweep.seeds) < len(gradients)):
            if sweep is not None:
                yield sweep
            sweep, gradients = ClaimedSweep(mention.position, mention.position + 1), set()
        sweep.end = mention.position + 1
        if seeded is not None:
            sweep.seeds.add(mention.position)
            sweep.targets[Key(seeded, -1)] = None
        counted = _counted(mention.op)
        for name, key in mention.writes.items():
            base = differentiated_by(name, names)
            if base is not None and name not in counted:
                gradients.add(key)
                if not base[1]:
                    sweep.written.setdefault(base[0], []).append(key)
    if sweep is not None:
        yield sweep


def _counted(op: Operator) -> set[str]:
    """What a gradient operator counts for the optimizer: no gradients, but for their names."""
    slots = getattr(op.definition, "counted_slots", {}).values()
    return {name for slot in slots for name in op.outputs.get(slot, ())}


def _seeded(mention: Mention, names: Container[str], made: Container[Key]) -> str | None:
    """The target whose gradient an operator fills; None for other operators."""
    if mention.op.type not in _SEEDS or any(key in made for key in mention.reads.values()):
        return None
    bases = [differentiated_by(name, names) for name in mention.writes]
    return bases[0][0] if bases and bases[0] is not None else None


def _weight(sweep: ClaimedSweep, mentions: Sequence[Mention], weights: Mapping[str, str]) -> None:
    """Say which targets of the first sweep have weights; those without one are weighted by ones.

    Where what filled a gradient is gone, the gradients of the target may stand before it is there.
    """
    for target, weight in weights.items():
        made = [m for m in mentions if target in m.writes]
        if made and made[0].position >= sweep.begin:
            sweep.end = max(sweep.end, made[0].position + 1)
            sweep.targets[made[0].writes[target]] = Key(weight, 0) if weight else None
            continue
        keys = [Key(target, 0), Key(weight, 0)]
        for mention in mentions[: sweep.begin]:
            keys = [mention.writes.get(key.name, key) for key in keys]
        sweep.targets[keys[0]] = keys[1] if weight else None


def _settled(sweep: ClaimedSweep, mentions: Sequence[Mention]) -> ClaimedSweep:
    """The sweep with the values that its targets hold where it begins."""
    versions: dict[str, int] = {}
    for mention in mentions[: sweep.begin]:
        versions.update((name, key.version) for name, key in mention.writes.items())
    sweep.targets = {
        Key(target.name, versions.get(target.name, 0)): weight
        for target, weight in sweep.targets.items()
    }
    return sweep
