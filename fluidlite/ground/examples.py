"""Examples of a function as its other spellings call it, so that each is written once.

>>> respelled(">>> fluid.log(fluid.ones([1])).tolist()", "log", called_on_the_first("log"))
'>>> fluid.ones([1]).log().tolist()'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_MARKS = re.compile(r"""[()\[\]{},]|"[^"\n]*"|'[^'\n]*'""")

#: writes a call, of the modules in front of a name and the arguments, each a text
Caller = Callable[[str, list[str]], str]


def called(name: str, renamed: Mapping[str, str] | None = None) -> Caller:
    """A caller of a function of the same module.

    Args:
        name: the function.
        renamed: a parameter's name -> its name there.

    >>> called("f", {"axis": "dim"})("fluid.", ["x", "axis=2"])
    'fluid.f(x, dim=2)'
    """
    words = renamed or {}

    def call(modules: str, arguments: list[str]) -> str:
        listed = (re.sub(r"^\w+(?==)", lambda old: words.get(old[0], old[0]), a) for a in arguments)
        return f"{modules}{name}({', '.join(listed)})"

    return call


def called_on_the_first(name: str) -> Caller:
    """A caller of a method of the first argument.

    Args:
        name: the method.

    >>> called_on_the_first("abs_")("fluid.", ["x", "1"])
    'x.abs_(1)'
    """
    return lambda modules, arguments: f"{arguments[0]}.{name}({', '.join(arguments[1:])})"


def called_as_layer(name: str, inputs: int) -> Caller:
    """A caller of an object, whose constructor takes the options.

    Args:
        name: the class.
        inputs: how many arguments the object itself is called with.

    >>> called_as_layer("ELU", 1)("fluid.", ["x", "0.5"])
    'ELU(0.5)(x)'
    """
    return lambda modules, arguments: (
        f"{name}({', '.join(arguments[inputs:])})({', '.join(arguments[:inputs])})"
    )


def respelled(example: str, name: str, caller: Caller) -> str:
    """An example in which another function is called in place of one of ``fluid``.

    Args:
        example: a session.
        name: the function's, without modules; a text without a call of it comes back empty.
        caller: writes the calls.
    """
    parts: list[str] = []
    end = 0
    for call in re.finditer(rf"\b(fluid\.(?:[a-z_]+\.)*){name}\(", example):
        if call.start() >= end:
            arguments, behind = _arguments(example, call.end())
            parts += [example[end : call.start()], caller(call[1], arguments)]
            end = behind
    return "".join([*parts, example[end:]]) if parts else ""


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """The arguments of the call whose parenthesis ends at ``start``, and where it ends."""
    arguments: list[str] = []
    depth, begin = 0, start
    for mark in _MARKS.finditer(text, start):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            if not depth:
                arguments.append(text[begin : mark.start()])
                joined = [re.sub(r"\n\.\.\. +", " ", each).strip() for each in arguments]
                return [*filter(None, joined)], mark.end()
            depth -= 1
        elif mark[0] == "," and not depth:
            arguments.append(text[begin : mark.start()])
            begin = mark.end()
    raise ValueError(f"expected a parenthesis that closes the call in {text!r}")
