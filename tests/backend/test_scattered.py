"""Elements that are put at places which are named several times, and other parts of arrays."""

import numpy as np
import pytest

from fluidlite.backend import numpy_


@pytest.mark.parametrize("turned", [False, True])
def test_of_places_that_are_named_twice_the_last_one_stays_in_every_layout(turned):
    index = np.array([[0, 0, 2], [1, 0, 2]])
    values = np.arange(6.0).reshape(2, 3)
    if turned:
        index, values = np.asfortranarray(index)[:, ::-1], values[:, ::-1]
    wanted = np.zeros(3)
    for place, value in zip(index.ravel(), values.ravel()):
        wanted[place] = value
    assert numpy_.scatter_set(np.zeros(3), index, values).tolist() == wanted.tolist()
    assert numpy_.scatter_set(np.zeros(3), (index,), values).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "shape, index, updates",
    [
        ((5, 3), np.array([1, 1, 4, -1, 0]), (5, 3)),
        ((5,), np.array([1, 1]), (2,)),
        ((5, 3), np.array([[1, 2], [1, 2]]), (2, 2, 3)),
        ((5, 3), np.array([], int), (0, 3)),
        ((3, 0), np.array([1, 1]), (2, 0)),
        ((4, 5), (np.array([0, 0, 3]), slice(None)), (3, 5)),
        ((4, 5), (np.array([[0], [0]]), np.array([[1, 1, 2]])), (2, 3)),
        ((4, 5), (Ellipsis, np.array([1, 1])), (4, 2)),
        ((4, 5), (slice(0, 3, 2),), ()),
        ((4, 4, 5), (np.array([1, 1]), slice(None), np.array([0, 0])), (2, 4)),
        ((4, 5), (np.array([True, False, True, True]),), (3, 5)),
    ],
)
def test_devices_that_write_in_any_order_keep_the_last_of_several_updates(shape, index, updates):
    jax_ = pytest.importorskip("fluidlite.backend.jax_", reason="needs fluidlite[jax]")
    rng = np.random.default_rng(0)
    x, values = rng.normal(size=shape), rng.normal(size=updates)
    right = numpy_.scatter_set(x, index, values).astype("float32")
    in_any_order = jax_._last_ones_set(jax_.jnp.asarray(x, "float32"), index, values)
    np.testing.assert_array_equal(in_any_order, right)
    in_order = jax_.scatter_set(x.astype("float32"), index, values)
    np.testing.assert_array_equal(in_order, right)


@pytest.mark.parametrize("lengths", [[5, 1, 3] * 9, [900, 1, 2], [400, *[2] * 30], [1] * 12, [600]])
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
@pytest.mark.parametrize("width", [(), (3,), (2, 5)])
def test_extremes_of_rows_are_those_of_each_segment(lengths, dtype, width):
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    x = (rng.normal(size=(len(numbers), *width)) * 50).astype(dtype)
    if dtype != "int64":
        x[-1] = np.nan
    shuffled = rng.permutation(len(x))
    for ufunc, rows in ((np.maximum, numpy_.max_rows), (np.minimum, numpy_.min_rows)):
        expected = np.stack([ufunc.reduce(x[numbers == k], axis=0) for k in range(len(lengths))])
        np.testing.assert_array_equal(rows(numbers, x, len(lengths)), expected)
        np.testing.assert_array_equal(rows(numbers[shuffled], x[shuffled], len(lengths)), expected)
    offsets = np.cumsum([0, *lengths])
    expected = np.stack([x[numbers == k].max(0) for k in range(len(lengths))])
    np.testing.assert_array_equal(numpy_.segment_max(x, offsets), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "complex64", "bool"])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 5, 4), (3, 70, 2), (4, 5), (2, 0, 3)])
def test_triangles_of_stacks_are_those_of_numpy(dtype, shape):
    x = (np.random.default_rng(0).normal(size=shape) * 9).astype(dtype)
    if x.dtype.kind == "f" and x.size:
        x[..., 0, -1] = np.nan
    for given in (x, np.swapaxes(x, -1, -2)):
        for k in (-1, 0, 2):
            for ours, theirs in ((numpy_.tril, np.tril), (numpy_.triu, np.triu)):
                found = ours(given, k)
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, theirs(given, k))
