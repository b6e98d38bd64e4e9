"""Proximal steps: the point they find is the best one, and their formulas one element at a time."""

from math import copysign, sqrt

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError

from gradcheck import evaluator
from infer import infer

f = evaluator()
RATE = np.array([0.1])
P, G = np.random.default_rng(0).normal(size=[2, 4, 3])
M, S = np.random.default_rng(1).uniform(0.1, 1.0, size=[2, 4, 3])


def by_element(step, *arrays):
    """``step`` of the numbers at each place, as a list of arrays."""
    found = [step(*map(float, numbers)) for numbers in zip(*(a.reshape(-1) for a in arrays))]
    return [np.reshape(column, arrays[0].shape) for column in zip(*found)]


def nearest(there, rate, l1, l2):
    """What minimises rate * (l1 |x| + l2 / 2 x^2) + (x - there)^2 / 2, among many points."""
    points = np.linspace(-3, 3, 60001)
    cost = rate * (l1 * abs(points) + l2 / 2 * points**2) + (points - there) ** 2 / 2
    return points[np.argmin(cost)]


def test_a_proximal_step_goes_to_the_best_point_for_the_decay():
    found = f.proximal_gd(P, G, RATE, l1=2.0, l2=0.5)
    (wanted,) = by_element(lambda p, g: (nearest(p - 0.1 * g, 0.1, 2.0, 0.5),), P, G)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert (found == 0).any() and (found != 0).any()


def test_without_decay_a_proximal_step_is_a_step_down():
    np.testing.assert_allclose(f.proximal_gd(P, G, RATE), P - 0.1 * G)


def test_proximal_adagrad_decays_by_the_rate_itself():
    def step(p, g, m):
        m += g * g
        return nearest(p - 0.1 * g / sqrt(m), 0.1, 2.0, 0.5), m

    found = f.proximal_adagrad(P, M, G, RATE, l1=2.0, l2=0.5)
    np.testing.assert_allclose(found, by_element(step, P, G, M), atol=1e-4)


@pytest.mark.parametrize("power", [-0.5, -0.75])
def test_ftrl(power):
    def step(p, s, z, g):
        after = s + g * g
        z += g - (after**-power - s**-power) / 0.1 * p
        p = (copysign(0.5, z) - z) / (after**-power / 0.1 + 0.5) if abs(z) > 0.5 else 0.0
        return p, after, z

    found = f.ftrl(P, S, M, G, RATE, l1=0.5, l2=0.25, lr_power=power)
    np.testing.assert_allclose(found, by_element(step, P, S, M, G))


def test_ftrl_without_decay_from_zero_is_adagrad():
    """... as McMahan et al. say, where the sum of squares begins at the same number."""
    zeros, squares = np.zeros([4, 3]), np.full([4, 3], 0.1)
    param, linear, moment = zeros, zeros, squares
    other = zeros
    for step in range(3):
        param, squares, linear = f.ftrl(param, squares, linear, G + step, RATE)
        other, moment = f.adagrad(other, G + step, moment, RATE, epsilon=0.0)
    np.testing.assert_allclose(param, other)


@pytest.mark.parametrize("type", ["proximal_gd", "proximal_adagrad", "ftrl"])
@pytest.mark.parametrize("name", ["l1", "l2"])
def test_a_negative_decay_is_refused(type, name):
    one = ([2], "float32")
    slots = {
        "proximal_gd": [],
        "proximal_adagrad": ["Moment"],
        "ftrl": ["SquaredAccumulator", "LinearAccumulator"],
    }[type]
    inputs = dict.fromkeys(["Param", "Grad", *slots], one)
    with pytest.raises(AttributeValueError, match=rf"expected {name} of at least 0, got -1\.0"):
        infer(type, {name: -1.0}, LearningRate=([1], "float32"), **inputs)
