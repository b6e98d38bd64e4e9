"""Docstrings whose recurring parts are written once, for a family of functions or classes.

>>> numbers = Family({"x": "a number."}, returns="A number.")
>>> @numbers
... def double(x):
...     "Twice ``x``."
>>> print(double.__doc__)
Twice ``x``.
<BLANKLINE>
Args:
    x: a number.
<BLANKLINE>
Returns:
    A number.

What a function says itself stays, and comes before what its family says of the same thing.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

T = TypeVar("T")

#: how the blocks of a docstring begin after its prose, in this order
_SECTIONS = ("Args:", "Returns:", "Raises:", ">>> ")


@dataclass(frozen=True)
class Family:
    """What the docstrings of a family have in common; a decorator that completes them.

    Args:
        args: the text of arguments that mean the same everywhere; a function gets that of the
            parameters which it has, and does not describe itself.
        returns: the text of the result.
        raises: lines of the form ``ERROR: when.``.
        example: a session in which ``{name}`` stands for the function's name.
        setup: what stands in front of an example that a function has itself.
    """

    args: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""
    raises: str = ""
    example: str = ""
    setup: str = ""

    def extended(self, args: Mapping[str, str], **sections: str) -> Family:
        """A family within this one, with texts that come before its own.

        Args:
            args: the text of further arguments.
            sections: ``returns``, ``raises``, ``example`` and ``setup``.
        """
        return replace(self, args={**self.args, **args}, **sections)

    def like(self, other: Any, names: Mapping[str, str] | None = None) -> Callable[[T], T]:
        """A decorator of what does the same as something else: that one's prose and arguments
        stand in front of what it says itself.

        Args:
            other: a function or class.
            names: a name there -> the name here, in code and among the arguments.

        >>> family = Family()
        >>> def scaled(x, factor):
        ...     "``factor * x``."
        >>> @family.like(scaled, {"x": "input", "factor": "alpha"})
        ... def scale(input, alpha): ...
        >>> scale.__doc__
        '``alpha * input``.'
        """
        if not other.__doc__:
            return lambda documented: documented
        text = _renamed(_clean(other.__doc__), names or {})
        blocks = {_section(block): block for block in reversed(text.split("\n\n"))}
        prose = [
            textwrap.fill(" ".join(block.split()), 96) if names else block
            for block in text.split("\n\n")
            if not _section(block)
        ]
        args = {
            (names or {}).get(name.strip(), name.strip()): " ".join(said.split())
            for entry in re.split(r"\n    (?=\S)", blocks.get("Args:", ""))[1:]
            for listed, _, said in (entry.partition(": "),)
            for name in listed.split(",")
        }

        def completed(documented: T) -> T:
            it: Any = documented
            own = _clean(it.__doc__ or "")
            if not own or _section(own):
                own = "\n\n".join([*prose, own]).rstrip()
            it.__doc__ = own
            return self.extended(args)(documented)

        return completed

    def __call__(self, documented: T) -> T:
        """The function or class itself, its docstring completed."""
        it: Any = documented
        if it.__doc__:  # Python leaves docstrings out when told to
            it.__doc__ = self.completed(it.__doc__, it.__name__, _parameters_of(it))
        return documented

    def completed(self, text: str, name: str, parameters: Iterable[str]) -> str:
        """A docstring with what it leaves out.

        Args:
            text: the docstring.
            name: of what it documents.
            parameters: their names, in order.
        """
        blocks = _clean(text).split("\n\n")
        heads = [_section(block) for block in blocks]
        own = ""
        if "Args:" in heads:
            at = heads.index("Args:")
            own = blocks.pop(at)
            del heads[at]
        if self.setup and ">>> " in heads:
            at = heads.index(">>> ")
            blocks[at] = f"{inspect.cleandoc(self.setup)}\n{blocks[at]}"
        sections = {"Args:": self._arguments(own, list(parameters)), **self._sections}
        for place, section in enumerate(_SECTIONS):
            more = sections[section]
            if more and section not in heads:
                later = (at for at, head in enumerate(heads) if head in _SECTIONS[place + 1 :])
                at = next(later, len(blocks))
                blocks.insert(at, more.replace("{name}", name) if section == ">>> " else more)
                heads.insert(at, section)
        return "\n\n".join(blocks)

    @functools.cached_property
    def _sections(self) -> dict[str, str]:
        """The blocks behind the arguments, by how they begin."""
        return {
            "Returns:": self.returns and f"Returns:\n{_filled(self.returns, '')}",
            "Raises:": self.raises and f"Raises:\n{_filled(self.raises)}",
            ">>> ": inspect.cleandoc(self.example),
        }

    def _arguments(self, own: str, parameters: list[str]) -> str:
        """The block of arguments, in the order of the signature."""
        entries: list[tuple[list[str], str]] = []
        for entry in re.split(r"\n    (?=\S)", own)[1:] if own else ():
            names = [name.strip("* ") for name in entry.partition(":")[0].split(",")]
            entries.append((names, f"    {entry}"))
        described = {name for names, _ in entries for name in names}
        alike: dict[str, list[str]] = {}  # a text -> the parameters that have it in common
        for name in parameters:
            if name in self.args and name not in described:
                alike.setdefault(self.args[name], []).append(name)
        entries += [
            (names, _filled(f"{', '.join(names)}: {text}")) for text, names in alike.items()
        ]
        if own:  # else they are in order already
            places = {name: at for at, name in enumerate(parameters)}
            entries.sort(key=lambda entry: min(places.get(name, len(places)) for name in entry[0]))
        return "\n".join(["Args:", *(text for _, text in entries)]) if entries else ""


def prose_of(text: str) -> str:
    """What a clean docstring says before its first section."""
    blocks = text.split("\n\n")
    ends = (at for at, block in enumerate(blocks) if _section(block))
    return "\n\n".join(blocks[: next(ends, None)])


def arguments_of(text: str) -> dict[str, str]:
    """What a clean docstring says of each argument, in one line."""
    block = next((each for each in text.split("\n\n") if each.startswith("Args:")), "")
    arguments: dict[str, str] = {}
    for entry in re.split(r"\n    (?=\S)", block)[1:]:
        names, _, said = entry.partition(":")
        arguments.update(dict.fromkeys(names.split(", "), " ".join(said.split())))
    return arguments


def _parameters_of(it: Any) -> Iterable[str]:
    """The names of the parameters of a function or class, in order; of a layer those of the
    function that it is made of.

    Not by a signature: making one for each layer would take a tenth of the package's import.
    """
    code = getattr(getattr(it, "__wrapped__", it), "__code__", None)
    if code is None or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return inspect.signature(it).parameters
    names: tuple[str, ...] = code.co_varnames
    return names[: code.co_argcount + code.co_kwonlyargcount]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text whose code has other names."""

    def spelled(code: re.Match[str]) -> str:
        return re.sub(r"\b[a-zA-Z_]\w*", lambda word: names.get(word[0], word[0]), code[0])

    return re.sub(r"``[^`]+``", spelled, text) if names else text


def _clean(text: str) -> str:
    return inspect.cleandoc(text) if "\n" in text else text.strip()


def _section(block: str) -> str:
    """Which section a block of a docstring is; an empty text for prose."""
    return next((section for section in _SECTIONS if block.startswith(section)), "")


@functools.cache
def _filled(text: str, hang: str = "    ") -> str:
    """The lines of a text, indented, of at most 96 characters; those that go on by ``hang``."""
    return "\n".join(
        f"    {line}"
        if len(line) <= 92  # as most are; filling takes long
        else textwrap.fill(line, 96, initial_indent="    ", subsequent_indent="    " + hang)
        for line in text.splitlines()
    )
