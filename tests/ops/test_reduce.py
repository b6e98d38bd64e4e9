"""Reductions against loops, and products of elements some of which are zero."""

import functools
import itertools
import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import DTypeError, ShapeError
from fluidlite.ground.dtypes import DType
from fluidlite.opdef.spec import Spec

from gradcheck import check_gradients, evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)

REDUCTIONS = {
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "max": max,
    "min": min,
    "prod": math.prod,
    "all": all,
    "any": any,
}
NUMERIC = ["sum", "mean", "max", "min", "prod"]
#: attributes, the dimensions of [2, 3, 4] that are reduced, the shape of the result
WAYS = [
    ({}, (0,), [3, 4]),
    (dict(dim=[1]), (1,), [2, 4]),
    (dict(dim=[-1]), (2,), [2, 3]),
    (dict(dim=[-1, 0]), (0, 2), [3]),
    (dict(dim=[1, 1]), (1,), [2, 4]),
    (dict(dim=[1], keep_dim=True), (1,), [2, 1, 4]),
    (dict(dim=[0, 1, 2]), (0, 1, 2), [1]),
    (dict(dim=[1], reduce_all=True), (0, 1, 2), [1]),
    (dict(dim=[]), (0, 1, 2), [1]),
    (dict(reduce_all=True, keep_dim=True), (0, 1, 2), [1, 1, 1]),
    (dict(reduce_all=True, zero_d=True), (0, 1, 2), []),
]


def by_loops(function, x, axes, shape):
    """The function of each list of elements that differ along the axes alone."""
    lists = {}
    for index in np.ndindex(x.shape):
        kept = tuple(i for axis, i in enumerate(index) if axis not in axes)
        lists.setdefault(kept, []).append(x[index].item())
    return np.reshape([function(values) for _, values in sorted(lists.items())], shape)


@pytest.mark.parametrize("attrs, axes, shape", WAYS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_of_each_group_of_elements(name, attrs, axes, shape):
    x = rng.normal(size=[2, 3, 4])
    x = x if name in NUMERIC else x > {"all": -1.5, "any": 1.0}[name]
    expected = by_loops(REDUCTIONS[name], x, axes, shape)
    found = getattr(f, f"reduce_{name}")(x, **attrs)
    assert found.shape == tuple(shape)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", NUMERIC)
def test_reduction_of_integers(name, dtype):
    x = np.array([[3, 4, -8], [5, 6, 3]], dtype)
    found = getattr(f, f"reduce_{name}")(x, dim=[1])
    expected = {"sum": [-1, 14], "mean": [0, 4], "max": [4, 6], "min": [-8, 3], "prod": [-96, 90]}
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, expected[name])


def test_another_element_type_is_used_from_the_start():
    x = np.array([2**30, 2**30, 2**30], "int32")
    found = f.reduce_sum(x, out_dtype="int64")
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [3 * 2**30])
    found = f.reduce_mean(np.array([1, 2]), out_dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [1.5])
    found = f.reduce_all(np.array([True, True]), out_dtype="int32")
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [1])


def test_reduction_of_nothing():
    x = np.zeros([2, 0])
    np.testing.assert_array_equal(f.reduce_sum(x, dim=[1]), [0, 0])
    np.testing.assert_array_equal(f.reduce_prod(x, dim=[1]), [1, 1])
    (found,) = pull_back(f, lambda f, x: f.reduce_prod(x, dim=[1]), [x], [np.ones(2)])
    assert found.shape == (2, 0)


def test_mean_of_all_elements():
    x = rng.normal(size=[2, 3, 4])
    np.testing.assert_allclose(f.mean(x), [math.fsum(x.ravel()) / 24])
    (found,) = pull_back(f, lambda f, x: f.mean(x), [x], [np.array([6.0])])
    np.testing.assert_allclose(found, np.full([2, 3, 4], 0.25))
    found = f.mean(x.astype("float32"))
    assert (found.shape, found.dtype) == ((1,), np.dtype("float32"))


