"""The list of layers."""

import inspect

from fluidlite import layers


def test_no_layer_is_listed_twice():
    assert len(set(layers.__all__)) == len(layers.__all__)


FUNCTIONS = [name for name in layers.__all__ if inspect.isfunction(getattr(layers, name))]


def undocumented(function):
    """The parameters that the docstring does not describe."""
    text = inspect.getdoc(function).split("Args:")[-1].split("Returns:")[0]
    described = {
        word.strip("* ")
        for line in text.splitlines()
        if line.startswith("    ") and not line.startswith("     ") and ":" in line
        for word in line.split(":")[0].split(",")
    }
    return set(inspect.signature(function).parameters) - described


def test_layers_are_documented_with_an_example():
    made = {name: getattr(layers, name) for name in layers.__all__}
    assert not [name for name, layer in made.items() if layer.__name__ != name]
    assert not [name for name, layer in made.items() if ">>> " not in inspect.getdoc(layer)]


def test_every_argument_of_a_layer_is_documented():
    found = {name: undocumented(getattr(layers, name)) for name in FUNCTIONS}
    assert not {name: missing for name, missing in found.items() if missing}
