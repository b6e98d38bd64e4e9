"""Sentences and the roles of their parts (CoNLL 2005, the free test part)."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ...ground.files import usable_path
from .homes import archive, fetch, file_of, is_synthetic
from .made import TEST, Reader, reader

__all__ = ["fetch", "get_dict", "get_embedding", "load_dict", "load_label_dict", "test"]

UNK_IDX = 0
_MADE_SIZES = (44068, 3162, 29)  # words, verbs, roles
_FOLDER = "conll05st"


def load_dict(filename: str) -> dict[str, int]:
    """The lines of a file and their numbers."""
    return {line.strip(): number for number, line in enumerate(_lines(filename))}


def load_label_dict(filename: str) -> dict[str, int]:
    """The tags of the roles in a file and their numbers; 1.8 numbered them otherwise each time.

    Args:
        filename: a text with a tag a line, such as ``B-A0``.
    """
    tags = (line for line in _lines(filename) if line.startswith(("B-", "I-")))
    return _tags(list(dict.fromkeys(line.strip()[2:] for line in tags)))


def _lines(filename: str) -> Iterator[str]:
    with open(usable_path("read", filename), encoding="utf-8") as file:
        yield from file


def _tags(roles: list[str]) -> dict[str, int]:
    tags = [f"{mark}-{role}" for role in roles for mark in "BI"]
    return {tag: number for number, tag in enumerate([*tags, "O"])}


def _path(name: str) -> str:
    return file_of(_FOLDER, f"conll05st%2F{name}", name)


def get_dict() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The numbers of words, verbs and tags."""
    if is_synthetic():
        words, verbs, roles = _MADE_SIZES
        return (
            {f"word{i}": i for i in range(words)},
            {f"verb{i}": i for i in range(verbs)},
            _tags([f"A{i}" for i in range(roles)]),
        )
    return (
        load_dict(_path("wordDict.txt")),
        load_dict(_path("verbDict.txt")),
        load_label_dict(_path("targetDict.txt")),
    )


def get_embedding() -> str:
    """The path of a file with the words' vectors."""
    return _path("emb")


def corpus_reader(data_path: str, words_name: str, props_name: str) -> Reader:
    """A reader of sentences, their verbs, and the tags that belong to each verb.

    Args:
        data_path: an archive.
        words_name, props_name: the compressed files in it: a word a line, and its verb with a
            column for each verb of the sentence.
    """

    def read() -> Iterator[Any]:
        with archive(data_path) as tar:
            files = [tar.extractfile(name) for name in (words_name, props_name)]
            words, props = (
                gzip.decompress(file.read()).decode().splitlines() for file in files if file
            )
        rows = [(word.strip(), prop.split()) for word, prop in zip(words, props)]
        for is_end, group in groupby(rows, key=lambda row: not row[1]):
            if not is_end:
                yield from _sentence(list(group))

    return read


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


def reader_creator(
    corpus_reader: Callable[[], Iterator[Any]],
    word_dict: Mapping[str, int],
    predicate_dict: Mapping[str, int],
    label_dict: Mapping[str, int],
) -> Reader:
    """A reader of samples of nine lists: words, the five words around the verb, the verb, whether a
    word is one of those five, the tags.

    Args:
        corpus_reader: of sentences, verbs and tags.
        word_dict, predicate_dict, label_dict: numbers.
    """

    def read() -> Iterator[Any]:
        for words, verb, tags in corpus_reader():
            at, length = tags.index("B-V"), len(words)
            around = []
            for step in (-2, -1, 0, 1, 2):
                place = at + step
                edge = "bos" if place < 0 else "eos"
                word = words[place] if 0 <= place < length else edge
                around.append([word_dict.get(word, UNK_IDX)] * length)
            yield (
                [word_dict.get(word, UNK_IDX) for word in words],
                *around,
                [predicate_dict.get(verb, UNK_IDX)] * length,
                [int(abs(place - at) <= 2) for place in range(length)],
                [label_dict[tag] for tag in tags],
            )

    return read


def _made_sample(random: Any) -> Any:
    words, verbs, roles = _MADE_SIZES
    length = int(random.integers(6, 30))
    sentence = [int(n) for n in random.integers(0, words, length)]
    at = int(random.integers(length))
    around = [[sentence[min(max(at + step, 0), length - 1)]] * length for step in (-2, -1, 0, 1, 2)]
    tags = [2 * (word % roles) for word in sentence]
    near = [int(abs(place - at) <= 2) for place in range(length)]
    return (sentence, *around, [int(random.integers(verbs))] * length, near, tags)


def test() -> Reader:
    """A reader of the test samples, nine lists each."""
    if is_synthetic():
        return reader("conll05", TEST, _made_sample)
    sentences = corpus_reader(
        file_of(_FOLDER, "conll05st-tests.tar.gz"),
        words_name="conll05st-release/test.wsj/words/test.wsj.words.gz",
        props_name="conll05st-release/test.wsj/props/test.wsj.props.gz",
    )
    return reader_creator(sentences, *get_dict())
