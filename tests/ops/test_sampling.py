"""Random numbers: their moments, and what they depend on."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.recording import eager
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

N = 40000
DRAWS = {
    "uniform_random": dict(shape=[4, 5]),
    "gaussian_random": dict(shape=[4, 5]),
    "truncated_gaussian_random": dict(shape=[4, 5]),
    "randint": dict(shape=[4, 5], low=0, high=1000),
    "randperm": dict(n=20),
}


def draw(type, *, stream=7, **attrs):
    return getattr(evaluator(stream), type)(**attrs)


def check_moments(values, mean, std):
    """The mean and standard deviation of a sample, within 5 of their standard errors."""
    assert abs(values.mean() - mean) < 5 * std / np.sqrt(values.size)
    assert abs(values.std() - std) < 5 * std / np.sqrt(values.size)


def test_uniform_numbers_fill_their_interval_evenly():
    values = draw("uniform_random", shape=[N], min=-1.0, max=3.0)
    assert values.dtype == np.float32
    assert values.min() >= -1 and values.max() <= 3
    check_moments(values, 1.0, 4 / np.sqrt(12))
    counts, _ = np.histogram(values, 8, (-1, 3))
    assert abs(counts - N / 8).max() < 5 * np.sqrt(N / 8)


def test_uniform_numbers_with_a_fixed_diagonal():
    values = draw("uniform_random", shape=[3, 4], diag_num=3, diag_step=4, diag_val=9.0)
    np.testing.assert_array_equal(values == 9, np.eye(3, 4, dtype=bool))


def test_normal_numbers():
    values = draw("gaussian_random", shape=[N], mean=2.0, std=0.5)
    check_moments(values, 2.0, 0.5)
    assert abs((abs(values - 2) > 1).mean() - 0.0455) < 0.006


def test_truncated_normal_numbers_stay_within_two_deviations():
    values = draw("truncated_gaussian_random", shape=[N], mean=2.0, std=0.5)
    assert abs(values - 2).max() <= 1
    check_moments(values, 2.0, 0.5 * 0.8796)  # of the normal distribution cut at 2


def test_whole_numbers_are_below_the_upper_bound():
    values = draw("randint", shape=[N], low=-2, high=3, dtype="int32")
    assert values.dtype == np.int32
    numbers, counts = np.unique(values, return_counts=True)
    np.testing.assert_array_equal(numbers, [-2, -1, 0, 1, 2])
    assert abs(counts - N / 5).max() < 5 * np.sqrt(N / 5)


def test_a_permutation_has_every_number_once():
    values = draw("randperm", n=100)
    assert values.dtype == np.int64
    np.testing.assert_array_equal(np.sort(values), np.arange(100))
    assert (values != np.arange(100)).any()


@pytest.mark.parametrize("type", DRAWS)
def test_numbers_depend_on_the_stream_alone(type):
    one = draw(type, **DRAWS[type])
    np.testing.assert_array_equal(draw(type, **DRAWS[type]), one)
    assert (draw(type, stream=8, **DRAWS[type]) != one).any()


@pytest.mark.parametrize("type", DRAWS)
def test_seed_fixes_the_numbers_whatever_the_stream(type):
    one = draw(type, seed=5, **DRAWS[type])
    np.testing.assert_array_equal(draw(type, stream=8, seed=5, **DRAWS[type]), one)
    assert (draw(type, seed=6, **DRAWS[type]) != one).any()


@pytest.mark.parametrize("kind", ["uniform_random", "gaussian_random"])
def test_one_size_may_be_that_of_an_input(kind):
    x = np.zeros([4, 3], "float32")
    like = getattr(evaluator(), f"{kind}_batch_size_like")
    assert like(x, shape=[9, 2]).shape == (4, 2)
    found = like(x, shape=[9, 2], input_dim_idx=1, output_dim_idx=1, seed=5, dtype="float64")
    assert found.shape == (9, 3) and found.dtype == np.float64
    np.testing.assert_array_equal(found, draw(kind, shape=[9, 3], seed=5, dtype="float64"))


def test_bounds_and_moments_reach_the_operators_like_an_input():
    x = np.zeros([N], "float32")
    f = evaluator()
    values = f.uniform_random_batch_size_like(x, shape=[-1], min=2.0, max=3.0)
    check_moments(values, 2.5, 1 / np.sqrt(12))
    values = f.gaussian_random_batch_size_like(x, shape=[-1], mean=2.0, std=0.5)
    check_moments(values, 2.0, 0.5)


@pytest.mark.parametrize(
    "error, message, type, attrs",
    [
        (AttributeValueError, "min below max, got 2.0 and 1.0", "uniform_random", {"min": 2}),
        (DTypeError, "got int64", "gaussian_random", {"dtype": "int64"}),
        (DTypeError, "int64 or int32, got float32", "randint", {"dtype": "float32"}),
        (AttributeValueError, "low below high, got 3 and 3", "randint", {}),
        (AttributeValueError, "n of at least 1, got 0", "randperm", {"n": 0}),
    ],
)
def test_what_is_no_distribution_is_refused(error, message, type, attrs):
    given = {"randint": {"low": 3, "high": 3}}.get(type, {})
    with pytest.raises(error) as caught:
        infer(type, {**given, **attrs})
    assert message in str(caught.value)


def test_a_diagonal_that_does_not_fit_is_refused():
    with pytest.raises(AttributeValueError, match="diag_num 4 and diag_step 4"):
        draw("uniform_random", shape=[3, 4], diag_num=4, diag_step=4)


def test_a_seed_that_is_drawn_at_once_follows_the_generator():
    drawn = []
    for _ in range(2):
        fluid.seed(3)
        drawn.append([int(eager.seed()[0]) for _ in range(3)])
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3
    assert eager.seed(seed=5) == [5]


@pytest.mark.parametrize("seed", [fluid.seed, fluid.paddle.seed], ids=["own", "of_paddle"])
def test_shares_add_up_to_one_and_have_their_mean(seed):
    seed(3)
    alpha = np.array([0.4, 1.0, 2.5])
    shares = np.asarray(eager.dirichlet(np.tile(alpha, [2000, 1])))
    np.testing.assert_allclose(shares.sum(1), 1)
    mean = alpha / alpha.sum()
    spread = np.sqrt(mean * (1 - mean) / (alpha.sum() + 1) / 2000)
    assert (abs(shares.mean(0) - mean) < 5 * spread).all()


def test_shares_of_a_number_are_refused():
    with pytest.raises(ShapeError, match="Alpha of at least one dimension"):
        eager.dirichlet(fluid.to_tensor(1.0))
