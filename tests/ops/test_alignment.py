"""Texts that are held against each other, by recursion and by hand."""

import functools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import LoDError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor
from fluidlite.opdef.definition import lookup

from gradcheck import evaluator

f = evaluator()
rng = np.random.default_rng(0)


def distance(a, b):
    @functools.cache
    def rest(i, j):
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        replaced = rest(i + 1, j + 1) + (a[i] != b[j])
        return min(replaced, rest(i + 1, j) + 1, rest(i, j + 1) + 1)

    return rest(0, 0)


def test_distances_are_those_of_the_recursion():
    hyps, refs = rng.integers(0, 3, size=[40, 6]), rng.integers(0, 3, size=[40, 5])
    n, m = rng.integers(0, 7, size=40), rng.integers(0, 6, size=40)
    count, found = f.edit_distance(hyps, refs, n, m)
    wanted = [distance(a[:i], b[:j]) for a, b, i, j in zip(hyps, refs, n, m)]
    assert count == [40]
    assert found[:, 0].tolist() == wanted
    m = np.maximum(m, 1)
    _, found = f.edit_distance(hyps, refs, n, m, normalized=True)
    wanted = [distance(a[:i], b[:j]) / j for a, b, i, j in zip(hyps, refs, n, m)]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-6)


def test_sequences_need_no_lengths():
    hyps = LoDTensor(np.array([[1], [2], [3], [3]]), [[0, 3, 3, 4]])
    refs = LoDTensor(np.array([[1], [3], [4], [3]]), [[0, 2, 3, 4]])
    count, found = f.edit_distance(hyps, refs)
    assert (count[0], found[:, 0].tolist()) == (3, [1, 1, 0])


def test_lengths_beyond_the_padded_size_are_refused():
    texts, n = np.zeros([2, 3], "int64"), np.array([3, 4])
    with pytest.raises(OutOfRangeError, match=r"lengths in \[0, 3\].*HypsLength, got 4 for row 1"):
        f.edit_distance(texts, texts, n, n)
    with pytest.raises(OutOfRangeError, match="in InputLength, got 4"):
        f.ctc_align(texts, n)


def test_what_cannot_be_divided_by_is_refused():
    texts = np.zeros([2, 3], "int64")
    with pytest.raises(ShapeError, match="an empty one: number 1"):
        f.edit_distance(texts, texts, np.array([1, 1]), np.array([1, 0]), normalized=True)


def test_padded_texts_need_lengths():
    with pytest.raises(LoDError, match="expected Hyps with sequences"):
        f.edit_distance(np.zeros([4, 1], "int64"), np.zeros([4, 1], "int64"))


def test_labels_are_merged_and_blanks_dropped():
    labels = np.array([[0, 1, 1, 0, 1, 2, 2], [3, 3, 3, 0, 0, 0, 3], [0, 0, 0, 0, 0, 0, 0]])
    lengths = np.array([[7], [5], [3]])
    out = f.ctc_align.all(labels, lengths, padding_value=-1)
    assert out["Output"].tolist() == [[1, 1, 2, *[-1] * 4], [3, *[-1] * 6], [-1] * 7]
    assert out["OutputLength"].tolist() == [[3], [1], [0]]
    out = f.ctc_align.all(labels, lengths, merge_repeated=False, padding_value=9)
    assert out["Output"][0].tolist() == [1, 1, 1, 2, 2, 9, 9]


def test_labels_of_sequences_stay_sequences():
    labels = LoDTensor(np.array([[0], [1], [1], [1], [0], [2]]), [[0, 3, 3, 6]])
    op = lookup("ctc_align")(dict(blank=0))
    out = op.run(np, labels, None)[0]
    assert out[:, 0].tolist() == [1, 1, 2]
    assert op.lods(dict(Input=labels)) == dict(Output=((0, 1, 1, 3),))
    nothing = LoDTensor(np.array([[0], [0]]), [[0, 1, 2]])
    out = op.run(np, nothing, None)[0]
    assert (out.data.tolist(), out.offsets) == ([[-1]], ((0, 0, 0),))


def test_texts_that_are_all_empty_are_as_far_from_others_as_these_are_long():
    # An untrained recognizer of characters finds blanks only.
    x = fluid.data("x", [None, 4], lod_level=1)
    y = fluid.data("y", [None, 1], "int64", lod_level=1)
    found = fluid.layers.ctc_greedy_decoder(x, blank=3)
    distance, count = fluid.layers.edit_distance(found, y, normalized=False)
    blanks = fluid.create_lod_tensor(np.eye(4, dtype="float32")[[3, 3, 3]], [[2, 1]], None)
    texts = fluid.create_lod_tensor(np.array([[1], [2], [1]]), [[1, 2]], None)
    feed = {"x": blanks, "y": texts}
    out = fluid.Executor().run(feed=feed, fetch_list=[distance, count, found], return_numpy=False)
    assert np.array(out[0]).tolist() == [[1.0], [2.0]] and np.array(out[1]).tolist() == [2]
    assert (np.array(out[2]).tolist(), out[2].lod()) == ([[-1]], [[0, 0, 0]])


def test_paths_are_followed_back():
    ids, parents = rng.integers(0, 9, size=[5, 2, 3]), rng.integers(0, 3, size=[5, 2, 3])
    found = f.gather_tree(ids, parents)
    for row in range(2):
        for path in range(3):
            at, wanted = path, []
            for t in reversed(range(5)):
                wanted.append(ids[t, row, at])
                at = parents[t, row, at]
            assert found[::-1, row, path].tolist() == wanted


def test_a_parent_outside_the_beam_is_refused():
    ids = np.zeros([2, 1, 2], "int64")
    with pytest.raises(OutOfRangeError, match=r"expected Parents in \[0, 2\), got 2"):
        f.gather_tree(ids, ids + 2)
