"""Loops over variables in lists and dictionaries."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError

from building import run


def looped(body, state, times=4):
    """A loop over a counter and a structure: the structure after it."""
    i = layers.fill_constant([1], "int64", 0)
    limit = layers.fill_constant([1], "int64", times)
    return layers.while_loop(
        lambda i, state: layers.less_than(i, limit), lambda i, s: [i + 1, body(s)], [i, state]
    )[1]


def one(value):
    return layers.fill_constant([1], "float32", value)


def test_a_loop_goes_over_dictionaries_of_variables():
    made = looped(
        lambda s: {"sum": s["sum"] + 1.0, "more": [{"x": s["more"][0]["x"] * 2.0}]},
        {"more": [{"x": one(3.0)}], "sum": one(0.0)},
    )
    assert [float(v) for v in run(made["sum"], made["more"][0]["x"])] == [4.0, 48.0]


@pytest.mark.parametrize("state", [lambda: {0: one(3.0)}, lambda: [one(3.0)]])
def test_a_body_may_write_to_the_structure_that_it_is_given(state):
    def body(state):
        state[0] = state[0] * 2.0
        return state

    assert run(looped(body, state())[0]).tolist() == [48.0]


def test_gradients_flow_through_the_dictionary_of_a_loop():
    x = fluid.data("x", [1])
    x.stop_gradient = False
    made = looped(lambda s: {"y": s["y"] * s["y"]}, {"y": x * 1.0}, times=2)
    (dx,) = fluid.gradients(made["y"], x)
    assert run(dx, x=np.array([2.0], "float32")).tolist() == [32.0]


def test_other_names_are_taken_in_their_order_with_a_warning_at_the_line_of_the_loop():
    with pytest.warns(UserWarning, match="gives 'b', 'a' for variables called 'y', 'x'") as said:
        made = looped(
            lambda s: {"b": s["y"] * 3.0, "a": s["x"] * 2.0}, {"y": one(1), "x": one(1)}, 1
        )
    assert said[0].filename == __file__
    assert [float(v) for v in run(made["x"], made["y"])] == [2.0, 3.0]


@pytest.mark.parametrize(
    "body, said",
    [
        (lambda s: s["x"], "1 variables in place of a dictionary"),
        (lambda s: {"x": s["x"], "y": s["x"]}, "1 variables in place of a dictionary"),
        (lambda s: {"x": [s["x"]]}, "a variable in place of 'fill_constant_0.tmp_0'"),
    ],
)
def test_a_body_that_gives_another_structure_is_refused(body, said):
    x = one(1.0)
    with pytest.raises(ArgumentError, match=f"expected body to give {said}"):
        looped(body, {"x": x})
