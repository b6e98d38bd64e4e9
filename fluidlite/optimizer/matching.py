"""Names of states in a dictionary, and where they belong: ``<parameter>_<state>_<number>``."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import StateDictError


def stem_of(name: str) -> str:
    """A name without the number at its end; as it is if there is none."""
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdigit() else name


def listing(names: Sequence[str], most: int = 4) -> str:
    """Names in quotes; only the first of many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def by_position(
    names: Sequence[str], states: Sequence[str], parameters: Sequence[Sequence[str]]
) -> dict[str, tuple[str, str]]:
    """Where values belong when the first parameter that they name stands for the first one here.

    Args:
        names: of the values.
        states: the names of states.
        parameters: names of parameters, and others to try where they are as many.

    Returns:
        by the names of values, those of the state and the parameter.

    Raises:
        StateDictError: a name is that of no state, or they are of fewer or more parameters.
    """
    split = {name: _split(name, states) for name in names}
    unknown = [name for name, owned in split.items() if owned is None]
    if unknown:
        raise StateDictError(
            f"expected names that end in {', '.join(states)} and a number, got {listing(unknown)}"
        )
    owned = {name: each for name, each in split.items() if each is not None}
    owners = list(dict.fromkeys(owner for _, owner in owned.values()))
    fitting = next((own for own in parameters if len(own) == len(owners)), None)
    if fitting is None:
        raise StateDictError(
            f"expected states of {len(parameters[0])} parameters, got those of {len(owners)}: "
            f"{listing(owners)}"
        )
    twice = [name for name, each in owned.items() if list(owned.values()).count(each) > 1]
    if twice:
        raise StateDictError(f"expected one value for each state, got {listing(twice)}")
    places = dict(zip(owners, fitting))
    return {name: (state, places[owner]) for name, (state, owner) in owned.items()}


def _split(name: str, states: Sequence[str]) -> tuple[str, str] | None:
    """The state and the parameter that a name says; None where it says none."""
    stem = stem_of(name)
    ends = [state for state in states if stem.endswith(f"_{state}") and stem != name]
    if not ends:
        return None
    state = max(ends, key=len)
    return state, stem[: -len(state) - 1]
