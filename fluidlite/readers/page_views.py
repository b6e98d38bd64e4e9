"""Lines that begin with marks, as an identifier or a key of a log, and pages that they are put
together to by these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .multislot import FileLine, Row

#: the largest rank that rank offsets tell of
MOST_RANK = 3
#: sources of lines that have ranks
_RANKED = (222, 223)


class LogKey(NamedTuple):
    """What the key of a log says: the last 21 of its hexadecimal digits, of 3, 2 and 16."""

    source: int
    rank: int
    search: int  #: the lines of a page have it in common

    @classmethod
    def of(cls, text: str, line: FileLine) -> LogKey:
        """The key that a text is.

        Raises:
            FileFormatError: it is none.
        """
        try:
            return cls(int(text[11:14], 16), int(text[14:16], 16), int(text[16:32], 16))
        except ValueError:
            raise line.wrong(
                f"expected a log key of 32 hexadecimal digits, got {text!r:.60}"
            ) from None

    @property
    def counted_rank(self) -> int:
        """The rank among the lines of its page; 0 where it does not count."""
        return self.rank if self.source in _RANKED and self.rank <= MOST_RANK else 0


class MarkedRow(list[Any]):
    """The values of a line, and the key that it began with."""

    def __init__(self, values: Row, key: LogKey | None) -> None:
        super().__init__(values)
        self.key = key


class Marks(NamedTuple):
    """What lines begin with: for each mark a 1, and a word."""

    ins_id: bool = False
    content: bool = False
    log_key: bool = False

    def taken_off(self, text: str, line: FileLine) -> tuple[str, LogKey | None]:
        """A line without its marks, and its key.

        Args:
            text: the line.
            line: where it stands.

        Raises:
            FileFormatError: it does not begin with them.
        """
        key = None
        for mark, is_there in self._asdict().items():
            if not is_there:
                continue
            count, word, text = (*text.split(None, 2), "", "", "")[:3]
            if count != "1" or not word:
                raise line.wrong(f"expected 1 and the {mark} of the line, got {count} {word!r:.40}")
            if mark == "log_key":
                key = LogKey.of(word, line)
        return text, key


class PageViews:
    """Lines in memory that are put together to pages: those of one search, where lines have keys.

    ``set_parse_logkey(True)``, ``set_enable_pv_merge(True)`` and ``set_merge_by_sid(True)`` come
    before the lines are read, ``preprocess_instance()`` behind; in phase 1 a batch has as many
    pages as ``set_pv_batch_size`` says, and the variable of ``set_rank_offset`` what
    ``rank_attention`` needs.
    """

    _loaded: list[Row] | None
    _marks: Marks
    _pages: list[list[Row]] | None = None
    _pv_batch_size: int
    _merges_pages = False
    _merges_by_search = True
    _phase = -1

    def set_parse_ins_id(self, parse_ins_id: bool) -> None:
        """Say whether lines begin with an identifier: a 1, and a word.

        Args:
            parse_ins_id: whether they do.
        """
        self._marks = self._marks._replace(ins_id=bool(parse_ins_id))

    def set_parse_content(self, parse_content: bool) -> None:
        """Say whether lines tell, behind their identifier, their content: a 1, and a word.

        Args:
            parse_content: whether they do.
        """
        self._marks = self._marks._replace(content=bool(parse_content))

    def set_parse_logkey(self, parse_logkey: bool) -> None:
        """Say whether lines have a log key in front of their slots: a 1, and 32 digits.

        Args:
            parse_logkey: whether they have.
        """
        self._marks = self._marks._replace(log_key=bool(parse_logkey))

    def set_merge_by_lineid(self, merge_size: int = 2) -> None:
        """Say that lines begin with an identifier.  Lines of one are put together where several
        processes exchange them; here there is one, and they stay as they are.

        Args:
            merge_size: accepted for old scripts.
        """
        self.set_parse_ins_id(True)

    def set_enable_pv_merge(self, enable_pv_merge: bool) -> None:
        """Say whether ``preprocess_instance`` puts lines together to pages.

        Args:
            enable_pv_merge: whether it does.
        """
        self._merges_pages = bool(enable_pv_merge)

    def set_merge_by_sid(self, merge_by_sid: bool) -> None:
        """Say whether the lines of one search are a page; else each line is one.

        Args:
            merge_by_sid: whether they are.
        """
        self._merges_by_search = bool(merge_by_sid)

    def set_current_phase(self, current_phase: int) -> None:
        """Say what a batch is made of.

        Args:
            current_phase: 1 for pages, another number for lines.
        """
        self._phase = int(current_phase)

    def preprocess_instance(self) -> None:
        """Put the lines in memory together to pages, where ``set_enable_pv_merge`` says so."""
        if not self._merges_pages:
            return
        pages: dict[tuple[str, int], list[Row]] = {}
        for place, row in enumerate(self._loaded or ()):
            key = row.key if isinstance(row, MarkedRow) else None
            page = ("line", place)
            if self._merges_by_search and key is not None:
                page = ("search", key.search)
            pages.setdefault(page, []).append(row)
        self._pages = list(pages.values())

    def postprocess_instance(self) -> None:
        """Make lines of the pages again, those of a page one after the other."""
        if self._pages is not None:
            self._loaded = [row for page in self._pages for row in page]
        self._pages = None

    def get_pv_data_size(self) -> int:
        """How many pages there are."""
        return len(self._pages or ())

    def page_batches(self) -> Iterator[list[Row]]:
        """The lines of as many pages at a time as a batch has; of none where phase and pages are
        not requested.
        """
        pages = iter(self._pages or ())
        while batch := list(islice(pages, self._pv_batch_size)):
            yield [row for page in batch for row in page]

    @property
    def has_pages(self) -> bool:
        """Whether batches are made of pages."""
        return self._phase == 1 and self._pages is not None

    def set_generate_unique_feasigns(self, generate_uni_feasigns: bool, shard_num: int) -> None:
        """Nothing: no process keeps parameters by the numbers of slots.

        Args:
            generate_uni_feasigns, shard_num: accepted for old scripts.
        """

    def generate_local_tables_unlock(
        self,
        table_id: int,
        fea_dim: int,
        read_thread_num: int,
        consume_thread_num: int,
        shard_num: int,
    ) -> None:
        """Nothing: no process keeps parameters.

        Args:
            table_id, fea_dim, read_thread_num, consume_thread_num, shard_num: accepted for old
                scripts.
        """

    def set_feed_type(self, data_feed_type: str) -> None:
        """Set what the description calls the reader of the files.

        Args:
            data_feed_type: "MultiSlotInMemoryDataFeed", as it is without, or "PaddleBoxDataFeed".
        """
        self._feed = str(data_feed_type)


def rank_offsets(rows: Sequence[Row]) -> np.ndarray:
    """For each line its rank, then for each rank of its page the rank and the place of that line;
    -1 for a missing one.

    Args:
        rows: lines with keys, those of a page having the search in common.

    >>> key = LogKey(222, 2, 7)
    >>> rank_offsets([MarkedRow([], key), MarkedRow([], key._replace(rank=1))]).tolist()
    [[2, 1, 1, 2, 0, -1, -1], [1, 1, 1, 2, 0, -1, -1]]
    """
    keys = [getattr(row, "key", None) for row in rows]
    offsets = np.full([len(rows), 1 + 2 * MOST_RANK], -1, "int32")
    ranked: dict[int, list[tuple[int, int]]] = {}
    for place, key in enumerate(keys):
        if key is not None and key.counted_rank:
            ranked.setdefault(key.search, []).append((key.counted_rank, place))
    for page in ranked.values():
        for rank, place in page:
            offsets[place, 0] = rank
            for other, there in page:
                offsets[place, 2 * other - 1 : 2 * other + 1] = other, there
    return offsets


__all__ = ["LogKey", "MarkedRow", "Marks", "PageViews", "rank_offsets"]
