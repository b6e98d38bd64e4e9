"""English sentences and German ones (Multi30K): numbers of words, and the translation's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dataset.formats.translations import MARKS, counted_words, pairs, samples
from ...errors import ArgumentError
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader
from .wmt14 import made_pairs

__all__ = ["fetch", "get_dict", "reader_creator", "test", "train", "validation"]

START_MARK, END_MARK, UNK_MARK = MARKS
TOTAL_EN_WORDS, TOTAL_DE_WORDS = 11250, 19220


def _archive() -> str:
    return file_of("wmt16", "wmt16.tar.gz", "wmt16%2Fwmt16.tar.gz")


def _dict(tar_file: str, dict_size: int, lang: str) -> dict[str, int]:
    side = 0 if lang == "en" else 1
    return counted_words((parts[side] for parts in pairs(tar_file, "wmt16/train")), dict_size)


def reader_creator(
    tar_file: str, file_name: str, src_dict_size: int, trg_dict_size: int, src_lang: str
) -> Reader:
    """A reader of a part of the archive.

    Args:
        tar_file: the archive.
        file_name: the part in it.
        src_dict_size, trg_dict_size: how many words have numbers of their own, with the marks.
        src_lang: "en" or "de".
    """

    def read() -> Iterator[Any]:
        other = "de" if src_lang == "en" else "en"
        source = _dict(tar_file, src_dict_size, src_lang)
        target = _dict(tar_file, trg_dict_size, other)
        both = pairs(tar_file, file_name)
        yield from samples(both if src_lang == "en" else map(reversed, both), source, target)

    return read


def _reader(part: str, src: int, trg: int, src_lang: str, count: int) -> Reader:
    if src_lang not in ("en", "de"):
        raise ArgumentError(f'expected src_lang to be "en" or "de", got {src_lang!r}')
    totals = (TOTAL_EN_WORDS, TOTAL_DE_WORDS)
    most = totals if src_lang == "en" else totals[::-1]
    src, trg = min(src, most[0]), min(trg, most[1])
    if is_synthetic():
        return made_pairs(f"wmt16 {part}", count, src, trg)
    return reader_creator(_archive(), f"wmt16/{part}", src, trg, src_lang)


def train(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """A reader of the 29,000 training samples.

    Args:
        src_dict_size, trg_dict_size: how many words have numbers of their own, with the marks.
        src_lang: "en" or "de".
    """
    return _reader("train", src_dict_size, trg_dict_size, src_lang, TRAIN)


def test(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """A reader of the 1,000 test samples.

    Args:
        src_dict_size, trg_dict_size, src_lang: as of :func:`train`.
    """
    return _reader("test", src_dict_size, trg_dict_size, src_lang, TEST)


def validation(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """A reader of the 1,014 samples for validation.

    Args:
        src_dict_size, trg_dict_size, src_lang: as of :func:`train`.
    """
    return _reader("val", src_dict_size, trg_dict_size, src_lang, TEST)


def get_dict(lang: str, dict_size: int, reverse: bool = False) -> dict[Any, Any]:
    """Words and their numbers.

    Args:
        lang: "en" or "de".
        dict_size: how many, with the marks.
        reverse: whether numbers are the keys.
    """
    size = min(dict_size, TOTAL_EN_WORDS if lang == "en" else TOTAL_DE_WORDS)
    if is_synthetic():
        words = [*MARKS, *(f"{lang}{i}" for i in range(3, size))]
        found = {word: number for number, word in enumerate(words)}
    else:
        found = _dict(_archive(), size, lang)
    return {number: word for word, number in found.items()} if reverse else found


api_boundaries(globals())
