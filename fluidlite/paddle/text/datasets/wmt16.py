"""English sentences and German ones."""

from __future__ import annotations

from typing import Any

from ....dataset.formats.archives import format_of
from ....dataset.formats.translations import counted_words, pairs, samples
from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, need_count, part_of

#: how many words of each language there are
_WORDS = {"en": 11250, "de": 19220}


@SET
class WMT16(TextSet):
    """English sentences and German ones (Multi30K): numbers of words, and of the translation,
    behind the mark of its beginning, and in front of that of its end.

    Args:
        mode: "train", "test" or "val".
        src_dict_size, trg_dict_size: how many words have numbers of their own, with the marks.
        lang: which language is translated: "en" or "de".
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        self.mode = part_of(mode, "train", "test", "val")
        if lang not in _WORDS:
            raise ArgumentError(f'expected lang to be "en" or "de", got {lang!r:.60}')
        self.lang, self._other = lang, "de" if lang == "en" else "en"
        self.data_file = file_of(data_file, "wmt16", "wmt16.tar.gz", "wmt16%2Fwmt16.tar.gz")
        self.src_dict_size = min(need_count("src_dict_size", src_dict_size), _WORDS[lang])
        self.trg_dict_size = min(need_count("trg_dict_size", trg_dict_size), _WORDS[self._other])
        with format_of(self.data_file):
            self.src_dict = self._words(lang, self.src_dict_size)
            self.trg_dict = self._words(self._other, self.trg_dict_size)
            both = pairs(self.data_file, f"wmt16/{self.mode}")
            translated = both if lang == "en" else map(reversed, both)
            self._samples = list(samples(translated, self.src_dict, self.trg_dict))

    def _words(self, lang: str, size: int) -> dict[str, int]:
        side = 0 if lang == "en" else 1
        return counted_words((each[side] for each in pairs(self.data_file, "wmt16/train")), size)

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The words of a language and their numbers.

        Args:
            lang: "en" or "de".
            reverse: whether numbers are the keys.
        """
        words = self.src_dict if lang == self.lang else self.trg_dict
        return {number: word for word, number in words.items()} if reverse else words


list_public_names(globals())
api_boundaries(globals())
