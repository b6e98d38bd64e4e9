"""Arguments of another kind are refused by an error of the package that names them."""

import inspect
import warnings

import pytest

import fluidlite as fluid
from fluidlite import flow, paddle
from fluidlite.errors import ArgumentError, FluidError


class Odd:
    """Nothing that any function takes."""


SPACES = {
    "fluid": fluid,
    "flow": flow,
    "paddle": paddle,
    "functional": fluid.nn.functional,
    "flow.functional": flow.nn.functional,
}


def functions(space):
    """Names, functions, and how many arguments they need."""
    for name in dir(space):
        function = getattr(space, name)
        if name[:1] != "_" and inspect.isfunction(function):
            parameters = inspect.signature(function).parameters.values()
            needed = [p for p in parameters if p.default is p.empty and p.kind in (0, 1)]
            if needed:
                yield name, function, len(needed)


@pytest.mark.parametrize("title", SPACES)
@pytest.mark.parametrize("value", ["x", Odd(), 3 + 4j], ids=["text", "object", "complex"])
def test_functions_refuse_arguments_of_another_kind(title, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others, count = [], 0
    for name, function, needed in functions(SPACES[title]):
        count += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(*[value] * needed)
        except FluidError:
            pass
        except Exception as error:  # Python's own: a fault of ours
            others.append((name, repr(error)))
    assert len(others) <= count * 0.005, others


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fluid.sort("x"), "sort: expected x to be a tensor or a variable, got 'x' of type"),
        (lambda: flow.linspace(0, {}, 3), "linspace: end is {} of type dict, and "),
    ],
)
def test_the_error_names_function_and_argument(call, message):
    with pytest.raises(ArgumentError, match=f"^{message}"):
        call()


def test_a_mistake_in_a_function_of_the_user_stays_what_it_is():
    def wrong(value):
        return value.nothing

    with pytest.raises(AttributeError, match="nothing"):
        fluid.io.map_readers(wrong, lambda: iter(["x"]))().__next__()
