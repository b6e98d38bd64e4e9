"""What operators do outside of the scope, as their definitions say it."""

from __future__ import annotations

from typing import NamedTuple

#: kind of an effect -> what operators with it do
KINDS = {
    "files": "read or write files",
    "python": "call Python functions",
    "processes": "exchange values with other processes",
}


class Effect(NamedTuple):
    """An effect outside of the scope.

    Args:
        kind: one of :data:`KINDS`.
        verb: what the operator does to its target.
        target: the attribute that names the file or the function, where one does.
    """

    kind: str
    verb: str
    target: str = ""


#: of each operator that communicates
EXCHANGE = Effect("processes", "exchanges values with the other processes")
