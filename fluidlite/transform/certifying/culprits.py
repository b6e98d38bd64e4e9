"""Which operators are at fault where a gradient is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .amounts import Amount, product
from .equations import TOLERANCE, Equation, Share, ValueTrace
from .sweeps import Key, Mention, differentiated_by, names_in


def culprits(mentions: Sequence[Mention], trace: ValueTrace, equation: Equation) -> Iterator[str]:
    """The operators at fault, each in a line.

    What operators that read the value should contribute is matched with what gradient operators
    contribute; what is left over on either side is at fault.

    Args:
        mentions: the operators of the block.
        trace: of the run that the equation is of.
        equation: is wrong.
    """
    shares = list(equation.shares)
    parts = []
    for part in _parts(mentions, trace, equation):
        equal = next((s for s in shares if s.amount.equals(part.amount, TOLERANCE)), None)
        if equal is None:
            parts.append(part)
        else:
            shares.remove(equal)
    for part in _unpaired(parts, shares, mentions):
        writer = mentions[part.position]
        slots = _slots(writer, equation)
        share = next((s for s in shares if _belongs(writer, mentions[s.position])), None)
        if share is None and len(shares) == 1:
            share = shares[0]
        if share is None:
            yield (
                f"{described(writer)}{slots}: contributes {text_of(part.amount)} too much"
                f"{_hint(writer, names_in(mentions))}"
            )
        else:
            shares.remove(share)
            yield (
                f"{described(writer)}{slots}: expected {text_of(share.amount)} for "
                f"{described(mentions[share.position])}, found {text_of(part.amount)}"
            )
    for share in shares:
        yield (
            f"{described(mentions[share.position])}: what it contributes is missing, expected "
            f"{text_of(share.amount)}"
        )


def _hint(writer: Mention, names: set[str]) -> str:
    """What to say where a gradient operator reads a variable that is called no gradient."""
    definition = writer.op.definition
    for read in getattr(definition, "reads", ()):
        for name in writer.op.inputs.get(read.slot, ()) if read.source == "cotangent" else ():
            if differentiated_by(name, names) is None:
                return (
                    f"; it reads {name!r} as a gradient: where that is a weight of a target, say "
                    f"so with target_gradients"
                )
    return ""


def _unpaired(parts: list[Share], shares: list[Share], mentions: Sequence[Mention]) -> list[Share]:
    """The parts but those that are right together: an operator that reads a value several times
    has several of them.  What they belong to is taken out of ``shares``.
    """
    by_type: dict[str, list[Share]] = {}
    for part in parts:
        by_type.setdefault(mentions[part.position].op.type, []).append(part)
    for several in by_type.values():
        for share in list(shares):
            for count in range(2, len(several) + 1):
                total = several[0].amount
                for part in several[1:count]:
                    total = total.plus(part.amount)
                if total.equals(share.amount, TOLERANCE):
                    shares.remove(share)
                    parts = [part for part in parts if part not in several[:count]]
                    break
    return parts


def _parts(mentions: Sequence[Mention], trace: ValueTrace, equation: Equation) -> list[Share]:
    """What gradient operators contribute to a gradient."""
    if equation.claim is None:
        return []
    writer = _writer(mentions, equation.claim)
    if writer is None:
        return []
    keys = [equation.claim]
    names = names_in(mentions)
    if writer.op.type == "sum":
        given = [name for name in writer.op.input_arg_names if name in writer.reads]
        if any(differentiated_by(name, names) for name in given):
            keys = [writer.reads[name] for name in given]
    by_position: dict[int, Amount] = {}
    for key in keys:
        maker = _writer(mentions, key) or writer
        value = trace.values.get(key)
        if value is None:
            continue
        try:
            amount = product(value, equation.there, trace.runner.f.field)
        except ValueError:
            continue
        before = by_position.get(maker.position)
        by_position[maker.position] = amount if before is None else before.plus(amount)
    return [Share(position, amount) for position, amount in by_position.items()]


def _writer(mentions: Sequence[Mention], key: Key) -> Mention | None:
    return next((m for m in mentions if m.writes.get(key.name) == key), None)


def _belongs(writer: Mention, reader: Mention) -> bool:
    """Whether an operator is the gradient operator of another one's type."""
    definition = reader.op.definition
    return definition is not None and definition.grad_type == writer.op.type


def _slots(writer: Mention, equation: Equation) -> str:
    """The slots of the gradients that are concerned."""
    name = equation.key.name
    slots = [
        slot
        for slot, names in writer.op.outputs.items()
        if any(differentiated_by(each, {name}) for each in names)
    ]
    return f", slot {', '.join(slots)}" if slots else ""


def described(mention: Mention) -> str:
    """An operator: its place, its type and the user's line."""
    site = mention.op.callsite
    return f"#{mention.position} {mention.op.type}" + ("" if site is None else f" ({site})")


def text_of(amount: Amount) -> str:
    """A product in numbers, and in the field."""
    text = f"{amount.number:.9g}"
    return text if amount.residue is None else f"{text} (residue {amount.residue:x})"
