"""Arrays of tensors: writing gives a new array, reading what was written."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import backend, layers
from fluidlite.errors import OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensorArray
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval

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


def test_elements_are_joined_along_a_dimension():
    array = LoDTensorArray([np.ones([2, 1]), np.full([2, 3], 2.0)])
    found = f.tensor_array_to_tensor.all(array, axis=-1)
    assert found["Out"].tolist() == [[1, 2, 2, 2]] * 2
    assert found["OutIndex"].tolist() == [1, 3]
    assert found["OutIndex"].dtype == np.int32


def test_elements_are_stacked_in_a_new_dimension():
    array = LoDTensorArray([np.ones([2]), np.full([2], 2.0)])
    found = f.tensor_array_to_tensor(array, axis=1, use_stack=True)[0]
    assert found.tolist() == [[1, 2], [1, 2]]


def test_an_array_with_gaps_is_not_joined():
    with pytest.raises(OutOfRangeError, match="all been written, got 1 of 2"):
        f.tensor_array_to_tensor(LoDTensorArray([None, ONE]))


@pytest.mark.parametrize("stack, wanted", [(True, "of one shape"), (False, "along axis 1 only")])
def test_elements_that_do_not_fit_are_refused(stack, wanted):
    array = LoDTensorArray([np.ones([2, 3]), np.ones([3, 3])])
    with pytest.raises(ShapeError, match=rf"{wanted}, got shapes \[2, 3\], \[3, 3\]"):
        f.tensor_array_to_tensor(array, axis=1, use_stack=stack)


@pytest.mark.parametrize("axis, stack", [(0, False), (1, False), (0, True), (-1, True)])
def test_gradients_of_joining_are_those_of_concat_and_stack_twice_over(axis, stack):
    def through_array(parts):
        array = layers.create_array("float32")
        for k, part in enumerate(parts):
            layers.array_write(part, layers.fill_constant([1], "int64", k), array)
        return layers.tensor_array_to_tensor(array, axis=axis, use_stack=stack)[0]

    def directly(parts):
        return layers.stack(parts, axis) if stack else layers.concat(parts, axis)

    found = []
    for join in (through_array, directly):
        main = fluid.Program()
        with fluid.program_guard(main), fluid.scope_guard(fluid.Scope()):
            x = fluid.data("x", [2, 3])
            x.stop_gradient = False
            (first,) = fluid.gradients(layers.reduce_sum(layers.exp(join([x, x * x]))), x)
            (second,) = fluid.gradients(layers.reduce_sum(first * x), x)
            value = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
            found.append(fluid.Executor().run(main, {"x": value}, [first, second]))
    for mine, expected in zip(*found):
        np.testing.assert_allclose(mine, expected, rtol=1e-5)


def test_an_empty_array_has_no_elements():
    assert f.lod_array_length(f.empty_array()).tolist() == [0]
