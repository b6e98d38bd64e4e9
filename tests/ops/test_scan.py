"""Running sums and rotations against loops."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cumsum_adds_what_went_before(axis, exclusive, reverse):
    found = f.cumsum(X, axis=axis, exclusive=exclusive, reverse=reverse)
    x, y = np.moveaxis(X, axis, 0), np.moveaxis(found, axis, 0)
    for i in range(len(x)):
        counted = [j for j in range(len(x)) if (j > i if reverse else j < i) or (j == i)]
        counted = [j for j in counted if j != i or not exclusive]
        np.testing.assert_array_equal(y[i], sum((x[j] for j in counted), np.zeros_like(x[0])))


def test_cumsum_of_nothing_is_nothing():
    assert f.cumsum(np.zeros([2, 0]), exclusive=True).shape == (2, 0)
    assert f.cumsum(np.arange(4, dtype="int32")).dtype == np.int32


def test_cumsum_refuses_truth_values_and_dimensions_that_are_not_there():
    with pytest.raises(DTypeError, match="X to hold numbers, got bool"):
        infer("cumsum", X=([2], "bool"))
    with pytest.raises(ShapeError, match=r"axis in \[-1, 1\), got 1"):
        infer("cumsum", dict(axis=1), X=([2], "float32"))


def test_roll_moves_in_a_circle():
    found = f.roll(X, shifts=[1, -6], dims=[-1, 0])
    for i, j, k in np.ndindex(*X.shape):
        assert found[(i - 6) % 2, j, (k + 1) % 4] == X[i, j, k]


def test_roll_moves_along_all_dimensions_as_one_where_none_is_named():
    assert f.roll(X, shifts=[3]).ravel().tolist() == np.roll(X, 3).ravel().tolist()


def test_roll_refuses_shifts_without_dimensions():
    with pytest.raises(AttributeValueError, match=r"one of shifts for each of dims, got \[1, 2\]"):
        infer("roll", dict(shifts=[1, 2]), X=([2], "float32"))
    with pytest.raises(ShapeError, match=r"dims in \[-1, 1\), got 1"):
        infer("roll", dict(shifts=[1], dims=[1]), X=([2], "float32"))
