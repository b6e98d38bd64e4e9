"""Steps of optimizers against their formulas, one element at a time."""

from math import sqrt

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import DTypeError, ShapeError
from fluidlite.opdef.gradient import Tape

from gradcheck import evaluator
from infer import infer

f = evaluator()
RATE = np.array([0.1])
P, G, V, W = np.random.default_rng(0).uniform(0.1, 1.0, size=[4, 2, 3])


def by_element(step, *arrays):
    """``step`` of the numbers at each place, as a tuple of arrays."""
    found = [step(*map(float, numbers)) for numbers in zip(*(a.reshape(-1) for a in arrays))]
    return [np.reshape(column, arrays[0].shape) for column in zip(*found)]


def test_gradient_descent():
    (expected,) = by_element(lambda p, g: (p - 0.1 * g,), P, G)
    np.testing.assert_allclose(f.sgd(P, RATE, G), expected)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    def step(p, g, v):
        v = 0.5 * v + g
        return p - 0.1 * (g + 0.5 * v if nesterov else v), v

    found = f.momentum(P, G, V, RATE, mu=0.5, use_nesterov=nesterov)
    np.testing.assert_allclose(found, by_element(step, P, G, V))


@pytest.mark.parametrize("tensors", [False, True])
def test_adam_corrects_the_bias_of_its_running_means(tensors):
    def step(p, g, m, v):
        m, v = 0.75 * m + 0.25 * g, 0.5 * v + 0.5 * g * g
        rate = 0.1 * sqrt(1 - 0.25) / (1 - 0.5625)
        return p - rate * m / (sqrt(v) + 0.125), m, v

    powers = np.array([0.5625]), np.array([0.25])
    betas = dict(beta1=0.75, beta2=0.5)
    if tensors:
        betas = dict(Beta1Tensor=np.array([0.75]), Beta2Tensor=np.array([0.5]))
    *found, power1, power2 = f.adam(P, G, RATE, V, W, *powers, epsilon=0.125, **betas)
    np.testing.assert_allclose(found, by_element(step, P, G, V, W))
    np.testing.assert_allclose([power1, power2], [[0.421875], [0.125]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adam_of_paddle_2_adds_epsilon_to_the_corrected_root(dtype):
    def step(p, g, m, v):
        m, v = 0.75 * m + 0.25 * g, 0.5 * v + 0.5 * g * g
        return p - 0.1 * (m / (1 - 0.5625)) / (sqrt(v / (1 - 0.25)) + 0.125), m, v

    given = [a.astype(dtype) for a in (P, G, RATE, V, W, np.array([0.5625]), np.array([0.25]))]
    *found, power1, power2 = f.adam_v2(*given, beta1=0.75, beta2=0.5, epsilon=0.125)
    np.testing.assert_allclose(found, by_element(step, P, G, V, W), rtol=1e-6)
    np.testing.assert_allclose([power1, power2], [[0.421875], [0.125]])


def test_a_first_step_of_adam_has_the_length_of_the_learning_rate():
    zeros, betas = np.zeros([2, 3]), [np.array([np.float32(b)], float) for b in (0.9, 0.999)]
    after, *_ = f.adam(P, G, RATE, zeros, zeros, *betas, epsilon=0.0)
    np.testing.assert_allclose(P - after, 0.1 * np.ones([2, 3]))


def test_a_parameter_of_any_rank_keeps_its_shape():
    for shape in ([], [3], [2, 1, 2]):
        assert f.sgd(np.ones(shape), RATE, np.ones(shape)).shape == tuple(shape)


def test_nothing_flows_through_a_step():
    tape = Tape(f)
    assert isinstance(tape.sgd(tape.watch(P), RATE, G), np.ndarray)


@pytest.mark.parametrize(
    "error, message, inputs",
    [
        (
            ShapeError,
            "Grad of shape [2, 3], as Param, got [3]",
            {"Param": ([2, 3], "float32"), "Grad": ([3], "float32")},
        ),
        (
            DTypeError,
            "Param float32, LearningRate float32, Grad float64",
            {"Param": ([2, 3], "float32"), "Grad": ([2, 3], "float64")},
        ),
        (
            ShapeError,
            "LearningRate to hold one number, got shape [2]",
            {"Param": ([2], "float32"), "Grad": ([2], "float32"), "LearningRate": ([2], "float32")},
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, inputs):
    with pytest.raises(error) as caught:
        infer("sgd", **{"LearningRate": ([1], "float32"), **inputs})
    assert message in str(caught.value)


@pytest.mark.parametrize("slot", ["Grad", "Velocity"])
def test_momentum_names_the_input_that_does_not_fit(slot):
    specs = dict.fromkeys(("Param", "Grad", "Velocity"), ([2, 3], "float32"))
    specs |= {"LearningRate": ([1], "float32"), slot: ([3], "float32")}
    with pytest.raises(ShapeError, match=rf"{slot} of shape \[.*\], as Param"):
        infer("momentum", dict(mu=0.9), **specs)


@pytest.mark.parametrize("kernels", ["numpy", "auto"])
def test_the_square_of_a_large_gradient_is_scaled_before_it_is_infinite(monkeypatch, kernels):
    monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)
    sizes = [3, 3, 3, 20000]  # several small ones take their steps together
    one = fluid.initializer.Constant(1.0)
    weights = [
        fluid.layers.create_parameter([n], "float32", default_initializer=one) for n in sizes
    ]
    loss = fluid.layers.sums([fluid.layers.reduce_sum(w * 1e20) for w in weights])
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for step in range(1, 5):
        for weight in exe.run(fetch_list=weights):
            np.testing.assert_allclose(weight, 1 - 0.1 * step, rtol=1e-3)


def test_steps_that_average_squares_scale_them_first():
    big = np.array([5e19], "float32")
    zero, rate = np.zeros(1, "float32"), np.array([0.1], "float32")
    assert np.isfinite(f.rmsprop.all(big, zero, None, rate, big, zero)["MeanSquareOut"])
    assert np.isfinite(f.decayed_adagrad.all(big, big, zero, rate)["MomentOut"])
    powers = np.float32([0.9]), np.float32([0.999])
    lamb = f.lamb.all(rate, big, rate, zero, zero, *powers, weight_decay=0.0)
    assert np.isfinite(lamb["Moment2Out"])
