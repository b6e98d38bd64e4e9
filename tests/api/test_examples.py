"""Public functions and classes have examples."""

import importlib
import inspect

import pytest

from .test_public_names import MODULES, public


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
    assert not [*without_example(importlib.import_module(face))]
