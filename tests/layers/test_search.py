"""The largest elements."""

import numpy as np

from fluidlite import layers
from fluidlite.dtypes import DType

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


def test_more_than_there_are_is_refused():
    x = data()
    with refused(ValueError, r"(?s)5.*x float32\[-1, 4\]"):
        layers.topk(x, k=5)
