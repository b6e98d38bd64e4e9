"""The program that a patch makes of another one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..errors import FluidError, ParseError, PatchError, VerifyError
from ..ground.arguments import refused
from ..ir.block import Block
from ..ir.compare import VARIABLE_FIELDS
from ..ir.foreign import mark_operators
from ..ir.operator import Operator
from ..ir.parse import parse_into
from ..ir.program import Program
from ..ir.variable import Variable
from .carrying import carry_operator, carry_program, carry_variable
from .listing import Listing
from .patch_text import Hunk, Patch, PatchLine, quoted

_PLACES = 64  # places of a line that are looked at when the first difference is sought
_PLACE = re.compile(r"line (\d+)(?:, column (\d+))?: (.*)", re.DOTALL)


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

    >>> y = fluid.layers.scale(fluid.data("x", [2]))
    >>> before = fluid.default_main_program()
    >>> after = fluid.transform.set_attributes(before, "scale", {"scale": 2.0})
    >>> patch = fluid.transform.make_patch(before, after)
    >>> fluid.transform.apply_patch(patch, before).global_block().ops[0].attr("scale")
    2.0
    """
    if not isinstance(program, Program):
        raise refused("apply_patch", "program", "a Program", program)
    if isinstance(patch, str):
        patch = Patch.parse(patch)
    if not isinstance(patch, Patch):
        raise refused("apply_patch", "patch", "a Patch or its text", patch)
    if reverse:
        patch = patch.reversed()
    listing = Listing.of(program)
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


def _places(patch: Patch, listing: Listing, exact: bool) -> list[int]:
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
    listing: Listing,
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
    listing: Listing,
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
    replaced: Variable | Operator | None = None  #: what stood in its place


def _patched(listing: Listing, patch: Patch, places: Sequence[int]) -> Program:
    """The program that the lines give: untouched ones as they were, the others read anew."""
    lines: list[_Written] = []
    removed: list[Variable | Operator] = []
    place = 0
    for hunk, begin in zip(patch.hunks, places):
        lines += [_Written(*line, None) for line in listing.lines[place:begin]]
        place = begin
        for is_same, run in itertools.groupby(hunk.lines, lambda line: line.mark == " "):
            told = list(run)
            olds = [line for line in told if line.mark != "+"]
            there = listing.lines[place : place + len(olds)]
            place += len(olds)
            if is_same:
                lines += [_Written(*line, None) for line in there]
                continue
            items = [line.item if not isinstance(line.item, Block) else None for line in there]
            removed += [item for item in items if item is not None]
            news = [line for line in told if line.mark == "+"]
            lines += [
                _Written(line.text, None, line, items[k] if len(items) == len(news) else None)
                for k, line in enumerate(news)
            ]
    lines += [_Written(*line, None) for line in listing.lines[place:]]
    return _Reading(listing.program, lines).program(patch, removed)


class _Reading:
    """Reads patched lines; what is known of them is taken over."""

    def __init__(self, before: Program, lines: Sequence[_Written]) -> None:
        self.before = before
        self.lines = lines
        # by where in the text a line begins: what it says; what stood in its place
        self.known: dict[int, Variable | Operator] = {}
        self.replaced: dict[int, Variable | Operator] = {}
        start = 0
        for line in lines:
            begin = start + len(line.text) - len(line.text.lstrip())
            if isinstance(line.item, (Variable, Operator)):
                self.known[begin] = line.item
            elif line.replaced is not None:
                self.replaced[begin] = line.replaced
            start += len(line.text) + 1

    def program(self, patch: Patch, removed: Iterable[Variable | Operator]) -> Program:
        """The program.

        Args:
            patch: whose lines are among them.
            removed: what it takes away.

        Raises:
            PatchError: the lines are no program; says which line of the patch is wrong.
        """
        patched = Program()
        text = "\n".join([*(line.text for line in self.lines), ""])
        try:
            read = parse_into(patched, text, self.known)
        except ParseError as error:
            raise self.located(error) from None
        carry_program(self.before, patched)
        mark_operators([item for _, item in read if isinstance(item, Operator)], patch.to_bytes())
        partners = _Partners(removed)
        rest = [(begin, item) for begin, item in read if not partners.carry(item)]
        for begin, item in rest:
            if begin in self.replaced:
                partners.carry_renamed(self.replaced[begin], item)
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

    def __init__(self, removed: Iterable[Variable | Operator]) -> None:
        self.waiting: dict[object, list[Variable | Operator]] = {}
        self.done: set[int] = set()
        for item in removed:
            self.waiting.setdefault(_kin(item), []).append(item)

    def carry(self, item: Variable | Operator) -> bool:
        """Let an item have what the one had that it replaces; whether there is one."""
        waiting = self.waiting.get(_kin(item))
        if not waiting:
            return False
        before = waiting.pop(0)
        self.done.add(id(before))
        _carry(before, item)
        return True

    def carry_renamed(self, before: Variable | Operator, item: Variable | Operator) -> None:
        """The same for one under another name that stands where the other one stood."""
        if id(before) not in self.done and _form(before) == _form(item):
            _carry(before, item)


def _carry(before: Variable | Operator, item: Variable | Operator) -> None:
    if isinstance(before, Variable) and isinstance(item, Variable):
        carry_variable(before, item)
    elif isinstance(before, Operator) and isinstance(item, Operator):
        carry_operator(before, item)


def _kin(item: Variable | Operator) -> object:
    """Equal for what takes the place of each other."""
    if isinstance(item, Variable):
        return item.block.idx, item.name
    return item.block.idx, item.type, tuple(item.outputs.items())


def _form(item: Variable | Operator) -> object:
    """Equal for what differs in names only."""
    if isinstance(item, Variable):
        return type(item), *(getattr(item, field) for field in VARIABLE_FIELDS)
    return item.type, *(
        tuple((slot, len(names)) for slot, names in side.items())
        for side in (item.inputs, item.outputs)
    )
