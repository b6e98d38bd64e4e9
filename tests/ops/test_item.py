"""What stands at an index, and what is put there, against NumPy's own indices and loops."""

import numpy as np
import pytest

from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError
from fluidlite.functions.items import encode

from gradcheck import evaluator, pull_back
from infer import infer
from samples.item import INDICES

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[3, 4, 5])
#: what NumPy means, too; for a number beside a list, see tests/operands/test_mixed_items.py
ALIKE = [name for name in INDICES if name != "number_and_list"]


def at(item):
    """Attributes and inputs that mean an index."""
    codes, tensors = encode(item)
    return dict(item=codes, **({} if tensors is None else dict(Index=tensors)))


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_taken_is_what_numpy_takes(name):
    item = INDICES[name]
    np.testing.assert_array_equal(f.take_item(X, **at(item)), X[item])


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_put_shows_at_the_index_alone(name):
    item = INDICES[name]
    value = rng.normal(size=X[item].shape)
    expected = X.copy()
    expected[item] = value
    np.testing.assert_array_equal(f.put_item(X, value, **at(item)), expected)


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_added_counts_as_often_as_its_place_is_named(name):
    item = INDICES[name]
    places = np.arange(60).reshape(3, 4, 5)[item].ravel()
    value = rng.normal(size=X[item].shape)
    expected = np.zeros(60)
    for place, v in zip(places, value.ravel()):
        expected[place] += v
    found = f.add_item(value, **at(item), size=[3, 4, 5])
    np.testing.assert_allclose(found, expected.reshape(3, 4, 5))


def test_of_a_place_named_twice_the_last_value_gets_the_gradient():
    item = at(np.array([1, 0, 1]))
    put = lambda f, x, v: f.put_item(x, v, **item)
    by_x, by_v = pull_back(f, put, [np.zeros(3), np.ones(3)], [np.array([5.0, 7.0, 11.0])])
    np.testing.assert_array_equal(by_x, [0, 0, 11])
    np.testing.assert_array_equal(by_v, [0, 5, 7])


def test_the_shape_is_known_where_no_mask_is():
    found = infer("take_item", dict(item=at((0, slice(None)))["item"]), X=([3, -1], "float32"))
    assert found["Out"].shape == (-1,)
    item = dict(item=at(np.zeros(3, bool))["item"])
    found = infer("take_item", item, X=([3, 2], "float32"), Index=[([3], "bool")])
    assert found["Out"].shape == (-1, 2)


def test_an_index_outside_is_refused():
    with pytest.raises(OutOfRangeError, match=r"expected an index in \[-3, 3\) along dimension 0"):
        infer("take_item", dict(item=at(3)["item"]), X=([3, 2], "float32"))


def test_more_indices_than_dimensions_are_refused():
    with pytest.raises(ShapeError, match=r"a tensor of shape \[3\] takes 1 indices, got 2"):
        infer("take_item", dict(item=at((0, 0))["item"]), X=([3], "float32"))


def test_a_mask_of_another_shape_is_refused():
    item = dict(item=at(np.zeros(2, bool))["item"])
    with pytest.raises(ShapeError, match=r"expected a mask of the sizes \[3\]"):
        infer("take_item", item, X=([3], "float32"), Index=[([2], "bool")])


def test_indices_are_integers():
    item = dict(item=at(np.zeros(2, int))["item"])
    with pytest.raises(DTypeError, match="expected indices of integers or truth values"):
        infer("take_item", item, X=([3], "float32"), Index=[([2], "float32")])


def test_a_value_that_does_not_broadcast_is_refused():
    with pytest.raises(ShapeError, match=r"expected Value to broadcast to the shape \[2, 4\]"):
        item = dict(item=at(slice(0, 2))["item"])
        infer("put_item", item, X=([3, 4], "float32"), Value=([3], "float32"))
