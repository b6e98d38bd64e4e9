"""Whether a match may be replaced, and where its replacement goes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..ground.quoting import printable
from ..ir.operator import Operator, OpRole
from .block_values import BlockValues, Value
from .matching import Match
from .templates import Template


class Site(NamedTuple):
    """Where a replacement goes."""

    position: int  #: in front of the operator that is there
    removed: frozenset[int]  #: the positions of operators that go


class Refusal(NamedTuple):
    """Why a match is not replaced."""

    reason: str


#: operators of training, which rules leave as they are
_TRAINING = {
    int(OpRole.BACKWARD): "is a gradient operator",
    int(OpRole.OPTIMIZE): "is one of the optimizer's operators",
}


def refused_role(op: Operator) -> str:
    """Why rules leave an operator alone; empty where they do not."""
    given = int(op.role)
    return next((why for role, why in _TRAINING.items() if given & role), "") if given else ""


def place_of(
    match: Match, taken: Collection[int], differentiated: Collection[str]
) -> Site | Refusal:
    """Where a match may be replaced, as far as that does not depend on the replacement.

    Args:
        match: what was found.
        taken: positions of operators that belong to other matches.
        differentiated: names whose gradients are computed by operators that stay.
    """
    values = match.values
    for at in sorted(match.positions.values()):
        op = values.ops[at]
        if at in taken:
            return Refusal(f"{values.said(at)} is a part of another match")
        why = refused_role(op)
        if why:
            return Refusal(f"{values.said(at)} {why}")
        for name in op.output_arg_names:
            if name in differentiated:
                return Refusal(
                    f"the gradient of {printable(name)!r} is computed by operators that would stay"
                )
    removed = set(match.positions.values())
    results = set(match.results())
    for at in sorted(removed, reverse=True):
        why = _use_outside(values, at, removed, results)
        if why:
            if not match.variant.rule.keeps:
                return Refusal(why)
            removed.discard(at)
            if any(value in results for value in _written(values, at)):
                return Refusal(f"{why}, and its operator gives a result of the match")
    if not removed:
        return Refusal("all its operators are needed elsewhere")
    return Site(match.root, frozenset(removed))


def _written(values: BlockValues, at: int) -> Iterator[Value]:
    return (v for slot in values.outputs[at].values() for v in slot if v is not None)


def _use_outside(
    values: BlockValues, at: int, removed: Collection[int], results: Collection[Value]
) -> str:
    """Who else needs what an operator of a match writes; empty where nobody does."""
    for value in _written(values, at):
        if value in results:
            continue
        for reader in values.readers.get(value, ()):
            if reader not in removed:
                return f"{value[0]!r} is read by {values.said(reader)} as well"
        if values.is_needed(value) and not _is_unchanged(values.ops[at], value):
            return f"{value[0]!r} is needed outside of the block, or kept"
    return ""


def _is_unchanged(op: Operator, value: Value) -> bool:
    """Whether an operator only hands on what a name held: statistics, where none are taken."""
    frozen = op.attrs.get("is_test") or op.attrs.get("use_global_stats")
    return bool(frozen) and op.reads(value[0])


def position_for(match: Match, site: Site, template: Template) -> int | Refusal:
    """The position in front of which the operators of a replacement may stand.

    They read values that have to be there by then and still have their names, and who reads their
    results comes behind.

    Args:
        match: what was found.
        site: of the match.
        template: what the replacement writes.
    """
    refusal = None
    for position in sorted(match.positions.values(), reverse=True):
        why = _why_not_at(position, match, site, template)
        if not why:
            return position
        refusal = refusal or Refusal(why)
    return refusal or Refusal("it has no operators")


def _why_not_at(position: int, match: Match, site: Site, template: Template) -> str:
    values, removed = match.values, site.removed
    for operand in template.operands:
        name, version = value = match.found[operand]
        written = values.maker.get(value, -1)
        if written >= position and written not in removed:
            return f"{name!r} is not written yet where its replacement would stand"
        other = values.rewritten_between(name, written + 1, position, removed)
        if other is not None:
            return f"{name!r} is rebound by {values.said(other)} before the end of the match"
    for (name, version), result in zip(match.results(), template.results, strict=True):
        written = values.maker[name, version]
        why = _why_not_moved(values, (name, version), written, position, removed)
        if why:
            return why
        writer = template.writer_of(result)
        for operand in template.operands:
            if match.found[operand][0] == name and any(
                op.reads(operand) for op in template.ops[writer + 1 :]
            ):
                return f"{name!r} is rebound by the replacement before it is read"
    return ""


def _why_not_moved(
    values: BlockValues, value: Value, made: int, position: int, removed: Collection[int]
) -> str:
    """Why a value that was written at one position cannot be written at another."""
    name = value[0]
    if position < made and (len(values.writes[name]) > 1 or name not in values.block.vars):
        return f"{name!r} holds several values in turn, and would be written too early"
    if position > made:
        for reader in values.readers.get(value, ()):
            if reader < position and reader not in removed:
                return f"{name!r} is read by {values.said(reader)} before the end of the match"
        other = values.rewritten_between(name, made + 1, position, removed)
        if other is not None:
            return f"{name!r} is rebound by {values.said(other)} before the end of the match"
    return ""
