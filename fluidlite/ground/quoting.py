"""Text of a program in generated source and on terminals: one function for each language.

A program may come from a file, and its names, types, attributes and call sites may hold any
characters.  Nothing of them gets into generated source but by these functions, which leave no
character in it that ends a line, a string, a comment or a tag there.  C has no function: no text of
a program reaches a kernel, which calls its variables by number.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: what begins another line, or moves what is shown, in some language or on some terminal
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")


def has_controls(text: str) -> bool:
    """Whether a text has characters that control what reads it: ends of lines, escapes, zeros.

    >>> has_controls("a b"), has_controls("a\\rb")
    (False, True)
    """
    return _CONTROL.search(text) is not None


def printable(text: str, kept: str = "") -> str:
    """A text whose characters can all be seen: the others stand as escape sequences of Python's.

    Args:
        text: any text.
        kept: characters that stay as they are.

    >>> print(printable("red \\x1b[31m, not UTF-8 \\udcff"))
    red \\x1b[31m, not UTF-8 \\udcff
    """
    rest = text
    for character in kept:
        rest = rest.replace(character, "")
    if rest.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def terminal_text(text: str) -> str:
    """Lines of text for a terminal, whose ends stay."""
    return printable(text, "\n\t")


def escaping(render: Callable[[Any], str]) -> Callable[[Any], str]:
    """A decorator of ``__str__``: users print what it gives, so it is text for a terminal."""

    @functools.wraps(render)
    def escaped(self: Any) -> str:
        return terminal_text(render(self))

    return escaped


def encodable(text: str, encoding: str | None) -> str:
    """A text of which an encoding can write every character."""
    encoding = encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


# -- Python ----------------------------------------------------------------------------------------


def python_string(text: str) -> str:
    """A string of Python in ASCII.  No quote and no backslash but of its escape sequences stands in
    it, so that a reader who knows nothing of these finds its end, too.

    >>> print(python_string('a"b\\\\'))
    "a\\x22b\\x5c"
    """
    return f'"{_OUTSIDE_STRINGS.sub(_hexadecimal, text)}"'


_OUTSIDE_STRINGS = re.compile(r"[^ !#-\[\]-~]")


def _hexadecimal(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else _escape(found[0])


def python_comment(text: str, width: int | None = None) -> str:
    """What may stand behind ``#`` in Python, or in the text of a program or a graph: one line.

    Args:
        text: any text.
        width: how many characters it may have; None for any number.
    """
    line = printable(text)
    return line if width is None or len(line) <= width else f"{line[: width - 3]}..."


def python_docstring(text: str, width: int | None = None) -> str:
    """A line within a docstring of Python: nothing in it ends or escapes that."""
    return python_comment(text, width).replace("\\", "/").replace('"', "'")


# -- graphs and pages ------------------------------------------------------------------------------


def dot_string(text: str) -> str:
    """A string of DOT, in which Graphviz finds neither its end, nor escapes or entities."""
    kept = (line.translate(_IN_DOT) for line in map(printable, text.split("\n")))
    return f'"{_DOT_LINE_END.join(kept)}"'


_IN_DOT = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})
_DOT_LINE_END = "\\n"


def mermaid_string(text: str) -> str:
    """A string of Mermaid: what it, or the page around it, might read as markup is a number."""
    escaped = (
        "".join(c if c.isalnum() or c in " _.,:-" else f"#{ord(c)};" for c in line)
        for line in map(printable, text.split("\n"))
    )
    return f'"{"<br>".join(escaped)}"'


def markup(text: str) -> str:
    """Text in HTML or SVG, between tags or in an attribute; ends of lines stay."""
    return terminal_text(text).translate(_IN_MARKUP)


_IN_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def table_markup(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in HTML, of texts.

    Args:
        head: what stands above the columns.
        rows: the cells of each row.
    """
    cells = "".join(f"<th>{markup(text)}</th>" for text in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{markup(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{cells}</tr>{body}</table>"


def json_in_markup(text: str) -> str:
    """JSON in ASCII that may stand between tags of HTML: no letter of it ends or begins one."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


# -- LaTeX -----------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\backslash ",
    "^": r"\hat{}",
    "~": r"\tilde{}",
    **{c: f"\\{c}" for c in "#$%&_{}"},
}


def latex_name(text: str) -> str:
    """A name in a formula of LaTeX: a letter is a variable, more are a word.

    >>> print(latex_name("x"), latex_name("fc_0.w"))
    x \\mathit{fc\\_0.w}
    """
    if len(text) == 1 and text.isascii() and text.isalpha():
        return text
    return f"\\mathit{{{''.join(_LATEX.get(c, c) for c in printable(text) if c.isprintable())}}}"
