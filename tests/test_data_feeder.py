"""From rows to arrays."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError, UnknownVariableError


def fed(shape, fields, dtype="float32", lod_level=0):
    """What the fields of one variable become."""
    x = fluid.data("x", shape, dtype, lod_level)
    return fluid.DataFeeder([x]).feed([(field,) for field in fields])["x"]


def test_rows_become_an_array_per_variable():
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 1], "int64")
    feed = fluid.DataFeeder(feed_list=[x, y], place=fluid.CPUPlace()).feed(
        [([1, 2, 3], [4]), (np.array([5.0, 6.0, 7.0]), 8)]
    )
    assert list(feed) == ["x", "y"]
    assert feed["x"].dtype == np.float32 and feed["x"].tolist() == [[1, 2, 3], [5, 6, 7]]
    assert feed["y"].dtype == np.int64 and feed["y"].tolist() == [[4], [8]]


@pytest.mark.parametrize(
    "shape, field, expected",
    [
        ([None, 1, 2, 2], range(4), (1, 1, 2, 2)),
        ([None, 1, 2, 2], [[0, 1], [2, 3]], (1, 1, 2, 2)),
        ([None], 1, (1,)),
        ([None], [1], (1,)),
        ([None, None], [1, 2, 3], (1, 3)),
        ([None, None, 2], [[1, 2], [3, 4], [5, 6]], (1, 3, 2)),
        ([None, None, 2], [1, 2, 3, 4], (1, 2, 2)),
        ([1, 3], [1, 2, 3], (1, 3)),
    ],
)
def test_a_field_takes_the_shape_of_a_row(shape, field, expected):
    found = fed(shape, [field])
    assert found.shape == expected
    np.testing.assert_array_equal(found.reshape(-1), np.reshape(field, -1))


def test_no_rows_are_an_empty_array():
    assert fed([None, 3], []).shape == (0, 3)


def test_rows_may_be_an_iterator_of_lists():
    x = fluid.data("x", [None, 1], "float32")
    rows = ([n] for n in range(3))
    assert fluid.DataFeeder([x]).feed(rows)["x"].tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("fields", [[[1, 2], [3, 4, 5]], [[[1], [2]], [[3], [4], [5]]]])
def test_sequences_become_rows_that_belong_together(fields):
    found = fed([None, 1], fields, "int64", 1)
    assert found.lod() == [[0, 2, 5]]
    assert np.array(found).tolist() == [[1], [2], [3], [4], [5]]


def test_sequences_may_be_arrays_and_empty():
    found = fed([None, 2], [np.ones([3, 2]), [], [[4, 5]]], lod_level=1)
    assert found.recursive_sequence_lengths() == [[3, 0, 1]]
    assert np.array(found).tolist() == [[1, 1]] * 3 + [[4, 5]]


def test_only_empty_sequences_are_no_rows():
    found = fed([None, 2], [[], []], lod_level=1)
    assert np.array(found).shape == (0, 2) and found.lod() == [[0, 0, 0]]


def test_sequences_of_sequences_have_two_levels():
    found = fed([None, 2], [[[[1, 2], [3, 4]], [[5, 6]]], [[[7, 8]]]], lod_level=2)
    assert found.recursive_sequence_lengths() == [[2, 1], [2, 1, 1]]
    assert np.array(found).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_whole_floats_are_integers():
    assert fed([None, 1], [[2.0]], "int64").tolist() == [[2]]


def test_zeros_and_ones_are_truth_values():
    assert fed([None, 1], [[1], [0]], "bool").tolist() == [[True], [False]]


def test_what_comes_out_can_be_fed():
    x, y = fluid.data("x", [None, 2], "float32"), fluid.data("y", [None, 1], "int64", lod_level=1)
    total = fluid.layers.reduce_sum(x), fluid.layers.reduce_sum(fluid.layers.cast(y, "float32"))
    feed = fluid.DataFeeder(["x", "y"]).feed([([1, 2], [3]), ([4, 5], [6, 7])])
    found = fluid.Executor().run(feed=feed, fetch_list=list(total))
    assert [float(v[0]) for v in found] == [12.0, 16.0]


def test_names_are_looked_up_in_the_given_program():
    program = fluid.Program()
    with fluid.program_guard(program):
        fluid.data("only_here", [None, 1], "float32")
    assert fluid.DataFeeder(["only_here"], program=program).feed_names == ["only_here"]
    with pytest.raises(UnknownVariableError, match="no variable 'only_here'"):
        fluid.DataFeeder(["only_here"])


@pytest.mark.parametrize("given", ["x", 3, None])
def test_a_feed_list_that_is_no_list_is_refused(given):
    with pytest.raises(
        ArgumentError, match="expected feed_list to be a list of variables or names"
    ):
        fluid.DataFeeder(given)


def test_something_else_in_the_feed_list_is_refused():
    with pytest.raises(ArgumentError, match="expected variables or names in feed_list, got 3"):
        fluid.DataFeeder([3])


@pytest.mark.parametrize(
    "row, message",
    [
        (([1, 2, 3],), r"row 1 has 1: \(\[1, 2, 3\],\)"),
        (([1, 2, 3], 4, 5), "every row to have 2 fields \\(x, y\\), row 1 has 3"),
        (7, "every row to be a tuple of 2 fields .*, row 1 is 7 of type int"),
        ("ab", "row 1 is 'ab' of type str"),
    ],
)
def test_a_row_of_another_width_is_refused(row, message):
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 1], "int64")
    with pytest.raises(ArgumentError, match=message):
        fluid.DataFeeder([x, y]).feed([([1, 2, 3], 4), row])


@pytest.mark.parametrize(
    "shape, fields, message",
    [
        ([None, 2, 2], [[1, 2, 3]], r"'x' takes rows of shape \[2, 2\], got \[3\]"),
        ([None, None, 2], [[1, 2, 3]], r"'x' takes rows of shape \[None, 2\], got \[3\]"),
        ([None, None], [[1, 2], [1]], r"one shape, got \[1\] and \[2\]; pad them, or declare"),
        ([None, 3], [[[1, 2], [3]]], "got lists of different lengths"),
        ([None, 3], [[1, 2, "a"]], "'x' is float32; expected numbers, got"),
        ([None, 1], [{}], "'x' is float32; expected numbers, got {}"),
    ],
)
def test_a_field_that_does_not_fit_is_refused(shape, fields, message):
    with pytest.raises(FeedError, match=message):
        fed(shape, fields)


@pytest.mark.parametrize(
    "dtype, value, kept", [("int64", -1.5, -1), ("bool", 2, True), ("uint8", 300, 44)]
)
def test_values_that_change_with_their_type_are_warned_about_once(dtype, value, kept):
    with pytest.warns(UserWarning, match=f"is {dtype}, which changes the values of") as caught:
        found = fed([None, 1], [value, value], dtype)
    assert found.tolist() == [[kept], [kept]]
    assert [w.filename for w in caught] == [__file__]


@pytest.mark.parametrize(
    "dtype, given, kept", [("int64", ["3", "-4"], [3, -4]), ("float32", ["3.5", "4"], [3.5, 4.0])]
)
def test_texts_are_read_as_numbers(dtype, given, kept):
    assert fed([None, 1], [[each] for each in given], dtype).tolist() == [[n] for n in kept]
    assert fed([None, 1], given, dtype).tolist() == [[n] for n in kept]


def test_none_is_no_number_where_there_is_such_a_thing():
    assert np.isnan(fed([None, 1], [[None]])).all()


def test_none_is_no_integer():
    with pytest.raises(FeedError, match="expected numbers"):
        fed([None, 1], [[None]], "int64")


@pytest.mark.parametrize(
    "shape, fields, found",
    [
        ([None, 3], [[1, 2, 3, 4]], (1, 4)),
        ([None, 3], [[1, 2, 3, 4, 5, 6]], (1, 6)),
        ([2, 3], [[1, 2, 3]], (1, 3)),
        ([None, 1, 4], [[[1, 2], [3, 4]]], (1, 2, 2)),
        ([None, None, 2], [[[1, 2, 3]]], (1, 1, 3)),
    ],
)
def test_rows_of_as_many_dimensions_as_declared_are_taken_in_any_size(shape, fields, found):
    assert fed(shape, fields).shape == found


@pytest.mark.parametrize("field", [3, "abc"])
def test_a_sequence_is_needed_on_every_level(field):
    with pytest.raises(FeedError, match="'x' has 2 levels of sequences; expected a .* on level 1"):
        fed([None, 1], [[field]], lod_level=2)


def mini_batches(count=5):
    return lambda: iter([[([k, k],), ([k, k + 1],)] for k in range(count)])


def test_a_reader_becomes_one_of_what_is_fed(monkeypatch):
    feeder = fluid.DataFeeder([fluid.data("x", [None, 2])])
    one = list(feeder.decorate_reader(mini_batches(), multi_devices=False)())
    assert [feed["x"].tolist() for feed in one[:2]] == [[[0, 0], [0, 1]], [[1, 1], [1, 2]]]
    two = list(feeder.decorate_reader(mini_batches(), multi_devices=True, num_places=2)())
    assert [[feed["x"][0, 0] for feed in step] for step in two] == [[0, 1], [2, 3]]
    monkeypatch.setenv("CPU_NUM", "5")
    assert len(next(feeder.decorate_reader(mini_batches(), multi_devices=True)())) == 5


def test_mini_batches_that_do_not_fit_the_devices_are_refused():
    feeder = fluid.DataFeeder([fluid.data("x", [None, 2])])
    with pytest.raises(ArgumentError, match="each of 2 devices, the last list has 1"):
        list(feeder.decorate_reader(mini_batches(), True, 2, drop_last=False)())
    with pytest.raises(ArgumentError, match="each of 2 devices, got 3"):
        feeder.feed_parallel(mini_batches(3)(), num_places=2)
