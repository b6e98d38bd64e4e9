"""Which operators a run may have: looked at when it is planned, before any of them runs."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ForeignEffectError, UnknownOperatorError
from ..ground.callsite import caller
from ..ir.effects import Deed, deed_of, places_in, unknown_in
from ..ir.operator import Operator
from ..opdef.definition import lookup, unknown_text
from ..opdef.effect import KINDS

_SHOWN = 10  # operators that a message lists


def admit(ops: Iterable[Operator]) -> None:
    """Refuse operators that cannot run, or may not.

    Args:
        ops: what a run begins with; the blocks that they drive are looked at, too.

    Raises:
        UnknownOperatorError: nobody defined the types of some; names all of them.
        ForeignEffectError: some came from a file or from bytes and have effects outside of the
            scope that nobody allowed.
    """
    ops = list(ops)
    if not any(map(_is_doubtful, {op.type: op for op in ops}.values())):
        return
    places = list(places_in(ops))
    unknown = unknown_in(places)
    if unknown:
        first = next(iter(unknown.values()))[0]
        for type in unknown:
            if len(unknown) == 1:
                lookup(type)
        raise UnknownOperatorError(f"{unknown_text([*unknown])}\n  {first.op}\n  {first}")
    refused = [d for p in places if (d := deed_of(p)) is not None and d.is_refused]
    if refused:
        raise ForeignEffectError(_refusal(refused))


def _is_doubtful(op: Operator) -> bool:
    """Whether operators of a type have to be looked at one by one: they may be unknown, have
    effects, or drive blocks of others.
    """
    known = op.definition
    return known is None or known.effect is not None or bool(known.block_attributes)


def _refusal(refused: list[Deed]) -> str:
    kinds = [kind for kind in KINDS if any(deed.effect.kind == kind for deed in refused)]
    lines = [f"  {deed}: {deed.place}" for deed in refused[:_SHOWN]]
    if len(refused) > _SHOWN:
        lines.append(f"  and {len(refused) - _SHOWN} more")
    site = caller()
    if site is not None:
        lines.append(f"  run at {site}")
    quoted_kinds = ", ".join(f'"{kind}"' for kind in kinds)
    return (
        f"the program came from a file or from bytes, and may not "
        f"{' or '.join(KINDS[kind] for kind in kinds)}:\n"
        + "\n".join(lines)
        + f"\n  where you trust it, say program.allow({quoted_kinds}), or "
        f"fluidlite run {' '.join(f'--allow {kind}' for kind in kinds)}"
    )
