"""One step of a beam search over sequences of candidates, and the sentences that it found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import LoDError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, need_least
from ..opdef.definition import DetachedValues
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.sequences import lod_of
from ..opdef.spec import Spec, agree, need_integer, spec


class beam_search(WarnsOfInput, DetachedValues):
    """Of all continuations of the prefixes of a source, the ``beam_size`` best ones.

    (Reddy, Speech understanding systems, Carnegie Mellon University, 1977.)

    A prefix that ends with ``end_id`` has one continuation: itself.  Once all that is chosen of a
    source has ended before, nothing is chosen of it any more.

    pre_ids: the last word of each prefix, [prefixes, 1].
    pre_scores: the score of each prefix, [prefixes, 1].
    ids: words that may follow, [prefixes, K]; 0 to K - 1 when absent.
    scores: of the prefixes with these words, [prefixes, K]; says as sequences of level ``level``
        which prefixes belong to one source.
    selected_ids: the words chosen, [n, 1]: for each source sequences of prefixes, for each of these
        a sequence of words, the best first.
    selected_scores: their scores, likewise.
    parent_idx: the number of the prefix of each of them, [n].
    level: of the sequences of ``scores`` that are sources.
    beam_size: how many are chosen of a source.
    end_id: the word that ends a sentence.
    is_accumulated: whether ``scores`` are those of the prefixes with the words; else probabilities
        of the words, whose logarithms are added to ``pre_scores``.
    """

    signature = (
        "pre_ids![], pre_scores![], ids?![], scores![] -> selected_ids![], selected_scores![], "
        "parent_idx?!"
    )
    level: int = REQUIRED
    beam_size: int = REQUIRED
    end_id: int = REQUIRED
    is_accumulated: bool = True

    def infer(self, pre_ids: Spec, pre_scores: Spec, ids: Any, scores: Spec) -> Specs:
        need_integer(pre_ids=pre_ids)
        need_least(self, 1, "beam_size")
        if scores.ndim != 2 or (ids is not None and not all(map(agree, ids.shape, scores.shape))):
            raise ShapeError(
                f"expected ids and scores of one shape [prefixes, K], got "
                f"{None if ids is None else list(ids.shape)} and {list(scores.shape)}"
            )
        one = scores.with_shape([-1, 1])._replace(lod_level=0)
        return pre_ids.with_shape([-1, 1])._replace(lod_level=0), one, spec([-1], DType.INT32)

    def run(self, xp: Any, pre_ids: Array, pre_scores: Array, ids: Array, scores: Array) -> Arrays:
        sources = self.sources(scores)
        last, rows = bare(pre_ids).reshape(-1), bare(scores)
        if len(last) < len(rows) or bare(pre_scores).size < len(rows) or sources[-1] != len(rows):
            raise ShapeError(
                f"expected a row of scores for each prefix, got {len(last)} prefixes and "
                f"{len(rows)} rows, {sources[-1]} of them in sources"
            )
        last, before = last[: len(rows)], bare(pre_scores).reshape(-1)[: len(rows)]
        words = xp.broadcast_to(xp.arange(rows.shape[1]), rows.shape) if ids is None else bare(ids)
        totals = rows if self.is_accumulated else before[:, None] + xp.log(rows)
        totals, words = xp.array(totals, copy=True), xp.array(words, last.dtype, copy=True)
        ended = last == self.end_id
        words[ended, 0], totals[ended, 0] = self.end_id, before[ended]
        exists = xp.ones(totals.shape, bool)
        exists[ended, 1:] = False
        prefix, place = xp.nonzero(exists)
        chosen = best(totals[prefix, place], prefix, sources, self.beam_size)
        prefix, place = prefix[chosen], place[chosen]
        kept = self.going_on(prefix, words[prefix, place], ended, sources)
        prefix, place = prefix[kept], place[kept]
        order = xp.lexsort((-totals[prefix, place].astype("float64"), prefix))
        prefix, place = prefix[order], place[order]
        counts = xp.bincount(prefix, minlength=len(rows))
        lod = (tuple(sources.tolist()), offsets_from(counts))
        return (
            LoDTensor(words[prefix, place].reshape(-1, 1), lod),
            LoDTensor(totals[prefix, place].reshape(-1, 1).astype(rows.dtype, copy=False), lod),
            prefix.astype("int32"),
        )

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        rows = len(bare(ins["scores"]))
        for slot in ("pre_ids", "pre_scores"):
            count = len(bare(ins[slot]))
            if count > rows:
                wanted = f"expected {slot} of {rows} prefixes, as scores has"
                yield f"{wanted}, got {count}: the first count"

    def sources(self, scores: Any) -> Array:
        """Where the prefixes of each source begin, and those of the last one end."""
        lod = lod_of(scores)
        if not 0 <= self.level < len(lod):
            raise LoDError(
                f"expected scores with sequences on level {self.level}, got {len(lod)} levels: "
                f"they say which prefixes belong to one source"
            )
        found = np.asarray(lod[self.level])
        for level in lod[self.level + 1 :]:
            found = np.asarray(level)[found]
        return found

    def going_on(self, prefix: Array, words: Array, ended: Array, sources: Array) -> Array:
        """Which of the chosen are of sources where not all have ended before."""
        open_ = ~(ended[prefix] & (words == self.end_id))
        source = np.searchsorted(sources, prefix, "right") - 1
        goes_on = np.bincount(source, open_, minlength=len(sources)) > 0
        return goes_on[source]


def best(scores, prefix, sources, size):
    """The positions of the best candidates of each source.

    Of equal scores those of later prefixes are better.  Of equal ones of a prefix the first that
    come are kept, and the last of all takes the last place, as in fluid.

    Args:
        scores, prefix: of the candidates, those of a prefix one after the other.
        sources: where the prefixes of each source begin.
        size: how many are chosen of a source.
    """
    source = np.searchsorted(sources, prefix, "right") - 1
    order = np.lexsort((np.arange(len(scores)), -prefix, -scores.astype("float64"), source))
    begins = np.searchsorted(source[order], np.arange(len(sources)))
    rank = np.arange(len(order)) - begins[source[order]]
    chosen = order[rank < size]
    at_edge, behind = order[rank == size - 1], order[rank == size]
    if len(behind):
        after = dict(zip(source[behind].tolist(), behind.tolist()))
        for candidate in at_edge.tolist():
            other = after.get(int(source[candidate]))
            if other is None or (scores[candidate], prefix[candidate]) != (
                scores[other],
                prefix[other],
            ):
                continue
            of_source = source == source[candidate]
            one = inserted(scores, prefix, np.flatnonzero(of_source).tolist(), size)
            chosen = np.concatenate([chosen[source[chosen] != source[candidate]], one])
    return chosen


def inserted(scores: Array, prefix: Array, candidates: list[int], size: int) -> Array:
    """The best candidates where the last place is contended: put one by one into a sorted list."""
    sorted_best = []
    for candidate in candidates:
        key = (scores[candidate], prefix[candidate])
        if len(sorted_best) == size:
            if key < sorted_best[-1][0]:
                continue
            sorted_best.pop()
        at = len(sorted_best)
        while at and sorted_best[at - 1][0] < key:
            at -= 1
        sorted_best.insert(at, (key, candidate))
    return np.array([candidate for _, candidate in sorted_best], np.int64)


class beam_search_decode(DetachedValues):
    """The sentences that a beam search found: for each source its best ones, the best first.

    Ids: the array of what was chosen at each step, as ``beam_search`` gives it.
    Scores: the array of the scores.
    SentenceIds: words, [n], as sentences of sources; each from the first step to its end.
    SentenceScores: the score of each word's prefix, [n], likewise.
    beam_size: not read.
    end_id: the word that ends a sentence; it stands once at the end of each.
    """

    signature = "Ids!, Scores! -> SentenceIds![], SentenceScores![]"
    beam_size: int = REQUIRED
    end_id: int = REQUIRED

    def infer(self, Ids: Spec, Scores: Spec) -> Specs:
        return None, None

    def run(self, xp: Any, Ids: Array, Scores: Array) -> Arrays:
        if not len(Ids) or len(Ids) != len(Scores):
            raise ShapeError(
                f"expected arrays Ids and Scores of as many steps, at least one, got {len(Ids)} "
                f"and {len(Scores)}"
            )
        steps = list(zip(Ids, Scores))
        count = min(len(level[0]) for level in map(self.levels, Ids)) - 1
        # of each sentence: its source, the candidate that goes on, and its words from the end
        source, at = np.zeros(0, np.int64), np.zeros(0, np.int64)
        sentences: list = []
        for ids, scores in reversed(steps):
            sources, prefixes = (np.asarray(level) for level in self.levels(ids))
            words, values = bare(ids).reshape(-1), bare(scores).reshape(-1)
            for k, candidate in enumerate(at.tolist()):
                if words[candidate] != self.end_id:
                    sentences[k].append((words[candidate], values[candidate]))
            begun = np.isin(np.arange(count), source)
            owner = np.searchsorted(sources, np.arange(len(prefixes) - 1), "right") - 1
            prefix = np.searchsorted(prefixes, np.arange(len(words)), "right") - 1
            new = np.flatnonzero(~begun[owner[prefix]]) if len(words) else np.zeros(0, np.int64)
            sentences += [[(words[k], values[k])] for k in new.tolist()]
            source = np.concatenate([source, owner[prefix[new]]])
            at = np.concatenate([prefix[at], prefix[new]])
        finals = np.array([float(sentence[0][1]) for sentence in sentences])
        order = np.lexsort((np.arange(len(sentences)), -finals, source))
        hypotheses = [sentences[k][::-1] for k in order.tolist()]
        lod = (
            offsets_from(np.bincount(source, minlength=count)),
            offsets_from([len(sentence) for sentence in hypotheses]),
        )
        types = bare(Ids[0]).dtype, bare(Scores[0]).dtype
        return tuple(
            LoDTensor(
                np.array([pair[k] for sentence in hypotheses for pair in sentence], dtype), lod
            )
            for k, dtype in enumerate(types)
        )

    @staticmethod
    def levels(ids: Any) -> tuple[Any, ...]:
        """The levels of a step: the prefixes of sources, and the words of prefixes.

        Raises:
            LoDError: there are not two.
        """
        lod = lod_of(ids)
        if len(lod) != 2:
            raise LoDError(
                f"expected steps with sequences of 2 levels, as beam_search gives them, got "
                f"{len(lod)}"
            )
        return lod