@pytest.mark.parametrize("attrs, axes, shape", WAYS)
def test_gradients_of_sums_and_means_are_spread(attrs, axes, shape):
    x, g = rng.normal(size=[2, 3, 4]), rng.normal(size=shape)
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    expected = np.broadcast_to(g.reshape(kept), x.shape)
    (found,) = pull_back(f, lambda f, x: f.reduce_sum(x, **attrs), [x], [g])
    np.testing.assert_array_equal(found, expected)
    (found,) = pull_back(f, lambda f, x: f.reduce_mean(x, **attrs), [x], [g])
    np.testing.assert_allclose(found, expected / math.prod(x.shape[axis] for axis in axes))


@pytest.mark.parametrize(
    "name, x", [("max", [[1, 3, 3], [2, 2, 0]]), ("min", [[3, 1, 1], [0, 0, 2]])]
)
def test_all_of_several_extremes_get_the_gradient(name, x):
    reduction = lambda f, x: getattr(f, f"reduce_{name}")(x, dim=[1])
    (found,) = pull_back(f, reduction, [np.array(x, float)], [np.array([5.0, 7.0])])
    np.testing.assert_array_equal(found, [[0, 5, 5], [7, 7, 0]])


def mixed_derivative(x, directions):
    """The derivative of the product of a list along several directions, term by term."""
    total = 0.0
    for chosen in itertools.permutations(range(len(x)), len(directions)):
        others = math.prod(v for i, v in enumerate(x) if i not in chosen)
        total += others * math.prod(d[i] for d, i in zip(directions, chosen))
    return total


ZEROS = [
    [2.0, -3.0, 0.5, 4.0, 1.5],
    [2.0, 0.0, 0.5, 4.0, 1.5],
    [0.0, -3.0, 0.0, 4.0, 1.5],
    [0.0, -3.0, 0.0, 4.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0],
]


@pytest.mark.parametrize("x", ZEROS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_derivatives_of_products_are_exact_where_elements_are_zero(x, count):
    directions = rng.normal(size=[count, 5])
    expected = [mixed_derivative(x, [*directions, unit]) for unit in np.eye(5)]
    found = f.product_slope(np.array([x]), [d[None] for d in directions], dim=[1])
    np.testing.assert_allclose(found, [expected], 1e-12, 1e-12)


@pytest.mark.parametrize("x", ZEROS)
def test_gradient_of_a_product_is_that_of_the_others(x):
    product = lambda f, x: f.reduce_prod(x, reduce_all=True)
    (found,) = pull_back(f, product, [np.array(x)], [np.array([2.0])])
    expected = [2 * math.prod(x[:i] + x[i + 1 :]) for i in range(len(x))]
    np.testing.assert_allclose(found, expected)


def test_gradients_of_gradients_of_products_see_zeros():
    """Of x y z at (0, 0, 3) the only second derivative is that by x and y."""

    def slope(f, x, g):
        return pull_back(f, lambda f, x: f.reduce_prod(x), [x], [g])[0]

    x, g, h = np.array([0.0, 0.0, 3.0]), np.ones(1), np.array([5.0, 7.0, 11.0])
    by_x, by_g = pull_back(f, slope, [x, g], [h])
    np.testing.assert_array_equal(by_x, [21, 15, 0])
    np.testing.assert_array_equal(by_g, [0])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9])
def test_gradient_of_products_of_any_length(size):
    x = rng.uniform(0.5, 1.5, [2, size, 3])
    check_gradients(lambda f, x: f.reduce_prod(x, dim=[1]), [x], order=3)


def test_gradient_of_a_product_that_underflows_is_not_lost():
    x = np.array([1e-200, 1e-200, 4.0])
    (found,) = pull_back(f, lambda f, x: f.reduce_prod(x), [x], [np.ones(1)])
    np.testing.assert_allclose(found, [4e-200, 4e-200, 0])


