"""Repetition against loops over every element."""

import numpy as np
import pytest

from fluidlite.errors import ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
REPEATED = [([2, 3], [3, 2]), ([2, 1, 3], [1, 4, 2]), ([2, 1], [1, 5]), ([3], [1])]


def by_loops(x, times):
    """Each element at all places that it is copied to."""
    out = np.zeros([n * t for n, t in zip(x.shape, times)])
    for place in np.ndindex(out.shape):
        out[place] = x[tuple(i % n for i, n in zip(place, x.shape))]
    return out


@pytest.mark.parametrize("shape, times", REPEATED)
def test_expand_repeats(shape, times):
    x = rng.normal(size=shape)
    expected = by_loops(x, times)
    np.testing.assert_array_equal(f.expand(x, expand_times=times), expected)
    np.testing.assert_array_equal(f.expand(x, np.array(times), expand_times=[7]), expected)
    listed = [np.array([t]) for t in times]
    np.testing.assert_array_equal(f.expand(x, expand_times_tensor=listed), expected)
    np.testing.assert_array_equal(f.expand_as(x, np.zeros(expected.shape)), expected)


@pytest.mark.parametrize("shape, times", REPEATED)
def test_gradients_of_copies_add_up(shape, times):
    x = rng.normal(size=shape)
    g, expected = rng.normal(size=by_loops(x, times).shape), np.zeros(shape)
    for place in np.ndindex(g.shape):
        expected[tuple(i % n for i, n in zip(place, shape))] += g[place]
    (found,) = pull_back(f, lambda f, x: f.expand(x, expand_times=times), [x], [g])
    np.testing.assert_allclose(found, expected)
    (found,) = pull_back(f, lambda f, x: f.expand_as(x, g), [x], [g])
    np.testing.assert_allclose(found, expected)


def test_inferred_shape_of_an_expansion():
    one = lambda attrs, **more: infer("expand", attrs, X=([-1, 3], "float32"), **more)["Out"].shape
    assert one(dict(expand_times=[2, 2])) == (-1, 6)
    number = ([1], "int32")
    assert one(dict(expand_times=[1, -1]), expand_times_tensor=[number] * 2) == (-1, -1)
    assert one({}, ExpandTimes=([2], "int32")) == (-1, -1)
    assert one({}, ExpandTimes=([-1], "int32")) == (-1, -1)


@pytest.mark.parametrize("times", [[0, 1], [1, -1]])
def test_expand_refuses_to_repeat_less_than_once(times):
    with pytest.raises(ShapeError, match="expand_times of at least 1"):
        infer("expand", dict(expand_times=times), X=([2, 3], "float32"))


def test_expand_refuses_another_number_of_times():
    with pytest.raises(ShapeError, match=r"one of expand_times for each dimension .* \[2\]"):
        infer("expand", dict(expand_times=[2]), X=([2, 3], "float32"))


@pytest.mark.parametrize("target", [[5, 3], [2, 3, 1], [2, 1]])
def test_expand_as_refuses_sizes_that_are_no_multiples(target):
    with pytest.raises(ShapeError, match="multiples of those of X"):
        infer("expand_as", X=([2, 3], "float32"), target_tensor=(target, "float32"))


def test_expand_as_has_the_shape_of_the_target():
    target = ([-1, 6], "int64")
    found = infer("expand_as", X=([2, 3], "float32"), target_tensor=target)["Out"]
    assert (found.shape, found.dtype.name) == ((-1, 6), "FP32")


def test_meshgrid_gives_the_coordinates_of_a_grid():
    x, y, z = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]), np.array([6.0])
    found = f.meshgrid([x, y, z])
    for i, j, k in np.ndindex(2, 3, 1):
        assert [v[i, j, k] for v in found] == [x[i], y[j], z[k]]
    with pytest.raises(ShapeError, match=r"X\[1\] to have 1 dimensions, got shape \[3, 1\]"):
        infer("meshgrid", X=[([2], "float32"), ([3, 1], "float32")])
