"""Public functions and classes have examples: the count of those without one only goes down."""

import importlib
import inspect

import pytest

from .test_public_names import MODULES, public

#: face -> how many of its functions and classes have no example yet; lower a number, never raise it
WITHOUT = {
    "fluidlite.distributed": 2,
    "fluidlite.export": 2,
    "fluidlite.inspect": 1,
    "fluidlite.jax": 1,
    "fluidlite.onnx": 2,
    "fluidlite.profiler": 2,
    "fluidlite.runtime.passes": 3,
    "fluidlite.paddle": 2,
}


def without_example(module):
    """The functions and classes of a module whose docstring shows no example."""
    for name in public(module):
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and ">>>" not in (
            value.__doc__ or ""
        ):
            yield name


@pytest.mark.parametrize("face", [*MODULES, "fluidlite.paddle"])
def test_the_functions_and_classes_of_a_face_have_examples(face):
    names = [*without_example(importlib.import_module(face))]
    assert len(names) <= WITHOUT.get(face, 0), names


def test_the_bounds_are_those_of_today():
    counts = {face: len([*without_example(importlib.import_module(face))]) for face in WITHOUT}
    assert counts == WITHOUT
