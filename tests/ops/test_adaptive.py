"""Steps that adapt their size to the gradients, one element at a time."""

from math import sqrt

import numpy as np
import pytest

from fluidlite.errors import ShapeError, SlotError
from fluidlite.ground.values import SelectedRows

from gradcheck import evaluator
from infer import infer

f = evaluator()
RATE = np.array([0.1])
P, G, M, V, W = np.random.default_rng(0).uniform(0.1, 1.0, size=[5, 2, 3])


def by_element(step, *arrays):
    """``step`` of the numbers at each place, as a list of arrays."""
    found = [step(*map(float, numbers)) for numbers in zip(*(a.reshape(-1) for a in arrays))]
    return [np.reshape(column, arrays[0].shape) for column in zip(*found)]


def test_adagrad_divides_by_the_root_of_the_sum_of_squares():
    def step(p, g, m):
        m += g * g
        return p - 0.1 * g / (sqrt(m) + 0.125), m

    found = f.adagrad(P, G, M, RATE, epsilon=0.125)
    np.testing.assert_allclose(found, by_element(step, P, G, M))


def test_adagrad_changes_only_the_rows_of_a_gradient_that_has_some():
    rows = SelectedRows([1, 1], 2, G)
    param, moment = f.adagrad(P, rows, M, RATE)
    whole = np.array([[0.0, 0.0, 0.0], G.sum(axis=0)])
    wanted = f.adagrad(P, whole, M, RATE)
    np.testing.assert_allclose([param, moment], wanted)
    assert (param[0] == P[0]).all() and (moment[0] == M[0]).all()


def test_decayed_adagrad_forgets():
    def step(p, g, m):
        m = 0.75 * m + 0.25 * g * g
        return p - 0.1 * g / (sqrt(m) + 0.125), m

    found = f.decayed_adagrad(P, G, M, RATE, decay=0.75, epsilon=0.125)
    np.testing.assert_allclose(found, by_element(step, P, G, M))


def test_adamax_divides_by_the_largest_gradient():
    def step(p, g, m, n):
        m, n = 0.75 * m + 0.25 * g, max(abs(g), 0.5 * n + 0.125)
        return p - 0.1 / (1 - 0.5625) * m / n, m, n

    options = dict(beta1=0.75, beta2=0.5, epsilon=0.125)
    found = f.adamax(P, -G, RATE, M, V, np.array([0.5625]), **options)
    np.testing.assert_allclose(found, by_element(step, P, -G, M, V))


def test_adadelta_needs_no_rate():
    def step(p, g, a, u):
        a = 0.75 * a + 0.25 * g * g
        u = 0.75 * u + 0.25 * (u + 0.125) / (a + 0.125) * g * g
        return p - sqrt((u + 0.125) / (a + 0.125)) * g, a, u

    found = f.adadelta(P, G, V, W, rho=0.75, epsilon=0.125)
    np.testing.assert_allclose(found, by_element(step, P, G, V, W))


def test_rmsprop_divides_by_the_root_of_the_mean_of_squares():
    def step(p, g, m, v):
        v = 0.75 * v + 0.25 * g * g
        m = 0.5 * m + 0.1 * g / sqrt(v + 0.125)
        return p - m, m, v

    options = dict(decay=0.75, momentum=0.5, epsilon=0.125)
    *found, mean = f.rmsprop(P, V, None, RATE, G, M, **options)
    np.testing.assert_allclose(found, by_element(step, P, G, M, V))
    assert (mean == 0).all()


def test_rmsprop_leaves_the_mean_alone_where_it_is_not_centered():
    *_, mean = f.rmsprop(P, V, W, RATE, G, M)
    assert (mean == W).all()


def test_a_centered_rmsprop_divides_by_the_deviation():
    def step(p, g, m, v, n):
        v, n = 0.75 * v + 0.25 * g * g, 0.75 * n + 0.25 * g
        m = 0.5 * m + 0.1 * g / sqrt(v - n * n + 0.125)
        return p - m, m, v, n

    options = dict(decay=0.75, momentum=0.5, epsilon=0.125, centered=True)
    found = f.rmsprop(P, V + 1, W, RATE, G, M, **options)
    np.testing.assert_allclose(found, by_element(step, P, G, M, V + 1, W))


def test_a_centered_rmsprop_without_a_mean_is_refused():
    inputs = dict.fromkeys(["Param", "MeanSquare", "Grad", "Moment"], ([2, 3], "float32"))
    with pytest.raises(SlotError, match="a centered rmsprop needs its input MeanGrad"):
        infer("rmsprop", {"centered": True}, LearningRate=([1], "float32"), **inputs)


@pytest.mark.parametrize(
    "type, state",
    [("adagrad", "Moment"), ("decayed_adagrad", "Moment"), ("adadelta", "AvgSquaredGrad")],
)
def test_a_state_of_another_shape_is_refused(type, state):
    inputs = dict.fromkeys(["Param", "Grad", "AvgSquaredUpdate"], ([2, 3], "float32"))
    inputs.update({state: ([3, 2], "float32"), "LearningRate": ([1], "float32")})
    if type != "adadelta":
        del inputs["AvgSquaredUpdate"]
    else:
        del inputs["LearningRate"]
    with pytest.raises(ShapeError) as caught:
        infer(type, **inputs)
    assert f"expected {state} of shape [2, 3], as Param, got [3, 2]" in str(caught.value)


def test_adadelta_of_paddle_2_is_that_of_the_paper_times_the_rate():
    def step(p, g, s, d):
        s = 0.75 * s + 0.25 * g * g
        moved = sqrt((d + 0.125) / (s + 0.125)) * g
        return p - 0.1 * moved, s, 0.75 * d + 0.25 * moved**2

    found = f.adadelta_v2(P, G, V, W, RATE, rho=0.75, epsilon=0.125)
    np.testing.assert_allclose(found, by_element(step, P, G, V, W))
