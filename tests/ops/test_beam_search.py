"""Beam search: a step of it, and the sentences that it found."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor, LoDTensorArray

from gradcheck import evaluator
from infer import infer

f = evaluator()
IDS = [[4, 2, 5], [2, 1, 3], [3, 5, 2], [8, 2, 1]]
SCORES = [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.9, 0.5, 0.1], [0.7, 0.5, 0.1]]
TWO_OF_TWO = [[0, 2, 4], [0, 1, 2, 3, 4]]


def step(last, before, scores=SCORES, ids=IDS, lod=TWO_OF_TWO, beam=2, **attrs):
    """Words, scores, offsets of prefixes and numbers of prefixes after a step."""
    attrs = {"beam_size": beam, "end_id": 0, "level": 0, **attrs}
    words, totals, parents = f.beam_search(
        LoDTensor(np.array(last).reshape(-1, 1), lod),
        LoDTensor(np.array(before, "float32").reshape(-1, 1), lod),
        None if ids is None else LoDTensor(np.array(ids), lod),
        LoDTensor(np.array(scores, "float32"), lod),
        **attrs,
    )
    assert words.offsets == totals.offsets
    values = [round(float(v), 6) for v in totals.data[:, 0]]
    return words.data[:, 0].tolist(), values, words.offsets, parents.tolist()


def test_the_best_continuations_of_each_source_are_chosen():
    words, totals, lod, parents = step([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    assert (words, totals) == ([4, 2, 3, 8], [0.5, 0.6, 0.9, 0.7])
    assert (lod, parents) == (((0, 2, 4), (0, 1, 2, 3, 4)), [0, 1, 2, 3])


def test_a_prefix_that_has_ended_stays_with_its_score():
    words, totals, _, _ = step([1, 0, 3, 4], [0.1, 0.9, 0.3, 0.4])
    assert (words, totals) == ([4, 0, 3, 8], [0.5, 0.9, 0.9, 0.7])


def test_a_source_whose_prefixes_have_all_ended_is_done():
    words, _, lod, parents = step([0, 0, 3, 4], [0.1, 0.9, 0.3, 0.4])
    assert (words, lod, parents) == ([3, 8], ((0, 2, 4), (0, 0, 0, 1, 2)), [2, 3])


def test_a_source_is_done_when_the_best_have_ended_before():
    words, _, lod, _ = step([0, 5, 3, 4], [0.9, 0.1, 0.3, 0.4], beam=1)
    assert (words, lod) == ([3], ((0, 2, 4), (0, 0, 0, 1, 1)))


def test_sentences_that_end_now_are_not_done_yet():
    ids = [[0, 2, 5], [2, 0, 3], *IDS[2:]]
    scores = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.1], *SCORES[2:]]
    words, _, _, _ = step([6, 5, 3, 4], [0.9, 0.1, 0.3, 0.4], scores, ids)
    assert words == [0, 0, 3, 8]


def test_probabilities_are_added_as_logarithms():
    _, totals, _, _ = step([1, 2, 3, 4], [-0.1, -0.2, -0.3, -0.4], is_accumulated=False)
    wanted = np.array([-0.1, -0.2, -0.3, -0.4]) + np.log([0.5, 0.6, 0.9, 0.7])
    np.testing.assert_allclose(totals, wanted, rtol=1e-5)


def test_words_are_numbered_where_they_are_not_given():
    words, _, _, _ = step([1, 2, 3, 4], [0, 0, 0, 0], ids=None)
    assert words == [0, 0, 0, 0]


def test_of_equal_scores_those_of_later_prefixes_and_the_last_one_are_kept():
    scores = [[0.5] * 3, [0.5] * 3, [0.9, 0.5, 0.1], [0.7, 0.9, 0.1]]
    words, _, lod, parents = step([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], scores)
    assert (words, lod, parents) == ([2, 3, 3, 2], ((0, 2, 4), (0, 0, 2, 3, 4)), [1, 1, 2, 3])


def test_prefixes_are_sources_on_the_level_below():
    words, _, lod, _ = step([1, 2, 3, 4], [0, 0, 0, 0], level=1)
    assert words == [4, 2, 2, 1, 3, 5, 8, 2]
    assert lod == ((0, 1, 2, 3, 4), (0, 2, 4, 6, 8))


@pytest.mark.parametrize("seed", range(20))
def test_a_step_chooses_what_sorting_all_continuations_chooses(seed):
    rng = np.random.default_rng(seed)
    beam, width = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    prefixes = rng.integers(1, beam + 1, size=3)
    count = prefixes.sum()
    scores = rng.normal(size=[count, width])
    ids = np.argsort(rng.random([count, 9]), axis=1)[:, :width] + 1
    sources = [0, *np.cumsum(prefixes).tolist()]
    lod = [sources, list(range(count + 1))]
    _, totals, _, parents = step([1] * count, [0.0] * count, scores, ids, lod, beam)
    for a, b in itertools.pairwise(sources):
        best = sorted(scores[a:b].ravel(), reverse=True)[:beam]
        found = sorted((t for t, p in zip(totals, parents) if a <= p < b), reverse=True)
        np.testing.assert_allclose(found, best, atol=1e-6)


def test_a_beam_as_wide_as_all_paths_finds_the_best_one():
    """... of a chain of words whose scores depend on the word before."""
    rng, words, length = np.random.default_rng(3), 4, 5
    scores = np.log(rng.dirichlet(np.ones(words), size=[length, words]))
    scores[:, :, 0] = -100.0  # never ends by itself
    best = max(
        (sum(scores[t, p[t - 1] if t else 1, p[t]] for t in range(length)), p)
        for p in itertools.product(range(words), repeat=length)
    )
    last, before = np.array([1]), np.array([0.0], "float32")
    lod = [[0, 1], [0, 1]]
    steps, totals = [], []
    for t in range(length):
        chosen = [LoDTensor(v.reshape(-1, 1), lod) for v in (last, before)]
        now = LoDTensor((before[:, None] + scores[t, last]).astype("float32"), lod)
        attrs = dict(beam_size=words**length, end_id=0, level=0)
        found, values, _ = f.beam_search(*chosen, None, now, **attrs)
        last, before, lod = found.data[:, 0], values.data[:, 0], found.offsets
        lod = [[0, len(last)], list(range(len(last) + 1))]
        steps.append(found)
        totals.append(values)
    sentences, values = f.beam_search_decode(
        LoDTensorArray(steps), LoDTensorArray(totals), beam_size=4, end_id=0
    )
    first = sentences.offsets[1][1]
    assert tuple(sentences.data[:first].tolist()) == best[1]
    np.testing.assert_allclose(values.data[first - 1], best[0], rtol=1e-5)


def decoded(*steps):
    """Words, scores and offsets of sentences of steps: offsets, words and scores of each."""
    ids = LoDTensorArray([LoDTensor(np.array(w).reshape(-1, 1), lod) for lod, w, _ in steps])
    scores = LoDTensorArray(
        [LoDTensor(np.array(s, "float32").reshape(-1, 1), lod) for lod, _, s in steps]
    )
    words, totals = f.beam_search_decode(ids, scores, beam_size=2, end_id=0)
    return words.data.tolist(), [round(float(v), 6) for v in totals.data], words.offsets


def test_sentences_are_traced_back_the_best_first_and_end_once():
    words, totals, lod = decoded(
        ([[0, 1, 2], [0, 1, 2]], [1, 1], [0, 0]),
        ([[0, 1, 2], [0, 2, 4]], [4, 2, 3, 8], [0.5, 0.4, 0.9, 0.7]),
        ([[0, 2, 4], [0, 1, 2, 4, 4]], [5, 0, 6, 7], [0.6, 0.9, 1.9, 0.8]),
        ([[0, 2, 4], [0, 1, 2, 3, 4]], [0, 0, 9, 0], [0.7, 0.9, 2.9, 0.85]),
    )
    assert words == [1, 2, 0, 1, 4, 5, 0, 1, 3, 6, 9, 1, 3, 7, 0]
    assert totals == [0, 0.4, 0.9, 0, 0.5, 0.6, 0.7, 0, 0.9, 1.9, 2.9, 0, 0.9, 0.8, 0.85]
    assert lod == ((0, 2, 4), (0, 3, 7, 11, 15))


def test_a_source_that_was_done_earlier_has_its_sentences():
    words, _, lod = decoded(
        ([[0, 1, 2], [0, 1, 2]], [1, 1], [0, 0]),
        ([[0, 1, 2], [0, 2, 4]], [4, 2, 3, 8], [0.5, 0.4, 0.9, 0.7]),
        ([[0, 2, 4], [0, 1, 2, 4, 4]], [0, 0, 6, 7], [0.6, 0.9, 1.9, 0.8]),
        ([[0, 2, 4], [0, 0, 0, 1, 2]], [9, 0], [2.9, 0.85]),
        ([[0, 0, 2], [0, 1, 2]], [0, 0], [2.95, 0.85]),
    )
    assert words == [1, 2, 0, 1, 4, 0, 1, 3, 6, 9, 0, 1, 3, 7, 0]
    assert lod == ((0, 2, 4), (0, 3, 6, 11, 15))


def test_what_says_no_sources_is_refused():
    with pytest.raises(LoDError, match="which prefixes belong to one source"):
        f.beam_search(
            *(np.ones([2, 1], "int64"), np.ones([2, 1]), None, np.ones([2, 3])),
            **dict(beam_size=2, end_id=0, level=0),
        )


def test_a_beam_of_zero_is_refused_when_it_is_built():
    given = [fluid.data(name, [None, 1], "int64", lod_level=2) for name in ("ids", "words")]
    scores = fluid.data("scores", [None, 1], lod_level=2)
    with pytest.raises(fluid.errors.ArgumentError, match="beam_size of at least 1, got 0"):
        fluid.layers.beam_search(given[0], scores, given[1], scores, 0, 0)
    shapes = dict(pre_ids=([2, 1], "int64"), pre_scores=([2, 1], "float32"))
    with pytest.raises(AttributeValueError, match="beam_size of at least 1"):
        attrs = dict(beam_size=0, end_id=0, level=0)
        infer("beam_search", attrs, **shapes, scores=([2, 3], "float32"))


def test_rows_that_are_no_prefixes_are_refused():
    with pytest.raises(ShapeError, match="a row of scores for each prefix, got 3 prefixes and 4"):
        step([1, 2, 3], [0, 0, 0], lod=TWO_OF_TWO)


def test_steps_without_sequences_and_no_steps_are_refused():
    plain = LoDTensorArray([np.ones([2, 1])])
    with pytest.raises(LoDError, match="sequences of 2 levels, as beam_search gives them, got 0"):
        f.beam_search_decode(plain, plain, beam_size=2, end_id=0)
    with pytest.raises(ShapeError, match="at least one, got 0 and 0"):
        f.beam_search_decode(LoDTensorArray(), LoDTensorArray(), beam_size=2, end_id=0)
