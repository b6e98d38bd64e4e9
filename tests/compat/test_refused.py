"""What is not there can be imported, and says what to use instead when it is used."""

import importlib

import pytest

from fluidlite.compat.refused import NotServedError, RefusedValue, is_refused


@pytest.fixture
def fluid(alias):
    return importlib.import_module("paddle.fluid")


def test_a_class_that_is_refused_can_be_derived_from_and_not_made(fluid):
    refused = fluid.transpiler.geo_sgd_transpiler.GeoSgdTranspiler

    class Mine(refused):
        pass

    with pytest.raises(NotServedError, match=r"use fluid.incubate.fleet.collective"):
        Mine()
    with pytest.raises(NotImplementedError):
        refused()
    assert not isinstance(3, refused)
    assert is_refused(refused) and not is_refused(Mine)


def test_a_function_that_is_refused_can_be_named_and_not_called(fluid):
    transpiler = importlib.import_module("paddle.fluid.transpiler.distribute_transpiler")
    assert transpiler.slice_variable.__name__ == "slice_variable"
    with pytest.raises(NotServedError, match="slice_variable is not in fluidlite"):
        transpiler.slice_variable([], 1, 2)


def test_a_value_that_is_refused_says_so_whatever_is_asked_of_it(fluid):
    below = "paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler"
    fleet = importlib.import_module(below).fleet
    assert isinstance(fleet, RefusedValue) and "fleet" in repr(fleet)
    for use in (lambda: fleet.init(), lambda: fleet(), lambda: len(fleet), lambda: fleet[0]):
        with pytest.raises(NotServedError, match="every process has all parameters"):
            use()


def test_an_attribute_of_what_is_refused_is_not_there(fluid):
    refused = fluid.incubate.fleet.base.role_maker.MPISymetricRoleMaker
    assert not hasattr(refused, "generate_role")
    assert not hasattr(refused, "__wrapped__")


def test_the_documentation_of_what_is_refused_says_what_to_use(fluid):
    assert "use fluid.optimizer.Momentum" in fluid.optimizer.DGCMomentumOptimizer.__doc__
