"""English sentences and French ones: numbers of words, and of the translation one word later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dataset.formats.translations import END, START, UNK, listed_words, pairs, short_samples
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, reader, sentence

__all__ = ["fetch", "gen", "get_dict", "reader_creator", "test", "train"]


def reader_creator(tar_file: str, file_name: str, dict_size: int) -> Reader:
    """A reader of a part of the archive.

    Args:
        tar_file: the archive.
        file_name: how the names of the part end.
        dict_size: how many words have numbers of their own.
    """

    def read() -> Iterator[Any]:
        yield from short_samples(pairs(tar_file, file_name), *listed_words(tar_file, dict_size))

    return read


def made_pairs(what: str, count: int, source: int, target: int) -> Reader:
    """A reader of made pairs: the translation of a word is the word of its number.

    Args:
        what: the part.
        count: how many pairs.
        source, target: how many words there are on each side.
    """

    def sample(random: Any) -> Any:
        words = [max(word, 3) for word in sentence(random, max(source, 4))]
        translation = [min(word, max(target, 4) - 1) for word in words]
        return [0, *words, 1], [0, *translation], [*translation, 1]

    return reader(what, count, sample)


def _reader(part: str, dict_size: int, count: int) -> Reader:
    if is_synthetic():
        return made_pairs(f"wmt14 {part}", count, dict_size, dict_size)
    return reader_creator(file_of("wmt14", "wmt14.tgz", "wmt%2Fwmt14.tgz"), part, dict_size)


def train(dict_size: int) -> Reader:
    """A reader of the training samples.

    Args:
        dict_size: how many words have numbers of their own.
    """
    return _reader("train/train", dict_size, TRAIN)


def test(dict_size: int) -> Reader:
    """A reader of the test samples.

    Args:
        dict_size: how many words have numbers of their own.
    """
    return _reader("test/test", dict_size, TEST)


def gen(dict_size: int) -> Reader:
    """A reader of the samples to translate.

    Args:
        dict_size: how many words have numbers of their own.
    """
    return _reader("gen/gen", dict_size, TEST)


def get_dict(dict_size: int, reverse: bool = True) -> tuple[Any, Any]:
    """The words of both sides: number -> word, or word -> number.

    Args:
        dict_size: how many.
        reverse: whether numbers are the keys.
    """
    if is_synthetic():
        words = [START, END, UNK, *(f"word{i}" for i in range(3, dict_size))]
        both = {word: number for number, word in enumerate(words)}
        dicts: tuple[Any, Any] = (both, dict(both))
    else:
        dicts = listed_words(file_of("wmt14", "wmt14.tgz", "wmt%2Fwmt14.tgz"), dict_size)
    if not reverse:
        return dicts
    return tuple({number: word for word, number in each.items()} for each in dicts)  # type: ignore[return-value]


api_boundaries(globals())
