"""Orders, places and values that occur, against loops."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError
from fluidlite.ground.dtypes import DType

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
X = np.array([[3.0, 1.0, 3.0, 2.0], [0.0, 5.0, -1.0, 5.0]])


def test_the_first_of_equal_elements_is_chosen():
    assert f.arg_max(X, axis=1).tolist() == [0, 1]
    assert f.arg_min(X, axis=-1).tolist() == [1, 2]
    assert f.arg_max(X, axis=0).tolist() == [0, 1, 0, 1]


def test_the_dimension_of_a_place_may_stay():
    kept = f.arg_max(X, axis=1, keepdims=True, dtype="int32")
    assert (kept.shape, kept.dtype) == ((2, 1), np.int32)
    assert f.arg_max(X[0], axis=0).shape == ()


@pytest.mark.parametrize(
    "error, shape, dtype, attrs, message",
    [
        (DTypeError, [2], "bool", {}, "expected X to hold numbers, got bool"),
        (ShapeError, [2], "float32", dict(axis=1), r"axis in \[-1, 1\), got 1"),
        (ShapeError, [2, 0], "float32", dict(axis=1), r"an element to choose along axis=1"),
        (DTypeError, [2], "float32", dict(dtype="float32"), "dtype int64 or int32, got float32"),
    ],
)
def test_what_has_no_largest_element_is_refused(error, shape, dtype, attrs, message):
    with pytest.raises(error, match=message):
        infer("arg_max", {"axis": 0, **attrs}, X=(shape, dtype))


@pytest.mark.parametrize("descending", [False, True])
def test_argsort_is_stable(descending):
    values, places = f.argsort(X, descending=descending)
    for row, found, index in zip(X, values, places):
        order = sorted(range(4), key=lambda i: (-row[i] if descending else row[i], i))
        assert index.tolist() == order
        assert found.tolist() == [row[i] for i in order]


def test_argsort_of_integers_knows_the_smallest():
    low = np.iinfo("int64").min
    _, places = f.argsort(np.array([low, 3, low]), descending=True)
    assert places.tolist() == [1, 0, 2]


def test_the_gradient_of_a_sorted_element_goes_to_its_place():
    g = np.arange(8.0).reshape(2, 4)
    (found,) = pull_back(f, lambda f, x: f.argsort(x, axis=0)[0], [X], [g])
    expected = np.zeros([2, 4])
    for column in range(4):
        for rank, row in enumerate(np.argsort(X[:, column], kind="stable")):
            expected[row, column] = g[rank, column]
    np.testing.assert_array_equal(found, expected)


def test_where_index_lists_the_places_row_by_row():
    x = np.array([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0]])
    assert f.where_index(x).tolist() == [[0, 1], [1, 0], [1, 2]]
    nothing = f.where_index(x > 9)
    assert (nothing.shape, nothing.dtype) == ((0, 2), np.int64)
    with pytest.raises(ShapeError, match="at least 1 dimension"):
        infer("where_index", Condition=([], "bool"))


def test_values_stand_in_the_order_in_which_they_first_occur():
    x = np.array([3, 1, 3, 2, 1, 3])
    values, index, count = f.unique_with_counts(x, dtype="int64")
    assert values.tolist() == [3, 1, 2]
    assert index.tolist() == [0, 1, 0, 2, 1, 0]
    assert count.tolist() == [3, 2, 1]
    assert f.unique(x, dtype="int32")[1].dtype == np.int32


def test_unique_refuses_what_is_no_vector_and_no_index_type():
    with pytest.raises(ShapeError, match=r"X to have 1 dimensions, got shape \[2, 3\]"):
        infer("unique", dict(dtype="int32"), X=([2, 3], "int64"))
    with pytest.raises(DTypeError, match="dtype int32 or int64, got float32"):
        infer("unique", dict(dtype="float32"), X=([2], "int64"))


def test_shard_index_counts_within_a_shard():
    attrs = dict(index_num=13, nshards=3, ignore_value=-7)  # shards of 5, 5 and 3 indices
    x = np.arange(13)[:, None]
    for shard in range(3):
        expected = [i - 5 * shard if i // 5 == shard else -7 for i in range(13)]
        assert f.shard_index(x, shard_id=shard, **attrs)[:, 0].tolist() == expected
    found = f.shard_index(np.array([[0, 9], [7, 12]]), shard_id=1, **attrs)
    assert found.tolist() == [[-7, 4], [2, -7]]


def test_shard_index_refuses_impossible_shards_and_indices():
    attrs = dict(index_num=10, nshards=2, shard_id=2)
    with pytest.raises(AttributeValueError, match="shard_id from 0 to 1, got 2"):
        infer("shard_index", attrs, X=([3, 1], "int64"))
    attrs["shard_id"] = 0
    with pytest.raises(ShapeError, match="expected X to have at least 2 dimensions, got shape"):
        infer("shard_index", attrs, X=([3], "int64"))
    with pytest.raises(OutOfRangeError, match=r"X in \[0, 10\), got 10"):
        f.shard_index(np.array([[10]]), **attrs)


def test_indices_are_int64_before_anything_is_known():
    assert infer("argsort", X=([-1, 3], "float32"))["Indices"].dtype is DType.INT64
