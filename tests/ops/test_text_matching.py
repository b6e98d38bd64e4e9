"""Texts compared word by word, against loops over pairs."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def ragged(data, lengths):
    return LoDTensor(data, ((0, *np.cumsum(lengths).tolist()),))


def zeros(lengths):
    return ragged(np.zeros([sum(lengths), 1]), lengths)


def images(channels, high, wide):
    """Images one after the other, and the sequences that say how large they are."""
    sizes = [channels * h * w for h, w in zip(high, wide)]
    return ragged(rng.normal(size=[sum(sizes), 1]), sizes), zeros(high), zeros(wide)


def parts(value, channels, high, wide):
    """The images of a value."""
    ends = np.cumsum([channels * h * w for h, w in zip(high, wide)])[:-1]
    pieces = np.split(value.data.ravel(), ends)
    return [p.reshape(channels, h, w) for p, h, w in zip(pieces, high, wide)]


def test_every_pair_of_words_is_matched():
    x, y, w = (rng.normal(size=size) for size in ([5, 3], [4, 2], [3, 2, 2]))
    out, _ = f.match_matrix_tensor.all(ragged(x, [3, 2]), ragged(y, [1, 3]), w, dim_t=2).values()
    expected = []
    for a, b in ((x[:3], y[:1]), (x[3:], y[1:])):
        expected += [np.ravel(a @ w[:, t] @ b.T) for t in range(2)]
    np.testing.assert_allclose(out.ravel(), np.concatenate(expected))


@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_images_of_several_sizes_are_convolved(stride):
    high, wide, kernel = [3, 0, 2], [4, 2, 5], (3, 2)
    value, row, column = images(2, high, wide)
    w = rng.normal(size=[4, 12])
    attrs = dict(InputChannel=2, OutputChannel=4, StrideH=stride[0], StrideW=stride[1])
    out = f.var_conv_2d(value, row, column, w, KernelH=3, KernelW=2, **attrs)
    expected = []
    for image in parts(value, 2, high, wide):
        padded = np.pad(image, [(0, 0), (1, 2), (1, 2)])
        _, h, width = image.shape
        places = [(i, j) for i in range(0, h, stride[0]) for j in range(0, width, stride[1])]
        seen = [padded[:, i : i + kernel[0], j : j + kernel[1]].ravel() for i, j in places]
        expected.append(np.ravel(w @ np.array(seen).T) if seen else np.zeros(0))
    np.testing.assert_allclose(out.ravel(), np.concatenate(expected))


def test_the_largest_numbers_of_each_row_have_means():
    high, wide = [3, 1, 2], [4, 2, 0]
    value, row, column = images(2, high, wide)
    out = f.sequence_topk_avg_pooling(value, row, column, topks=[1, 3], channel_num=2)
    expected = []
    for image in parts(value, 2, high, wide):
        for r in range(image.shape[1]):
            for c in range(2):
                largest = np.sort(image[c, r])[::-1]
                expected += [largest[:k].sum() / k for k in (1, 3)]
    np.testing.assert_allclose(out, np.reshape(expected, [6, 4]))


def test_sizes_that_do_not_fit_are_refused():
    value, row, _column = images(1, [2, 1], [2, 2])
    with pytest.raises(
        LoDError, match=r"1 \* height \* width rows, \[4, 3\], got lengths \[4, 2\]"
    ):
        f.var_conv_2d(value, row, zeros([2, 3]), rng.normal(size=[1, 1]))
    with pytest.raises(LoDError, match="equally many sequences"):
        f.match_matrix_tensor(row, zeros([2]), rng.normal(size=[1, 1, 1]))
    with pytest.raises(LoDError, match="height"):
        f.sequence_topk_avg_pooling(value, row, zeros([2, 3]), topks=[1], channel_num=1)


@pytest.mark.parametrize(
    "error, message, type, attrs, shapes",
    [
        (
            ShapeError,
            "W of shape",
            "match_matrix_tensor",
            {},
            dict(X=(4, 2), Y=(4, 3), W=(2, 1, 2)),
        ),
        (
            AttributeValueError,
            "at least 1",
            "var_conv_2d",
            dict(KernelH=0),
            dict(X=(4, 1), ROW=(2, 1), COLUMN=(2, 1), W=(1, 1)),
        ),
        (
            AttributeValueError,
            "topks",
            "sequence_topk_avg_pooling",
            dict(topks=[0], channel_num=1),
            dict(X=(4, 1), ROW=(2, 1), COLUMN=(2, 1)),
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(error, message, type, attrs, shapes):
    with pytest.raises(error, match=message):
        infer(type, attrs, **{slot: (shape, "float32") for slot, shape in shapes.items()})
