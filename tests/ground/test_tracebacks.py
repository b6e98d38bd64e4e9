"""Doors: what they cut, and what they leave as it is."""

import gc
import inspect
import pickle
import sys
import traceback
import weakref
from pathlib import Path

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidError
from fluidlite.ground.tracebacks import (
    api_boundaries,
    api_boundary,
    is_boundary,
    quick_api_boundary,
)

WAYS = pytest.mark.parametrize("way", [api_boundary, quick_api_boundary])


def told(a, /, b, *more, c=3, **others):
    return a, b, more, c, others


def plain(a, b=2):
    return a, b


def fails():
    raise ArgumentError("wrong")


def names(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@WAYS
def test_a_boundary_takes_what_its_function_takes(way):
    assert way(told)(1, 2, 4, c=5, d=6) == (1, 2, (4,), 5, {"d": 6})
    assert way(plain)(1) == way(plain)(a=1, b=2) == (1, 2)
    assert inspect.signature(way(told)) == inspect.signature(told)
    with pytest.raises(TypeError, match=r"plain\(\) missing 1 required positional argument: 'a'"):
        way(plain)(b=1)


@WAYS
def test_a_class_keeps_its_kinds_of_methods(way):
    class Thing:
        @staticmethod
        def static(x):
            return x

        @classmethod
        def of_class(cls, x):
            return cls, x

        @property
        def size(self):
            return 3

        @size.setter
        def size(self, value):
            self.__dict__["set"] = value

        def _own(self):
            return 1

    own = Thing._own
    assert way(Thing) is Thing and Thing._own is own
    thing = Thing()
    thing.size = 4
    assert (Thing.static(1), Thing.of_class(2), thing.size, thing.set) == (1, (Thing, 2), 3, 4)


def test_a_boundary_is_made_once():
    first = api_boundary(plain)
    assert api_boundary(plain) is first and api_boundary(first) is first
    marked = is_boundary(lambda: 3)
    assert api_boundary(marked) is marked


def test_lines_of_the_users_stay_and_so_do_their_errors():
    with pytest.raises(FluidError) as raised:
        api_boundary(fails)()
    assert names(raised.value)[-1] == "fails"

    def mistaken():
        return {}["key"]

    with pytest.raises(KeyError) as raised:
        api_boundary(mistaken)()
    assert names(raised.value)[-1] == "mistaken"


class Value:
    """What a weak reference can be made to."""


def refuses(value):
    raise ArgumentError("refused")


@pytest.mark.parametrize(
    "function",
    [
        *(api_boundary(refuses), quick_api_boundary(lambda value: refuses(value))),
        *(fluid.layers.relu, fluid.layers.mean, fluid.nn.functional.relu, fluid.concat, fluid.exp),
    ],
)
def test_an_error_holds_nothing_behind_the_last_reference_to_it(function):
    def call():
        value = Value()
        with pytest.raises(ArgumentError):
            function([value, value])
        return weakref.ref(value)

    was_on = gc.isenabled()
    gc.disable()  # references alone free everything
    try:
        assert call()() is None
    finally:
        if was_on:
            gc.enable()


def test_an_iterator_is_a_boundary_at_each_step():
    def steps():
        yield 1
        fluid.layers.fc(3, 4)

    found = api_boundary(steps)()
    assert next(found) == 1
    with pytest.raises(ArgumentError) as raised:
        next(found)
    assert names(raised.value)[-1] == "steps"


def test_only_what_a_module_gives_becomes_a_boundary():
    given = {"__name__": "fluidlite.test", "__all__": ["plain"], "plain": plain, "fails": fails}
    api_boundaries(given)
    assert given["plain"] is plain and given["fails"] is fails  # they are not the package's


def test_the_cause_that_is_not_shown_is_still_there():
    with pytest.raises(ArgumentError) as raised:
        fluid.layers.fc(3, 4)
    assert raised.value.__cause__ is None and raised.value.__suppress_context__
    assert isinstance(raised.value.__context__, ArgumentError)


@pytest.mark.parametrize("name", ["add", "layers.fc", "io.load", "nn.functional.relu", "Executor"])
def test_pickle_finds_what_is_public(name):
    found = fluid
    for part in name.split("."):
        found = getattr(found, part)
    assert pickle.loads(pickle.dumps(found)) is found


def test_the_constructor_of_a_data_class_is_no_line_of_the_users():
    for make in (
        lambda: fluid.initializer.Constant("a"),
        lambda: fluid.optimizer.lr.StepDecay(1.0, 0),
        lambda: fluid.optimizer.lr.StepDecay(),
    ):
        with pytest.raises((ArgumentError, TypeError)) as raised:
            make()
        shown = [name for name in names(raised.value) if name != "boundary"]  # Python 3.10 keeps it
        assert shown[-1] == "<lambda>"
    with pytest.raises(ArgumentError, match="called at .*test_tracebacks.py"):
        fluid.flow.optim.lr_scheduler.StepLR(3, 1)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: fluid.dygraph.guard(1, 2),
        lambda: fluid.unique_name.guard(1, 2),
        lambda: fluid.dygraph.Linear(),
        lambda: fluid.flow.broadcast_to(fluid.flow.ones(1)),
        lambda: fluid.flow.ones(2).permute(0, nothing=1),
        lambda: fluid.summary("x"),
        lambda: fluid.create_parameter("x", "float32"),
        lambda: fluid.save_dygraph(3, "x"),
        lambda: fluid.load_dygraph("not there"),
        lambda: fluid.DataFeedDesc("not there"),
        lambda: fluid.to_tensor(1.0, requires_grad="yes"),
        lambda: fluid.inspect.draw(fluid.Program(), "x.gif"),
        lambda: fluid.flow.ones(1, 2).expand(3, 2).zero_(),
    ],
)
def test_a_refusal_shows_no_frame_of_the_package(refused):
    with pytest.raises((TypeError, FluidError)) as error:
        refused()
    frames = traceback.extract_tb(error.value.__traceback__)
    package = str(Path(fluid.__file__).parent)
    inside = [f.name for f in frames if f.filename.startswith(package)]
    assert not inside or sys.version_info < (3, 11)
