"""Which paddle a process means: 1.8, or 2.6.

``paddle`` serves the names of both.  What a program uses first decides: a module that only 1.8 has
means 1.8; a name that only 2.6 has, or one that both have, means 2.6.
"""

from __future__ import annotations

import os

from ..errors import ArgumentError
from ..ground import state
from ..ir.message_text import ProgramTexts, texts
from . import children
from .names import is_listed
from .packages import PADDLE, module_behind, package_of
from .served import notice

EDITIONS = ("1.8", "2.6")


def _said() -> str | None:
    return checked(os.environ.get("FLUIDLITE_PADDLE") or None)


_decided: state.StateSlot[str | None] = state.slot("edition of paddle", _said)
#: whether the user has said it: then there is nothing to warn of
_chosen: state.StateSlot[bool] = state.slot("edition of paddle said", lambda: bool(_said()))
#: whether the process has used a name that only the other edition has
_mixed: state.StateSlot[bool] = state.slot("both editions of paddle", lambda: False)


def checked(edition: str | None) -> str | None:
    """An edition, or None.

    Raises:
        ArgumentError: there is no such edition.
    """
    if edition is not None and edition not in EDITIONS:
        raise ArgumentError(f"expected paddle to be one of {', '.join(EDITIONS)}, got {edition!r}")
    return edition


def edition() -> str | None:
    """The edition that the process means; None as long as nothing has decided."""
    return _decided.get()


def print_as(which: str | None) -> None:
    """Print programs and element types as an edition does.

    Args:
        which: the edition; as 1.8 does when None, and nothing is decided.
    """
    newer = which == "2.6"
    texts.switch(ProgramTexts.READABLE if newer else ProgramTexts.MESSAGES)
    state.as_paddle_2.switch(newer)


def print_as_before() -> None:
    """Print them as this package does."""
    texts.switch(ProgramTexts.OWN)
    state.as_paddle_2.switch(False)


def decide(which: str, chosen: bool = False) -> None:
    """Mean an edition from here on, in processes that are started from here on, too.

    Args:
        which: the edition.
        chosen: whether the user has said so.
    """
    _decided.switch(which)
    if texts.get() is not ProgramTexts.OWN:
        print_as(which)
    if chosen:
        _chosen.switch(True)
    children.tell_edition(which)


def forget() -> None:
    """Decide anew: as the environment says, else by what is used first."""
    for slot in (_decided, _chosen, _mixed):
        slot.reset()


def uses(which: str, what: str) -> None:
    """Note that the process uses what only one edition has.

    Args:
        which: the edition; it is decided for if none was.
        what: a name; those of other packages than paddle decide nothing.
    """
    if package_of(what) != PADDLE:
        return
    now = _decided.get()
    if now is None:
        decide(which)
    elif now != which:
        _mixed.switch(True)


def of_both(what: str) -> str:
    """The edition that a name means that both have.

    Args:
        what: the name, for a warning where the process uses both editions.
    """
    now = _decided.get()
    if now is None:
        decide("2.6")
        return "2.6"
    if _mixed.get() and not _chosen.get():
        notice(
            f"edition {what}",
            f"{what} is in paddle 1.8 and in 2.6, and the program uses both: here it is that of "
            f"{now}; fluidlite run --paddle 1.8 or 2.6 chooses",
        )
    return now


def is_served(name: str) -> bool:
    """Whether a module is served: one of either edition, or of another package.

    Args:
        name: its whole name.
    """
    return is_listed(name) or module_behind(name) is not None


def begins(name: str) -> None:
    """Note the import of a module.

    Args:
        name: its whole name.
    """
    if name != PADDLE and is_listed(name) != (module_behind(name) is not None):
        uses("1.8" if is_listed(name) else "2.6", name)
