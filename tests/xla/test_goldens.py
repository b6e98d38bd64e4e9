"""What was recorded of the real system holds on JAX, too: trainings, operators, layers, mistakes.

A sample of it is run; ``FLUIDLITE_GOLDENS=all python -m pytest tests/xla/test_goldens.py`` runs
everything.
"""

import functools
import os

import pytest
from oracle import test_errors, test_layers, test_op_cases, test_training
from oracle.golden import parts

ALL = os.environ.get("FLUIDLITE_GOLDENS") == "all"

pytestmark = pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way")


def sample(kind, of):
    """Every so many cases of a kind."""
    return list(parts()[kind])[:: 1 if ALL else of]


def check(kind, name, tests):
    """Run the tests of the parts that a case has."""
    for part in parts()[kind][name]:
        if part in tests:
            tests[part](name)


@pytest.fixture(autouse=True)
def on_jax(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_BACKEND", "jax")
    monkeypatch.setenv("FLUIDLITE_TRACEBACK", "full")


@pytest.mark.parametrize("name", sample("training", 8))
def test_a_training_follows_the_real_system(name, monkeypatch):
    t = test_training
    trained = functools.cache(lambda name: t.Training(t.CASES[name]))  # not one that NumPy has run
    monkeypatch.setattr(t, "trained", trained)
    tests = {
        "fetch": t.test_fetched_values_follow_the_real_system_step_by_step,
        "grad0": t.test_gradients_of_the_first_step_are_those_of_the_real_system,
        "params": t.test_parameters_end_where_those_of_the_real_system_do,
        "states": t.test_optimizer_states_end_where_those_of_the_real_system_do,
        "test": t.test_test_program_gives_what_that_of_the_real_system_gives,
        "average": t.test_averages_are_those_of_the_real_system_and_parameters_come_back,
    }
    check("training", name, tests)


@pytest.mark.parametrize(
    "name", [name for name in sample("ops", 15) if "out" in parts()["ops"][name]]
)
def test_an_operator_gives_what_it_gives_in_the_real_system(name):
    t = test_op_cases
    tests = {
        "out": t.test_outputs_are_those_of_the_real_system,
        "grad": t.test_gradients_are_those_of_the_real_system,
    }
    check("ops", name, tests)


@pytest.mark.parametrize("name", sample("layers", 12))
def test_a_layer_gives_what_it_gives_in_the_real_system(name):
    t = test_layers
    tests = {
        "value": t.test_a_call_computes_what_the_real_system_computes,
        "grad": t.test_gradients_of_a_call_are_those_of_the_real_system,
    }
    check("layers", name, tests)


@pytest.mark.parametrize("name", sample("errors", 6))
def test_a_mistake_is_refused_as_in_the_real_system(name, monkeypatch):
    t = test_errors
    monkeypatch.setattr(t, "attempt", functools.cache(t.attempt.__wrapped__))
    refused = t.test_what_the_real_system_refuses_is_refused_by_the_same_family_at_the_same_time
    tests = {"raises": refused, "out": t.test_what_the_real_system_lets_pass_has_its_result}
    check("errors", name, tests)
