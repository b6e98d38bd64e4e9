"""Whether a match may be replaced, and where its replacement goes."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..ground.quoting import printable
from ..ir.operator import Operator, OpRole
from .block_values import BlockValues, Value
from .gradient_sections import GradientSections
from .matches import Match
from .templates import Template


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
    return next((why for role, why in _TRAINING.items() if given & role), "")


def removed_by(match: Match, sections: GradientSections) -> Collection[int] | Refusal:
    """The positions of the operators that go with a match, if it may be replaced as far as that
    does not depend on the replacement.

    Args:
        match: what was found.
        sections: the gradient operators of the program.
    """
    values, gradients = match.values, sections.differentiated
    positions, gone = match.sorted_positions, values.gone
    for at in positions:
        op = values.ops[at]
        if at in gone:
            return Refusal(f"{values.said(at)} is a part of another match")
        if op.role and (why := refused_role(op)):
            return Refusal(f"{values.said(at)} {why}")
        if gradients and not gradients.isdisjoint(op.output_arg_names):
            name = next(n for n in op.output_arg_names if n in gradients)
            why = f": {sections.reason}" if sections.reason else ""
            return Refusal(
                f"the gradient of {printable(name)!r} is computed by operators that cannot be "
                f"derived anew{why}"
            )
    why = _why_gradients_differ(match)
    if why:
        return Refusal(why)
    removed = set(positions)
    results = match.results
    for at in reversed(positions):
        why = _use_outside(values, at, removed, results)
        if why:
            if not match.variant.rule.keeps and values.ops[at].inputs:  # constants may stay
                return Refusal(why)
            removed.discard(at)
            if any(value in results for value in values.writes[at]):
                return Refusal(f"{why}, and its operator gives a result of the match")
    if not removed:
        return Refusal("all its operators are needed elsewhere")
    return removed


def _why_gradients_differ(match: Match) -> str:
    """What a user said of the gradient of a value between the operators; empty where nothing."""
    values, block = match.values, match.block
    for inner in match.variant.flowing:
        variable = block.find_var_recursive(match.found[inner][0])
        if variable is None or not variable.dtype.is_continuous:
            continue
        if variable.error_clip is not None:
            return f"the gradient of {variable.name!r} is clipped"
        if variable.stop_gradient:
            maker = values.ops[match.positions[match.variant.maker[inner].at]]
            sources = [block.find_var_recursive(name) for name in maker.input_arg_names]
            if any(source is not None and source.takes_gradient for source in sources):
                return f"gradients stop at {variable.name!r}"
    return ""


def _use_outside(
    values: BlockValues, at: int, removed: Collection[int], results: Collection[Value]
) -> str:
    """Who else needs what an operator of a match writes; empty where nobody does."""
    for value in values.writes[at]:
        if value in results:
            continue
        for reader in values.readers_of(value):
            if reader not in removed:
                return f"{value[0]!r} is read by {values.said(reader)} as well"
        why = values.why_needed(value)
        if why and not _is_unchanged(values.ops[at], value):
            return f"{value[0]!r} {why}"
    return ""


def _is_unchanged(op: Operator, value: Value) -> bool:
    """Whether an operator only hands on what a name held: statistics, where none are taken."""
    frozen = op.attrs.get("is_test") or op.attrs.get("use_global_stats")
    return bool(frozen) and op.reads(value[0])


def position_for(match: Match, removed: Collection[int], template: Template) -> int | Refusal:
    """The position in front of which the operators of a replacement may stand.

    They read values that have to be there by then and still have their names, and who reads their
    results comes behind.

    Args:
        match: what was found.
        removed: the positions of its operators that go.
        template: what the replacement writes.
    """
    if _stays_in_place(match, removed, template):
        return match.root
    refusal = None
    for position in reversed(match.sorted_positions):
        why = _why_not_at(position, match, removed, template)
        if not why:
            return position
        refusal = refusal or Refusal(why)
    return refusal or Refusal("it has no operators")


def _stays_in_place(match: Match, removed: Collection[int], template: Template) -> bool:
    """Whether a replacement stands where the last operator of a match stands, gives what that
    gives, and reads what is written once: nothing can lie between then.
    """
    values, root, operands = match.values, match.root, match.found
    last, maker = values.last, values.maker
    if root != match.sorted_positions[-1]:
        return False
    for value in match.results:
        if maker[value] != root:
            return False
    for operand in template.operands:
        name, version = value = operands[operand]
        if last.get(name, 0) != version or maker.get(value, -1) in removed:
            return False
    return True


def _why_not_at(position: int, match: Match, removed: Collection[int], template: Template) -> str:
    values = match.values
    at = values.next_at(position)
    for operand in template.operands:
        name, _ = value = match.found[operand]
        written = values.maker.get(value, -1)
        if written in removed:
            return f"{name!r} is both read and given by the match"
        if written > at:
            return f"{name!r} is not written yet where its replacement would stand"
        other = values.rewritten_between(name, written, at, removed)
        if other is not None:
            return f"{name!r} is rebound by {values.said(other)} before the end of the match"
    for value, later in zip(match.results, template.read_later):
        why = _why_not_moved(values, value, at, removed)
        if why:
            return why
        for operand in template.operands:
            if match.found[operand][0] == value[0] and operand in later:
                return f"{value[0]!r} is rebound by the replacement before it is read"
    return ""


def _why_not_moved(values: BlockValues, value: Value, at: float, removed: Collection[int]) -> str:
    """Why a value cannot be written at another place than it is."""
    name, written_at = value[0], values.maker[value]
    if at < written_at - 1 and (values.last[name] > 1 or name not in values.block.vars):
        return f"{name!r} holds several values in turn, and would be written too early"
    for reader in values.readers_of(value):
        if reader < at and reader not in removed:
            return f"{name!r} is read by {values.said(reader)} before the end of the match"
    other = values.rewritten_between(name, written_at, at, removed)
    if other is not None:
        return f"{name!r} is rebound by {values.said(other)} before the end of the match"
    return ""
