"""Programs in colours in a terminal, where rich is installed."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Any, TextIO

from ..ground.console import say
from ..ground.quoting import encodable
from ..opdef.definition import unknown_text
from .effects import unknown_types
from .program import Program
from .text import program_text

_COLOURS = {
    "comment": "dim",
    "section": "bold magenta",
    "string": "green",
    "word": "bold blue",
    "type": "cyan",
    "number": "yellow",
    "call": "bold",
}
_TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<section>--\ [^\n]*?\ --)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<quoted>`(?:[^`\\\n]|\\.)*`)
    | (?P<word>^\s*(?:program|block|param|data|var)\b)
    | (?P<type>\b(?:float16|float32|float64|int8|int16|int32|int64|uint8|bool)\b(?=\[))
    | (?P<call>[A-Za-z_][A-Za-z0-9_]*(?=\())
    | (?P<name>[A-Za-z_@/][A-Za-z0-9_.@/]*)
    | (?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
    """,
    re.VERBOSE | re.MULTILINE,
)


def show(program: Program | Any, file: TextIO | None = None, detail: bool = False) -> None:
    """Print a program, a block or an operator; in colours where the file is a terminal and rich is
    installed.  Below a program a comment names the unknown operators.

    Args:
        program: what to print.
        file: where to; standard output when None.
        detail: print attributes at their default and full call sites too.

    >>> y = fluid.layers.relu(fluid.data("x", [8, 4]))
    >>> page = fluid.inspect.show(fluid.default_main_program())
    program (seed=0) {
      block 0 {
        data x: float32[8, 4] check_feed
        var relu_0.tmp_0: float32[8, 4]
    <BLANKLINE>
        relu_0.tmp_0 = relu(X=x)                                    # ...
      }
    }
    """
    file = sys.stdout if file is None else file
    if file is None:  # it is closed
        return
    text = str(program)
    if hasattr(program, "blocks"):
        text = program_text(program, detail)
        unknown = unknown_types(program)
        text += f"# {unknown_text(unknown)}\n" if unknown else ""
    if not file.isatty() or importlib.util.find_spec("rich") is None:
        say(text, file, end="" if text.endswith("\n") else "\n")
        return
    from rich.console import Console

    shown = coloured(encodable(text, file.encoding))
    Console(file=file, soft_wrap=True, highlight=False).print(shown)


def coloured(text: str) -> Any:
    """A program's text as rich's text in colours."""
    from rich.text import Text

    made = Text(text)
    for kind, start, end in spans(text):
        made.stylize(_COLOURS[kind], start, end)
    return made


def spans(text: str) -> list[tuple[str, int, int]]:
    """What in a program's text has a colour: its kind, and where it begins and ends."""
    return [
        (found.lastgroup, found.start(), found.end())
        for found in _TOKEN.finditer(text)
        if found.lastgroup in _COLOURS
    ]
