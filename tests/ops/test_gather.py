"""Selection by index, and its adjoints, against loops."""

import numpy as np
import pytest

from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[5, 3, 2])
IDS = np.array([3, 0, 3, 4])


def test_gather_takes_rows():
    expected = np.stack([X[i] for i in IDS])
    np.testing.assert_array_equal(f.gather(X, IDS), expected)
    np.testing.assert_array_equal(f.gather(X, IDS[:, None]), expected)


def test_the_adjoint_of_gather_sums_the_updates_of_each_row():
    updates, expected = rng.normal(size=[4, 3]), np.zeros([6, 3])
    for i, update in zip(IDS, updates):
        expected[i] += update
    np.testing.assert_allclose(f.gather_adjoint(IDS, updates, size=6), expected)


def test_gradient_of_a_row_gathered_twice_is_the_sum():
    g = rng.normal(size=[4, 3, 2])
    (found,) = pull_back(f, lambda f, x: f.gather(x, IDS), [X], [g])
    np.testing.assert_allclose(found[3], g[0] + g[2])
    np.testing.assert_array_equal(found[[1, 2]], 0)


def test_scatter_replaces_rows_and_the_last_update_stays():
    updates, expected = rng.normal(size=[4, 3, 2]), X.copy()
    for i, update in zip(IDS, updates):
        expected[i] = update
    np.testing.assert_array_equal(f.scatter(X, IDS, updates), expected)


def test_scatter_adds_up_updates_of_one_row_but_not_what_was_there():
    updates, expected = rng.normal(size=[4, 3, 2]), X.copy()
    expected[[0, 3, 4]] = updates[1], updates[0] + updates[2], updates[3]
    np.testing.assert_allclose(f.scatter(X, IDS, updates, overwrite=False), expected)


@pytest.mark.parametrize("overwrite", [True, False])
def test_scattered_rows_hide_what_they_replace_from_the_gradient(overwrite):
    g, updates = rng.normal(size=X.shape), rng.normal(size=[4, 3, 2])
    scatter = lambda f, x, u: f.scatter(x, IDS, u, overwrite=overwrite)
    by_x, by_updates = pull_back(f, scatter, [X, updates], [g])
    np.testing.assert_array_equal(by_x[[0, 3, 4]], 0)
    np.testing.assert_array_equal(by_x[[1, 2]], g[[1, 2]])
    first = 0 if overwrite else g[3]  # the first update of row 3 is overwritten by the third
    np.testing.assert_array_equal(by_updates[0], first + np.zeros_like(g[3]))
    np.testing.assert_array_equal(by_updates[1:], g[[0, 3, 4]])


def test_last_occurrence_of_an_index():
    found = f.is_last_occurrence(np.array([3, 0, 3, 4, 0]), size=5)
    np.testing.assert_array_equal(found, [False, False, True, True, True])


def test_gather_nd_takes_elements_or_slices():
    places = np.array([[[4, 2], [0, 0]], [[1, 1], [4, 2]]])
    found = f.gather_nd(X, places)
    for i in np.ndindex(2, 2):
        np.testing.assert_array_equal(found[i], X[tuple(places[i])])
    full = np.array([[4, 2, 1], [0, 1, 0]])
    np.testing.assert_array_equal(f.gather_nd(X, full), [X[4, 2, 1], X[0, 1, 0]])


def test_scatter_nd_add_adds_at_places():
    places, updates, expected = (
        np.array([[4, 2], [0, 0], [4, 2]]),
        rng.normal(size=[3, 2]),
        X.copy(),
    )
    for place, update in zip(places, updates):
        expected[tuple(place)] += update
    np.testing.assert_allclose(f.scatter_nd_add(X, places, updates), expected)


def test_take_along_and_its_adjoint():
    index, g = rng.integers(3, size=[5, 4, 2]), rng.normal(size=[5, 4, 2])
    taken, added = np.zeros([5, 4, 2]), np.zeros([5, 3, 2])
    for i, j, k in np.ndindex(5, 4, 2):
        taken[i, j, k] = X[i, index[i, j, k], k]
        added[i, index[i, j, k], k] += g[i, j, k]
    np.testing.assert_array_equal(f.take_along(X, index, axis=1), taken)
    np.testing.assert_allclose(f.add_along(index, g, axis=1, size=3), added)


