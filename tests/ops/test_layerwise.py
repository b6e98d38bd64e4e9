"""Steps by the norms of whole tensors, written out."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError

from gradcheck import evaluator
from infer import infer

f = evaluator()
RATE = np.array([0.1])
P, G, V, W = np.random.default_rng(0).uniform(0.1, 1.0, size=[4, 2, 3])
ZEROS = np.zeros([2, 3])


def length(x):
    return sum(float(n) ** 2 for n in x.reshape(-1)) ** 0.5


def test_a_lars_step_is_as_long_as_the_parameter_says():
    rate = 0.1 * 0.25 * length(P) / (length(G) + 0.5 * length(P))
    velocity = 0.75 * V + rate * (G + 0.5 * P)
    found = f.lars_momentum(P, G, V, RATE, mu=0.75, lars_coeff=0.25, lars_weight_decay=0.5)
    np.testing.assert_allclose(found, [P - velocity, velocity])


@pytest.mark.parametrize("param, grad", [(ZEROS, G), (P, ZEROS), (ZEROS, ZEROS)])
def test_where_a_norm_is_zero_a_lars_step_has_the_plain_rate(param, grad):
    velocity = 0.75 * V + 0.1 * (grad + 0.5 * param)
    found = f.lars_momentum(param, grad, V, RATE, mu=0.75, lars_coeff=0.25, lars_weight_decay=0.5)
    np.testing.assert_allclose(found, [param - velocity, velocity])


POWERS = np.array([0.5625]), np.array([0.25])


def lamb(param, grad, decay):
    options = dict(weight_decay=decay, beta1=0.75, beta2=0.5, epsilon=0.125)
    return f.lamb(param, grad, RATE, V, W, *POWERS, **options)


def test_a_lamb_step_is_as_long_as_the_parameter():
    m, v = 0.75 * V + 0.25 * G, 0.5 * W + 0.5 * G * G
    step = m / (np.sqrt(v) + 0.125) + 0.5 * P
    found = lamb(P, G, 0.5)
    np.testing.assert_allclose(found, [P - 0.1 * length(P) / length(step) * step, m, v])
    assert length(P - found[0]) == pytest.approx(0.1 * length(P))


def test_a_lamb_step_from_zero_has_the_plain_rate():
    m, v = 0.75 * V + 0.25 * G, 0.5 * W + 0.5 * G * G
    np.testing.assert_allclose(lamb(ZEROS, G, 0.5)[0], -0.1 * m / (np.sqrt(v) + 0.125))


@pytest.mark.parametrize("decay, always", [(0.5, False), (0.0, False), (0.0, True)])
def test_a_lamb_step_of_paddle_2_corrects_its_means(decay, always):
    m, v = 0.75 * V + 0.25 * G, 0.5 * W + 0.5 * G * G
    step = m / (1 - 0.5625) / (np.sqrt(v / (1 - 0.25)) + 0.125) + decay * P
    rate = 0.1 * length(P) / length(step) if decay or always else 0.1
    options = dict(weight_decay=decay, always_adapt=always, beta1=0.75, beta2=0.5, epsilon=0.125)
    *found, power1, power2 = f.lamb_v2(P, G, RATE, V, W, *POWERS, **options)
    np.testing.assert_allclose(found, [P - rate * step, m, v])
    np.testing.assert_allclose([power1, power2], [[0.421875], [0.125]])


def test_a_gradient_longer_than_the_clip_is_shortened():
    np.testing.assert_allclose(
        f.dpsgd(P, G, RATE, clip=0.5, sigma=0.0), P - 0.1 * G * 0.5 / length(G)
    )


def test_a_shorter_gradient_stays_as_it_is():
    np.testing.assert_allclose(f.dpsgd(P, G, RATE, clip=50.0, sigma=0.0), P - 0.1 * G)
    np.testing.assert_allclose(f.dpsgd(P, ZEROS, RATE, clip=50.0, sigma=0.0), P)


def test_noise_is_drawn_for_each_element():
    zeros = np.zeros([200, 300])
    noise = f.dpsgd(zeros, zeros, np.array([1.0]), sigma=3.0, batch_size=4.0)
    assert abs(noise.mean()) < 0.01
    assert noise.std() == pytest.approx(0.75, rel=0.02)
    assert len(np.unique(noise)) == noise.size


def test_a_seed_fixes_the_noise():
    first, again, other = (f.dpsgd(P, G, RATE, seed=seed) for seed in (3, 3, 4))
    assert (first == again).all() and (first != other).any()


@pytest.mark.parametrize(
    "attrs, message",
    [
        ({"clip": 0.0}, r"expected clip above 0, got 0\.0"),
        ({"batch_size": -1.0}, r"expected batch_size above 0, got -1\.0"),
        ({"sigma": -1.0}, r"expected sigma of at least 0, got -1\.0"),
    ],
)
def test_numbers_that_make_no_noise_are_refused(attrs, message):
    one = ([2], "float32")
    with pytest.raises(AttributeValueError, match=message):
        infer("dpsgd", attrs, Param=one, Grad=one, LearningRate=([1], "float32"))
