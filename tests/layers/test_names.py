"""The list of layers."""

import inspect

import pytest

from fluidlite import layers


def test_no_layer_is_listed_twice():
    assert len(set(layers.__all__)) == len(layers.__all__)


FUNCTIONS = [name for name in layers.__all__ if inspect.isfunction(getattr(layers, name))]


@pytest.mark.parametrize("name", layers.__all__)
def test_a_layer_is_documented_with_an_example(name):
    made = getattr(layers, name)
    assert made.__name__ == name
    assert ">>> " in inspect.getdoc(made)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_a_layer_is_documented(name):
    function = getattr(layers, name)
    text = inspect.getdoc(function).split("Args:")[-1].split("Returns:")[0]
    described = {
        word.strip("* ")
        for line in text.splitlines()
        if line.startswith("    ") and not line.startswith("     ") and ":" in line
        for word in line.split(":")[0].split(",")
    }
    assert not set(inspect.signature(function).parameters) - described
