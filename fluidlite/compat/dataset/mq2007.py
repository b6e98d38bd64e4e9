"""Documents in the order of how well they answer queries (LETOR 4.0, MQ2007): 46 features each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import generator

__all__ = ["Query", "QueryList", "fetch", "load_from_text", "test", "train"]


class Query:
    """A document: the query that it answers, how well, and its features."""

    description: str

    def __init__(
        self,
        query_id: int = -1,
        relevance_score: int = -1,
        feature_vector: Any = None,
        description: str = "",
    ) -> None:
        self.query_id: int = query_id
        self.relevance_score: int = relevance_score
        self.feature_vector: list[float] = [] if feature_vector is None else feature_vector
        self.description: str = description

    def __str__(self) -> str:
        return f"{self.relevance_score} {self.query_id} {' '.join(map(str, self.feature_vector))}"

    def _parse_(self, text: str) -> Query | None:
        """Take in a line such as ``2 qid:10 1:0.5 2:0.1 #docid = GX01``; None for an empty one."""
        line, _, self.description = text.strip().partition("#")
        parts = line.split()
        if len(parts) < 2:
            return None
        self.relevance_score = int(parts[0])
        self.query_id = int(parts[1].partition(":")[2])
        self.feature_vector = [float(part.partition(":")[2]) for part in parts[2:]]
        return self


class QueryList:
    """The documents of a query."""

    def __init__(self, querylist: Any = None) -> None:
        self.querylist: list[Query] = [] if querylist is None else list(querylist)
        self.query_id: int = self.querylist[0].query_id if self.querylist else -1

    def __iter__(self) -> Iterator[Query]:
        return iter(self.querylist)

    def __len__(self) -> int:
        return len(self.querylist)

    def __getitem__(self, index: int) -> Query:
        return self.querylist[index]

    def _correct_ranking_(self) -> None:
        """Put the best first."""
        self.querylist.sort(key=lambda query: query.relevance_score, reverse=True)

    def _add_query(self, query: Query) -> None:
        self.query_id = query.query_id
        self.querylist.append(query)


def load_from_text(
    filepath: str, shuffle: bool = False, fill_missing: float = -1
) -> list[QueryList]:
    """The queries of a file, or made ones.

    Args:
        filepath: below the set's folder.
        shuffle: whether they come in another order.
        fill_missing: not read: files have all features.
    """
    queries: dict[int, QueryList] = {}
    for line in _lines(filepath):
        query = Query()._parse_(line)
        if query is not None:
            queries.setdefault(query.query_id, QueryList())._add_query(query)
    lists = list(queries.values())
    if shuffle:
        np.random.shuffle(lists)  # type: ignore[arg-type]
    return lists


def _lines(filepath: str) -> Iterator[str]:
    if not is_synthetic():
        with open(file_of("MQ2007", filepath, f"MQ2007/{filepath}"), encoding="utf-8") as file:
            yield from file
        return
    random = generator(f"mq2007 {filepath}")
    weights = random.normal(0, 1, 46)
    for query in range(40):
        for _ in range(10):
            features = random.random(46)
            score = int(np.digitize(features @ weights, [-1, 1]))
            text = " ".join(f"{k + 1}:{value:.6f}" for k, value in enumerate(features))
            yield f"{score} qid:{query} {text}"


def gen_plain_txt(querylist: QueryList) -> Iterator[Any]:
    """Query, score and features of each document, the best first."""
    querylist._correct_ranking_()
    for query in querylist:
        yield querylist.query_id, query.relevance_score, np.array(query.feature_vector)


def gen_point(querylist: QueryList) -> Iterator[Any]:
    """Score and features of each document, the best first."""
    querylist._correct_ranking_()
    for query in querylist:
        yield query.relevance_score, np.array(query.feature_vector)


def gen_pair(querylist: QueryList, partial_order: str = "full") -> Iterator[Any]:
    """1, and the features of a better document and a worse one, for each two of them.

    Args:
        querylist: the documents.
        partial_order: "full" for all pairs, "neighbour" for those next to each other.

    Raises:
        ArgumentError: it is something else.
    """
    if partial_order not in ("full", "neighbour"):
        raise ArgumentError(f'expected "full" or "neighbour", got {partial_order!r}')
    querylist._correct_ranking_()
    for i, better in enumerate(querylist):
        others = querylist.querylist[i + 1 :]
        for worse in others if partial_order == "full" else others[:1]:
            if better.relevance_score > worse.relevance_score:
                vectors = better.feature_vector, worse.feature_vector
                yield np.array([1]), np.array(vectors[0]), np.array(vectors[1])


def gen_list(querylist: QueryList) -> Iterator[Any]:
    """The scores and the features of all documents, the best first."""
    querylist._correct_ranking_()
    scores = [[query.relevance_score] for query in querylist]
    yield np.array(scores), np.array([query.feature_vector for query in querylist])


def query_filter(querylists: list[QueryList]) -> list[QueryList]:
    """The queries that any document answers."""
    return [each for each in querylists if sum(query.relevance_score for query in each)]


_FORMS = {
    "plain_txt": gen_plain_txt,
    "pointwise": gen_point,
    "pairwise": gen_pair,
    "listwise": gen_list,
}


def __reader__(
    filepath: str, format: str = "pairwise", shuffle: bool = False, fill_missing: float = -1
) -> Iterator[Any]:
    if format not in _FORMS:
        raise ArgumentError(f"expected format to be one of {', '.join(_FORMS)}, got {format!r}")
    for querylist in query_filter(load_from_text(filepath, shuffle, fill_missing)):
        yield from _FORMS[format](querylist)


train: Callable[..., Iterator[Any]] = partial(__reader__, filepath="MQ2007/Fold1/train.txt")
test: Callable[..., Iterator[Any]] = partial(__reader__, filepath="MQ2007/Fold1/test.txt")


api_boundaries(globals())
