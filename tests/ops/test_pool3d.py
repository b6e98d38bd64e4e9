"""Pooling of volumes against loops over the windows."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
X = np.random.default_rng(0).normal(size=[2, 3, 5, 4, 6])

#: attributes, ranges along each dimension; those reach beyond the volume
WINDOWS = [
    (
        dict(ksize=[2, 3, 2], strides=[2, 1, 3]),
        [[(0, 2), (2, 4)], [(0, 3), (1, 4)], [(0, 2), (3, 5)]],
    ),
    (
        dict(ksize=[3, 2, 4], strides=[2, 2, 4], paddings=[1, 0, 1]),
        [[(-1, 2), (1, 4), (3, 6)], [(0, 2), (2, 4)], [(-1, 3), (3, 7)]],
    ),
    (dict(ksize=[1, 1, 1], global_pooling=True), [[(0, 5)], [(0, 4)], [(0, 6)]]),
    (dict(ksize=[2, 3, 1], adaptive=True), [[(0, 3), (2, 5)], [(0, 2), (1, 3), (2, 4)], [(0, 6)]]),
]


def by_loops(x, ranges, reduce):
    out = np.empty((*x.shape[:2], *map(len, ranges)))
    for n, c, *place in np.ndindex(out.shape):
        cut = [r[i] for r, i in zip(ranges, place)]
        part = x[(n, c, *(slice(max(begin, 0), end) for begin, end in cut))]
        out[(n, c, *place)] = reduce(part)
    return out


@pytest.mark.parametrize("attrs, ranges", WINDOWS)
@pytest.mark.parametrize("pooling_type, reduce", [("max", np.max), ("avg", np.mean)])
def test_pooling_reduces_each_window(attrs, ranges, pooling_type, reduce):
    expected = by_loops(X, ranges, reduce)
    attrs = dict(attrs, pooling_type=pooling_type)
    np.testing.assert_allclose(f.pool3d(X, **attrs), expected)
    last = f.pool3d(X.transpose(0, 2, 3, 4, 1), data_format="NDHWC", **attrs)
    np.testing.assert_allclose(last, expected.transpose(0, 2, 3, 4, 1))


@pytest.mark.parametrize("attrs, ranges", WINDOWS)
def test_positions_are_those_of_the_maxima(attrs, ranges):
    found = X.ravel()[f.pool3d_positions(X, **attrs)]
    np.testing.assert_array_equal(found, by_loops(X, ranges, np.max))


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "expected X to have 5 dimensions", dict(shape=(-1, 3, 8, 9))),
        (AttributeValueError, "ksize of 3 numbers from 1, got [2, 2]", dict(ksize=[2, 2])),
        (AttributeValueError, "NCDHW or NDHWC, got 'NCHW'", dict(data_format="NCHW")),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    attrs = dict(dict(ksize=[2, 2, 2], pooling_type="max"), **given)
    shape = attrs.pop("shape", (-1, 3, 8, 9, 7))
    with pytest.raises(error) as raised:
        infer("pool3d", attrs, X=(shape, "float32"))
    assert message in str(raised.value)
