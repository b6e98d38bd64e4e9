"""Film reviews."""

from __future__ import annotations

import re

from ....dataset.formats.archives import format_of
from ....dataset.formats.reviews import numbered, tokenized
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, part_of


@SET
class Imdb(TextSet):
    """Film reviews: numbers of words, and 0 for a good one, 1 for a bad one.

    Args:
        mode: "train" or "test".
        cutoff: words that do not occur more often, in both parts together, have no number of their
            own.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        cutoff: int = 150,
        download: bool = True,
    ) -> None:
        self.mode = part_of(mode, "train", "test")
        names = "imdb%2FaclImdb_v1.tar.gz", "aclImdb_v1.tar.gz"
        self.data_file = file_of(data_file, "imdb", *names)
        with format_of(self.data_file):
            reviews = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")
            self.word_idx = numbered(tokenized(self.data_file, reviews), cutoff)
            unknown = self.word_idx["<unk>"]
            self._samples = [
                ([self.word_idx.get(word, unknown) for word in words], [label])
                for label, kind in enumerate(("pos", "neg"))
                for words in tokenized(
                    self.data_file, re.compile(rf"aclImdb/{self.mode}/{kind}/.*\.txt$")
                )
            ]


list_public_names(globals())
api_boundaries(globals())
