"""Random numbers: what is drawn, in which shape, from which seed."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, written


def test_uniform_numbers_lie_between_the_bounds():
    out = layers.uniform_random([50, 3], min=2.0, max=3.0)
    values = run(out)
    assert values.shape == (50, 3)
    assert (values >= 2).all()
    assert (values < 3).all()


def test_gaussian_numbers_have_expectation_and_deviation():
    values = run(layers.gaussian_random([4000], mean=3.0, std=0.5, seed=1))
    assert abs(values.mean() - 3) < 0.05
    assert abs(values.std() - 0.5) < 0.05


@pytest.mark.parametrize(
    "make, wanted",
    [
        (lambda: layers.uniform_random([2, 3]), "uniform_random(shape=[2, 3])"),
        (lambda: layers.gaussian_random([2, 3]), "gaussian_random(shape=[2, 3])"),
        (lambda: layers.randn([2, 3]), "gaussian_random(shape=[2, 3])"),
        (lambda: layers.randint(1, 6, [2, 3]), "randint(shape=[2, 3], low=1, high=6)"),
        (lambda: layers.randperm(5), "randperm(n=5)"),
    ],
)
def test_one_operator_is_appended(make, wanted):
    made = make()
    (line,) = written()
    name, op = line.split(" = ", 1)
    assert name == made.name
    assert op.split("(")[0] == wanted.split("(")[0]
    for part in wanted[:-1].split("(")[1].split(", ")[-1:]:
        assert part in op


def test_a_seed_fixes_the_numbers():
    first, second = layers.uniform_random([4], seed=5), layers.uniform_random([4], seed=5)
    values = run(first, second)
    assert np.array_equal(values[0], values[1])


def test_without_a_seed_numbers_go_on():
    first, second = layers.uniform_random([4]), layers.uniform_random([4])
    values = run(first, second)
    assert not np.array_equal(values[0], values[1])


def test_sizes_of_uniform_numbers_may_be_variables():
    n, shape = data("n", [1], "int32"), data("shape", [2], "int64")
    some, all_ = layers.uniform_random([n, 2]), layers.uniform_random(shape)
    assert written()[0].startswith("uniform_random_0.tmp_0 = fill_constant(dtype=int64, shape=[1]")
    assert "ShapeTensorList=[n, uniform_random_0.tmp_0]" in written()[1]
    assert "ShapeTensor=shape" in written()[2]
    values = run(some, all_, n=np.array([3], "int32"), shape=np.array([4, 5]))
    assert [value.shape for value in values] == [(3, 2), (4, 5)]


def test_sizes_of_gaussian_numbers_are_cast():
    n = data("n", [1], "int64")
    out = layers.gaussian_random([n, 2])
    assert [line.split("(")[0] for line in written()] == [
        "cast_0.tmp_0 = cast",
        "fill_constant_0.tmp_0 = fill_constant",
        "gaussian_random_0.tmp_0 = gaussian_random",
    ]
    assert run(out, n=np.array([3])).shape == (3, 2)


@pytest.mark.parametrize(
    "make", [layers.uniform_random_batch_size_like, layers.gaussian_random_batch_size_like]
)
def test_one_size_comes_from_a_variable(make):
    out = make(data(), [5, -1], input_dim_idx=0, output_dim_idx=1)
    assert out.shape == (5, -1)
    assert run(out, x=np.zeros([3, 4], "float32")).shape == (5, 3)


def test_random_numbers_are_floats():
    with refused(DTypeError, "expected dtype float32 or float64"):
        layers.uniform_random([2], "int32")


def test_random_integers_lie_below_the_upper_bound():
    values = run(layers.randint(2, 4, shape=[60]))
    assert set(values.tolist()) == {2, 3}
    assert values.dtype == "int64"


def test_random_integers_start_at_0_with_one_bound():
    assert layers.randint(5).shape == (1,)
    assert "low=0, high=5" in written()[0]
    with refused(ArgumentError, "expected a positive low where high is not given.*got low=0"):
        layers.randint(0)


def test_random_integers_are_named_by_the_user():
    assert layers.randint(5, name="dice").name == "dice"
    assert layers.randint(5).name == "randint_0.tmp_0"


def test_random_integers_may_have_sizes_that_are_variables():
    n = data("n", [1], "int64")
    out = layers.randint(1, 6, [n, 2])
    assert out.shape == (-1, -1)
    assert run(out, n=np.array([3])).shape == (3, 2)


def test_a_random_order_holds_every_number_once():
    out = layers.randperm(6, dtype="int32")
    assert out.dtype is DType.INT32
    assert sorted(run(out).tolist()) == [0, 1, 2, 3, 4, 5]


def test_gradients_stop_at_random_numbers_where_asked():
    assert layers.randn([2]).stop_gradient
    assert not layers.randn([2], stop_gradient=False).stop_gradient
    assert layers.randperm(2).stop_gradient
    assert not layers.randint(2).stop_gradient
    assert not layers.gaussian_random([2]).stop_gradient


def test_the_seed_of_a_program_is_left_to_the_executor():
    fluid.default_main_program().random_seed = 9
    layers.uniform_random([2])
    assert "seed" not in written()[0]
