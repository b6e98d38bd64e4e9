"""Beam search over sequences of candidates."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer


@layer("beam_search")
def beam_search(
    f: LayerBuilder,
    pre_ids: Variable,
    pre_scores: Variable,
    ids: Variable | None,
    scores: Variable,
    beam_size: int,
    end_id: int,
    level: int = 0,
    is_accumulated: bool = True,
    name: str | None = None,
    return_parent_idx: bool = False,
) -> tuple[Variable, ...]:
    """One step of a beam search: of all continuations of the prefixes of a source, the best ones.

    A prefix that has ended has one continuation, itself.  Once all that is chosen of a source has
    ended before, nothing is chosen of it any more.

    Args:
        pre_ids: the last word of each prefix, [prefixes, 1], int64.
        pre_scores: the score of each prefix, [prefixes, 1].
        ids: words that may follow, [prefixes, K]; 0 to K - 1 when None.
        scores: of the prefixes with these words, [prefixes, K], with sequences that say which
            prefixes belong to one source.
        beam_size: how many are chosen of a source.
        end_id: the word that ends a sentence.
        level: of the sequences of ``scores`` that are sources.
        is_accumulated: whether ``scores`` are those of the prefixes with the words; else they are
            probabilities of the words.
        return_parent_idx: whether to give the number of the prefix of each word, too.

    Returns:
        words [n, 1] and scores [n, 1], as sequences of prefixes of sources; with
        ``return_parent_idx`` also numbers of prefixes, [n], int32.

    Raises:
        ArgumentError: ``beam_size`` is below 1.

    >>> pre_ids = fluid.data("pre_ids", [None, 1], "int64", lod_level=2)
    >>> pre_scores = fluid.data("pre_scores", [None, 1], lod_level=2)
    >>> scores = fluid.data("scores", [None, 3], lod_level=2)
    >>> words, totals = fluid.layers.beam_search(pre_ids, pre_scores, None, scores, 2, end_id=0)
    >>> lod = [[2], [1, 1]]
    >>> feed = {
    ...     "pre_ids": fluid.create_lod_tensor(np.array([[1], [2]]), lod),
    ...     "pre_scores": fluid.create_lod_tensor(np.zeros([2, 1], "float32"), lod),
    ...     "scores": fluid.create_lod_tensor(
    ...         np.array([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6]], "float32"), lod
    ...     ),
    ... }
    >>> (found,) = fluid.Executor().run(feed=feed, fetch_list=[words], return_numpy=False)
    >>> np.array(found)[:, 0], found.recursive_sequence_lengths()
    (array([1, 2]), [[2], [1, 1]])
    """
    if beam_size < 1:
        raise ArgumentError(f"expected a beam_size of at least 1, got {beam_size}")
    ins = {"pre_ids": pre_ids, "pre_scores": pre_scores, "scores": scores}
    if ids is not None:
        ins["ids"] = ids
    totals = f.result(dtype=pre_scores.dtype)
    words, parents = f.result(dtype="int64"), f.result(dtype="int32")
    f.into(
        "beam_search",
        ins,
        {"selected_ids": words, "selected_scores": totals, "parent_idx": parents},
        level=level,
        beam_size=beam_size,
        end_id=end_id,
        is_accumulated=is_accumulated,
    )
    return (words, totals, parents) if return_parent_idx else (words, totals)


@layer("beam_search_decode")
def beam_search_decode(
    f: LayerBuilder,
    ids: Variable,
    scores: Variable,
    beam_size: int,
    end_id: int,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The sentences that a beam search found: for each source its best ones, the best first.

    Args:
        ids: the array of what was chosen at each step: words as ``beam_search`` gives them.
        scores: the array of their scores.
        beam_size: of the search.
        end_id: the word that ends a sentence.

    Returns:
        words [n] and the scores of their prefixes [n], as sequences of sentences of sources.

    >>> ids = fluid.layers.create_array("int64")
    >>> scores = fluid.layers.create_array("float32")
    >>> words, totals = fluid.layers.beam_search_decode(ids, scores, beam_size=4, end_id=0)
    >>> words.dtype.name, totals.dtype.name
    ('INT64', 'FP32')
    """
    words, totals = f.result(dtype="int64"), f.result(dtype=scores.dtype)
    f.into(
        "beam_search_decode",
        {"Ids": ids, "Scores": scores},
        {"SentenceIds": words, "SentenceScores": totals},
        beam_size=beam_size,
        end_id=end_id,
    )
    return words, totals


__all__ = ["beam_search", "beam_search_decode"]
