"""The names that the modules of fluid 1.8 answered.

``names.txt`` lists them, a module at a time: which names were its own, which it had from another
module, and which were modules.  The list was had by running fluid 1.8.5 and asking each module for
its ``dir()`` and ``__all__``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("names.txt")
OWN = ("class", "function", "value")


@dataclass(frozen=True)
class Entry:
    """A name of a module.

    ``kind`` is "class", "function" or "value" for what the module defined, "module" for a module,
    "from" for what it had from another one.  ``home`` and ``name`` say where that is; ``value`` is
    what a plain constant was, as a text.
    """

    kind: str
    home: str = ""
    name: str = ""
    value: str = ""

    def constant(self) -> Any:
        """The value of a plain constant."""
        return ast.literal_eval(self.value)


@dataclass
class ListedModule:
    """A module of 1.8: whether it was a package, its ``__all__`` or None, its names."""

    package: bool
    public: list[str] | None = None
    names: dict[str, Entry] = field(default_factory=dict)


@cache
def _sections() -> dict[str, list[str]]:
    """Module -> its lines; the first one says whether it is a package."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            name, _, rest = line.partition(" ")
            lines = sections[name] = [rest]
        elif line.startswith("   "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    for name, module in _SAME.items():
        sections[name] = sections[module]
    return sections


#: modules that are others by another name
_SAME = {"paddle.fluid.core_avx": "paddle.fluid.core"}


def listed_modules() -> list[str]:
    """The modules that there were."""
    return list(_sections())


def is_listed(module: str) -> bool:
    """Whether there was a module of that name."""
    return module in _sections()


def is_package(module: str) -> bool:
    """Whether a module had modules below it."""
    return bool(_sections()[module][0])


@cache
def listed(module: str) -> ListedModule:
    """What one of the modules answered."""
    first, *lines = _sections()[module]
    listing = ListedModule(bool(first))
    for line in lines:
        key, _, rest = line.partition(":")
        if key == "all":
            listing.public = rest.split()
        else:
            listing.names.update(_entries(key, rest.split()))
    return listing


def _entries(key: str, words: list[str]) -> Iterator[tuple[str, Entry]]:
    for word in words:
        name, _, said = word.partition("=")
        if key in OWN:
            yield name, Entry(key, value=said)
        elif key == "module":
            yield name, Entry("module", home=said or name)
        else:
            yield name, Entry("from", home=key.removeprefix("from "), name=said or name)
