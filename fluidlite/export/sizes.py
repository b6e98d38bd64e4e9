"""Sizes that are not known: a program is written for several choices of numbers in their place, and
where the texts differ, these become expressions of the sizes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

#: numbers in place of sizes that are not known: one row for each text
PROBES = ((23, 29, 31), (37, 41, 43), (47, 53, 59), (61, 67, 71), (73, 79, 83), (89, 97, 19))
_TOKENS = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\W\d]\w*|\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|\s+|."
)


@dataclass(frozen=True)
class FreeSize:
    """A size that is not known: what the text calls it, and the numbers in its place."""

    name: str
    probes: tuple[int, ...]


class Unlike(Exception):
    """Texts for several sizes differ by more than numbers that follow from these."""


def merged(texts: Sequence[str], sizes: Sequence[FreeSize]) -> str:
    """One text for all sizes.

    Args:
        texts: that were written for the first numbers of the sizes, for the second ones, and so on.
        sizes: what is not known.

    Raises:
        Unlike: they differ by more than numbers.
    """
    lines = [text.split("\n") for text in texts]
    if len({len(each) for each in lines}) > 1:
        raise Unlike("how many operations there are")
    return "\n".join(
        each[0] if len(set(each)) == 1 else _merged_line(each, sizes) for each in zip(*lines)
    )


def _merged_line(lines: Sequence[str], sizes: Sequence[FreeSize]) -> str:
    tokens = [_TOKENS.findall(line) for line in lines]
    if len({len(each) for each in tokens}) > 1:
        raise Unlike(" | ".join(lines))
    merged_tokens: list[str] = []
    for k, alternatives in enumerate(zip(*tokens)):
        if len(set(alternatives)) == 1:
            merged_tokens.append(alternatives[0])
            continue
        text = _expression(alternatives, sizes)
        if text is None:
            raise Unlike(" | ".join(lines))
        before = next((t for t in reversed(tokens[0][:k]) if not t.isspace()), "(")
        behind = next((t for t in tokens[0][k + 1 :] if not t.isspace()), ")")
        alone = text.isidentifier() or (before in "([,=:" and behind in ")],:")
        merged_tokens.append(text if alone else f"({text})")
    return "".join(merged_tokens)


def _expression(numbers: Sequence[str], sizes: Sequence[FreeSize]) -> str | None:
    """An expression of the sizes that gives these numbers; None where none is found."""
    if all(n.isdigit() for n in numbers):
        return _whole([int(n) for n in numbers], sizes)
    try:
        values = [float(n) for n in numbers]
    except ValueError:
        return None
    if all(v.is_integer() and abs(v) < 2**53 for v in values):
        return _whole([int(v) for v in values], sizes)
    for size in sizes:
        tops = [v * n for v, n in zip(values, size.probes)]
        if tops[0] and all(abs(top / tops[0] - 1) < 1e-6 for top in tops):
            rounded = round(tops[0], 9)
            near = round(rounded)
            top = float(near) if near and abs(rounded / near - 1) < 1e-6 else rounded
            return f"{top!r} / {size.name}"
    return None


def _whole(values: Sequence[int], sizes: Sequence[FreeSize]) -> str | None:
    for size in sizes:
        a, rest = divmod(values[1] - values[0], size.probes[1] - size.probes[0])
        b = values[0] - a * size.probes[0]
        if not rest and all(v == a * n + b for v, n in zip(values, size.probes)):
            return _linear(a, size.name, b)
    for one, other in itertools.combinations_with_replacement(sizes, 2):
        products = [m * n for m, n in zip(one.probes, other.probes)]
        factor, rest = divmod(values[0], products[0])
        if not rest and factor and all(v == factor * n for v, n in zip(values, products)):
            return _linear(factor, f"{one.name} * {other.name}", 0)
    return None


def _linear(a: int, name: str, b: int) -> str:
    text = name if a == 1 else f"{a} * {name}"
    if b:
        text += f" + {b}" if b > 0 else f" - {-b}"
    return text
