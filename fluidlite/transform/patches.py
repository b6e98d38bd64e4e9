"""Patches: what makes another program of a program, in a file that people review like source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ground.arguments import refused
from ..ir.foreign import note_operators
from ..ir.operator import Operator
from ..ir.program import Program
from .alignment import Pair, aligned, gaps
from .listing import Listing
from .patch_text import Hunk, Patch, PatchLine

_CONTEXT = 3  # equal lines around those that differ


def make_patch(before: Program, after: Program) -> Patch:
    """What makes a program of another one, as a text to be reviewed, sent and applied.

    What the text format does not hold is in no patch: values of parameters, initializers,
    regularizers, clipping, the lines that made operators.

    Args:
        before, after: the programs; applied to the first the patch gives the second.

    Raises:
        ArgumentError: one of them is no program.

    >>> before = fluid.Program.parse(
    ...     "program (seed=0) {\\n block 0 {\\n data x: float32[3]\\n }\\n}"
    ... )
    >>> after = before.clone()
    >>> y = after.global_block().create_var(name="y", shape=[3], dtype="float32")
    >>> relu = after.global_block().append_op("relu", {"X": "x"}, {"Out": "y"})
    >>> print("\\n".join(str(fluid.transform.make_patch(before, after)).split("\\n")[2:]))
    @@ -1,5 +1,8 @@ program
     program (seed=0) {
       block 0 {
         data x: float32[3]
    +    var y: float32[3]
    +
    +    y = relu(X=x)
       }
     }
    <BLANKLINE>
    """
    for name, program in (("before", before), ("after", after)):
        if not isinstance(program, Program):
            raise refused("make_patch", name, "a Program", program)
    old, new = Listing.of(before), Listing.of(after)
    same = _same_lines(old, new)
    made = Patch(old.identity, new.identity, tuple(_hunks(old, new, same)))
    patch = Patch.parse(str(made))  # whose lines are numbered
    kept_before, kept_after = ({pair[side] for pair in same} for side in (0, 1))
    _note(new, kept_after, patch)
    _note(old, kept_before, patch.reversed())
    return patch


def _note(listing: Listing, kept: set[int], patch: Patch) -> None:
    """Remember what the operators may that a patch of this process adds."""
    lines = (line.item for i, line in enumerate(listing.lines) if i not in kept)
    note_operators([item for item in lines if isinstance(item, Operator)], patch.to_bytes())


def _same_lines(old: Listing, new: Listing) -> list[Pair]:
    """Pairs of equal lines, each in its part of its block."""
    pairs: list[Pair] = []
    olds, news = list(old.parts()), list(new.parts())
    for (i, j), (k, m) in zip(olds[:-1], news[:-1]):
        pairs += ((i + x, k + y) for x, y in aligned(old.texts[i:j], new.texts[k:m]))
    return [*pairs, (len(old.lines) - 1, len(new.lines) - 1)]


def _hunks(old: Listing, new: Listing, same: Sequence[Pair]) -> Iterator[Hunk]:
    """The changes, those near each other together, with equal lines around them."""
    groups: list[list[tuple[int, int, int, int]]] = []
    for gap in gaps(same, (0, len(old.lines), 0, len(new.lines))):
        i, x, k, y = gap
        if i == x and k == y:
            continue
        if groups and i - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(gap)
        else:
            groups.append([gap])
    for group in groups:
        head = min(group[0][0], _CONTEXT)
        place = begin = group[0][0] - head
        lines: list[PatchLine] = []
        for i, x, k, y in group:
            lines += [PatchLine(" ", text) for text in old.texts[place:i]]
            lines += [PatchLine("-", text) for text in old.texts[i:x]]
            lines += [PatchLine("+", text) for text in new.texts[k:y]]
            place = x
        lines += [PatchLine(" ", text) for text in old.texts[place : place + _CONTEXT]]
        yield Hunk(begin + 1, group[0][2] - head + 1, old.headings[begin], tuple(lines))
