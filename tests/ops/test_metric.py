"""Ranking and scoring."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()


def test_the_largest_elements_of_each_row_come_first():
    x = np.random.default_rng(0).normal(size=[2, 3, 5])
    out, indices = f.top_k(x, k=2)
    for place in np.ndindex(2, 3):
        row = list(x[place])
        order = sorted(range(5), key=row.__getitem__, reverse=True)[:2]
        assert list(indices[place]) == order
        assert list(out[place]) == [row[i] for i in order]
    assert indices.dtype == np.int64


def test_of_equal_elements_the_first_ones_come_first():
    _, indices = f.top_k(np.array([1.0, 2.0, 2.0, 0.0, 2.0]), k=3)
    np.testing.assert_array_equal(indices, [1, 2, 4])


def test_k_may_come_in_a_tensor():
    out, indices = f.top_k(np.array([[1.0, 3.0, 2.0]]), np.array([2], np.int32), k=1)
    np.testing.assert_array_equal(out, [[3, 2]])
    np.testing.assert_array_equal(indices, [[1, 2]])


def test_the_gradient_goes_to_the_elements_selected():
    x, g = np.array([[1.0, 3.0, 2.0]]), np.array([[5.0, 7.0]])
    (found,) = pull_back(f, lambda f, x: f.top_k(x, k=2)[0], [x], [g])
    np.testing.assert_array_equal(found, [[0, 5, 7]])


def test_accuracy_counts_rows_with_the_right_class_among_the_best():
    indices = np.array([[0, 1], [1, 2], [0, 1], [2, 1]])
    label = np.array([[0], [0], [1], [2]])
    accuracy, correct, total = f.accuracy(np.zeros([4, 2]), indices, label)
    assert (accuracy, correct, total) == ([0.75], [3], [4])
    assert [v.dtype.name for v in (accuracy, correct, total)] == ["float32", "int32", "int32"]


def test_more_elements_than_there_are_are_refused():
    with pytest.raises(AttributeValueError, match="from 1 to the last size of X, 2, got 3"):
        infer("top_k", {"k": 3}, X=([-1, 2], "float32"))
    with pytest.raises(AttributeValueError, match="from 1 to the last size of X, 2, got 3"):
        f.top_k(np.ones([1, 2]), np.array([3]))
    assert infer("top_k", {"k": 3}, X=([2, -1], "float32"))["Out"].shape == (2, 3)


def test_labels_that_do_not_fit_are_refused():
    scores = dict(Out=([4, 2], "float32"), Indices=([4, 2], "int64"))
    with pytest.raises(ShapeError, match=r"Label of shape \[4, 1\], got \[3, 1\]"):
        infer("accuracy", **scores, Label=([3, 1], "int64"))
    with pytest.raises(DTypeError, match="Label to hold integers"):
        infer("accuracy", **scores, Label=([4, 1], "float32"))
