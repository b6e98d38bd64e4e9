"""Sentences of the Penn Treebank: so many numbers of words in a row, or whole sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ...ground.files import Path
from ...ground.public_names import list_public_names
from .archives import lines_of


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


def sentences(path: Path, part: str) -> list[bytes]:
    """The lines of a part.

    Args:
        path: of the archive.
        part: "train", "valid" or "test".
    """
    return lines_of(path, f"simple-examples/data/ptb.{part}.txt")


def numbered(path: Path, min_word_freq: int) -> dict[Any, int]:
    """Words of the first two parts and their numbers, the most frequent first; ``<unk>`` is the
    last.

    Args:
        path: of the archive.
        min_word_freq: words that do not occur more often are left out.
    """
    counts = word_count(sentences(path, "valid"), word_count(sentences(path, "train")))
    counts.pop("<unk>", None)
    counts.pop(b"<unk>", None)
    frequent = sorted((-count, _text(word), word) for word, count in counts.items())
    words = [word for count, _, word in frequent if -count > min_word_freq]
    return {word: number for number, word in enumerate([*words, "<unk>"])}


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else word


def samples(words: list[int], ends: tuple[int, int], n: int, sequences: bool) -> Iterator[Any]:
    """The samples of a sentence: it and the same one word later, or so many words in a row.

    Args:
        words: its numbers.
        ends: those of the marks at its ends.
        n: how many words; of sentences, the longest that are taken, and 0 or below for all.
        sequences: whether it is whole.
    """
    begin, end = ends
    if sequences:
        if n <= 0 or len(words) + 1 <= n:
            yield [begin, *words], [*words, end]
        return
    assert n > -1, "Invalid gram length"
    whole = [begin, *words, end]
    for i in range(n, len(whole) + 1):
        yield tuple(whole[i - n : i])


list_public_names(globals())
