"""Checks of arguments take what they say, and refuse the rest in the user's words."""

import numpy as np
import pytest

from fluidlite.errors import ArgumentError
from fluidlite.ground import arguments


class Owner:
    """What has arguments."""


@pytest.mark.parametrize(
    "check, value, taken",
    [
        (arguments.finite, np.float32(2.0), 2.0),
        (arguments.positive, 3, 3.0),
        (arguments.within, 1, 1.0),
        (arguments.count, 4.0, 4),
        (arguments.integer, np.int64(5), 5),
        (arguments.numbers, (1, 2.5), [1.0, 2.5]),
        (arguments.rising, [1, 3.0], [1, 3]),
        (arguments.yes_or_no, [], False),
        (arguments.one_of("min", "max"), "max", "max"),
        (arguments.or_none(arguments.positive), None, None),
        (arguments.text_or_none, "w", "w"),
    ],
)
def test_a_check_gives_what_it_takes(check, value, taken):
    found = check("SGD", "rate", value)
    assert found == taken and type(found) is type(taken)


@pytest.mark.parametrize(
    "check, value, wanted",
    [
        (arguments.finite, True, "a finite number, got True of type bool"),
        (arguments.finite, float("nan"), "a finite number, got nan"),
        (arguments.positive, 0, "a positive number, got 0 of type int"),
        (arguments.positive, "1", "a positive number, got '1' of type str"),
        (arguments.within, 1.5, "at most 1, got 1.5"),
        (arguments.count, 2.5, "a whole number, got 2.5"),
        (arguments.integer, 2.0, "a positive integer, got 2.0"),
        (arguments.integer, 0, "a positive integer, got 0"),
        (arguments.rising, [2, 1], "numbers that grow, got [2, 1]"),
        (arguments.a_function, 3, "a function, got 3"),
        (arguments.one_of("a", "b", "c"), "d", "'a', 'b' or 'c', got 'd'"),
        (arguments.or_none(arguments.count), -1, "a positive number, got -1"),
        (arguments.text_or_none, 1, "a text, got 1"),
        (arguments.instance_of(Owner, "an owner"), 1, "an owner, got 1"),
    ],
)
def test_a_check_says_whose_argument_is_what_it_cannot_be(check, value, wanted):
    with pytest.raises(ArgumentError) as caught:
        check(Owner(), "rate", value)
    assert str(caught.value).startswith(f"Owner: expected rate to be {wanted}")


def test_an_element_is_named_after_its_list():
    with pytest.raises(ArgumentError, match="expected one of values to be a finite number"):
        arguments.numbers("Piecewise", "values", [1.0, None])


def test_an_argument_of_nobody_has_no_name_in_front():
    error = arguments.refused("", "the loss", "a variable", 3)
    assert str(error) == "expected the loss to be a variable, got 3 of type int"


def test_an_integer_may_begin_with_another_number():
    assert arguments.integer("Uniform", "seed", 0, least=0) == 0
    with pytest.raises(ArgumentError, match="an integer of at least 0, got -1"):
        arguments.integer("Uniform", "seed", -1, least=0)
