"""The largest elements."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.ground.dtypes import DType

from building import data, refused, run, written

X = np.array([[3, 1, 4, 1], [5, 9, 2, 6]], "float32")


def test_the_largest_come_first_with_their_places():
    values, places = layers.topk(data(), k=2)
    assert (values.name, places.name) == ("top_k_0.tmp_0", "top_k_0.tmp_1")
    assert (values.shape, places.dtype) == ((-1, 2), DType.INT64)
    assert values.stop_gradient
    assert places.stop_gradient
    found = run(values, places, x=X)
    assert found[0].tolist() == [[4, 3], [9, 6]]
    assert found[1].tolist() == [[2, 0], [1, 3]]


def test_how_many_may_be_a_variable():
    k = data("k", [1], "int32")
    values, _ = layers.topk(data(), k)
    assert "K=k" in written()[0]
    assert run(values, x=X, k=np.array([3], "int32")).shape == (2, 3)


def test_more_than_there_are_is_refused_when_the_program_runs():
    values, _ = layers.topk(data(), k=5)
    assert values.shape == (-1, 5)
    with pytest.raises(ValueError, match=r"(?s)the last size of X, 4, got 5.*test_search.py"):
        run(values, x=X)


def test_no_elements_are_refused():
    x = data()
    with refused(ValueError, r"(?s)from 1 to the last size of X, got 0.*x float32\[-1, 4\]"):
        layers.topk(x, k=0)


def test_the_place_of_the_largest_and_of_the_smallest():
    x = data()
    most, least = layers.argmax(x, axis=1), layers.argmin(x)
    assert (most.name, least.name) == ("arg_max_0.tmp_0", "arg_min_0.tmp_0")
    assert (most.shape, most.dtype, most.stop_gradient) == ((-1,), DType.INT64, True)
    found = run(most, least, x=X)
    assert found[0].tolist() == [2, 1]
    assert found[1].tolist() == [0, 0, 1, 0]


def test_argsort_gives_elements_and_places():
    values, places = layers.argsort(data(), descending=True)
    assert (values.name, places.name) == ("argsort_0.tmp_0", "argsort_0.tmp_1")
    assert values.stop_gradient
    found = run(values, places, x=X)
    assert found[0].tolist() == [[4, 3, 1, 1], [9, 6, 5, 2]]
    assert found[1].tolist() == [[2, 0, 1, 3], [1, 3, 0, 2]]


def test_places_where_a_condition_holds():
    x = data()
    places, parts = layers.where(x > 4.0), layers.nonzero(x > 4.0, as_tuple=True)
    assert [part.shape for part in (places, *parts)] == [(-1, 2), (-1, 1), (-1, 1)]
    assert layers.nonzero(x).shape == (-1, 2)
    found = run(places, *parts, x=X)
    assert found[0].tolist() == [[1, 0], [1, 1], [1, 3]]
    assert np.array_equal(np.hstack(found[1:]), found[0])


def test_values_that_occur():
    x = data("ids", [None], "int64")
    values, index = layers.unique(x)
    again, _, count = layers.unique_with_counts(x, dtype="int64")
    assert (index.dtype, count.dtype) == (DType.INT32, DType.INT64)
    found = run(values, index, again, count, ids=np.array([7, 3, 7, 7]))
    assert [v.tolist() for v in found] == [[7, 3], [0, 1, 0, 0], [7, 3], [3, 1]]


def test_shard_index_counts_within_a_shard():
    out = layers.shard_index(data("ids", [None, 1], "int64"), 20, 2, 1)
    assert run(out, ids=np.array([[1], [19]])).tolist() == [[-1], [9]]
