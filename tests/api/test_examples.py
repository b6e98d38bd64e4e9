"""Public functions and classes have examples: the count of those without one only goes down."""

import importlib
import inspect

import pytest

from .test_public_names import MODULES, public

#: face -> how many of its functions and classes have no example yet; lower a number, never raise it
WITHOUT = {
    "fluidlite": 27,
    "fluidlite.autograd": 2,
    "fluidlite.distributed": 2,
    "fluidlite.dygraph": 6,
    "fluidlite.errors": 63,
    "fluidlite.export": 2,
    "fluidlite.flow": 117,
    "fluidlite.flow.nn": 70,
    "fluidlite.flow.nn.functional": 40,
    "fluidlite.flow.optim": 6,
    "fluidlite.initializer": 3,
    "fluidlite.inspect": 20,
    "fluidlite.io": 16,
    "fluidlite.jax": 1,
    "fluidlite.metrics": 1,
    "fluidlite.model.callbacks": 6,
    "fluidlite.nn": 24,
    "fluidlite.nn.functional": 1,
    "fluidlite.onnx": 2,
    "fluidlite.profiler": 4,
    "fluidlite.reader": 1,
    "fluidlite.regularizer": 4,
    "fluidlite.runtime.passes": 9,
    "fluidlite.transform": 19,
    "fluidlite.unique_name": 5,
    "fluidlite.paddle": 31,
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
