"""Learning rates that change from step to step."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.dygraph.learning_rate_scheduler import LearningRateDecay
from fluidlite.errors import ArgumentError, StateDictError


def rates(decay, count=8):
    return [float(decay()) for _ in range(count)]


@pytest.mark.parametrize(
    "decay, expected",
    [
        (dygraph.NoamDecay(4, 3), lambda n: 0.5 * min((n + 1) ** -0.5, (n + 1) * 3**-1.5)),
        (
            dygraph.PiecewiseDecay([2, 4], [0.1, 0.05, 0.01], begin=0),
            lambda n: 0.1 if n < 2 else 0.05 if n < 4 else 0.01,
        ),
        (dygraph.ExponentialDecay(0.1, 2, 0.5), lambda n: 0.1 * 0.5 ** (n / 2)),
        (
            dygraph.NaturalExpDecay(0.1, 2, 0.5, staircase=True),
            lambda n: 0.1 * math.exp(-0.5 * (n // 2)),
        ),
        (dygraph.InverseTimeDecay(0.1, 2, 0.5, True), lambda n: 0.1 / (1 + 0.5 * (n // 2))),
        (
            dygraph.PolynomialDecay(0.1, 4, 0.01, 2.0),
            lambda n: 0.09 * (1 - min(n, 4) / 4) ** 2 + 0.01,
        ),
        (
            dygraph.PolynomialDecay(0.1, 3, 0.01, cycle=True),
            lambda n: 0.09 * (1 - n / (3 * max(math.ceil(n / 3), 1))) + 0.01,
        ),
        (dygraph.CosineDecay(0.1, 2, 5), lambda n: 0.05 * (math.cos((n // 2) * math.pi / 5) + 1)),
        (dygraph.LinearLrWarmup(0.1, 3, 0.0, 0.1), lambda n: min((n + 1) / 3, 1) * 0.1),
        (
            dygraph.LinearLrWarmup(dygraph.ExponentialDecay(0.1, 2, 0.5), 3, 0.0, 0.1),
            lambda n: (n + 1) / 30 if n < 2 else 0.1 * 0.5 ** (n / 2),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rates_by_hand(decay, expected):
    assert decay.current() == pytest.approx(expected(0))
    np.testing.assert_allclose(rates(decay), [expected(n) for n in range(8)], rtol=1e-12)
    assert decay.current() == pytest.approx(expected(7))


@pytest.mark.parametrize(
    "decay, expected",
    [
        (dygraph.StepDecay(0.1, 2, 0.5), lambda n: 0.1 * 0.5 ** (n // 2)),
        (dygraph.MultiStepDecay(0.1, [1, 3], 0.5), lambda n: 0.1 * 0.5 ** ((n >= 1) + (n >= 3))),
        (dygraph.LambdaDecay(0.1, lambda n: 0.9**n), lambda n: 0.1 * 0.9**n),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rates_that_change_from_epoch_to_epoch(decay, expected):
    for n in range(5):
        assert rates(decay, 2) == pytest.approx([expected(n)] * 2)
        decay.epoch()
    decay.epoch(1)
    assert decay.current() == pytest.approx(expected(1))


LOSSES = [1.0, 0.9, 0.95, 0.93, 0.92, 0.89, 0.95, 1.2, 1.3, 0.5, 0.49, 0.6, 0.7, 2.0]


@pytest.mark.parametrize(
    "more, exponents",
    [
        (dict(patience=1), [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]),
        (dict(patience=1, cooldown=1), [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]),
        (dict(patience=0, threshold=0.1), [0, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 11]),
        (dict(patience=1, mode="max"), [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5]),
        (
            dict(patience=0, mode="max", threshold=0.5, threshold_mode="abs"),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12],
        ),
    ],
)
def test_a_rate_falls_when_the_loss_gets_no_better(more, exponents):
    decay = dygraph.ReduceLROnPlateau(0.1, decay_rate=0.5, **more)
    found = []
    for loss in LOSSES:
        decay.step(loss)
        found.append(float(decay()))
    np.testing.assert_allclose(found, 0.1 * 0.5 ** np.array(exponents))


def test_a_rate_stays_above_the_least_one(capsys):
    decay = dygraph.ReduceLROnPlateau(0.1, patience=0, min_lr=0.05, verbose=True)
    for _ in range(3):
        decay.step(1.0)
    assert decay.current() == 0.05
    assert capsys.readouterr().out == "epoch 2: the learning rate is 0.05 from now on\n"


def test_within_the_guard_a_rate_is_a_tensor():
    with dygraph.guard():
        rate = dygraph.ExponentialDecay(0.1, 1, 0.5)()
        assert (rate.shape, rate.numpy().dtype) == ([1], np.float32)


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.noam_decay(4, 3),
        lambda: layers.exponential_decay(0.1, 2, 0.5),
        lambda: layers.natural_exp_decay(0.1, 2, 0.5),
        lambda: layers.inverse_time_decay(0.1, 2, 0.5),
        lambda: layers.polynomial_decay(0.1, 4),
        lambda: layers.piecewise_decay([1], [0.1, 0.2]),
        lambda: layers.cosine_decay(0.1, 2, 5),
        lambda: layers.linear_lr_warmup(0.1, 3, 0.0, 0.1),
    ],
)
def test_within_the_guard_schedules_are_decays(make):
    with dygraph.guard():
        assert isinstance(make(), LearningRateDecay)


def test_a_decay_of_the_users_own():
    class Mine(LearningRateDecay):
        def step(self):
            return np.array([1.0 / (1 + self.step_num)], "float32")

    assert rates(Mine(begin=1, step=2), 3) == pytest.approx([1 / 2, 1 / 4, 1 / 6])

    class Wrong(LearningRateDecay):
        def step(self):
            return "fast"

    with pytest.raises(ArgumentError, match=r"step\(\) of Wrong to give a number"):
        Wrong()()
    with pytest.raises(NotImplementedError, match="needs a method step"):
        LearningRateDecay()()


@pytest.mark.parametrize(
    "make",
    [
        lambda: dygraph.ExponentialDecay(0.1, 2, 0.5),
        lambda: dygraph.LinearLrWarmup(dygraph.ExponentialDecay(0.1, 2, 0.5), 3, 0.0, 0.1),
        lambda: dygraph.StepDecay(0.1, 1),
        lambda: dygraph.ReduceLROnPlateau(0.1, patience=0),
    ],
)
def test_decays_go_on_from_a_state(make):
    first, second = make(), make()
    for decay in (first,):
        rates(decay, 3)
        if hasattr(decay, "epoch"):
            decay.epoch()
        if isinstance(decay, dygraph.ReduceLROnPlateau):
            decay.step(1.0)
            decay.step(1.0)
    second.set_dict(first.state_dict())
    assert rates(second) == rates(first)
    with pytest.raises(StateDictError, match="lacks"):
        second.set_dict({})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: dygraph.ExponentialDecay("x", 2, 0.5), "learning_rate to be a finite number"),
        (lambda: dygraph.ExponentialDecay(0.1, 0, 0.5), "decay_steps to be a positive number"),
        (lambda: dygraph.PiecewiseDecay([1], [0.1], 0), "one value more than there are boundaries"),
        (lambda: dygraph.MultiStepDecay(0.1, [3, 1]), "milestones to be numbers that grow"),
        (lambda: dygraph.LambdaDecay(0.1, 0.5), "lr_lambda to be a function"),
        (lambda: dygraph.ReduceLROnPlateau(0.1, mode="up"), "'min' or 'max'"),
        (lambda: dygraph.ReduceLROnPlateau(0.1, decay_rate=2.0), r"\[0, 1\)"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_decay_may_give_its_rate_as_a_variable():
    class Halved(LearningRateDecay):
        def step(self):
            return self.create_lr_var(0.5**self.step_num)

    with dygraph.guard():
        decay = Halved()
        rate = decay.create_lr_var(decay())
        assert rate.shape == [1] and rate.numpy() == 1 and rate.stop_gradient
        assert rate.name.startswith("learning_rate_")
        assert decay().numpy() == 0.5
    assert decay() == 0.25


@pytest.mark.parametrize("decays", [False, True])
def test_the_rate_of_an_eager_optimizer_is_a_tensor(decays):
    with dygraph.guard():
        linear = dygraph.Linear(2, 1)
        rate = dygraph.ExponentialDecay(0.5, 1, 0.5) if decays else 0.5
        sgd = fluid.optimizer.SGD(rate, parameter_list=linear.parameters())
        for step in range(2):
            layers.reduce_sum(linear(layers.ones([1, 2], "float32"))).backward()
            sgd.minimize(layers.reduce_sum(linear.weight))
            expected = 0.5 * 0.5**step if decays else 0.5
            assert sgd._global_learning_rate().numpy() == expected == sgd.current_step_lr()


def test_what_is_written_to_the_tensor_of_a_constant_rate_counts():
    with dygraph.guard():
        weight = layers.create_parameter([1], "float32")
        sgd = fluid.optimizer.SGD(0.5, parameter_list=[weight])
        sgd._global_learning_rate().set_value(np.array([2.0], "float32"))
        assert sgd.current_step_lr() == 2.0
        loss, before = weight * 3.0, weight.numpy()
        loss.backward()
        sgd.minimize(loss)
        np.testing.assert_allclose(weight.numpy(), before - 6.0, rtol=1e-6)


@pytest.mark.parametrize(
    "rate, used",
    [
        (lambda: dygraph.StepDecay(0.4, 1, 0.5), [0.4, 0.4, 0.4, 0.2, 0.2]),
        (lambda: dygraph.MultiStepDecay(0.4, [1], 0.5), [0.4, 0.4, 0.4, 0.2, 0.2]),
        (lambda: dygraph.LambdaDecay(0.4, lambda e: 0.5**e), [0.4, 0.4, 0.4, 0.2, 0.2]),
        (
            lambda: dygraph.ReduceLROnPlateau(0.4, decay_rate=0.5, patience=0, threshold=9.0),
            [0.4, 0.4, 0.4, 0.4, 0.4, 0.2, 0.2],
        ),
    ],
)
def test_the_rate_that_is_said_is_that_of_the_last_step_until_there_is_another(rate, used):
    """What an epoch changes counts from the next step on, as fluid 1.8 says it."""
    with dygraph.guard():
        one = fluid.initializer.Constant(1.0)
        weight = layers.create_parameter([1], "float32", default_initializer=one)
        decay = rate()
        sgd = fluid.optimizer.SGD(decay, parameter_list=[weight])
        said = [sgd.current_step_lr()]
        while len(said) < len(used):
            loss = weight * 1.0
            loss.backward()
            sgd.minimize(loss)
            said.append(sgd.current_step_lr())
            if hasattr(decay, "epoch"):
                decay.epoch()
            else:
                decay.step(loss)
            said.append(sgd.current_step_lr())
    assert said == pytest.approx(used)


@pytest.mark.parametrize(
    "schedule",
    [
        lambda: layers.noam_decay(4, 3),
        lambda: layers.piecewise_decay([2, 3], [0.1, 0.2, 0.3]),
        lambda: layers.exponential_decay(0.1, 2, 0.5),
        lambda: layers.natural_exp_decay(0.1, 2, 0.5),
        lambda: layers.inverse_time_decay(0.1, 2, 0.5),
        lambda: layers.polynomial_decay(0.1, 5, cycle=True),
        lambda: layers.cosine_decay(0.1, 2, 4),
    ],
)
def test_what_a_schedule_gives_at_once_is_fetched_from_a_program(schedule):
    at_once, in_program = [], []
    with dygraph.guard():
        net = dygraph.Linear(2, 1)
        sgd = fluid.optimizer.SGD(schedule(), parameter_list=net.parameters())
        for _ in range(6):
            loss = layers.mean(net(dygraph.to_variable(np.ones([1, 2], "float32"))))
            loss.backward()
            sgd.minimize(loss)
            at_once.append(sgd.current_step_lr())
    rate = schedule()
    sgd = fluid.optimizer.SGD(rate)
    sgd.minimize(layers.mean(dygraph.Linear(2, 1)(fluid.data("x", [1, 2]))))
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    feed = {"x": np.ones([1, 2], "float32")}
    for _ in range(6):
        one, other = executor.run(feed=feed, fetch_list=[rate, sgd._global_learning_rate()])
        assert one == other
        in_program.append(one.item())
    np.testing.assert_allclose(in_program, at_once, rtol=1e-6)
