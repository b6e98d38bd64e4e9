"""Docstrings whose recurring parts their family says."""

import inspect
import textwrap

import pytest

from fluidlite import layers
from fluidlite.ground.docstrings import Family

FAMILY = Family(
    {"x": "a number.", "name": "of the result.", "scale": "what it is multiplied with."},
    returns="A number.",
    raises="TypeError: it is none.\nValueError: it is too large.",
    example="""
    >>> {name}(1)
    2
    """,
)


@FAMILY
def double(x, name=None):
    """Twice ``x``."""


def test_a_summary_is_completed_by_what_the_family_says():
    assert double.__doc__ == textwrap.dedent(
        """\
        Twice ``x``.

        Args:
            x: a number.
            name: of the result.

        Returns:
            A number.

        Raises:
            TypeError: it is none.
            ValueError: it is too large.

        >>> double(1)
        2"""
    )


def test_what_a_function_says_itself_stays():
    @FAMILY
    def shifted(x, by, way, name=None):
        """``x`` and more.

        It has a second paragraph.

        Args:
            by, way: how far, and
                where to.
            name: of nothing.

        Raises:
            KeyError: never.

        >>> shifted(1, 2, 0)
        3
        """

    text = shifted.__doc__
    assert text == (
        "``x`` and more.\n\nIt has a second paragraph.\n\n"
        "Args:\n    x: a number.\n    by, way: how far, and\n        where to.\n"
        "    name: of nothing.\n\n"
        "Returns:\n    A number.\n\nRaises:\n    KeyError: never.\n\n>>> shifted(1, 2, 0)\n3"
    )


def test_a_complete_docstring_is_left_alone():
    text = double.__doc__
    assert FAMILY.completed(text, "double", ["x", "name"]) == text


def test_the_texts_of_a_family_within_a_family_come_first():
    inner = FAMILY.extended({"x": "a list."}, returns="A list.")
    text = inner.completed("All.", "all", ["x", "scale"])
    assert "    x: a list.\n    scale: what it is multiplied with." in text
    assert "Returns:\n    A list." in text
    assert ">>> all(1)" in text


def test_long_texts_are_wrapped_like_written_ones():
    family = Family({"x": "word " * 30}, returns="word " * 30)
    lines = family.completed("It.", "it", ["x"]).splitlines()
    assert max(map(len, lines)) <= 96
    assert [len(line) - len(line.lstrip()) for line in lines if "word" in line] == [4, 8, 4, 4]


def test_a_class_gets_the_arguments_of_its_constructor():
    @FAMILY
    class Doubler:
        """Doubles."""

        def __init__(self, scale):
            self.scale = scale

    assert "Args:\n    scale: what it is multiplied with." in Doubler.__doc__
    assert "x:" not in Doubler.__doc__


def scaled(x, factor):
    """``factor * x``, again and again.

    Args:
        x: what is scaled.
        factor: how much
            larger it becomes.
    """


def test_what_does_the_same_has_its_prose_and_arguments_in_other_names():
    @FAMILY.like(scaled, {"x": "input", "factor": "alpha"})
    def scale(input, alpha, name=None):
        """
        >>> scale(1, 2)
        """

    assert scale.__doc__ == (
        "``alpha * input``, again and again.\n\n"
        "Args:\n    input: what is scaled.\n    alpha: how much larger it becomes.\n"
        "    name: of the result.\n\n"
        "Returns:\n    A number.\n\n"
        "Raises:\n    TypeError: it is none.\n    ValueError: it is too large.\n\n"
        ">>> scale(1, 2)"
    )


def test_what_does_nearly_the_same_keeps_its_own_prose():
    @FAMILY.like(scaled)
    def halved(x):
        """Half of ``x``."""

    assert halved.__doc__.startswith("Half of ``x``.\n\nArgs:\n    x: what is scaled.\n\n")


def test_an_example_of_its_own_stands_behind_the_setup_of_its_family():
    family = Family(
        {},
        setup="""
    >>> x = 3
    """,
    )
    text = family.completed("Twice.\n\n>>> double(x)\n6", "double", ["x"])
    assert text == "Twice.\n\n>>> x = 3\n>>> double(x)\n6"
    assert family.completed("Twice.", "double", ["x"]) == "Twice."


def test_where_python_drops_docstrings_none_is_made_up():
    def bare(x):
        pass

    assert FAMILY(bare).__doc__ is None


@pytest.mark.parametrize("name", ["relu", "elementwise_mul", "reduce_max", "less_than"])
def test_a_layer_shows_its_signature_and_a_whole_docstring(name):
    made = getattr(layers, name)
    text = inspect.getdoc(made)
    assert "f" not in inspect.signature(made).parameters
    heads = ["Args:", "Returns:", f">>> {'x, y' if 'y' in text.split('Args:')[0] else ''}"]
    assert [text.index(head) for head in heads] == sorted(text.index(head) for head in heads)
    assert f"fluid.layers.{name}(" in text
