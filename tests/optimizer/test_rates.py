"""Schedulers of ``optimizer.lr`` give what paddle 2's gave, and optimizers follow them."""

import pathlib

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, StateDictError
from fluidlite.optimizer import lr

RECORDED = pathlib.Path(__file__).parents[1] / "data" / "paddle2_rates.txt"
CASES = [
    line.split(" -> ")
    for line in RECORDED.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
LOSSES = [
    *(5, 4, 4.1, 4.2, 4.3, 4.4, 3.9, 3.95, 3.99, 4, 4, 4, 4, 4),
    *(3.8, 3.79999, 3.8, 3.8, 3.8, 3.8, 3.8, 3.8, 3.8, 3.8),
]


def advance(rate, k):
    rate.step(LOSSES[k]) if isinstance(rate, lr.ReduceOnPlateau) else rate.step()


@pytest.mark.parametrize("expression, recorded", CASES, ids=[case[0] for case in CASES])
def test_rates_are_those_of_paddle_2(expression, recorded):
    rate, wanted = eval(expression, {"lr": lr}), recorded.split()
    found = [rate()]
    for k in range(len(wanted) - 1):
        if wanted[k + 1] == "end":
            with pytest.raises(ArgumentError, match="steps"):
                rate.step()
            break
        advance(rate, k)
        found.append(rate())
    numbers = [float(each) for each in wanted if each != "end"]
    np.testing.assert_allclose(found, numbers, rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("expression", [case[0] for case in CASES])
def test_a_scheduler_goes_on_from_its_state(expression):
    rate, other = (eval(expression, {"lr": lr}) for _ in range(2))
    for k in range(5):
        advance(rate, k)
    other.set_state_dict(rate.state_dict())
    assert (other(), other.last_epoch) == (rate(), rate.last_epoch)
    advance(rate, 5)
    advance(other, 5)
    assert other() == rate()


def test_an_optimizer_follows_its_scheduler():
    w = fluid.create_parameter([1], "float64", default_initializer=fluid.initializer.Constant(0.0))
    rate = lr.StepDecay(0.5, 1, 0.5)
    sgd = fluid.optimizer.SGD(rate, parameters=[w])
    seen = []
    for _ in range(3):
        fluid.sum(w * -1.0).backward()
        sgd.step()
        sgd.clear_grad()
        rate.step()
        seen.append(float(w))
    np.testing.assert_allclose(seen, [0.5, 0.75, 0.875])
    assert sgd.current_step_lr() == sgd.get_lr() == 0.0625
    kept = sgd.state_dict()
    other = lr.StepDecay(0.5, 1, 0.5)
    fluid.optimizer.SGD(other, parameters=[w]).set_state_dict(kept)
    assert other() == rate()


@pytest.mark.parametrize(
    "expression",
    [
        *("lr.StepDecay(0.5, 0)", "lr.StepDecay('a', 2)", "lr.StepDecay(0.5, 2, 2.0)"),
        *("lr.MultiStepDecay(0.5, [3, 2])", "lr.LambdaDecay(0.5, 3)", "lr.LinearLR(0.5, 0)"),
        *("lr.PiecewiseDecay([1, 2], [1, 2])", "lr.ReduceOnPlateau(0.5, 'x')"),
        *("lr.LinearWarmup(0.5, 5, 1.0, 0.5)", "lr.ExponentialDecay(0.5, 2.0)"),
        *("lr.CosineAnnealingDecay(0.5, 0)", "lr.OneCycleLR(0.5, -1)", "lr.NoamDecay(0, 1)"),
        *("lr.CyclicLR(0.1, 0.5, -3)", "lr.CyclicLR(0.1, 0.5, 3, None, 'x')"),
        *("lr.PolynomialDecay(0.5, -1)", "lr.StepDecay(-0.5, 2)"),
        *("lr.OneCycleLR(0.5, 9, anneal_strategy='x')", "lr.LinearLR(0.5, 3, 0.5, 1.5)"),
        "lr.CosineAnnealingWarmRestarts(0.5, 3, 1.5)",
    ],
)
def test_arguments_out_of_range_are_refused(expression):
    with pytest.raises(ArgumentError):
        eval(expression, {"lr": lr})


def test_schedules_have_the_attributes_of_paddle_2():
    rate = lr.ReduceOnPlateau(0.5, factor=0.5, patience=0)
    assert (rate.base_lr, rate.best, rate.factor, rate.epsilon) == (0.5, None, 0.5, 1e-8)
    for value in (3.0, 4.0):
        rate.step(value)
    assert (rate.best, rate.last_lr) == (3.0, 0.25)
    rate.best, rate.factor = None, 0.1
    for value in (9.0, 10.0):
        rate.step(value)
    assert (rate.best, rate.last_lr) == (9.0, 0.025)

    restarts = lr.CosineAnnealingWarmRestarts(0.5, 2, 2)
    seen = []
    for _ in range(7):
        seen.append((restarts.T_cur, restarts.T_i))
        restarts.step()
    assert seen == [(0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4), (0, 8)]

    cycles = lr.CyclicLR(0.1, 0.5, 2, 3)
    assert (cycles.max_lr, cycles.gamma, cycles.cycle_size, cycles.amplitude) == (0.5, 1.0, 5, 0.4)
    assert cycles.step_up_pct == 0.4
    cycles.max_lr = 0.9
    cycles.step(2)
    assert cycles() == pytest.approx(0.9)


def test_a_step_that_fails_leaves_the_epoch():
    rate = lr.LambdaDecay(0.5, lambda epoch: 1.0 if epoch < 2 else "x")
    rate.step()
    with pytest.raises((ArgumentError, TypeError)):
        rate.step()
    assert (rate.last_epoch, rate()) == (1, 0.5)


def test_an_optimizer_takes_another_scheduler():
    w = fluid.create_parameter([1], "float32")
    sgd = fluid.optimizer.SGD(0.1, parameters=[w])
    sgd.set_lr_scheduler(lr.StepDecay(0.3, 2))
    assert sgd.get_lr() == 0.3
    with pytest.raises(ArgumentError, match="scheduler"):
        sgd.set_lr_scheduler(0.1)
    with pytest.raises(ArgumentError, match="eager parameters"):
        fluid.optimizer.SGD(0.1).set_lr_scheduler(lr.StepDecay(0.3, 2))


def test_a_state_that_lacks_something_is_refused():
    with pytest.raises(StateDictError, match="last_lr"):
        lr.StepDecay(0.5, 2).set_state_dict({"last_epoch": 3})


def test_schedulers_say_how_they_are_set_up_and_print_when_asked(capsys):
    assert repr(lr.StepDecay(0.5, 3)) == "StepDecay(learning_rate=0.5, step_size=3, last_epoch=0)"
    warm = lr.LinearWarmup(lr.StepDecay(0.5, 3), 4, 0.0, 0.5)
    assert repr(warm).startswith("LinearWarmup(learning_rate=StepDecay(")
    lr.ExponentialDecay(0.5, 0.5, verbose=True).step()
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Epoch 1: ExponentialDecay set learning rate to 0.25."
    )
    with pytest.raises(NotImplementedError, match="get_lr"):
        lr.LRScheduler()


@pytest.mark.parametrize(
    "rate, expected",
    [
        (lr.LinearLR(0.5, 50, last_epoch=10), [0.5142857142857142, 0.5285714285714285]),
        (lr.CosineAnnealingDecay(0.5, 10, last_epoch=12), [1.0791922201622686, 1.8090169943749483]),
    ],
)
def test_rates_that_follow_from_the_last_one_do_so_after_a_late_begin(rate, expected):
    found = [rate()]
    rate.step()
    assert [*found, rate()] == pytest.approx(expected, rel=1e-12)


def test_a_jump_gives_the_rate_of_the_epoch_where_there_is_one():
    cosine, line = lr.CosineAnnealingDecay(0.5, 10), lr.LinearLR(0.5, 50, 0.1, 0.9)
    for rate in (cosine, line):
        rate.step(7)
    assert cosine() == pytest.approx(0.25 * (1 + np.cos(0.7 * np.pi)))
    assert line() == pytest.approx(0.054081632653061235)


def test_schedulers_of_other_arguments_are_refused():
    for wrong in (
        lambda: lr.LinearWarmup("a", 20, 0.0, 0.5),
        lambda: lr.CyclicLR(0.5, -1.0, 5),
        lambda: lr.CosineAnnealingWarmRestarts(0.5, 5.0),
    ):
        with pytest.raises(ArgumentError, match="expected"):
            wrong()


def test_a_scheduler_of_your_own_says_what_its_state_has():
    class Counts(lr.LRScheduler):
        calls = 0

        def get_lr(self):
            self.calls += 1
            return self.base_lr

        def state_keys(self):
            self.keys = ["last_epoch", "calls"]

    rate = Counts(0.5)
    rate.step()
    assert rate.state_dict() == {"last_epoch": 1, "calls": 2}
    plateau = lr.ReduceOnPlateau(0.5)
    plateau.state_keys()
    assert list(plateau.state_dict()) == plateau.keys
    assert plateau.get_lr() == 0.5


def test_a_warm_up_may_lead_to_a_plateau_that_is_given_epochs_and_is_kept():
    def warmed():
        return lr.LinearWarmup(lr.ReduceOnPlateau(0.5, patience=0), 2, 0.0, 0.5)

    rate, rates = warmed(), []
    for _ in range(5):
        rates.append(rate())
        rate.step()
    # paddle 2.6.2's; its epochs grow, so that the plateau sees no progress
    assert rates == pytest.approx([0.0, 0.25, 0.5, 0.05, 0.005], rel=1e-12)
    other = warmed()
    other.set_state_dict(rate.state_dict())
    assert other.state_dict() == rate.state_dict()
    assert other.state_dict()["LinearWarmup_LR"]["last_epoch"] == 4
