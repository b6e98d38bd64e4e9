"""English sentences and French ones."""

from __future__ import annotations

from typing import Any

from ....dataset.formats.archives import format_of
from ....dataset.formats.translations import listed_words, pairs, short_samples
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, need_count, part_of


@SET
class WMT14(TextSet):
    """English sentences and French ones: numbers of words, and of the translation, behind the mark
    of its beginning, and in front of that of its end.

    Args:
        mode: "train", "test" or "gen".
        dict_size: how many words of each language have numbers of their own.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        dict_size: int = -1,
        download: bool = True,
    ) -> None:
        self.mode = part_of(mode, "train", "test", "gen")
        self.dict_size = need_count("dict_size", dict_size)
        self.data_file = file_of(data_file, "wmt14", "wmt14.tgz", "wmt%2Fwmt14.tgz")
        with format_of(self.data_file):
            self.src_dict, self.trg_dict = listed_words(self.data_file, dict_size)
            translated = pairs(self.data_file, f"{self.mode}/{self.mode}")
            self._samples = list(short_samples(translated, self.src_dict, self.trg_dict))

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The words of both languages and their numbers.

        Args:
            reverse: whether numbers are the keys.
        """
        both = self.src_dict, self.trg_dict
        if not reverse:
            return both
        source, target = ({number: word for word, number in each.items()} for each in both)
        return source, target


list_public_names(globals())
api_boundaries(globals())
