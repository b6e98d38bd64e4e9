"""Distributions: what they draw, and their entropies, densities and divergences."""

import math

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ArgumentError, UnsupportedError

from building import data, refused, run


@pytest.mark.parametrize("made", [layers.Normal, layers.Uniform])
def test_a_sample_has_its_shape_before_that_of_the_parameters(made):
    assert made(0.0, 1.0).sample([3]).shape == (3,)
    assert made([0.0, 1.0], [2.0, 3.0]).sample([3, 4]).shape == (3, 4, 2)
    a, b = data("a", [None, 2]), data("b", [None, 2])
    drawn = made(a, b).sample([3])
    assert drawn.shape == (3, -1, 2)
    ones = np.ones([5, 2], "float32")
    assert run(drawn, a=ones, b=2 * ones).shape == (3, 5, 2)


def test_samples_have_the_parameters_of_their_own_columns():
    a, b = data("a", [None, 2]), data("b", [None, 2])
    low = np.array([[0, 10], [20, 30]], "float32")
    found = run(layers.Uniform(a, b).sample([500]), a=low, b=low + 2)
    assert (found >= low).all()
    assert (found < low + 2).all()
    np.testing.assert_allclose(found.mean(axis=0), low + 1, atol=0.15)
    found = run(layers.Normal(a, b).sample([2000]), a=low, b=low / 10 + 1)
    np.testing.assert_allclose(found.mean(axis=0), low, atol=0.4)
    np.testing.assert_allclose(found.std(axis=0), low / 10 + 1, rtol=0.1)


def test_the_same_seed_draws_the_same():
    normal = layers.Normal(0.0, 1.0)
    np.testing.assert_array_equal(run(normal.sample([4], seed=3)), run(normal.sample([4], seed=3)))


def test_a_uniform_density_is_zero_outside():
    found = run(layers.Uniform([0.0], [2.0]).log_prob(data(shape=[3])), x=np.float32([1, 3, 0.5]))
    np.testing.assert_allclose(found, [-math.log(2), -math.inf, -math.log(2)], rtol=1e-6)


def test_normal_densities():
    normal = layers.Normal([1.0, 2.0], 2.0)
    value = np.float32([0.5, 3.0])
    expected = -((value - [1, 2]) ** 2) / 8 - math.log(2 * math.sqrt(2 * math.pi))
    np.testing.assert_allclose(run(normal.log_prob(data(shape=[2])), x=value), expected, rtol=1e-5)


def test_a_normal_entropy_depends_on_the_scale_only():
    entropy = 0.5 * math.log(2 * math.pi * math.e * 4)
    found = run(layers.Normal([1.0, 2.0], 2.0).entropy())
    np.testing.assert_allclose(found, [entropy] * 2, rtol=1e-6)


def test_normal_divergence():
    found = run(layers.Normal(1.0, 2.0).kl_divergence(layers.Normal(0.0, 3.0)))
    np.testing.assert_allclose(found, [math.log(3 / 2) + (4 + 1) / 18 - 0.5], rtol=1e-5)


def test_categories():
    p, q = np.array([[0.1, 0.2, 0.7]]), np.array([[0.3, 0.3, 0.4]])
    mine = layers.Categorical(data("p", [None, 3]))
    theirs = layers.Categorical(data("q", [None, 3]))
    logits = {"p": np.log(p).astype("float32") + 5, "q": np.log(q).astype("float32") - 1}
    entropy = run(mine.entropy(), p=logits["p"])
    np.testing.assert_allclose(entropy, [[-(p * np.log(p)).sum()]], rtol=1e-5)
    divergence = run(mine.kl_divergence(theirs), **logits)
    np.testing.assert_allclose(divergence, [[(p * np.log(p / q)).sum()]], rtol=1e-4)


def test_vectors_with_a_diagonal_covariance():
    mine = layers.MultivariateNormalDiag(np.float32([1, 2]), np.diag(np.float32([4, 9])))
    theirs = layers.MultivariateNormalDiag(np.float32([0, 0]), np.diag(np.float32([1, 2])))
    entropy = 0.5 * math.log((2 * math.pi * math.e) ** 2 * 36)
    np.testing.assert_allclose(run(mine.entropy()), [entropy], rtol=1e-5)
    divergence = 0.5 * (4 + 4.5 + 1 + 2 - 2 + math.log(2) - math.log(36))
    np.testing.assert_allclose(run(mine.kl_divergence(theirs)), [divergence], rtol=1e-5)


def test_parameters_are_variables_or_numbers_and_not_both():
    x = data()
    with refused(ArgumentError, "low and high to be all variables or all numbers"):
        layers.Uniform(x, 1.0)
    with refused(ArgumentError, "expected loc to be a number, a list"):
        layers.Normal("a", 1.0)
    with refused(ArgumentError, r"stretch to one, got \[2\] and \[3\]"):
        layers.Normal([1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_divergence_is_from_another_of_the_kind():
    normal, uniform = layers.Normal(0.0, 1.0), layers.Uniform(0.0, 1.0)
    with refused(ArgumentError, "expected other to be a Normal"):
        normal.kl_divergence(uniform)
    with refused(UnsupportedError, "a method kl_divergence, got Uniform"):
        uniform.kl_divergence(uniform)
