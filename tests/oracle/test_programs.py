"""Networks give the programs of the real system, operator by operator and name by name."""

import functools

import pytest

import fluidlite as fluid
from fluidlite.ground import state
from oracle.golden import every, holds, load, script
from oracle.programs import assert_same_program, optimizer

# one of the networks clips in the old way
pytestmark = [
    pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way"),
    pytest.mark.filterwarnings("ignore:.* an earlier minimize of"),  # minimize_twice means it
]

GOLDENS = load("program_goldens.json.gz")


@functools.cache
def built(name):
    """What the script of a net makes."""
    state.reset()  # whatever test asks first: scopes of names are counted from the start
    golden, options = GOLDENS[name], {}
    if "optimizer" in golden:
        options["make_opt"] = optimizer(golden["optimizer"])
    return script(golden.get("net", name)).build(fluid, **options)


@every("nets", "main")
def test_main_program_is_that_of_the_real_system(name):
    with holds("nets", name, "main"):
        assert_same_program(built(name)["main"], GOLDENS[name]["main"])


@every("nets", "startup")
def test_startup_program_is_that_of_the_real_system(name):
    with holds("nets", name, "startup"):
        assert_same_program(built(name)["startup"], GOLDENS[name]["startup"])


@every("nets", "test")
def test_clone_for_testing_is_that_of_the_real_system(name):
    with holds("nets", name, "test"):
        assert_same_program(built(name)["test"], GOLDENS[name]["test"])


@every("nets", "apply")
def test_program_that_applies_averages_is_that_of_the_real_system(name):
    with holds("nets", name, "apply"):
        golden = GOLDENS[name]["extra_programs"]["apply"]
        assert_same_program(built(name)["extra_programs"]["apply"], golden)


@every("nets", "restore")
def test_program_that_restores_parameters_is_that_of_the_real_system(name):
    with holds("nets", name, "restore"):
        golden = GOLDENS[name]["extra_programs"]["restore"]
        assert_same_program(built(name)["extra_programs"]["restore"], golden)


@every("nets", "params_grads")
def test_minimize_returns_parameters_and_gradients_in_the_order_of_the_real_system(name):
    with holds("nets", name, "params_grads"):
        found = [
            [parameter.name, None if g is None else g.name]
            for parameter, g in built(name)["params_grads"]
        ]
        assert found == GOLDENS[name]["params_grads"]


@every("nets", "names")
def test_variables_are_named_as_the_real_system_names_them(name):
    with holds("nets", name, "names"):
        net, golden = built(name), GOLDENS[name]
        assert net["feeds"] == golden["feeds"]
        assert {label: v.name for label, v in net["fetch"].items()} == golden["fetch"]
        assert net.get("results") == golden.get("results")
        assert [p.name for p in net["main"].all_parameters()] == golden["all_parameters"]
