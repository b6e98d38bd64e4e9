"""Film reviews: numbers of words, and 0 for a good review, 1 for a bad one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...dataset.formats.reviews import numbered, tokenized
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, reader, sentence

__all__ = ["build_dict", "fetch", "reader_creator", "test", "tokenize", "train", "word_dict"]

_FILES = ("imdb%2FaclImdb_v1.tar.gz", "aclImdb_v1.tar.gz")
_MADE_WORDS = 5146


def tokenize(pattern: re.Pattern[str]) -> Iterator[list[bytes]]:
    """The words of each review in the archive, in lower case, without punctuation.

    Args:
        pattern: of the reviews' names.
    """
    yield from tokenized(file_of("imdb", *_FILES), pattern)


def build_dict(pattern: re.Pattern[str], cutoff: int) -> dict[Any, int]:
    """Words and their numbers, the most frequent first; ``<unk>`` is the last.

    Args:
        pattern: of the reviews' names.
        cutoff: words that do not occur more often are left out.
    """
    if is_synthetic():
        words: list[Any] = [b"word%d" % i for i in range(_MADE_WORDS)]
        return {word: number for number, word in enumerate([*words, "<unk>"])}
    return numbered(tokenize(pattern), cutoff)


def word_dict() -> dict[Any, int]:
    """The words that occur more than 150 times."""
    return build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), 150)


def reader_creator(
    pos_pattern: re.Pattern[str], neg_pattern: re.Pattern[str], word_idx: Mapping[Any, int]
) -> Reader:
    """A reader of good reviews, then bad ones.

    Args:
        pos_pattern, neg_pattern: of their names.
        word_idx: the words' numbers.
    """
    samples: list[Any] = []

    def read() -> Iterator[Any]:
        if not samples:
            unknown = word_idx["<unk>"]
            for label, pattern in ((0, pos_pattern), (1, neg_pattern)):
                samples.extend(
                    ([word_idx.get(word, unknown) for word in words], label)
                    for words in tokenize(pattern)
                )
        yield from samples

    return read


def _reader(part: str, word_idx: Mapping[Any, int], count: int) -> Reader:
    if is_synthetic():

        def sample(random: Any) -> Any:
            label = int(random.integers(2))
            return sentence(random, len(word_idx), label, 2), label

        return reader(f"imdb {part}", count, sample)
    file_of("imdb", *_FILES)
    return reader_creator(
        re.compile(rf"aclImdb/{part}/pos/.*\.txt$"),
        re.compile(rf"aclImdb/{part}/neg/.*\.txt$"),
        word_idx,
    )


def train(word_idx: Mapping[Any, int]) -> Reader:
    """A reader of the 25,000 training samples.

    Args:
        word_idx: the words' numbers.
    """
    return _reader("train", word_idx, TRAIN)


def test(word_idx: Mapping[Any, int]) -> Reader:
    """A reader of the 25,000 test samples.

    Args:
        word_idx: the words' numbers.
    """
    return _reader("test", word_idx, TEST)


api_boundaries(globals())
