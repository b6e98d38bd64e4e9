"""A formula of a learning rate is one, in whichever spelling it is asked for."""

import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, flow, layers
from fluidlite.optimizer import lr

STEPS = 9


def of_program(rate):
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return [executor.run(fetch_list=[rate])[0].item() for _ in range(STEPS)]


def of_decay(decay):
    return [float(decay()) for _ in range(STEPS)]


def of_scheduler(rate):
    found = []
    for _ in range(STEPS):
        found.append(rate())
        rate.step()
    return found


def of_flow(kind, *args, **named):
    sgd = flow.optim.SGD([flow.nn.Parameter(flow.ones(1))], lr=0.5)
    rates, found = getattr(flow.optim.lr_scheduler, kind)(sgd, *args, **named), []
    for _ in range(STEPS):
        found += rates.get_last_lr()
        rates.step()
    return found


@pytest.mark.parametrize(
    "spellings",
    [
        lambda: [
            of_program(layers.exponential_decay(0.5, 1, 0.7)),
            of_decay(dygraph.ExponentialDecay(0.5, 1, 0.7)),
            of_scheduler(lr.ExponentialDecay(0.5, 0.7)),
            of_flow("ExponentialLR", 0.7),
        ],
        lambda: [
            of_program(layers.exponential_decay(0.5, 2, 0.7, staircase=True)),
            of_scheduler(lr.StepDecay(0.5, 2, 0.7)),
            of_flow("StepLR", 2, 0.7),
        ],
        lambda: [
            of_program(layers.natural_exp_decay(0.5, 1, 0.7)),
            of_decay(dygraph.NaturalExpDecay(0.5, 1, 0.7)),
            of_scheduler(lr.NaturalExpDecay(0.5, 0.7)),
        ],
        lambda: [
            of_program(layers.inverse_time_decay(0.5, 1, 0.7)),
            of_decay(dygraph.InverseTimeDecay(0.5, 1, 0.7)),
            of_scheduler(lr.InverseTimeDecay(0.5, 0.7)),
        ],
        lambda: [
            of_program(layers.noam_decay(4, 3, 0.5)),
            of_decay(dygraph.NoamDecay(4, 3, learning_rate=0.5)),
            of_scheduler(lr.NoamDecay(4, 3, 0.5, last_epoch=0)),
        ],
        lambda: [
            of_program(layers.polynomial_decay(0.5, 4, 0.1, 2.0)),
            of_decay(dygraph.PolynomialDecay(0.5, 4, 0.1, 2.0)),
            of_scheduler(lr.PolynomialDecay(0.5, 4, 0.1, 2.0)),
            of_flow("PolynomialLR", 4, 0.1, 2.0),
        ],
        lambda: [
            of_program(layers.cosine_decay(0.5, 1, 5)),
            of_decay(dygraph.CosineDecay(0.5, 1, 5)),
            of_scheduler(lr.CosineAnnealingDecay(0.5, 5)),
            of_flow("CosineAnnealingLR", 5),
        ],
        lambda: [
            of_scheduler(lr.CosineAnnealingWarmRestarts(0.5, 2, 2, 0.1)),
            of_flow("CosineAnnealingWarmRestarts", 2, 2, 0.1),
        ],
        lambda: [
            of_program(layers.piecewise_decay([2, 5], [0.5, 0.3, 0.1])),
            of_decay(dygraph.PiecewiseDecay([2, 5], [0.5, 0.3, 0.1], begin=0)),
            of_scheduler(lr.PiecewiseDecay([2, 5], [0.5, 0.3, 0.1])),
        ],
        lambda: [of_scheduler(lr.LinearLR(0.5, 4, 0.25, 0.75)), of_flow("LinearLR", 0.25, 0.75, 4)],
        lambda: [
            of_scheduler(lr.MultiStepDecay(0.5, [2, 5], 0.7)),
            of_flow("MultiStepLR", [5, 2], 0.7),
        ],
    ],
)
def test_all_spellings_of_a_formula_give_the_same_rates(spellings):
    first, *others = spellings()
    assert len(set(first)) > 1
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-5, atol=1e-8)


def test_classes_of_a_formula_say_what_it_does_in_their_own_names():
    assert lr.StepDecay.__doc__.startswith(
        "A rate that is multiplied by ``gamma`` every ``step_size`` steps."
    )
    assert dygraph.StepDecay.__doc__.startswith(
        "A rate that is multiplied by ``decay_rate`` every ``step_size`` steps."
    )
    assert flow.optim.lr_scheduler.ExponentialLR.__doc__.startswith("``lr * gamma^step``.")
    assert "``learning_rate * decay_rate^(step / decay_steps)``" in layers.exponential_decay.__doc__


@pytest.mark.parametrize(
    "kind, last",
    [
        (lr.CosineAnnealingDecay, ["last_epoch", "verbose"]),
        (flow.optim.lr_scheduler.CosineAnnealingLR, ["last_step", "verbose"]),
    ],
)
def test_arguments_that_spellings_share_stand_between_their_own(kind, last):
    names = list(inspect.signature(kind).parameters)
    assert names[1:3] == ["T_max", "eta_min"] and names[3:] == last
