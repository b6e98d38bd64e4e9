"""Patches: what makes another program of a program, in a file that people review like source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import FluidError, ParseError, PatchError, VerifyError
from ..ground.arguments import refused
from ..ir.block import Block
from ..ir.foreign import mark_operators, note_operators
from ..ir.operator import Operator
from ..ir.parse import parse_into
from ..ir.program import Program
from ..ir.text import TextLine, program_lines
from ..ir.variable import Variable
from .alignment import Pair, aligned, gaps
from .carrying import carry_operator, carry_program, carry_variable
from .patch_text import Hunk, Identity, Patch, PatchLine, quoted

_CONTEXT = 3  # equal lines around those that differ
_PLACES = 64  # places of a line that are looked at when the first difference is sought
_PLACE = re.compile(r"line (\d+)(?:, column (\d+))?: (.*)", re.DOTALL)


@dataclass(frozen=True)
class _Listing:
    """A program line by line."""

    program: Program
    lines: list[TextLine]
    texts: list[str]
    headings: list[str]  #: of each line, the block and the section in which it stands

    @classmethod
    def of(cls, program: Program) -> _Listing:
        lines = list(program_lines(program, call_sites=False, notes=False))
        return cls(program, lines, [line.text for line in lines], list(_headings(lines)))

    @property
    def identity(self) -> Identity:
        import hashlib

        blocks, operators, variables = (
            sum(isinstance(line.item, kind) for line in self.lines) for kind in _KINDS
        )
        text = "\n".join(self.texts).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        return Identity(blocks, operators, variables, digest)

    def parts(self) -> Iterator[tuple[int, int]]:
        """Begin and end of what is compared with its like: the first line; of each block the line
        that begins it, the variables, and the operators to the line that ends it.
        """
        begins = [0]
        for i, line in enumerate(self.lines):
            if isinstance(line.item, Block):
                begins += [i, i + 1, i + 1 + len(line.item.vars)]
        begins.append(len(self.lines) - 1)
        yield from zip(begins, [*begins[1:], len(self.lines)])


_KINDS = (Block, Operator, Variable)


def _headings(lines: Iterable[TextLine]) -> Iterator[str]:
    block, section = "program", ""
    for line in lines:
        if isinstance(line.item, Block):
            block, section = f"block {line.item.idx}", ""
        elif line.item is None and line.text.startswith("    -- "):
            section = f" {line.text.strip()}"
        yield block + section


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
    old, new = _Listing.of(before), _Listing.of(after)
    same = _same_lines(old, new)
    made = Patch(old.identity, new.identity, tuple(_hunks(old, new, same)))
    patch = Patch.parse(str(made))  # whose lines are numbered
    kept_before, kept_after = ({pair[side] for pair in same} for side in (0, 1))
    _note(new, kept_after, patch)
    _note(old, kept_before, patch.reversed())
    return patch


def _note(listing: _Listing, kept: set[int], patch: Patch) -> None:
    """Remember what the operators may that a patch of this process adds."""
    lines = (line.item for i, line in enumerate(listing.lines) if i not in kept)
    note_operators([item for item in lines if isinstance(item, Operator)], _bytes(patch))


def _bytes(patch: Patch) -> bytes:
    return str(patch).encode("utf-8", "surrogatepass")


def _same_lines(old: _Listing, new: _Listing) -> list[Pair]:
    """Pairs of equal lines, each in its part of its block."""
    pairs: list[Pair] = []
    olds, news = list(old.parts()), list(new.parts())
    for (i, j), (k, m) in zip(olds[:-1], news[:-1]):
        pairs += ((i + x, k + y) for x, y in aligned(old.texts[i:j], new.texts[k:m]))
    return [*pairs, (len(old.lines) - 1, len(new.lines) - 1)]


def _hunks(old: _Listing, new: _Listing, same: Sequence[Pair]) -> Iterator[Hunk]:
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


# -- applying --------------------------------------------------------------------------------------


def apply_patch(
    patch: Patch | str, program: Program, reverse: bool = False, exact: bool = False
) -> Program:
    """The program that a patch makes of another one, which stays as it was.

    On the program that it was made of a patch gives the other one.  On another program each hunk
    goes where its lines stand, if that is one place in its block; else nothing is applied.

    Operators that the patch does not touch keep what no text holds: call sites, marks of foreign
    operators, what program files say beside.  Those that it adds are foreign, as all that is read.

    Args:
        patch: the patch, or its text.
        program: what it is applied to.
        reverse: take the patch back: from what it gives to what it was made of.
        exact: refuse every program but the one that the patch was made of.

    Raises:
        PatchError: the text is no patch; or the program is another one: with the first place that
            differs.
        VerifyError: what comes out breaks a rule that the program keeps.
        ArgumentError: this is no program, or no patch.
    """
    if not isinstance(program, Program):
        raise refused("apply_patch", "program", "a Program", program)
    if isinstance(patch, str):
        patch = Patch.parse(patch)
    if not isinstance(patch, Patch):
        raise refused("apply_patch", "patch", "a Patch or its text", patch)
    if reverse:
        patch = patch.reversed()
    listing = _Listing.of(program)
    places = _places(patch, listing, exact)
    made = _patched(listing, patch, places)
    return checked(made, program)


def checked(made: Program, program: Program) -> Program:
    """A program that was made of another one.

    Raises:
        VerifyError: it breaks a rule that the other one keeps.
    """
    try:
        made.verify()
    except VerifyError:
        try:
            program.verify()
        except VerifyError:  # one that nobody can run can be changed, too
            return made
        raise
    return made


def _places(patch: Patch, listing: _Listing, exact: bool) -> list[int]:
    """Where each hunk stands.

    Raises:
        PatchError: one of them stands nowhere, or at several places.
    """
    identity = listing.identity
    known = identity == patch.before
    if not known and identity == patch.after:
        raise PatchError(
            "the program is what the patch gives: it was applied before; reverse takes it back"
        )
    if exact and not known:
        raise PatchError(f"expected the {patch.before}; got a {identity}")
    texts = listing.texts
    by_text: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        by_text.setdefault(text, []).append(i)
    places: list[int] = []
    end = 0
    for number, hunk in enumerate(patch.hunks, 1):
        olds = [line.text for line in hunk.side("-")]
        if known:
            begins = [i for i in (hunk.before - 1,) if texts[i : i + len(olds)] == olds]
        else:
            begins = _places_of(olds, hunk.heading, listing, by_text, end)
        if len(begins) != 1:
            what = f"hunk {number} of {len(patch.hunks)} ({hunk.heading})"
            lines = ", ".join(str(i + 1) for i in begins)
            why = f"its lines stand at several places: lines {lines} of the program's text"
            if not begins:
                why = _misfit(hunk, listing, by_text, places, patch)
            of = "" if known else f"; the patch is of a {patch.before}, this is a {identity}"
            raise PatchError(f"line {hunk.number} of the patch: {what} does not fit: {why}{of}")
        places += begins
        end = begins[0] + len(olds)
    return places


def _places_of(
    olds: Sequence[str],
    heading: str,
    listing: _Listing,
    by_text: Mapping[str, Sequence[int]],
    end: int,
) -> list[int]:
    """Where lines stand in a section of a block, behind another place; two of them at most."""
    empty: Sequence[int] = ()
    rarest = min(range(len(olds)), key=lambda n: len(by_text.get(olds[n], empty)))
    begins: list[int] = []
    texts = listing.texts
    for place in by_text.get(olds[rarest], empty):
        begin = place - rarest
        if begin < end or listing.headings[begin] != heading:
            continue
        if texts[begin : begin + len(olds)] == olds:
            begins.append(begin)
            if len(begins) == 2:
                break
    return begins


def _misfit(
    hunk: Hunk,
    listing: _Listing,
    by_text: Mapping[str, Sequence[int]],
    places: Sequence[int],
    patch: Patch,
) -> str:
    """The first place in which a hunk and a program differ: there where most of its lines stand."""
    olds = hunk.side("-")
    moved = places[-1] - patch.hunks[len(places) - 1].before + 1 if places else 0
    stated = hunk.before - 1 + moved
    votes: dict[int, int] = {stated: 0}
    for n, line in enumerate(olds):
        for place in by_text.get(line.text, ())[:_PLACES]:
            votes[place - n] = votes.get(place - n, 0) + 1
    begin = max(votes, key=lambda b: (votes[b], -abs(b - stated)))
    texts = listing.texts
    for n, line in enumerate(olds):
        place = begin + n
        there = texts[place] if 0 <= place < len(texts) else None
        if there != line.text:
            found = "nothing" if there is None else quoted(there)
            return (
                f"expected {quoted(line.text)} (line {line.number} of the patch) at line "
                f"{place + 1} of the program's text, found {found}"
            )
    heading = listing.headings[begin] if 0 <= begin < len(texts) else "no block"
    if heading != hunk.heading:
        return f"its lines stand in {heading}"
    return (
        f"its lines stand at line {begin + 1} of the program's text, before those of another hunk"
    )


class _Written(NamedTuple):
    """A line of the patched program."""

    text: str
    item: Block | Variable | Operator | None
    added: PatchLine | None  #: the line of the patch that adds it


def _patched(listing: _Listing, patch: Patch, places: Sequence[int]) -> Program:
    """The program that the lines give: untouched ones as they were, the others read anew."""
    lines: list[_Written] = []
    removed: list[TextLine] = []
    place = 0
    for hunk, begin in zip(patch.hunks, places):
        lines += [_Written(*line, None) for line in listing.lines[place:begin]]
        place = begin
        for told in hunk.lines:
            if told.mark == "+":
                lines.append(_Written(told.text, None, told))
                continue
            line = listing.lines[place]
            place += 1
            if told.mark == " ":
                lines.append(_Written(*line, None))
            else:
                removed.append(line)
    lines += [_Written(*line, None) for line in listing.lines[place:]]
    return _Reading(listing.program, lines).program(patch, removed)


class _Reading:
    """Reads patched lines; what is known of them is taken over."""

    def __init__(self, before: Program, lines: Sequence[_Written]) -> None:
        self.before = before
        self.lines = lines
        self.known: dict[int, Variable | Operator] = {}  # by where in the text its line begins
        start = 0
        for line in lines:
            if isinstance(line.item, (Variable, Operator)):
                self.known[start + len(line.text) - len(line.text.lstrip())] = line.item
            start += len(line.text) + 1

    def program(self, patch: Patch, removed: Iterable[TextLine]) -> Program:
        """The program.

        Args:
            patch: whose lines are among them.
            removed: the lines that it takes away.

        Raises:
            PatchError: the lines are no program; says which line of the patch is wrong.
        """
        patched = Program()
        text = "\n".join([*(line.text for line in self.lines), ""])
        try:
            added = parse_into(patched, text, self.known)
        except ParseError as error:
            raise self.located(error) from None
        carry_program(self.before, patched)
        mark_operators([item for item in added if isinstance(item, Operator)], _bytes(patch))
        partners = _Partners(removed)
        for item in added:
            partners.carry(item)
        return patched

    def located(self, error: ParseError) -> FluidError:
        """An error of the text, as one of the patch."""
        place = _PLACE.match(str(error))
        if place is None:
            return PatchError(f"the patched program cannot be read: {error}")
        position = min(int(place[1]), len(self.lines)) - 1
        added = [line.added for line in self.lines[: position + 1] if line.added is not None]
        if not added:
            return PatchError(f"the patched program cannot be read: {error}")
        column = f", column {int(place[2]) + 1}" if place[2] else ""
        if self.lines[position].added is None:
            column = ""
        message = place[3].partition("\n")[0]
        shown = quoted(self.lines[position].text)
        return PatchError(f"line {added[-1].number} of the patch{column}: {message}: {shown}")


class _Partners:
    """What a patch takes away, for what it puts in the place."""

    def __init__(self, lines: Iterable[TextLine]) -> None:
        self.waiting: dict[object, list[Variable | Operator]] = {}
        for line in lines:
            if isinstance(line.item, (Variable, Operator)):
                self.waiting.setdefault(_kin(line.item), []).append(line.item)

    def carry(self, item: Variable | Operator) -> None:
        """Let an item have what the one had that it replaces, if there is one."""
        waiting = self.waiting.get(_kin(item))
        if not waiting:
            return
        before = waiting.pop(0)
        if isinstance(before, Variable) and isinstance(item, Variable):
            carry_variable(before, item)
        elif isinstance(before, Operator) and isinstance(item, Operator):
            carry_operator(before, item)


def _kin(item: Variable | Operator) -> object:
    """Equal for what takes the place of each other."""
    if isinstance(item, Variable):
        return item.block.idx, item.name
    return item.block.idx, item.type, tuple(item.outputs.items())
