"""Functions under other names."""

import inspect
import pickle

import pytest

from fluidlite.ground.spellings import Spelling, parameters_of


def scaled(x, scale: float = 2.0, bias: float = 0.0, name: str | None = None, *, exact=True):
    """``scale`` times ``x``, plus ``bias``.

    It is exact.

    Args:
        x: a number.
        scale, bias: numbers, too;
            any will do.
        name: says nothing.
        exact: whether.

    Raises:
        TypeError: ``x`` is no number.

    >>> scaled(1.0)
    2.0
    """
    return x * scale + bias, name, exact


ONE = Spelling({"x": "input", "axis": "dim"}, without=["name"])
renamed = ONE(scaled, "renamed", scale="factor")


def test_parameters_have_their_new_names_defaults_and_types():
    assert str(inspect.signature(renamed)) == (
        "(input, factor: float = 2.0, bias: float = 0.0, *, exact=True)"
    )
    assert renamed(3.0) == (6.0, None, True)
    assert renamed(input=3.0, bias=1.0, factor=1.0, exact=False) == (4.0, None, False)
    with pytest.raises(TypeError, match=r"renamed\(\) got an unexpected keyword argument 'x'"):
        renamed(x=1.0)


def test_it_belongs_to_the_module_that_spells_it():
    assert (renamed.__name__, renamed.__module__) == ("renamed", __name__)
    assert pickle.loads(pickle.dumps(renamed)) is renamed


def test_its_docstring_has_the_new_names_and_no_example():
    assert renamed.__doc__ == inspect.cleandoc("""
        ``factor`` times ``input``, plus ``bias``.

        It is exact.

        Args:
            input: a number.
            factor, bias: numbers, too;
                any will do.
            exact: whether.

        Raises:
            TypeError: ``input`` is no number.
    """)


def test_parameters_are_fixed_and_have_other_defaults():
    spelled = ONE(scaled, "twice", "Twice.", fixed={"scale": 2.0}, defaults={"bias": 1.0})
    assert str(inspect.signature(spelled)) == "(input, bias: float = 1.0, *, exact=True)"
    assert spelled(1.0) == (3.0, None, True)
    assert spelled.__doc__.startswith("Twice.\n\nArgs:\n    input: a number.\n    bias: numbers")


def test_an_order_moves_parameters_and_has_them_named():
    spelled = ONE(scaled, "s", order="input, bias, *, exact, scale")
    assert str(inspect.signature(spelled)) == (
        "(input, bias: float = 0.0, *, exact=True, scale: float = 2.0)"
    )
    assert spelled(1.0, 2.0, exact=False, scale=3.0) == (5.0, None, False)


@pytest.mark.parametrize(
    "options, match",
    [
        ({"axis": "dim"}, "scaled has no parameter axis"),
        ({"fixed": {"slope": 1}}, "scaled has no parameter slope"),
        ({"defaults": {"x": 1}}, "scaled has no parameter x"),
        ({"order": "input, bias"}, "scaled takes input, scale, bias, exact, got the order"),
    ],
)
def test_a_name_that_is_not_there_is_refused(options, match):
    with pytest.raises(TypeError, match=match):
        ONE(scaled, **options)


def anything(**options):
    """Anything."""


def test_a_function_of_any_arguments_has_no_spelling():
    with pytest.raises(TypeError, match="anything takes any arguments"):
        ONE(anything)


@parameters_of(scaled)
def given(*arguments) -> tuple:
    """What is given."""
    return arguments


def test_a_function_takes_what_another_one_takes_and_is_given_all_by_place():
    assert str(inspect.signature(given)) == f"{inspect.signature(scaled)} -> tuple"
    assert given(1.0, bias=3.0, exact=False) == (1.0, 2.0, 3.0, None, False)
    assert given.__name__ == "given" and given.__module__ == __name__
    with pytest.raises(TypeError, match=r"given\(\) got an unexpected keyword argument 'slope'"):
        given(1.0, slope=2.0)


def test_a_function_says_of_its_arguments_what_the_other_one_says():
    assert given.__doc__.startswith("What is given.\n\nArgs:\n    x:")


def test_a_function_of_any_arguments_gives_no_parameters():
    with pytest.raises(TypeError, match="anything takes any arguments"):
        parameters_of(anything)


class Cell:
    """What is written to."""

    value = 3.0

    def write(self, change):
        self.value = change(self.value)


def test_a_parameter_says_whether_results_are_written():
    asked = Spelling({"x": "input"}, without=["name"], writes="write", asks="inplace")(scaled)
    parameters = inspect.signature(asked).parameters
    assert list(parameters) == ["input", "scale", "bias", "inplace", "exact"]
    assert parameters["inplace"].default is False
    assert asked.__name__ == "scaled" and "in place" not in asked.__doc__
    assert "    exact: whether.\n    inplace: write the result to ``input``.\n" in asked.__doc__
    assert asked(3.0, 1.0) == (3.0, None, True)
    cell = Cell()
    assert asked(cell, 5.0, inplace=True, exact=False) is None
    assert cell.value == (15.0, None, False)
