"""Tensors of sequences as scripts make and ask them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

create = fluid.create_lod_tensor


def tensor(array, place=None):
    made = fluid.LoDTensor()
    made.set(np.asarray(array), place)
    return made


@pytest.mark.parametrize(
    "data, shape, dtype",
    [
        ([[1, 2], [3]], [3, 1], "int64"),
        ([[1.5, 2], [3]], [3, 1], "float64"),
        ([[[1, 2], [3, 4]], [[5, 6]]], [3, 2, 1], "int64"),
        ([np.ones((2, 3), "float32"), np.ones((1, 3), "float32")], [3, 3, 1], "float32"),
    ],
)
def test_a_list_of_sequences_becomes_a_column_of_its_element_type(data, shape, dtype):
    made = create(data, [[2, 1]], fluid.CPUPlace())
    assert (made.shape(), np.array(made).dtype) == (shape, dtype)
    assert made.recursive_sequence_lengths() == [[2, 1]]


def test_an_empty_sequence_of_a_list_has_no_row():
    assert create([[1], [], [2, 3]], [[1, 0, 2]]).shape() == [3, 1]


@pytest.mark.parametrize("lengths", [[[1, 2]], [[2, 2]], []])
def test_lengths_that_are_not_those_of_the_lists_are_refused(lengths):
    with pytest.raises(ArgumentError, match=r"sequences have lengths \[2, 1\], the lengths given"):
        create([[1, 2], [3]], lengths)


def test_lists_without_sequences_or_of_several_shapes_are_refused():
    with pytest.raises(ArgumentError, match="expected a list of sequences"):
        create([1, 2], [[2]])
    with pytest.raises(ArgumentError, match="rows of one shape"):
        create([[[1, 2]], [[3]]], [[1, 1]])


def test_random_integers_take_the_shape_of_a_row_as_a_list():
    made = fluid.create_random_int_lodtensor([[2, 1]], [4], None, 3, 3)
    assert np.array(made).tolist() == [[3] * 4] * 3
    with pytest.raises(ArgumentError, match="base_shape"):
        fluid.create_random_int_lodtensor([[2, 1]], 4, None, 3, 3)


def test_a_part_of_a_tensor_has_no_sequences():
    whole = create(np.arange(6.0).reshape(3, 2), [[2, 1]])
    assert np.array(whole[0:2]).tolist() == [[0, 1], [2, 3]] and whole[0:2].lod() == []
    assert np.array(whole[-1]).tolist() == [[4, 5]]
    assert np.array(whole[1, 1]).tolist() == [[3]]
    with pytest.raises(IndexError, match="-3 to 2, got 3"):
        whole[3]


def test_a_tensor_that_holds_nothing_is_an_empty_array():
    assert fluid.LoDTensor().shape() == [0]
    assert np.array(fluid.LoDTensor()).shape == (0,)


def test_lengths_may_be_said_before_the_rows_and_are_checked_when_asked():
    made = fluid.LoDTensor()
    made.set_recursive_sequence_lengths([[2, 1]])
    made.set(np.ones((4, 1)), None)
    assert not made.has_valid_recursive_sequence_lengths()
    made.set(np.ones((3, 1)), None)
    assert made.has_valid_recursive_sequence_lengths()


@pytest.mark.parametrize("lod", [[[0, 2, 5]], [[0, 3, 2]], [[1, 3]], [[0, 2], [0, 3]]])
def test_offsets_that_do_not_fit_are_refused_and_change_nothing(lod):
    made = tensor(np.ones((3, 2)))
    made.set_lod([[0, 1, 3]])
    with pytest.raises(ArgumentError):
        made.set_lod(lod)
    assert made.lod() == [[0, 1, 3]]


def test_the_text_of_a_tensor_is_that_of_the_real_system():
    made = create(np.arange(6, dtype="float32").reshape(3, 2), [[2, 1]])
    text = (
        "\tlod: {{0, 2, 3}}\n\tdim: 3, 2\n\tlayout: NCHW\n\tdtype: float\n\tdata: [0 1 2 3 4 5]\n"
    )
    assert str(made) == text
    two = create(np.ones((2, 1), "int64"), [[1, 1], [1, 1]])
    assert str(two).startswith("\tlod: {{0, 1, 2}{0, 1, 2}}\n") and "dtype: int64_t" in str(two)


def test_an_array_of_tensors_gives_tensors_and_can_be_emptied_into_a_list():
    array = fluid.LoDTensorArray()
    array.append(create(np.ones((3, 2)), [[2, 1]]))
    array.append(tensor(np.zeros((1, 2))))
    assert [array[k].lod() for k in range(2)] == [[[0, 2, 3]], []]
    moved = array._move_to_list()
    assert [each.shape() for each in moved] == [[3, 2], [1, 2]] and len(array) == 0
    with pytest.raises(IndexError):
        array[0]
