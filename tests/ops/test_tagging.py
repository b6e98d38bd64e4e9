"""Measures of tags and classes, against chunks that are found one by one."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, LoDError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
TAGS = {"IOB": "BI", "IOE": "IE", "IOBES": "BIES", "plain": "-"}


def chunks(tags, scheme, types):
    """The chunks (begin, end, type) of one text, by the rules for neighbours."""
    names, found, begin = TAGS[scheme], set(), None
    read = lambda n: (
        (None, None) if n == types * len(names) else (n // len(names), names[n % len(names)])
    )
    for k, number in enumerate(tags):
        kind, tag = read(number)
        before, tag_before = read(tags[k - 1]) if k else (None, None)
        goes_on = (
            kind is not None
            and kind == before
            and tag not in ("B", "S")
            and tag_before not in ("E", "S")
        )
        if begin is not None and not goes_on:
            found.add((begin, k, before))
            begin = None
        if kind is not None and not goes_on:
            begin = k
    if begin is not None:
        found.add((begin, len(tags), read(tags[-1])[0]))
    return found


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("excluded", [[], [1]])
def test_chunks_are_counted_as_one_by_one(scheme, excluded):
    types = 3
    last = types * len(TAGS[scheme])
    found, right = (rng.integers(0, last + 1, size=[30, 7]) for _ in range(2))
    right = np.where(rng.random(right.shape) < 0.5, found, right)
    lengths = rng.integers(0, 8, size=30)
    sets = []
    for tags in (found, right):
        texts = [tags[row, :n].tolist() for row, n in enumerate(lengths)]
        each = [chunks(text, scheme, types) for text in texts]
        sets.append({(row, *chunk) for row, own in enumerate(each) for chunk in own})
    mine, wanted = ({c for c in each if c[3] not in excluded} for each in sets)
    attrs = dict(num_chunk_types=types, chunk_scheme=scheme, excluded_chunk_types=excluded)
    out = f.chunk_eval.all(found, right, lengths, **attrs)
    counts = [len(mine), len(wanted), len(mine & wanted)]
    names = ("NumInferChunks", "NumLabelChunks", "NumCorrectChunks")
    assert [int(out[name][0]) for name in names] == counts
    np.testing.assert_allclose(out["Precision"], counts[2] / counts[0], rtol=1e-6)
    np.testing.assert_allclose(out["Recall"], counts[2] / counts[1], rtol=1e-6)
    np.testing.assert_allclose(out["F1-Score"], 2 * counts[2] / (counts[0] + counts[1]), rtol=1e-6)


def test_sequences_are_counted_as_padded_texts_are():
    tags = rng.integers(0, 5, size=[2, 9, 1])
    lod = [[0, 4, 4, 9]]
    out = f.chunk_eval.all(*(LoDTensor(each, lod) for each in tags), num_chunk_types=2)
    padded = np.full([2, 3, 5], 4)
    padded[:, 0, :4], padded[:, 2] = tags[:, :4, 0], tags[:, 4:, 0]
    same = f.chunk_eval.all(*padded, np.array([4, 0, 5]), num_chunk_types=2)
    assert {k: v[0] for k, v in out.items()} == {k: v[0] for k, v in same.items()}


def test_nothing_found_is_a_measure_of_zero():
    tags = np.full([1, 3], 4)
    out = f.chunk_eval.all(tags, tags, np.array([3]), num_chunk_types=2)
    assert [each[0] for each in out.values()] == [0] * 6


def test_labels_outside_the_tags_are_refused():
    good, bad = np.array([[0, 1]]), np.array([[0, 5]])
    with pytest.raises(OutOfRangeError, match=r"tags in \[0, 4\].* in Label, got 5"):
        f.chunk_eval(good, bad, np.array([2]), num_chunk_types=2)


# Inference, Label, and numbers of chunks that paddlepaddle 1.8.5 found in them, and in both
NEGATIVE = {
    "IOB": ([1, -1, -1, 1, 0, -2, -3, 1], [1, -1, 1, 1, 0, -2, 1, 1], [6, 5, 3]),
    "IOE": ([1, -1, -1, 1, 0, -2, -3, 1], [1, -1, 1, 1, 0, -2, 1, 1], [7, 7, 5]),
}


@pytest.mark.parametrize("scheme", NEGATIVE)
def test_negative_tags_are_divided_towards_zero(scheme):
    found, wanted, counts = NEGATIVE[scheme]
    lengths, attrs = np.array([8]), dict(num_chunk_types=2, chunk_scheme=scheme)
    out = f.chunk_eval.all(np.array([found]), np.array([wanted]), lengths, **attrs)
    assert [each.item() for each in list(out.values())[3:]] == counts


def test_a_scheme_is_one_of_four_and_texts_have_lengths():
    ins = dict(Inference=([4, 3], "int64"), Label=([4, 3], "int64"))
    with pytest.raises(AttributeValueError, match="expected chunk_scheme IOB, .* got 'IOBX'"):
        infer("chunk_eval", dict(num_chunk_types=2, chunk_scheme="IOBX"), **ins)
    with pytest.raises(ShapeError, match="padded tags with SeqLength"):
        infer("chunk_eval", dict(num_chunk_types=2), **ins)
    flat = np.zeros([4, 1], "int64")
    with pytest.raises(LoDError, match="expected Inference with sequences"):
        f.chunk_eval(flat, flat, num_chunk_types=2)


def test_classes_are_measured_one_by_one_and_together():
    found, right = np.array([0, 1, 2, 1, 0, 1]), np.array([0, 2, 2, 1, 1, 1])
    column = lambda v: np.reshape(v, [-1, 1])
    batch, _, states = f.precision_recall(
        np.ones([6, 1]), column(found), column(right), class_number=4
    )
    # true positives, false positives, true negatives and false negatives of each class
    assert states.tolist() == [[1, 1, 4, 0], [2, 1, 2, 1], [1, 0, 4, 1], [0, 0, 6, 0]]
    precision, recall = (0.5 + 2 / 3 + 1 + 1) / 4, (1 + 2 / 3 + 0.5 + 1) / 4
    f1 = 2 * precision * recall / (precision + recall)
    np.testing.assert_allclose(batch, [precision, recall, f1, 4 / 6, 4 / 6, 4 / 6])


def test_counts_of_before_are_added():
    one = np.zeros([1, 1], "int64")
    before = np.arange(8.0).reshape(2, 4)
    args = (np.ones([1, 1]), one, one + 1, np.full([1, 1], 3.0), before)
    batch, total, states = f.precision_recall(*args, class_number=2)
    assert states.tolist() == [[0, 4, 2, 3], [4, 5, 6, 10]]
    # a class that was never predicted, or never right, counts as 1 among the means
    np.testing.assert_allclose(batch, [0.5, 0.5, 0.5, 0, 0, 0])
    np.testing.assert_allclose(total[3], 4 / 13)


def test_a_class_is_one_of_those():
    one = np.zeros([1, 1], "int64")
    with pytest.raises(OutOfRangeError, match=r"expected Labels in \[0, 2\), got 2"):
        f.precision_recall(np.ones([1, 1]), one, one + 2, class_number=2)
