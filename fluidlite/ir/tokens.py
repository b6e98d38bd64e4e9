"""The pieces of which texts of programs are made."""

from __future__ import annotations

import re
from typing import NamedTuple

#: each name is a kind of token
TOKEN = re.compile(
    r"""
      (?P<blank>   [ \t\r]+ | \#[^\n]* )
    | (?P<end>     \n )
    | (?P<string>  "(?:[^"\\\n]|\\.)*" )
    | (?P<quoted>  `(?:[^`\\\n]|\\.)*` )
    | (?P<float>   -?\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+) | -inf\b | -nan\b )
    | (?P<integer> -?\d+ )
    | (?P<bare>    [A-Za-z_@/][A-Za-z0-9_.@/]* )
    | (?P<mark>    -- | [=,:?()\[\]{}] )
    | (?P<wrong>   . )
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of the text."""

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        return _CALLED.get(self.kind, f"{self.text!r}")


_CALLED = {"end": "the end of the line", "": "the end of the text", "known": "another line"}
