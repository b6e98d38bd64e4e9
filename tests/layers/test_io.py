"""Variables that are fed."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DuplicateVariableError

from building import refused


@pytest.mark.parametrize(
    "shape, append, wanted",
    [
        ([3, 4], True, (-1, 3, 4)),
        ([3, 4], False, (3, 4)),
        ([-1, 4], True, (-1, 4)),
        ([None, 4], True, (-1, 4)),
        ([], True, (-1,)),
        ((np.int64(3),), True, (-1, 3)),
    ],
)
def test_room_for_the_batch_is_put_in_front(shape, append, wanted):
    assert layers.data("x", shape, append_batch_size=append).shape == wanted


def test_a_variable_that_is_fed_says_so():
    x = layers.data("x", [3], dtype="int64", lod_level=2, stop_gradient=False)
    assert (x.is_data, x.lod_level, x.stop_gradient) == (True, 2, False)
    assert (x.dtype, x.need_check_feed) == (np.dtype("int64"), False)


def test_it_belongs_to_block_0():
    fluid.default_main_program().create_block()
    assert layers.data("x", [3]).block.idx == 0


def test_the_same_again_is_the_same():
    assert layers.data("x", [3]) is layers.data("x", [3])


def test_another_shape_is_refused():
    layers.data("x", [3])
    with refused(DuplicateVariableError, r"'x'.*\[-1, 3\].*\[-1, 4\]"):
        layers.data("x", [4])


@pytest.mark.parametrize(
    "name, shape, match",
    [
        ("x", 3, "expected the shape of 'x' to be a list of sizes, got 3"),
        ("x", "34", "expected the shape of 'x' to be a list of sizes"),
        ("x", [3, 2.5], "expected the sizes of 'x' to be integers, or None where unknown, got 2.5"),
        (3, [3], "expected the name of a variable to feed, got 3"),
    ],
)
def test_what_makes_no_variable_is_refused(name, shape, match):
    with refused(ArgumentError, match):
        layers.data(name, shape)
