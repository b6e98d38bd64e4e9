"""Sentences of the Penn Treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ....dataset.formats import treebank
from ....dataset.formats.archives import format_of
from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, part_of


@SET
class Imikolov(TextSet):
    """Sentences of the Penn Treebank: so many numbers of words in a row, or whole sentences and the
    same ones one word later.

    Args:
        data_type: "NGRAM" or "SEQ", in any case.
        window_size: how many words; of sentences, the longest that are taken.
        mode: "train" or "test".
        min_word_freq: words that do not occur more often have no number of their own.
    """

    def __init__(
        self,
        data_file: str | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        self.data_type, self.mode = str(data_type).upper(), part_of(mode, "train", "test")
        if self.data_type not in ("NGRAM", "SEQ"):
            raise ArgumentError(f"expected data_type to be NGRAM or SEQ, got {data_type!r:.60}")
        sequences = self.data_type == "SEQ"
        if not sequences and window_size < 0:
            raise ArgumentError(f"expected window_size from 0 with NGRAM, got {window_size}")
        self.window_size, self.min_word_freq = window_size, min_word_freq
        names = "imikolov%2Fsimple-examples.tgz", "simple-examples.tgz"
        self.data_file = file_of(data_file, "imikolov", *names)
        with format_of(self.data_file):
            words = self.word_idx = treebank.numbered(self.data_file, min_word_freq)
            ends, unknown = (words.get("<s>"), words.get("<e>")), words["<unk>"]
            begin, end = (unknown if mark is None else mark for mark in ends)
            self._samples = [
                sample
                for line in treebank.sentences(self.data_file, self.mode)
                for sample in treebank.samples(
                    [words.get(word, unknown) for word in line.strip().split()],
                    (begin, end),
                    window_size,
                    sequences,
                )
            ]

    def word_count(self, f: Iterable[Any], word_freq: Counter[Any] | None = None) -> Any:
        """How often words occur in lines; ``<s>`` and ``<e>`` once in each.

        Args:
            f: the lines.
            word_freq: counts to add to.
        """
        return treebank.word_count(f, word_freq)


list_public_names(globals())
api_boundaries(globals())
