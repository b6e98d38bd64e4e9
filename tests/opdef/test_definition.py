"""What operators have in common."""

import math

import numpy as np
import pytest

from fluidlite.errors import DefinitionError
from fluidlite.opdef.definition import Op, is_defined, lookup
from fluidlite.opdef.fluid_form import FluidForm


def test_operators_are_equal_if_type_and_attributes_are():
    half = lookup("scale")({"scale": 0.5})
    assert half == lookup("scale")({"scale": 0.5})
    assert half != lookup("scale")({"scale": 2.0})
    assert lookup("sin")() != lookup("cos")()
    assert half != 0.5


@pytest.mark.parametrize("container", [list, tuple, np.array, lambda n: [*n[:-1], 1]])
def test_listed_numbers_are_kept_as_a_single_one_is(container):
    numbers = [0.1, 1e300, -1e300, 1e-50, math.nan, 3.0]
    given = container(numbers)
    kept = lookup("assign_value")(dict(shape=[6], dtype="float32", fp32_values=given)).fp32_values
    each = [lookup("scale")({"scale": number}).scale for number in [*numbers[:-1], given[-1]]]
    assert repr(kept) == repr(tuple(each))
    again = lookup("assign_value")(dict(shape=[6], dtype="float32", fp32_values=kept)).fp32_values
    assert repr(again) == repr(kept)
    whole = np.array([0.1, math.inf, math.nan], "float32")
    made = lookup("assign_value")(dict(shape=[3], dtype="float32", fp32_values=whole))
    assert made.fp32_values[:2] == (each[0], math.inf)


def defined(**body):
    """An operator of X and Out with what a class may say beside."""
    return type(
        "of_this_test", (Op,), {"signature": "X -> Out", "run": lambda self, xp, X: X} | body
    )


@pytest.mark.parametrize(
    "form, message",
    [
        (FluidForm(rows=("Y",)), r"of_this_test: FluidForm\(rows=...\) has 'Y', which is no such"),
        (FluidForm(idle=("X",)), r"FluidForm\(idle=...\) has 'X'"),
        (FluidForm(carried=("X", "Out", "Oat")), r"has 'Oat', which is .*; did you mean 'Out'\?"),
        (FluidForm(numbers="X"), r"FluidForm\(numbers=...\) expects a tuple of slots, got 'X'"),
    ],
)
def test_a_form_with_slots_that_the_operator_does_not_have_is_refused(form, message):
    with pytest.raises(DefinitionError, match=message):
        defined(fluid=form)
    assert not is_defined("of_this_test")


@pytest.mark.parametrize("name, value", [("direct", True), ("rows", ("X",)), ("grad_type", "d")])
def test_a_field_of_the_form_beside_it_is_refused(name, value):
    with pytest.raises(DefinitionError, match=f"{name} is a field of its FluidForm: write fluid ="):
        defined(**{name: value})
    assert not is_defined("of_this_test")
