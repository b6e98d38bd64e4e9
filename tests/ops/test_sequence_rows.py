"""Sequences repeated, joined, padded, cut and chosen, against loops and worked numbers."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, AttributeValueError, LoDError, ShapeError, SlotError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer
from one_operator import OneOperator

f = evaluator()
rng = np.random.default_rng(0)


def run(type, attrs=None, out="Out", **inputs):
    """What a program of one operator gives: rows, and the lengths of their sequences."""
    one = OneOperator(type, inputs, {out: 1}, attrs or {})
    found = fluid.Executor().run(one.program, one.feed, [out], return_numpy=False)[0]
    return np.array(found), found.recursive_sequence_lengths()


def rows(*lengths, width=1, dtype="float32"):
    """Rows with their numbers, in sequences."""
    lod = fluid.create_lod_tensor(np.zeros([sum(lengths[-1]), 1]), list(lengths)).offsets
    data = np.arange(sum(lengths[-1]) * width, dtype=dtype).reshape(-1, width)
    return LoDTensor(data, lod)


def test_sequences_are_repeated_as_a_whole():
    found, lengths = run("sequence_expand", X=rows([1, 2, 1]), Y=rows([2, 0, 1]))
    assert (found.ravel().tolist(), lengths) == ([0, 0, 3], [[1, 1, 1]])
    found, lengths = run("sequence_expand", X=rows([1, 2]), Y=rows([1, 2]))
    assert (found.ravel().tolist(), lengths) == ([0, 1, 2, 1, 2], [[1, 2, 2]])


def test_rows_are_repeated_and_form_no_sequences():
    found, lengths = run("sequence_expand", X=rows([3]).data, Y=rows([2, 0, 1]))
    assert (found.ravel().tolist(), lengths) == ([0, 0, 2], [])


def test_the_level_that_says_how_often_is_chosen():
    y = rows([2, 1], [1, 0, 2])
    assert run("sequence_expand", dict(ref_level=0), X=rows([1, 1]), Y=y)[1] == [[1, 1, 1]]
    assert len(run("sequence_expand", dict(ref_level=1), X=rows([3]).data, Y=y)[0]) == 3
    with pytest.raises(LoDError, match="ref_level to be one of the 2 levels"):
        run("sequence_expand", dict(ref_level=2), X=rows([3]).data, Y=y)


def test_rows_take_over_the_sequences_that_they_are_repeated_for():
    found, lengths = run("sequence_expand_as", X=rows([3]).data, Y=rows([2, 0, 1]))
    assert (found.ravel().tolist(), lengths) == ([0, 0, 2], [[2, 0, 1]])


def test_sequences_of_one_number_are_joined():
    found, lengths = run("sequence_concat", X=[rows([1, 2]), rows([2, 0])])
    assert (found.ravel().tolist(), lengths) == ([0, 0, 1, 1, 2], [[3, 2]])


def test_gradients_of_joined_sequences_have_their_own_lengths():
    x, y = (fluid.data(name, [None, 1], lod_level=1) for name in "xy")
    x.stop_gradient = y.stop_gradient = False
    out = fluid.layers.sequence_concat([x, y])
    grads = fluid.gradients(fluid.layers.reduce_sum(out * out), [x, y])
    feed = {"x": rows([1, 2]), "y": rows([2, 0])}
    found = fluid.Executor().run(feed=feed, fetch_list=grads, return_numpy=False)
    assert [each.recursive_sequence_lengths() for each in found] == [[[1, 2]], [[2, 0]]]
    assert np.array(found[1]).ravel().tolist() == [0, 2]


def test_sequences_are_padded_and_cut_to_their_lengths_again():
    x = rows([2, 0, 3], width=2)
    padded, lengths = f.sequence_pad(x, np.array([-1.0, -2.0], "float32"))
    assert (padded.shape, lengths.tolist()) == ((3, 3, 2), [2, 0, 3])
    np.testing.assert_array_equal(padded[0], [[0, 1], [2, 3], [-1, -2]])
    np.testing.assert_array_equal(padded[1], [[-1, -2]] * 3)
    found, again = run("sequence_unpad", X=padded, Length=lengths)
    np.testing.assert_array_equal(found, x.data)
    assert again == [[2, 0, 3]]


def test_sequences_longer_than_they_are_padded_to_are_refused():
    with pytest.raises(LoDError, match=r"padded_length of at least 3, .*lengths \[1, 3\]"):
        f.sequence_pad(rows([1, 3]), np.zeros(1, "float32"), padded_length=2)


def test_numbers_of_a_sequence_fill_wider_rows():
    found, lengths = run("sequence_reshape", dict(new_dim=4), X=rows([2, 0, 4], width=2))
    assert (found.shape, lengths) == ((3, 4), [[1, 0, 2]])
    with pytest.raises(LoDError, match="sequence 1 with 6 numbers"):
        run("sequence_reshape", dict(new_dim=4), X=rows([2, 3, 1], width=2))


def test_sequences_are_turned_round():
    found, lengths = run("sequence_reverse", out="Y", X=rows([2, 0, 3]))
    assert (found.ravel().tolist(), lengths) == ([1, 0, 4, 3, 2], [[2, 0, 3]])


def test_the_gradient_of_a_turned_sequence_is_turned_back():
    x = fluid.data("x", [None, 1], lod_level=1)
    x.stop_gradient = False
    turned = fluid.layers.sequence_reverse(x)
    weighted = fluid.layers.reduce_sum(turned * turned * turned)
    grads = fluid.gradients(weighted, [x])
    feed = {"x": rows([2, 1])}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=grads, return_numpy=False)
    assert np.array(found).ravel().tolist() == [0, 3, 12]


def test_parts_of_sequences_are_taken():
    numbers = dict(Offset=np.array([[1], [0]]), Length=np.array([[2], [0]]))
    found, lengths = run("sequence_slice", X=rows([3, 2]), **numbers)
    assert (found.ravel().tolist(), lengths) == ([1, 2], [[2, 0]])
    numbers["Offset"] = np.array([[2], [0]])
    with pytest.raises(LoDError, match=r"within sequence 0 of X, which has 3 .* 2 rows from row 2"):
        run("sequence_slice", X=rows([3, 2]), **numbers)


def test_updates_are_added_to_the_row_of_their_sequence():
    ids = LoDTensor(np.array([[0], [0], [2]]), ((0, 2, 3),))
    updates = LoDTensor(np.array([[1.0], [2.0], [5.0]], "float32"), ((0, 2, 3),))
    found, _ = run("sequence_scatter", X=np.ones([2, 3], "float32"), Ids=ids, Updates=updates)
    np.testing.assert_array_equal(found, [[4, 1, 1], [1, 1, 6]])
    wrong = LoDTensor(ids.data + 1, ids.offsets)
    with pytest.raises(ShapeError, match="Ids from 0 to 2"):
        run("sequence_scatter", X=np.ones([2, 3], "float32"), Ids=wrong, Updates=updates)


def test_numbers_are_seen_with_those_behind_them():
    x = rows([2, 1], dtype="int64")
    found, lengths = run("sequence_enumerate", dict(win_size=2, pad_value=9), X=x)
    assert (found.tolist(), lengths) == ([[0, 1], [1, 9], [2, 9]], [[2, 1]])


def test_tokens_are_left_out():
    found, lengths = run("sequence_erase", dict(tokens=[1, 2]), X=rows([3, 2], dtype="int64"))
    assert (found.ravel().tolist(), lengths) == ([0, 3, 4], [[1, 2]])


def test_sequences_are_formed_anew():
    x, y = rows([1, 2]), rows([1, 1], [2, 1])
    assert run("lod_reset", dict(target_lod=[0, 0, 3]), X=x)[1] == [[0, 3]]
    assert run("lod_reset", X=x, Y=y)[1] == [[1, 1], [2, 1]]
    assert run("lod_reset", X=x, Y=np.array([0, 1, 3], "int32"))[1] == [[1, 2]]
    attrs = dict(target_lod=[0, 1, 2], append=True)
    assert run("lod_reset", attrs, X=LoDTensor(x.data[:2], ((0, 1, 2),)))[1] == [[1, 1], [1, 1]]
    with pytest.raises(LoDError, match="offsets from 0 to 3, the number of rows"):
        run("lod_reset", dict(target_lod=[0, 2]), X=x)


@pytest.mark.parametrize(
    "message, type, attrs, inputs",
    [
        ("X with 2 rows", "sequence_expand", {}, dict(X=rows([3]).data, Y=rows([2, 1]))),
        ("X with 2 sequences", "sequence_expand", {}, dict(X=rows([1, 1, 1]), Y=rows([2, 1]))),
        ("X with 2 rows", "sequence_expand_as", {}, dict(X=rows([3]).data, Y=rows([2, 1]))),
        ("sequences of 1 level", "sequence_concat", {}, dict(X=[rows([1], [2]), rows([2])])),
        ("equally many", "sequence_concat", {}, dict(X=[rows([1, 1]), rows([2])])),
        (
            "lengths from 0 to 2",
            "sequence_unpad",
            {},
            dict(X=np.zeros([2, 2, 1], "float32"), Length=np.array([1, 3])),
        ),
    ],
)
def test_sequences_that_do_not_fit_are_refused(message, type, attrs, inputs):
    with pytest.raises(LoDError, match=message):
        run(type, attrs, **inputs)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (SlotError, "at least 2", "sequence_concat", {}, dict(X=[((4, 2), "float32")])),
        (
            ShapeError,
            "rows of one shape",
            "sequence_concat",
            {},
            dict(X=[((4, 2), "float32"), ((4, 3), "float32")]),
        ),
        (
            ShapeError,
            "PadValue of one number",
            "sequence_pad",
            {},
            dict(X=((4, 2), "float32"), PadValue=((3,), "float32")),
        ),
        (AttributeValueError, "Y or target_lod", "lod_reset", {}, dict(X=((4, 2), "float32"))),
        (
            ShapeError,
            r"X of shape \[n, 1\]",
            "sequence_enumerate",
            dict(win_size=2),
            dict(X=((4, 2), "int64")),
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(error, message, type, attrs, inputs):
    with pytest.raises(error, match=message):
        infer(type, attrs, **inputs)


def test_layers_refuse_what_has_none_of_their_forms():
    x = fluid.data("x", [None, 2], lod_level=1)
    with pytest.raises(ArgumentError, match="y or target_lod"):
        fluid.layers.lod_reset(x)
    with pytest.raises(ArgumentError, match="a variable or offsets"):
        fluid.layers.lod_append(x, 3)
    with pytest.raises(ArgumentError, match="pool_type to be one of"):
        fluid.layers.sequence_pool(x, "min")
