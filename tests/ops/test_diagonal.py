"""Diagonals and triangles, place by place."""

import numpy as np
import pytest

from fluidlite.errors import ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
X = np.arange(12.0).reshape(3, 4) + 1
CUBE = np.arange(24.0).reshape(2, 3, 4)


def diagonal_by_loops(x, offset):
    return [x[i, i + offset] for i in range(len(x)) if 0 <= i + offset < x.shape[1]]


@pytest.mark.parametrize("offset", range(-4, 6))
def test_trace_sums_a_diagonal(offset):
    assert f.trace(X, offset=offset).tolist() == [sum(diagonal_by_loops(X, offset))]


def test_trace_of_a_stack_of_matrices_has_one_sum_for_each():
    expected = [sum(diagonal_by_loops(CUBE[:, i, :], 1)) for i in range(3)]
    assert f.trace(CUBE, offset=1, dim1=0, dim2=2).tolist() == expected
    expected = [sum(diagonal_by_loops(CUBE[:, i, :].T, 1)) for i in range(3)]
    assert f.trace(CUBE, offset=1, dim1=-1, dim2=0).tolist() == expected


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_diag_embed_is_undone_by_taking_the_diagonal(offset):
    x = X[:2, :3]
    matrices = f.diag_embed(x, offset=offset)
    size = 3 + abs(offset)
    assert matrices.shape == (2, size, size)
    assert matrices.sum() == x.sum()
    for matrix, row in zip(matrices, x):
        assert diagonal_by_loops(matrix, offset) == row.tolist()


def test_diag_embed_puts_the_matrices_where_it_is_told():
    x = X[:2, :3]
    found = f.diag_embed(x, offset=-1, dim1=0, dim2=2)
    np.testing.assert_array_equal(np.moveaxis(found, 1, 0), f.diag_embed(x, offset=-1))
    found = f.diag_embed(x, offset=-1, dim1=2, dim2=0)
    np.testing.assert_array_equal(np.moveaxis(found, 1, 0), f.diag_embed(x, offset=1))


def test_diag_makes_a_square_matrix():
    assert f.diag(np.array([1, 2])).tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("diagonal", range(-3, 5))
def test_triangles_add_up_to_the_matrix(diagonal):
    lower = f.tril_triu(X, lower=True, diagonal=diagonal)
    upper = f.tril_triu(X, lower=False, diagonal=diagonal + 1)
    np.testing.assert_array_equal(lower + upper, X)
    for i, j in np.ndindex(*X.shape):
        assert lower[i, j] == (X[i, j] if j - i <= diagonal else 0)


@pytest.mark.parametrize(
    "type, attrs, shape, message",
    [
        ("trace", dict(dim1=0, dim2=-2), [2, 3], "dim1=0 and dim2=-2, which are the same of 2"),
        ("trace", dict(dim1=2, dim2=0), [2, 3], r"dim1 in \[-2, 2\), got 2"),
        ("diag_embed", {}, [], "at least 1 dimension"),
        ("tril_triu", dict(lower=True), [3], "at least 2 dimensions"),
        ("diag", {}, [2, 3], "1 dimensions"),
        ("place_diagonal", dict(num_rows=3, num_columns=2), [3], "diagonals of 2 elements"),
    ],
)
def test_what_has_no_such_diagonal_is_refused(type, attrs, shape, message):
    slot = {"trace": "Input", "diag_embed": "Input", "diag": "Diagonal"}.get(type, "X")
    with pytest.raises(ShapeError, match=message):
        infer(type, attrs, **{slot: (shape, "float32")})


@pytest.mark.parametrize("offset", [-(2**31), 2**31 - 1, -2, 3])
def test_diagonals_beyond_the_matrix_are_empty(offset):
    assert f.trace(np.ones([2, 3]), offset=offset) == 0
