"""Sentences and the roles of their parts (CoNLL 2005, the free test part)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...dataset.formats.roles import PROPS, UNKNOWN, WORDS, numbers, sentences, tags_of
from ...dataset.formats.roles import load_dict as load_dict
from ...dataset.formats.roles import load_label_dict as load_label_dict
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, Reader, reader

__all__ = ["fetch", "get_dict", "get_embedding", "load_dict", "load_label_dict", "test"]

UNK_IDX = UNKNOWN
_MADE_SIZES = (44068, 3162, 29)  # words, verbs, roles
_FOLDER = "conll05st"


def _path(name: str) -> str:
    return file_of(_FOLDER, f"conll05st%2F{name}", name)


def get_dict() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The numbers of words, verbs and tags."""
    if is_synthetic():
        words, verbs, roles = _MADE_SIZES
        return (
            {f"word{i}": i for i in range(words)},
            {f"verb{i}": i for i in range(verbs)},
            tags_of([f"A{i}" for i in range(roles)]),
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

    return lambda: sentences(data_path, words_name, props_name)


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
            yield numbers(words, verb, tags, word_dict, predicate_dict, label_dict)

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
    corpus = corpus_reader(file_of(_FOLDER, "conll05st-tests.tar.gz"), WORDS, PROPS)
    return reader_creator(corpus, *get_dict())


api_boundaries(globals())
