"""The list of layers."""

import inspect

import pytest

from fluidlite import layers


def test_no_layer_is_listed_twice():
    assert len(set(layers.__all__)) == len(layers.__all__)


@pytest.mark.parametrize("name", layers.__all__)
def test_a_layer_is_a_documented_function_with_an_example(name):
    function = getattr(layers, name)
    assert inspect.isfunction(function)
    assert function.__name__ == name
    text = inspect.getdoc(function)
    for part in ("Args:", "Returns:", ">>> "):
        if part != "Args:" or inspect.signature(function).parameters:
            assert part in text, f"{name} lacks {part}"


@pytest.mark.parametrize("name", layers.__all__)
def test_every_argument_of_a_layer_is_documented(name):
    function = getattr(layers, name)
    text = inspect.getdoc(function).split("Args:")[-1].split("Returns:")[0]
    described = {
        word.strip("* ")
        for line in text.splitlines()
        if line.startswith("    ") and not line.startswith("     ") and ":" in line
        for word in line.split(":")[0].split(",")
    }
    missing = set(inspect.signature(function).parameters) - described
    assert not missing
