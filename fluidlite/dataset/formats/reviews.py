"""Film reviews in an archive of texts."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ...ground.files import Path
from ...ground.public_names import list_public_names
from .archives import archive

_PUNCTUATION = string.punctuation.encode()


def tokenized(path: Path, pattern: re.Pattern[str]) -> Iterator[list[bytes]]:
    """The words of each review, in lower case, without punctuation.

    Args:
        path: of the archive.
        pattern: of the reviews' names.
    """
    with archive(path) as tar:
        for member in tar:
            file = tar.extractfile(member) if pattern.match(member.name) else None
            if file is not None:
                yield file.read().rstrip(b"\n\r").translate(None, _PUNCTUATION).lower().split()


def numbered(reviews: Iterable[list[bytes]], cutoff: int) -> dict[Any, int]:
    """Words and their numbers, the most frequent first; ``<unk>`` is the last.

    Args:
        reviews: their words.
        cutoff: words that do not occur more often are left out.
    """
    counts = Counter(word for words in reviews for word in words)
    frequent = sorted((-count, word) for word, count in counts.items() if count > cutoff)
    words: list[Any] = [word for _, word in frequent]
    return {word: number for number, word in enumerate([*words, "<unk>"])}


list_public_names(globals())
