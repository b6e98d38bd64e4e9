"""Sentences of the Penn Treebank: so many numbers of words in a row, or whole sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...dataset.formats.treebank import numbered, samples, sentences
from ...dataset.formats.treebank import word_count as word_count
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, reader, sentence

__all__ = ["DataType", "build_dict", "fetch", "reader_creator", "test", "train", "word_count"]

_MADE_WORDS = 2073


class DataType:
    """What a sample is: so many words in a row, or a sentence and the same one word later."""

    NGRAM = 1
    SEQ = 2


def _lines(part: str) -> list[bytes]:
    return sentences(_path(), part)


def _path() -> str:
    return file_of("imikolov", "imikolov%2Fsimple-examples.tgz", "simple-examples.tgz")


def build_dict(min_word_freq: int = 50) -> dict[Any, int]:
    """Words and their numbers, the most frequent first; ``<unk>`` is the last.

    Args:
        min_word_freq: words that do not occur more often are left out.
    """
    if is_synthetic():
        words: list[Any] = ["<s>", "<e>", *(b"word%d" % i for i in range(2, _MADE_WORDS))]
        return {word: number for number, word in enumerate([*words, "<unk>"])}
    return numbered(_path(), min_word_freq)


def reader_creator(filename: str, word_idx: Mapping[Any, int], n: int, data_type: int) -> Reader:
    """A reader of a part of the set.

    Args:
        filename: "train" or "valid", or the name of the file in the archive.
        word_idx: the words' numbers.
        n: how many words in a row; of sentences, the longest that are taken.
        data_type: ``DataType.NGRAM`` or ``DataType.SEQ``.
    """
    part = filename.removesuffix(".txt").rpartition(".")[2]

    def read() -> Iterator[Any]:
        unknown, ends = word_idx["<unk>"], (word_idx["<s>"], word_idx["<e>"])
        for line in _lines(part):
            numbers = [word_idx.get(word, unknown) for word in line.strip().split()]
            yield from samples(numbers, ends, n, data_type == DataType.SEQ)

    return read


def _reader(part: str, word_idx: Mapping[Any, int], n: int, data_type: int, count: int) -> Reader:
    if not is_synthetic():
        _lines(part)
        return reader_creator(part, word_idx, n, data_type)
    ends = word_idx["<s>"], word_idx["<e>"]

    def read() -> Iterator[Any]:
        sentences = reader(f"imikolov {part}", count, lambda r: sentence(r, len(word_idx)))
        for words in sentences():
            kept = words[: max(n - 1, 1)] if data_type == DataType.SEQ and n > 0 else words
            yield from samples(kept, ends, n, data_type == DataType.SEQ)

    return read


def train(word_idx: Mapping[Any, int], n: int, data_type: int = DataType.NGRAM) -> Reader:
    """A reader of the training samples.

    Args:
        word_idx, n, data_type: as of :func:`reader_creator`.
    """
    return _reader("train", word_idx, n, data_type, TRAIN)


def test(word_idx: Mapping[Any, int], n: int, data_type: int = DataType.NGRAM) -> Reader:
    """A reader of the test samples.

    Args:
        word_idx, n, data_type: as of :func:`reader_creator`.
    """
    return _reader("valid", word_idx, n, data_type, TEST)


api_boundaries(globals())
