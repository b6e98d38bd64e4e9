"""Functions and classes of fluid 1.8 take its parameters, in its order, with its defaults."""

import functools
import gzip
import inspect
import json
from pathlib import Path

import pytest

import fluidlite as fluid
from api.differences import DIFFERENCES
from fluidlite.optimizer.arguments import MORE_OF_PADDLE2

MODULES = (
    "layers",
    "nets",
    "initializer",
    "regularizer",
    "clip",
    "optimizer",
    "metrics",
    "param_attr",
    "io",
    "backward",
    "unique_name",
    "contrib.mixed_precision",
)
KINDS = {
    inspect.Parameter.VAR_POSITIONAL: "varargs",
    inspect.Parameter.VAR_KEYWORD: "varkw",
    inspect.Parameter.KEYWORD_ONLY: "kwonly",
}


@functools.cache
def recorded():
    """The public names of fluid 1.8, by module."""
    packed = Path(__file__).with_name("fluid18.json.gz").read_bytes()
    return json.loads(gzip.decompress(packed))


def parameters(function):
    """The parameters of a function as fluid's were recorded."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        one = {"name": parameter.name}
        if parameter.default is not parameter.empty:
            one["default"] = repr(parameter.default)
        if parameter.kind in KINDS:
            one["kind"] = KINDS[parameter.kind]
        found.append(one)
    return found


def without_self(params):
    return params[1:] if params and params[0]["name"] in ("self", "cls") else params


def pairs():
    """``MODULE.NAME`` or ``MODULE.NAME.METHOD``, ours, and the parameters of fluid."""
    for module in MODULES:
        ours = functools.reduce(getattr, module.split("."), fluid)
        for name, golden in recorded()[module].items():
            mine = getattr(ours, name, None)
            if not callable(mine) or (isinstance(mine, type) and issubclass(mine, Exception)):
                continue
            if golden["params"] is not None:
                yield f"{module}.{name}", mine, without_self(golden["params"])
            for method, params in golden.get("methods", {}).items():
                if method != "__call__" and hasattr(mine, method):
                    yield f"{module}.{name}.{method}", getattr(mine, method), without_self(params)


#: names that optimizers take from paddle 2, beside those of fluid
PADDLE_2 = {"parameters", "weight_decay", *MORE_OF_PADDLE2}
BUDGET = {"memory", "batch_size"}  #: what ours take besides, where gradients are made


@pytest.fixture(scope="module")
def differences():
    """What differs by name, in words; an empty text where nothing does."""
    return {name: difference(name, mine, golden) for name, mine, golden in pairs()}


def difference(name, mine, golden):
    """What differs, in words."""
    found = without_self(parameters(mine))
    more = BUDGET | (PADDLE_2 if name.startswith("optimizer.") else set())
    # by keyword only, so that no call of fluid's changes
    found = [p for p in found if p["name"] not in more or "kind" not in p]
    return "" if found == golden else f"{found}, want {golden}"


def test_parameters_are_those_of_fluid(differences):
    assert not {n: what for n, what in differences.items() if what and n not in DIFFERENCES}


def test_what_is_listed_as_different_still_differs(differences):
    assert not [name for name, what in differences.items() if name in DIFFERENCES and not what]


def test_every_difference_is_of_something_compared_and_has_a_reason(differences):
    assert not set(DIFFERENCES) - set(differences)
    assert not [name for name, reason in DIFFERENCES.items() if not reason.strip()]
