"""Film reviews of the NLTK's corpus: numbers of words, and 0 for a bad review, 1 for a good one.

As in 1.8, ``train()`` and ``test()`` give the samples themselves, not readers.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import reader, sentence

__all__ = ["fetch", "get_word_dict", "test", "train"]

NUM_TRAINING_INSTANCES = 1600
NUM_TOTAL_INSTANCES = 2000
_WORDS = re.compile(r"\w+|[^\w\s]+")
_MADE_WORDS = 39768


@cache
def _reviews(path: str) -> dict[str, list[str]]:
    """The words of each review, by its name."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".txt"))
        return {
            "/".join(name.split("/")[-2:]): _WORDS.findall(archive.read(name).decode("latin"))
            for name in names
            if name.split("/")[-2] in ("neg", "pos")
        }


def _held() -> dict[str, list[str]]:
    return _reviews(file_of("corpora", "movie_reviews.zip"))


def get_word_dict() -> list[tuple[str, int]]:
    """Words and their numbers, the most frequent first."""
    if is_synthetic():
        return [(f"word{i}", i) for i in range(_MADE_WORDS)]
    counts = Counter(chain.from_iterable(_held().values()))
    return [(word, number) for number, (word, _) in enumerate(counts.most_common())]


def sort_files() -> list[str]:
    """The names of the reviews, a bad one and a good one in turn."""
    names = list(_held())
    bad, good = ([name for name in names if name.startswith(kind)] for kind in ("neg", "pos"))
    return [name for pair in zip(bad, good) for name in pair]


def load_sentiment_data() -> list[tuple[list[int], int]]:
    """All samples."""
    if is_synthetic():

        def sample(random: Any) -> Any:
            label = int(random.integers(2))
            return sentence(random, _MADE_WORDS, label, 2), label

        return list(reader("sentiment", NUM_TOTAL_INSTANCES, sample)())
    numbers, held = dict(get_word_dict()), _held()
    return [
        ([numbers[word] for word in held[name]], int(name.startswith("pos")))
        for name in sort_files()
    ]


def reader_creator(data: list[Any]) -> Iterator[Any]:
    """The samples of a list."""
    yield from data


def train() -> Iterator[Any]:
    """1,600 samples."""
    return reader_creator(load_sentiment_data()[:NUM_TRAINING_INSTANCES])


def test() -> Iterator[Any]:
    """The other 400."""
    return reader_creator(load_sentiment_data()[NUM_TRAINING_INSTANCES:])


api_boundaries(globals())
