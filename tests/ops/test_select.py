"""Choices between tensors and along dimensions, element by element."""

import numpy as np
import pytest

from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
X = np.arange(6.0).reshape(2, 3)
C = np.array([[True, False, True], [False, False, True]])


def test_where_takes_from_one_or_the_other():
    assert f.where(C, X, -X).tolist() == [[0, -1, 2], [-3, -4, 5]]


def test_nothing_comes_back_from_what_is_not_chosen():
    """... not even where the other side is no number."""
    g = np.full([2, 3], np.nan)
    g[C] = 1
    x, y = pull_back(f, lambda f, x, y: f.where(C, x, y), [X, X], [g])
    np.testing.assert_array_equal(x, C)
    np.testing.assert_array_equal(np.isnan(y), ~C)


def test_where_refuses_other_shapes_and_conditions():
    one = ([2, 3], "float32")
    with pytest.raises(DTypeError, match=r"Condition to hold truth values"):
        infer("where", Condition=one, X=one, Y=one)
    with pytest.raises(ShapeError, match=r"Condition of shape \[2, 3\], as X and Y, got \[3\]"):
        infer("where", Condition=([3], "bool"), X=one, Y=one)
    with pytest.raises(ShapeError, match="X and Y of the same shape"):
        infer("where", Condition=([2, 3], "bool"), X=one, Y=([3, 2], "float32"))


def test_multiplex_takes_each_row_from_one_tensor():
    ids = np.array([[2], [0]], "int32")
    assert f.multiplex(ids, [X, X + 10, X + 20]).tolist() == [[20, 21, 22], [3, 4, 5]]


def test_the_gradient_of_multiplex_has_the_rows_that_were_taken():
    ids, g = np.array([[1], [0]]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = pull_back(f, lambda f, x, y: f.multiplex(ids, [x, y]), [X, X], [g])
    np.testing.assert_array_equal(found[0], [[0, 0, 0], [4, 5, 6]])
    np.testing.assert_array_equal(found[1], [[1, 2, 3], [0, 0, 0]])


def test_multiplex_refuses_what_is_not_there():
    with pytest.raises(OutOfRangeError, match=r"Ids in \[0, 2\), got 2"):
        f.multiplex(np.array([[2], [0]]), [X, X])
    with pytest.raises(ShapeError, match=r"one of Ids for each row of X \[2, 3\]"):
        infer("multiplex", Ids=([3, 1], "int32"), X=[([2, 3], "float32")])
    with pytest.raises(ShapeError, match="at least one X"):
        infer("multiplex", Ids=([3, 1], "int32"), X=[])


def test_index_select_takes_slices():
    index = np.array([2, 0, 2])
    assert f.index_select(X, index, dim=1).tolist() == [[2, 0, 2], [5, 3, 5]]
    assert f.index_select(X, index[1:2, None], dim=0).tolist() == [[0, 1, 2]]


def test_gradients_of_a_slice_that_is_taken_twice_add_up():
    index, g = np.array([2, 0, 2]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (found,) = pull_back(f, lambda f, x: f.index_select(x, index, dim=-1), [X], [g])
    np.testing.assert_array_equal(found, [[2, 0, 4], [5, 0, 10]])


def test_index_select_refuses_slices_that_are_not_there():
    with pytest.raises(OutOfRangeError, match=r"Index in \[0, 2\), got 2"):
        f.index_select(X, np.array([2]))
    with pytest.raises(ShapeError, match=r"dim in \[-2, 2\), got 2"):
        infer("index_select", dict(dim=2), X=([2, 3], "float32"), Index=([4], "int64"))


def test_index_sample_has_an_index_for_each_row():
    index = np.array([[2, 0], [1, 1]])
    assert f.index_sample(X, index).tolist() == [[2, 0], [4, 4]]
    with pytest.raises(ShapeError, match="as many rows in Index as in X"):
        infer("index_sample", X=([2, 3], "float32"), Index=([3, 3], "int64"))
