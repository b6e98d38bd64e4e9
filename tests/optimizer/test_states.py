"""What optimizers keep for every parameter, read and set again."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, NotInitializedError

FEED = {"x": np.ones([2, 3], "float32")}
NAMES = [f"fc_0.w_0_{n}_0" for n in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")]


@pytest.fixture
def adam():
    """An optimizer whose program has run its startup program."""
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 2, bias_attr=False))
    made = fluid.optimizer.Adam(0.1)
    made.minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return made


def step():
    fluid.Executor().run(feed=FEED)


def parameter():
    return np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())


def test_states_are_copies_by_name(adam):
    before = adam.state_dict(fluid.global_scope())
    assert list(before) == NAMES
    step()
    after = adam.state_dict(fluid.global_scope())
    assert (before[NAMES[0]] == 0).all() and (after[NAMES[0]] != 0).all()


def test_a_training_goes_on_from_kept_states(adam):
    scope = fluid.global_scope()
    step()
    kept, weight = adam.state_dict(scope), parameter()
    step()
    wanted = parameter()
    adam.set_dict({**kept, "another": np.zeros(3)}, scope)
    scope.find_var("fc_0.w_0").get_tensor().set(weight)
    step()
    np.testing.assert_array_equal(parameter(), wanted)


@pytest.mark.parametrize("call", [lambda a: a.state_dict(), lambda a: a.set_dict({})])
def test_states_are_in_a_scope(adam, call):
    with pytest.raises(ArgumentError, match=r"give one: (state|set)_dict\(.*fluid.global_scope"):
        call(adam)


def test_states_without_values_are_refused(adam):
    with pytest.raises(NotInitializedError, match="no value of 'fc_0.w_0_moment1_0'"):
        adam.state_dict(fluid.Scope())


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: s.pop(NAMES[1]), "the states lack 'fc_0.w_0_moment2_0'; did you mean"),
        (lambda s: s.update({NAMES[1]: np.zeros(2)}), r"to be float32\[3, 2\], got float64\[2\]"),
    ],
)
def test_states_that_do_not_fit_are_refused_and_none_is_set(adam, change, message):
    scope = fluid.global_scope()
    kept = {name: value + 1 for name, value in adam.state_dict(scope).items()}
    change(kept)
    with pytest.raises(ArgumentError, match=message):
        adam.set_dict(kept, scope)
    assert (adam.state_dict(scope)[NAMES[0]] == 0).all()


def test_what_is_no_dictionary_is_refused(adam):
    with pytest.raises(ArgumentError, match="expected states to be a dictionary of arrays, got 3"):
        adam.set_dict(3, fluid.global_scope())