def test_one_hot():
    column = np.array([[2], [0]])
    np.testing.assert_array_equal(f.one_hot(column, depth=3), [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(f.one_hot_v2(column, depth=3), [[[0, 0, 1]], [[1, 0, 0]]])
    found = f.one_hot(column, np.array([4], np.int32), depth=3, dtype="int64")
    np.testing.assert_array_equal(found, [[0, 0, 1, 0], [1, 0, 0, 0]])
    assert found.dtype == np.int64


def test_one_hot_of_an_index_out_of_range_is_zero_where_that_is_allowed():
    found = f.one_hot_v2(np.array([3, -1, 1]), depth=3, allow_out_of_range=True)
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("type", ["lookup_table", "lookup_table_v2"])
def test_embedding_takes_rows_and_zeros_for_padding(type):
    table = rng.normal(size=[5, 3]).astype("float32")
    ids = IDS if type == "lookup_table_v2" else IDS[:, None]
    look_up = getattr(f, type)
    np.testing.assert_array_equal(look_up(table, ids), table[IDS])
    padded = look_up(table, ids, padding_idx=3)
    np.testing.assert_array_equal(padded, [[0] * 3, table[0], [0] * 3, table[4]])
    assert padded.dtype == np.float32


def test_embedding_does_not_look_at_the_row_of_padding():
    table = np.array([[1.0], [np.nan]])
    ids = np.array([1, 0, 9])
    np.testing.assert_array_equal(f.lookup_table_v2(table, ids[:2], padding_idx=1), [[0], [1]])
    np.testing.assert_array_equal(f.lookup_table_v2(table, ids[1:], padding_idx=9), [[1], [0]])


def test_gradient_of_an_embedding_adds_up_and_leaves_padding_out():
    table, g = rng.normal(size=[5, 2]), rng.normal(size=[2, 2, 2])
    ids = IDS.reshape([2, 2, 1])
    (found,) = pull_back(f, lambda f, w: f.lookup_table(w, ids), [table], [g])
    expected = np.zeros([5, 2])
    for i, row in zip(IDS, g.reshape([4, 2])):
        expected[i] += row
    np.testing.assert_allclose(found, expected)
    (found,) = pull_back(f, lambda f, w: f.lookup_table(w, ids, padding_idx=3), [table], [g])
    expected[3] = 0
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("wrong", [7, -1])
@pytest.mark.parametrize(
    "bound, call",
    [
        ("Index in [0, 5)", lambda i: f.gather(X, i)),
        ("Ids in [0, 5)", lambda i: f.scatter(X, i, X[: i.size])),
        ("Index in [0, 4)", lambda i: f.gather_adjoint(i, X[: i.size], size=4)),
        ("Index[..., 1] in [0, 3)", lambda i: f.gather_nd(X, np.stack([i % 5, i], -1))),
        ("Index in [0, 2)", lambda i: f.take_along(X, i.reshape([1, 1, -1]))),
        ("X in [0, 6)", lambda i: f.one_hot(i[:, None], depth=6)),
        ("Ids in [0, 5)", lambda i: f.lookup_table_v2(X[:, 0], i)),
        ("Ids in [0, 5)", lambda i: f.lookup_table_v2(X[:, 0], i, padding_idx=2)),
    ],
)
def test_index_out_of_range_is_refused_with_the_bound_and_the_value(wrong, bound, call):
    with pytest.raises(OutOfRangeError) as caught:
        call(np.array([1, wrong]))
    assert str(caught.value) == f"expected {bound}, got {wrong}"


@pytest.mark.parametrize(
    "error, message, type, inputs",
    [
        (
            ShapeError,
            "Index of shape [n] or [n, 1], got [4, 2]",
            "gather",
            {"X": ([5, 3], "float32"), "Index": ([4, 2], "int64")},
        ),
        (
            DTypeError,
            "Index to hold integers (int64 or int32), got float32",
            "gather",
            {"X": ([5, 3], "float32"), "Index": ([4], "float32")},
        ),
        (
            ShapeError,
            "Updates of shape [4, 3], got [4, 2]",
            "scatter",
            {"X": ([5, 3], "float32"), "Ids": ([4], "int64"), "Updates": ([4, 2], "float32")},
        ),
        (
            DTypeError,
            "X float32, Updates float64",
            "scatter",
            {"X": ([5, 3], "float32"), "Ids": ([4], "int64"), "Updates": ([4, 3], "float64")},
        ),
        (
            ShapeError,
            "a size of at most 2, the dimensions of X; got shape [4, 3]",
            "gather_nd",
            {"X": ([5, 3], "float32"), "Index": ([4, 3], "int64")},
        ),
        (
            ShapeError,
            "Updates of shape [4, 3], got [5, 3]",
            "scatter_nd_add",
            {"X": ([5, 3], "float32"), "Index": ([4, 1], "int64"), "Updates": ([5, 3], "float32")},
        ),
        (
            ShapeError,
            "size 1 in its last dimension, got [-1, 3]",
            "lookup_table",
            {"W": ([5, 3], "float32"), "Ids": ([-1, 3], "int64")},
        ),
        (
            DTypeError,
            "Ids to hold integers (int64 or int32), got float32",
            "lookup_table",
            {"W": ([5, 3], "float32"), "Ids": ([-1, 1], "float32")},
        ),
        (
            ShapeError,
            "W to have 2 dimensions, got shape [5]",
            "lookup_table_v2",
            {"W": ([5], "float32"), "Ids": ([4], "int64")},
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, inputs):
    with pytest.raises(error) as caught:
        infer(type, **inputs)
    assert message in str(caught.value)


def test_an_index_of_no_numbers_names_all_of_a_tensor():
    x, nowhere = np.arange(6.0).reshape(2, 3), np.zeros([4, 0], "int64")
    np.testing.assert_array_equal(f.gather_nd(x, nowhere), np.stack([x] * 4))
    updates = np.arange(24.0).reshape(4, 2, 3)
    found = f.scatter_nd_add(x, nowhere, updates)
    np.testing.assert_array_equal(found, x + updates.sum(axis=0))
    (slope,) = pull_back(f, lambda f, x: f.gather_nd(x, nowhere), [x], [updates])
    np.testing.assert_array_equal(slope, updates.sum(axis=0))