def test_the_rows_of_sequences_stay_sequences():
    x = Spec((-1, 3, 4), DType.FP32, lod_level=1)
    levels = lambda **attrs: infer("reduce_sum", attrs, X=x)["Out"].lod_level
    assert levels(dim=[1]) == levels(dim=[-1]) == levels(dim=[1, 2], keep_dim=True) == 1
    assert levels() == levels(dim=[-3]) == levels(dim=[1, 0]) == levels(reduce_all=True) == 0
    assert infer("mean", X=x)["Out"].lod_level == 0


def test_dimensions_are_those_of_the_input():
    for dim in ([2], [-3], [0, 5]):
        with pytest.raises(ShapeError, match=rf"expected dim in \[-2, 2\), got {dim[-1]}"):
            infer("reduce_sum", dict(dim=dim), X=([2, 3], "float32"))


@pytest.mark.parametrize("name", NUMERIC)
def test_truth_values_are_no_numbers(name):
    with pytest.raises(DTypeError, match="expected X to hold numbers, got bool; cast it first"):
        infer(f"reduce_{name}", X=([2, 3], "bool"))


@pytest.mark.parametrize("name", ["all", "any"])
def test_numbers_are_no_truth_values(name):
    with pytest.raises(DTypeError, match=r"expected X to hold truth values \(bool\), got float32"):
        infer(f"reduce_{name}", X=([2, 3], "float32"))


@pytest.mark.parametrize("name", ["max", "min"])
def test_there_is_no_extreme_of_nothing(name):
    with pytest.raises(
        ShapeError, match=r"expected an element to choose along dim=\[1\], got X of"
    ):
        infer(f"reduce_{name}", dict(dim=[-1]), X=([2, 0], "float32"))
    assert infer(f"reduce_{name}", X=([2, 0], "float32"))["Out"].shape == (0,)


def test_mean_takes_floats():
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        infer("mean", X=([2], "int64"))


def test_directions_are_like_the_input():
    x = ([2, 3], "float32")
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int32"):
        infer("product_slope", dict(dim=[0]), X=([2], "int32"))
    with pytest.raises(DTypeError, match=r"got X float32, Directions\[1\] float64"):
        infer("product_slope", dict(dim=[0]), X=x, Directions=[x, ([2, 3], "float64")])
    with pytest.raises(ShapeError, match=r"Directions\[0\] of shape \[2, 3\], as X, got \[3\]"):
        infer("product_slope", dict(dim=[0]), X=x, Directions=[([3], "float32")])


def test_sums_of_float32_are_float32():
    total = functools.reduce(lambda a, b: a + b, [np.float32(0.1)] * 3)
    found = f.reduce_sum(np.full([3], 0.1, "float32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [total], 1e-6)


@pytest.mark.parametrize(
    "name, x", [("amax", [[1, 3, 3], [2, 2, 0]]), ("amin", [[3, 1, 1], [0, 0, 2]])]
)
def test_several_extremes_share_the_gradient(name, x):
    reduction = lambda f, x: getattr(f, name)(x, dim=[1])
    x = np.array(x, float)
    np.testing.assert_array_equal(reduction(f, x), [(max if name == "amax" else min)(r) for r in x])
    (found,) = pull_back(f, reduction, [x], [np.array([5.0, 7.0])])
    np.testing.assert_array_equal(found, [[0, 2.5, 2.5], [3.5, 3.5, 0]])


def test_an_extreme_of_nothing_is_refused():
    with pytest.raises(ShapeError, match="expected an element to choose"):
        infer("amax", dict(dim=[1]), X=([2, 0], "float32"))


def test_gradients_of_means_of_many_elements_stay_in_single_precision():
    x = fluid.to_tensor(np.ones([300, 400], "float32"), stop_gradient=False)
    for mean in (fluid.mean, fluid.layers.mean):
        assert fluid.grad(mean(x), x)[0].numpy().dtype == np.float32
