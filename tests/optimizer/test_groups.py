"""Groups of eager parameters; test_formulas compares their steps with Paddle's."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError


def parameter(value=1.0, **attr):
    made = fluid.create_parameter([2], "float32", attr=fluid.ParamAttr(**attr))
    made.set_value(np.full([2], value, "float32"))
    return made


def stepped(optimizer, *params):
    """What the first elements are after a step with gradients of 3."""
    for each in params:
        fluid.sum(each * 3.0).backward()
    optimizer.step()
    optimizer.clear_grad()
    return [round(float(each.numpy()[0]), 5) for each in params]


@pytest.mark.parametrize("listed", [lambda p: p, lambda p: [p], lambda p: iter([p])])
def test_a_group_holds_a_parameter_a_list_or_what_gives_them(listed):
    a, b = parameter(), parameter()
    sgd = fluid.optimizer.SGD(
        0.1, parameters=[{"params": listed(a), "learning_rate": 0.5}, {"params": [b]}]
    )
    assert stepped(sgd, a, b) == [0.85, 0.7]


def test_what_a_group_says_counts_and_what_its_parameters_say_does_not():
    own = {"learning_rate": 0.5, "regularizer": fluid.regularizer.L2Decay(9.0)}
    a, b, c = parameter(**own), parameter(**own), parameter(**own)
    sgd = fluid.optimizer.SGD(
        0.1, parameters=[{"params": [a], "weight_decay": 1.0}, {"params": [b]}], weight_decay=2.0
    )
    assert stepped(sgd, a, b) == [0.6, 0.5]
    assert stepped(fluid.optimizer.SGD(0.1, parameters=[c], weight_decay=2.0), c) == [0.4]


def test_each_group_is_clipped_by_itself():
    a, b, c = parameter(), parameter(), parameter()
    clip = fluid.nn.ClipGradByGlobalNorm(2.0**0.5)
    groups = [{"params": [a]}, {"params": [b]}, {"params": [c], "grad_clip": None}]
    sgd = fluid.optimizer.SGD(0.1, parameters=groups, grad_clip=clip)
    assert stepped(sgd, a, b, c) == [0.9, 0.9, 0.7]


def test_rates_of_groups_are_factors_of_a_schedule():
    a, b = parameter(), parameter()
    rate = fluid.optimizer.lr.StepDecay(0.1, 1, 0.1)
    groups = [{"params": [a], "learning_rate": 2.0}, {"params": [b]}]
    sgd = fluid.optimizer.SGD(rate, parameters=groups)
    assert stepped(sgd, a, b) == [0.4, 0.7]
    rate.step()
    assert stepped(sgd, a, b) == [0.34, 0.67]
    assert sgd.get_lr() == pytest.approx(0.01)


def two_groups(a, b):
    return fluid.optimizer.Adam(
        0.1, parameters=[{"params": [a], "beta1": 0.5}, {"params": [b], "epsilon": 0.5}]
    )


def test_states_begin_as_the_group_says_and_are_saved_and_loaded():
    a, b = parameter(), parameter()
    adam = two_groups(a, b)
    stepped(adam, a, b)
    assert adam.state_of("beta1_pow_acc", a).numpy() == 0.25
    other = parameter(float(a.numpy()[0])), parameter(float(b.numpy()[0]))
    again = two_groups(*other)
    again.set_state_dict(adam.state_dict(), by_position=True)
    assert stepped(again, *other) == stepped(adam, a, b)


def test_groups_are_copied_and_pickled_with_their_parameters():
    a, b = parameter(), parameter()
    kept = [a, b, two_groups(a, b)]
    stepped(kept[2], a, b)
    for again in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert again[2].attrs(again[0])["beta1"] == 0.5 and again[2].attrs(again[1])["beta1"] == 0.9
        found = stepped(again[2], *again[:2])
    assert found == stepped(kept[2], a, b)


def test_an_option_that_nothing_reads_is_warned_about():
    a = parameter()
    with pytest.warns(UserWarning, match="SGD reads no 'momentum' of a group of parameters; it re"):
        sgd = fluid.optimizer.SGD(0.1, parameters=[{"params": [a], "momentum": 0.9}])
    assert stepped(sgd, a) == [0.7]


@pytest.mark.parametrize(
    "groups, says",
    [
        (
            lambda a: [{"weight_decay": 0.1}],
            "expected all of parameters to be groups, dictionaries",
        ),
        (lambda a: [{"params": [a]}, a], "expected all of parameters to be groups, dictionaries"),
        (lambda a: [{"params": [a]}, {"params": a}], "stands in two groups"),
        (lambda a: [{"params": {a}}], "expected params of a group to be a list"),
        (lambda a: [{"params": "w"}], "expected params of a group to be a list"),
        (lambda a: [{"params": [3]}], "expected all of parameter_list to be eager parameters"),
        (lambda a: [{"params": [a], "learning_rate": "x"}], "learning_rate of a group to be a num"),
        (lambda a: [{"params": [a], "weight_decay": "x"}], "weight_decay of a group of Momentum"),
        (
            lambda a: [{"params": [a], "grad_clip": 1.0}],
            "grad_clip of a group to be None or a clip",
        ),
        (lambda a: [{"params": [a], "momentum": "x"}], "expected momentum to be a number"),
    ],
)
def test_what_is_no_group_is_refused(groups, says):
    with fluid.dygraph.guard(), pytest.raises(ArgumentError, match=says):
        fluid.optimizer.Momentum(0.1, parameters=groups(parameter()))


def test_programs_have_no_groups():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        w = fluid.layers.create_parameter([2], "float32")
        with pytest.raises(ArgumentError, match="groups of parameters are for eager parameters"):
            fluid.optimizer.SGD(0.1, parameters=[{"params": [w]}])
