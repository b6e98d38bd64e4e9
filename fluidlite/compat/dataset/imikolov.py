"""Sentences of the Penn Treebank: so many numbers of words in a row, or whole sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .homes import archive, fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, reader, sentence

__all__ = ["DataType", "build_dict", "fetch", "reader_creator", "test", "train", "word_count"]

_MADE_WORDS = 2073


class DataType:
    """What a sample is: so many words in a row, or a sentence and the same one word later."""

    NGRAM = 1
    SEQ = 2


def word_count(f: Iterable[Any], word_freq: Any = None) -> Any:
    """How often words occur in lines; ``<s>`` and ``<e>`` once in each.

    Args:
        f: the lines.
        word_freq: counts to add to.
    """
    counts = Counter() if word_freq is None else word_freq
    for line in f:
        for word in [*line.strip().split(), "<s>", "<e>"]:
            counts[word] = counts.get(word, 0) + 1
    return counts


def _lines(part: str) -> list[bytes]:
    path = file_of("imikolov", "imikolov%2Fsimple-examples.tgz", "simple-examples.tgz")
    with archive(path) as tar:
        file = tar.extractfile(f"./simple-examples/data/ptb.{part}.txt")
        assert file is not None
        return file.readlines()


def build_dict(min_word_freq: int = 50) -> dict[Any, int]:
    """Words and their numbers, the most frequent first; ``<unk>`` is the last.

    Args:
        min_word_freq: words that do not occur more often are left out.
    """
    if is_synthetic():
        words: list[Any] = ["<s>", "<e>", *(b"word%d" % i for i in range(2, _MADE_WORDS))]
    else:
        counts = word_count(_lines("valid"), word_count(_lines("train")))
        counts.pop("<unk>", None)
        counts.pop(b"<unk>", None)
        kept = [(-count, _text(word), word) for word, count in counts.items()]
        words = [word for count, _, word in sorted(kept) if -count > min_word_freq]
    return {word: number for number, word in enumerate([*words, "<unk>"])}


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else word


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
        unknown = word_idx["<unk>"]
        for line in _lines(part):
            numbers = [word_idx.get(word, unknown) for word in line.strip().split()]
            yield from _samples(numbers, word_idx["<s>"], word_idx["<e>"], n, data_type)

    return read


def _samples(words: list[int], begin: int, end: int, n: int, data_type: int) -> Iterator[Any]:
    if data_type == DataType.SEQ:
        if n <= 0 or len(words) + 1 <= n:
            yield [begin, *words], [*words, end]
        return
    assert n > -1, "Invalid gram length"
    whole = [begin, *words, end]
    for i in range(n, len(whole) + 1):
        yield tuple(whole[i - n : i])


def _reader(part: str, word_idx: Mapping[Any, int], n: int, data_type: int, count: int) -> Reader:
    if not is_synthetic():
        _lines(part)
        return reader_creator(part, word_idx, n, data_type)
    begin, end = word_idx["<s>"], word_idx["<e>"]

    def read() -> Iterator[Any]:
        sentences = reader(f"imikolov {part}", count, lambda r: sentence(r, len(word_idx)))
        for words in sentences():
            kept = words[: max(n - 1, 1)] if data_type == DataType.SEQ and n > 0 else words
            yield from _samples(kept, begin, end, n, data_type)

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
