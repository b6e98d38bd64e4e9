"""Windows of images as sequences, and samples chosen by tags, against loops and worked numbers."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, AttributeValueError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer
from one_operator import OneOperator

f = evaluator()
rng = np.random.default_rng(0)


def test_windows_become_rows_of_sequences():
    x = rng.normal(size=[2, 3, 4, 5])
    attrs = dict(kernels=[2, 3], strides=[1, 2], paddings=[1, 0, 2, 1])
    out = f.im2sequence(x, **attrs)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 1)])
    expected = [
        padded[n, :, i : i + 2, j : j + 3].ravel()
        for n in range(2)
        for i in range(6)
        for j in (0, 2)
    ]
    np.testing.assert_array_equal(out, expected)
    one = OneOperator("im2sequence", {"X": x}, {"Out": 1}, attrs)
    found = fluid.Executor().run(one.program, one.feed, ["Out"], return_numpy=False)[0]
    assert found.recursive_sequence_lengths() == [[12, 12]]


def test_windows_beyond_the_size_of_an_image_are_left_out():
    x = np.arange(32.0).reshape(2, 1, 4, 4)
    sizes = np.array([[8.0, 8.0], [5.0, 4.0]])  # 4 by 4 and 3 by 2 when scaled down
    out = f.im2sequence(x, sizes, kernels=[2, 2], out_stride=[2, 2])
    assert out[:, 0].tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10, 16, 20]


def tagged(wanted, is_lod=True):
    ins = LoDTensor(np.arange(5.0)[:, None], ((0, 1, 3, 5),))
    tags = LoDTensor(np.array([[1], [2], [3], [1]]), ((0, 1, 3, 4),))
    inputs = {"Ins": ins, "Ins_tag": tags, "Filter_tag": np.array(wanted)}
    outputs = {"Out": 1, "LossWeight": 1, "IndexMap": 1}
    one = OneOperator("filter_by_instag", inputs, outputs, dict(is_lod=True, out_val_if_empty=7))
    return fluid.Executor().run(one.program, one.feed, list(outputs), return_numpy=False)


def test_samples_with_a_wanted_tag_are_left():
    out, weight, index = tagged([1])
    assert np.array(out).ravel().tolist() == [0, 3, 4]
    assert out.recursive_sequence_lengths() == [[1, 2]]
    assert np.array(weight).ravel().tolist() == [1, 1]
    assert np.array(index).tolist() == [[0, 0, 1], [1, 3, 2]]


def test_where_no_sample_is_left_one_row_without_weight_stands_for_them():
    out, weight, _index = tagged([9])
    assert (np.array(out).tolist(), np.array(weight).tolist()) == ([[7]], [[0]])


def test_tags_that_are_not_as_many_as_samples_are_refused():
    tags = LoDTensor(np.array([[1], [2]]), ((0, 1, 2),))
    with pytest.raises(LoDError, match="Ins_tag with 3 sequences"):
        f.filter_by_instag(np.zeros([3, 1]), tags, np.array([1]), is_lod=False)


@pytest.mark.parametrize(
    "error, message, attrs, shapes",
    [
        (AttributeValueError, "expected kernels", dict(kernels=[2]), {}),
        (ShapeError, "to fit into the images", dict(kernels=[5, 2]), {}),
        (ShapeError, r"Y of shape \[n, 2\]", dict(kernels=[2, 2]), dict(Y=(2, 3))),
    ],
)
def test_windows_that_do_not_fit_are_refused(error, message, attrs, shapes):
    given = dict(X=(2, 3, 4, 4)) | shapes
    with pytest.raises(error, match=message):
        infer("im2sequence", attrs, **{slot: (shape, "float32") for slot, shape in given.items()})


def test_the_layer_takes_one_or_two_numbers():
    images = fluid.data("images", [None, 1, 4, 4])
    with pytest.raises(ArgumentError, match="filter_size of one or two numbers"):
        fluid.layers.im2sequence(images, filter_size=[1, 2, 3])
