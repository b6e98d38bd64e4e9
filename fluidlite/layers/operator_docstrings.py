"""What the docstring of an operator says, in the words of a layer: of its parameters, not of slots.

``Out = the square root of X.`` becomes "The square root of ``x``.", and ``Out = max(X, 0).``, a
formula, "``max(x, 0)``."  Lines ``SLOT: what it is.`` become those of arguments and results.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..opdef.definition import Op

_ENTRY = re.compile(r"([\w@]+(?:, [\w@]+)*): ")
_CODE = re.compile(r"(``.+?``)", re.DOTALL)
_WORD = re.compile(r"(?<![\w@'\"])[A-Za-z_]\w*(?![\w@])")
#: words that no formula has
_SPOKEN = re.compile(
    r"\b[A-Za-z]{2,} [a-z]{2,}\b|\b(whether|where|of|for|with|as|to|moved)\b|^(a|the) "
)
_OF_RESULT = re.compile(r"^(?=(of|whose|with|without)\b)")


class Description(NamedTuple):
    """What an operator's docstring says to the users of a layer."""

    prose: str
    arguments: Mapping[str, str]  #: by parameter
    results: str


def description(definition: type[Op], names: Mapping[str, str]) -> Description:
    """The docstring of an operator, and of those that it derives from.

    Args:
        definition: the operator.
        names: a slot, or an attribute -> the parameter of the layer.
    """
    paragraphs: list[str] = []
    entries: dict[str, str] = {}
    for base in definition.__mro__:
        own = vars(base).get("__doc__") if issubclass(base, Op) and base is not Op else None
        told = []
        for paragraph in inspect.cleandoc(own or "").split("\n\n"):
            known = dict(_entries(paragraph, definition))
            entries = {**known, **entries}
            told += [] if known or not paragraph else [paragraph]
        paragraphs = paragraphs or told
    visible = definition.visible_outputs
    words = _Words(definition, names, visible[0] if len(visible) == 1 else "")
    prose = [words.first(paragraphs[0]), *map(words.said, paragraphs[1:])]
    order = [*definition.input_slots, *definition.attributes]  # of both, what an attribute says
    arguments = {names[n]: words.said(entries[n]) for n in order if n in names and n in entries}
    results = [(slot, words.said(entries[slot])) for slot in visible if slot in entries]
    if len(visible) == 1:
        told = [_sentence(_OF_RESULT.sub("a variable ", text)) for _, text in results]
    else:
        told = [f"{slot}: {text}" for slot, text in results]
    return Description("\n\n".join(map(_filled, prose)), arguments, "\n".join(told))


def _entries(paragraph: str, definition: type[Op]) -> Iterator[tuple[str, str]]:
    """What a paragraph says of slots and attributes, one by one; nothing where it is prose."""
    known = {*definition.input_slots, *definition.output_slots, *definition.attributes}
    for entry in re.split(r"\n(?=\S)", paragraph):
        head = _ENTRY.match(entry)
        if head is None or not known.intersection(head[1].split(", ")):
            return
        text = " ".join(entry[head.end() :].split())
        yield from dict.fromkeys(head[1].split(", "), text).items()


def _sentence(text: str) -> str:
    """A text that begins with a capital, if with a word."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+[ ,.]", text) else text


def _filled(text: str) -> str:
    """A paragraph in lines of one length, with code on one line."""
    code = _CODE.sub(lambda found: re.sub(r"\s+", "\0", found[0]), text)
    return textwrap.fill(code, 96, break_on_hyphens=False).replace("\0", " ")


class _Words:
    """The words of a docstring, put into those of a layer.

    Args:
        definition: the operator.
        names: a slot, or an attribute -> the parameter.
        result: the slot of the only result.
    """

    def __init__(self, definition: type[Op], names: Mapping[str, str], result: str) -> None:
        self._definition = definition
        self._names = names
        self._result = result

    def first(self, paragraph: str) -> str:
        """The first paragraph, which may begin with what the results are."""
        head, equal, rest = paragraph.partition(" = ")
        if not equal or not set(head.split(", ")) <= {*self._definition.output_slots}:
            return self.said(paragraph)
        sentence, stop, more = rest.partition(". ")
        if not _SPOKEN.search(sentence):
            rest = f"``{sentence.rstrip('.')}``." + f" {more}" * bool(stop)
        return _sentence(self.said(rest))

    def said(self, text: str) -> str:
        """A text with parameters in place of slots; those outside of code in backticks."""
        parts = _CODE.split(text)
        return "".join(
            _WORD.sub(self._in_code if part.startswith("``") else self._in_prose, part)
            for part in parts
        )

    def _in_code(self, word: re.Match[str]) -> str:
        return "out" if word[0] == self._result else self._names.get(word[0], word[0])

    def _in_prose(self, word: re.Match[str]) -> str:
        name = self._names.get(word[0])
        if word[0] == self._result:
            return "the result"
        if name is None or (name == word[0] and name not in self._definition.input_slots):
            return word[0]
        return f"``{name}``"
