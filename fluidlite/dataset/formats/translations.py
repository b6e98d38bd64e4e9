"""Sentences and their translations: numbers of words, and of the translation one word later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...ground.files import Path
from ...ground.public_names import list_public_names
from .archives import archive, lines_of

START, END, UNK = MARKS = ("<s>", "<e>", "<unk>")
UNK_IDX = 2
LONGEST = 80


def pairs(path: Path, name: str) -> Iterator[list[str]]:
    """The sentences of the files in an archive, with their translations.

    Args:
        path: of the archive.
        name: how the names of the files end.
    """
    with archive(path) as tar:
        for member in [each for each in tar if each.name.endswith(name)]:
            file = tar.extractfile(member)
            for line in file or ():
                parts = line.decode().strip().split("\t")
                if len(parts) == 2:
                    yield parts


def listed_words(path: Path, dict_size: int) -> tuple[dict[str, int], dict[str, int]]:
    """The words of both languages that an archive lists, and their numbers.

    Args:
        path: of the archive.
        dict_size: how many.
    """
    source, target = (
        {line.decode().strip(): n for n, line in enumerate(lines_of(path, side)[:dict_size])}
        for side in ("src.dict", "trg.dict")
    )
    return source, target


def counted_words(sentences: Iterable[str], dict_size: int) -> dict[str, int]:
    """The marks, and the most frequent words of sentences, and their numbers.

    Args:
        sentences: the sentences.
        dict_size: how many, with the marks.
    """
    counts = Counter(word for sentence in sentences for word in sentence.split())
    words = [word for word, _ in counts.most_common(max(dict_size - len(MARKS), 0))]
    return {word: number for number, word in enumerate([*MARKS, *words])}


def short_samples(
    translated: Iterable[list[str]], source: Mapping[str, int], target: Mapping[str, int]
) -> Iterator[Any]:
    """Samples of pairs that are not too long: numbers of words with marks at their ends, those of
    the translation behind a mark, and in front of one.

    Args:
        translated: the pairs.
        source, target: numbers of words.
    """
    for sentence, other in translated:
        words = [source.get(word, UNK_IDX) for word in [START, *sentence.split(), END]]
        translation = [target.get(word, UNK_IDX) for word in other.split()]
        if len(words) <= LONGEST and len(translation) <= LONGEST:
            yield words, [target[START], *translation], [*translation, target[END]]


def samples(
    translated: Iterable[Iterable[str]], source: Mapping[str, int], target: Mapping[str, int]
) -> Iterator[Any]:
    """The same of all pairs, with the marks of the first language.

    Args:
        translated, source, target: as of :func:`short_samples`.
    """
    start, end, unknown = (source[mark] for mark in MARKS)
    for sentence, other in translated:
        words = [source.get(word, unknown) for word in sentence.split()]
        translation = [target.get(word, unknown) for word in other.split()]
        yield [start, *words, end], [start, *translation], [*translation, end]


list_public_names(globals())
