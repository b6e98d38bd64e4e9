"""Sentences and the roles of their parts (CoNLL 2005, the free test part)."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ...ground.files import Path, usable_path
from ...ground.public_names import list_public_names
from .archives import lines_of

#: the number of words that have none
UNKNOWN = 0
WORDS = "conll05st-release/test.wsj/words/test.wsj.words.gz"
PROPS = "conll05st-release/test.wsj/props/test.wsj.props.gz"


def load_dict(filename: str) -> dict[str, int]:
    """The lines of a file and their numbers."""
    return {line.strip(): number for number, line in enumerate(_lines(filename))}


def load_label_dict(filename: str) -> dict[str, int]:
    """The tags of the roles in a file and their numbers; 1.8 numbered them otherwise each time.

    Args:
        filename: a text with a tag a line, such as ``B-A0``.
    """
    tags = (line for line in _lines(filename) if line.startswith(("B-", "I-")))
    return tags_of(list(dict.fromkeys(line.strip()[2:] for line in tags)))


def _lines(filename: str) -> Iterator[str]:
    with open(usable_path("read", filename), encoding="utf-8") as file:
        yield from file


def tags_of(roles: Iterable[str]) -> dict[str, int]:
    """The tags of roles and their numbers; ``O``, of words without one, is the last."""
    tags = [f"{mark}-{role}" for role in roles for mark in "BI"]
    return {tag: number for number, tag in enumerate([*tags, "O"])}


def sentences(path: Path, words_name: str = WORDS, props_name: str = PROPS) -> Iterator[Any]:
    """Sentences, their verbs, and the tags that belong to each verb.

    Args:
        path: of an archive.
        words_name, props_name: the compressed files in it: a word a line, and its verb with a
            column for each verb of the sentence.
    """
    words, props = (
        gzip.decompress(b"".join(lines_of(path, name))).decode().splitlines()
        for name in (words_name, props_name)
    )
    rows = [(word.strip(), prop.split()) for word, prop in zip(words, props)]
    for is_end, group in groupby(rows, key=lambda row: not row[1]):
        if not is_end:
            yield from _sentence(list(group))


def _sentence(rows: list[tuple[str, list[str]]]) -> Iterator[Any]:
    words = [word for word, _ in rows]
    verbs = [prop[0] for _, prop in rows if prop[0] != "-"]
    for column, verb in enumerate(verbs, start=1):
        yield words, verb, _labels([prop[column] for _, prop in rows])


def _labels(marks: list[str]) -> list[str]:
    """``(A0* *)`` as ``B-A0 I-A0``."""
    labels, role = [], ""
    for mark in marks:
        opened = mark.startswith("(")
        if opened:
            role = mark[1 : mark.index("*")]
        labels.append("O" if not role else f"{'B' if opened else 'I'}-{role}")
        if mark.endswith(")"):
            role = ""
    return labels


def numbers(
    words: list[str],
    verb: str,
    tags: list[str],
    word_dict: Mapping[str, int],
    predicate_dict: Mapping[str, int],
    label_dict: Mapping[str, int],
) -> tuple[list[int], ...]:
    """The nine lists of a sample: words, the five words around the verb, the verb, whether a word
    is one of those five, the tags.

    Args:
        words, verb, tags: of a sentence.
        word_dict, predicate_dict, label_dict: numbers.
    """
    at, length = tags.index("B-V"), len(words)
    around = []
    for step in (-2, -1, 0, 1, 2):
        place = at + step
        edge = "bos" if place < 0 else "eos"
        word = words[place] if 0 <= place < length else edge
        around.append([word_dict.get(word, UNKNOWN)] * length)
    return (
        [word_dict.get(word, UNKNOWN) for word in words],
        *around,
        [predicate_dict.get(verb, UNKNOWN)] * length,
        [int(abs(place - at) <= 2) for place in range(length)],
        [label_dict[tag] for tag in tags],
    )


list_public_names(globals())
