"""Arrays of tensors: writing gives a new array, reading what was written."""

import numpy as np
import pytest

from fluidlite import backend
from fluidlite.errors import OutOfRangeError
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval
from fluidlite.values import LoDTensorArray

f = Eval(backend.get("numpy"))
ONE, TWO = np.ones([2]), np.full([3], 2.0)


def at(index):
    return np.array([index], "int64")


def written(array, index, value):
    op = lookup("write_to_array")()
    return f.apply(op, {"X": value, "I": at(index), "Out": array})["Out"]


def test_writing_leaves_the_old_array_as_it_was():
    first = written(None, 0, ONE)
    second = written(first, 0, TWO)
    assert first.item(0) is ONE
    assert second.item(0) is TWO


def test_an_array_grows_as_far_as_needed():
    array = written(None, 3, ONE)
    assert len(array) == 4
    assert array.item(1) is None
    assert f.lod_array_length(array).tolist() == [4]


def test_reading_beyond_the_end_says_how_long_the_array_is():
    with pytest.raises(OutOfRangeError, match="one below 1, got 5"):
        f.read_from_array(written(None, 0, ONE), at(5))


def test_a_gradient_that_is_missing_reads_as_zeros():
    found = f.read_from_array(LoDTensorArray(), at(2), X_W=TWO)
    assert found.tolist() == [0, 0, 0]


def test_an_array_without_an_element_misses_it():
    array = f.array_without(written(written(None, 0, ONE), 1, TWO), at(0))
    assert [value is None for value in array] == [True, False]


def test_arrays_add_up_element_by_element():
    total = LoDTensorArray([ONE, None]) + LoDTensorArray([ONE, TWO, TWO])
    assert [value.tolist() for value in total] == [[2, 2], [2, 2, 2], [2, 2, 2]]


def test_a_negative_position_is_refused():
    with pytest.raises(OutOfRangeError, match="0 or more"):
        written(None, -1, ONE)
