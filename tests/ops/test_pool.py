"""Pooling against loops over the windows."""

import functools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 7, 6])


def by_loops(x, rows, columns, reduce):
    """Pooling of NCHW images over ranges of rows and columns; those reach beyond the image."""
    out = np.empty((*x.shape[:2], len(rows), len(columns)))
    for n, c, i, j in np.ndindex(out.shape):
        (top, bottom), (left, right) = rows[i], columns[j]
        part = x[n, c, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
        out[n, c, i, j] = reduce(part)
    return out


#: attributes, ranges of rows, ranges of columns
WINDOWS = [
    (dict(ksize=[3, 2], strides=[2, 3]), [(0, 3), (2, 5), (4, 7)], [(0, 2), (3, 5)]),
    (
        dict(ksize=[3, 2], strides=[3, 2], paddings=[1, 1]),
        [(-1, 2), (2, 5), (5, 8)],
        [(-1, 1), (1, 3), (3, 5), (5, 7)],
    ),
    (
        dict(ksize=[4, 4], strides=[4, 4], paddings=[1, 0, 0, 2]),
        [(-1, 3), (3, 7)],
        [(0, 4), (4, 8)],
    ),
    (
        dict(ksize=[2, 3], strides=[2, 2], ceil_mode=True),
        [(0, 2), (2, 4), (4, 6), (6, 8)],
        [(0, 3), (2, 5), (4, 7)],
    ),
    (dict(ksize=[1, 1], strides=[3, 3], global_pooling=True, paddings=[1, 1]), [(0, 7)], [(0, 6)]),
    # the bounds are i * 7 / 3 and j * 6 / 4, rounded outwards
    (dict(ksize=[3, 4], adaptive=True), [(0, 3), (2, 5), (4, 7)], [(0, 2), (1, 3), (3, 5), (4, 6)]),
    (dict(ksize=[7, 3], adaptive=True), [(i, i + 1) for i in range(7)], [(0, 2), (2, 4), (4, 6)]),
    (
        dict(ksize=[3, 3], strides=[2, 2], padding_algorithm="SAME"),
        [(-1, 2), (1, 4), (3, 6), (5, 8)],
        [(0, 3), (2, 5), (4, 7)],
    ),
    (
        dict(ksize=[3, 3], strides=[2, 2], padding_algorithm="VALID", paddings=[1, 1]),
        [(0, 3), (2, 5), (4, 7)],
        [(0, 3), (2, 5)],
    ),
]


@pytest.mark.parametrize("attrs, rows, columns", WINDOWS)
@pytest.mark.parametrize("pooling_type, reduce", [("max", np.max), ("avg", np.mean)])
def test_pooling_reduces_each_window(attrs, rows, columns, pooling_type, reduce):
    expected = by_loops(X, rows, columns, reduce)
    attrs = dict(attrs, pooling_type=pooling_type)
    np.testing.assert_allclose(f.pool2d(X, **attrs), expected)
    last = f.pool2d(X.transpose(0, 2, 3, 1), data_format="NHWC", **attrs)
    np.testing.assert_allclose(last, expected.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("attrs, rows, columns", WINDOWS)
def test_positions_are_those_of_the_maxima(attrs, rows, columns):
    positions = f.pool2d_positions(X, **attrs)
    np.testing.assert_array_equal(X.ravel()[positions], by_loops(X, rows, columns, np.max))
    last = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    found = last.ravel()[f.pool2d_positions(last, data_format="NHWC", **attrs)]
    np.testing.assert_array_equal(found, by_loops(X, rows, columns, np.max).transpose(0, 2, 3, 1))


def test_averages_count_padding_unless_exclusive():
    x = np.arange(1.0, 5).reshape(1, 1, 1, 4)
    attrs = dict(ksize=[1, 3], strides=[1, 2], paddings=[0, 1], pooling_type="avg", ceil_mode=True)
    np.testing.assert_allclose(f.pool2d(x, **attrs).ravel(), [1.5, 3, 4])
    np.testing.assert_allclose(f.pool2d(x, exclusive=False, **attrs).ravel(), [1, 3, 4 / 3])


#: attributes; the averages of 6 ones, along one dimension, in paddle 2.6.2
CLIPPED = [
    (dict(ksize=3, strides=2, paddings=[1, 1], ceil_mode=True), [2 / 3, 1, 1, 1 / 2]),
    (dict(ksize=3, strides=2, paddings=[0, 0], ceil_mode=True), [1, 1, 1]),
    (dict(ksize=3, strides=2, paddings=[0, 1]), [1, 1, 1]),
    (dict(ksize=3, strides=2, paddings=[1, 0]), [2 / 3, 1, 1]),
    (dict(ksize=3, strides=3, paddings=[2, 0], ceil_mode=True), [1 / 3, 1, 2 / 3]),
    (dict(ksize=3, strides=2, padding_algorithm="SAME"), [1, 1, 1]),
    (dict(ksize=1, strides=3, ceil_mode=True), [1, 1, np.nan]),
]


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("attrs, along", CLIPPED)
def test_averages_of_paddle_2_count_as_much_padding_behind_as_before(attrs, along, rank):
    attrs = dict(attrs, ksize=[attrs["ksize"]] * rank, strides=[attrs["strides"]] * rank)
    attrs["paddings"] = attrs.get("paddings", [0, 0]) * rank
    geometry = dict(pooling_type="avg", exclusive=False, clips=True)
    pool = f.pool2d if rank == 2 else f.pool3d
    with np.errstate(invalid="ignore"):  # one divides no elements by their number
        found = pool(np.ones([1, 1, *[6] * rank]), **geometry, **attrs)
    expected = functools.reduce(np.multiply.outer, [along] * rank)
    np.testing.assert_allclose(found[0, 0], expected)


@pytest.mark.parametrize("ksize, strides", [([5, 5], [3, 3]), ([4, 2], [2, 2])])
def test_a_window_larger_than_the_image_is_clipped_where_it_reaches_beyond_by_less_than_a_step(
    ksize, strides
):
    x = rng.normal(size=[2, 3, 3, 4])
    geometry = dict(ksize=ksize, strides=strides)
    columns = [(0, 4)] if ksize[1] > 4 else [(0, 2), (2, 4)]
    for type, reduce in (("max", np.max), ("avg", np.mean)):
        found = f.pool2d(x, pooling_type=type, **geometry)
        np.testing.assert_allclose(found, by_loops(x, [(0, 3)], columns, reduce))
    total = by_loops(x, [(0, 3)], columns, np.sum)
    found = f.pool2d(x, pooling_type="avg", exclusive=False, **geometry)
    np.testing.assert_allclose(found, total / np.prod(ksize))
    largest, mask = f.max_pool2d_with_index(x, **geometry)
    np.testing.assert_array_equal(
        np.take_along_axis(x.reshape(2, 3, 12), mask.reshape(2, 3, -1), 2).ravel(), largest.ravel()
    )
    volume = f.pool3d(x[:, None], pooling_type="max", ksize=[4, *ksize], strides=[2, *strides])
    np.testing.assert_allclose(volume[:, 0, 0], largest.max(axis=1))


def test_a_window_that_reaches_beyond_the_image_by_a_step_is_refused():
    with pytest.raises(ShapeError, match="a window of 5 does not fit into 3 elements"):
        infer(
            "pool2d",
            dict(pooling_type="max", ksize=[5, 1], strides=[2, 1]),
            X=((1, 1, 3, 4), "float32"),
        )


#: windows of an image of 5 by 4 of which some lie in the padding alone: attributes, the ranges of
#: rows and of columns
BEYOND = [
    (
        dict(ksize=[2, 1], strides=[4, 3], paddings=[1, 0], ceil_mode=True),
        [(-1, 1), (3, 5), (7, 9)],
        [(0, 1), (3, 4)],
    ),
    (
        dict(ksize=[1, 2], strides=[1, 1], paddings=[2, 0, 0, 3]),
        [(k, k + 1) for k in range(-2, 5)],
        [(k, k + 2) for k in range(6)],
    ),
    (dict(ksize=[1, 1], strides=[3, 7], paddings=[2, 1]), [(-2, -1), (1, 2), (4, 5)], [(-1, 0)]),
    # below zero: the image is cut
    (dict(ksize=[2, 2], strides=[1, 2], paddings=[-1, 0]), [(1, 3), (2, 4)], [(0, 2), (2, 4)]),
    (
        dict(ksize=[2, 1], paddings=[0, -2, -1, 1]),
        [(0, 2), (1, 3)],
        [(k, k + 1) for k in (1, 2, 3, 4)],
    ),
]


@pytest.mark.parametrize("attrs, rows, columns", BEYOND)
@pytest.mark.parametrize("rank", [2, 3])
def test_a_window_in_the_padding_alone_has_the_least_number_and_no_mean(attrs, rows, columns, rank):
    x = rng.normal(size=[2, 3, 5, 4])
    pool = f.pool2d
    if rank == 3:  # with a depth of 1
        front = {"paddings": [0, 0]} if len(attrs.get("paddings", ())) == 4 else {"paddings": [0]}
        deep = {n: [1, *v] for n, v in attrs.items() if isinstance(v, list)}
        deep["paddings"] = [*front["paddings"], *attrs["paddings"]]
        attrs = attrs | deep
        pool = lambda x, **given: f.pool3d(x[:, :, None], **given)[:, :, 0]
    least = float(np.finfo("float32").min)
    found = pool(x, pooling_type="max", **attrs)
    largest = lambda part: part.max(initial=least)
    np.testing.assert_array_equal(found, by_loops(x, rows, columns, largest))
    found = pool(x, pooling_type="avg", exclusive=False, **attrs)
    area = np.prod(attrs["ksize"])
    np.testing.assert_allclose(found, by_loops(x, rows, columns, np.sum) / area)
    with np.errstate(all="ignore"):
        found = pool(x, pooling_type="avg", **attrs)
    mean = lambda part: part.mean() if part.size else 0.0  # or NaN where it touches the image
    np.testing.assert_allclose(np.nan_to_num(found), by_loops(x, rows, columns, mean))


@pytest.mark.parametrize("attrs, rows, columns", BEYOND)
@pytest.mark.parametrize("given", [dict(pooling_type="max"), dict(pooling_type="avg")])
def test_nothing_flows_back_from_a_window_in_the_padding_alone(attrs, rows, columns, given):
    x = rng.normal(size=[2, 3, 5, 4])
    pool = lambda f, x: f.pool2d(x, **given, **attrs)
    seen = by_loops(x, rows, columns, np.size) > 0
    cotangent = rng.normal(size=seen.shape)
    wanted = np.zeros_like(x)
    for n, c, i, j in np.argwhere(seen):
        (top, bottom), (left, right) = rows[i], columns[j]
        place = (n, c, slice(max(top, 0), bottom), slice(max(left, 0), right))
        part = x[place]
        share = part == part.max() if given["pooling_type"] == "max" else 1 / part.size
        wanted[place] += share * cotangent[n, c, i, j]
    with np.errstate(all="ignore"):
        (gradient,) = pull_back(f, pool, [x], [cotangent])
    np.testing.assert_allclose(gradient, wanted)


@pytest.mark.parametrize("attrs, rows, columns", BEYOND)
@pytest.mark.parametrize("pooling_type", ["max", "avg"])
def test_windows_in_the_padding_alone_are_the_same_in_compiled_plans(
    attrs, rows, columns, pooling_type
):
    block = fluid.default_main_program().global_block()
    x = fluid.data("x", [2, 3, 5, 4])
    x.stop_gradient = False
    out = block.create_var(name="out", dtype="float32")
    attrs = dict(attrs, pooling_type=pooling_type, exclusive=False)
    block.append_op("pool2d", {"X": x}, {"Out": out}, attrs)
    (gradient,) = fluid.gradients(fluid.layers.reduce_sum(out * 1e-30), [x])
    exe, feed = fluid.Executor(), {"x": rng.normal(size=[2, 3, 5, 4]).astype("float32")}
    first, *later = (exe.run(feed=feed, fetch_list=[out, gradient]) for _ in range(3))
    for each in later:
        for found, wanted in zip(each, first, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_the_place_of_a_maximum_needs_windows_with_elements():
    with pytest.raises(ShapeError, match="expected windows with elements, got some of"):
        f.max_pool2d_with_index(X, ksize=[1, 1], paddings=[1, 1])


def test_gradient_of_a_tie_goes_to_the_first_by_rows():
    x = np.zeros([1, 1, 4, 4])
    x[0, 0, 0, 1] = x[0, 0, 1, 0] = 1
    pool = lambda f, x: f.pool2d(x, pooling_type="max", ksize=[2, 2], strides=[2, 2])
    (gradient,) = pull_back(f, pool, [x], [np.arange(1.0, 5).reshape(1, 1, 2, 2)])
    expected = [[0, 1, 2, 0], [0, 0, 0, 0], [3, 0, 4, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(gradient[0, 0], expected)


def test_gradient_adds_up_where_windows_share_their_maximum():
    x = np.array([1.0, 3, 2]).reshape(1, 1, 1, 3)
    pool = lambda f, x: f.pool2d(x, pooling_type="max", ksize=[1, 2])
    (gradient,) = pull_back(f, pool, [x], [np.array([5.0, 7]).reshape(1, 1, 1, 2)])
    np.testing.assert_array_equal(gradient.ravel(), [0, 12, 0])


def test_gradient_stays_in_the_image_where_all_of_a_window_is_as_low_as_can_be():
    x = np.full([1, 1, 2, 2], -np.inf)
    positions = f.pool2d_positions(x, ksize=[2, 2], paddings=[1, 1])
    np.testing.assert_array_equal(positions.ravel(), [0, 0, 1, 0, 0, 1, 2, 2, 3])


def test_windows_may_be_large():
    x = rng.normal(size=[1, 2, 40, 34])
    attrs = dict(ksize=[20, 17], strides=[20, 17])
    rows, columns = [(0, 20), (20, 40)], [(0, 17), (17, 34)]
    expected = by_loops(x, rows, columns, np.max)
    np.testing.assert_array_equal(f.pool2d(x, pooling_type="max", **attrs), expected)
    np.testing.assert_array_equal(x.ravel()[f.pool2d_positions(x, **attrs)], expected)


def test_elements_are_taken_and_put_by_their_position():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(f.take_elements(x, np.array([[5], [0]])), [[5], [0]])
    put = f.put_elements(np.array([1.0, 2, 4]), np.array([3, 1, 3]), size=[2, 2])
    np.testing.assert_array_equal(put, [[0, 2], [0, 5]])
    with pytest.raises(OutOfRangeError, match=r"expected a position in \[0, 6\), got 6"):
        f.take_elements(x, np.array([6]))


def pool_spec(shape=(-1, 3, 8, 9), dtype="float32", **attrs):
    attrs = dict(dict(ksize=[2, 2], pooling_type="max"), **attrs)
    return infer("pool2d", attrs, X=(shape, dtype))["Out"].shape


def test_unknown_sizes_stay_unknown():
    assert pool_spec() == (-1, 3, 7, 8)
    assert pool_spec((-1, 3, -1, 9), strides=[2, 2]) == (-1, 3, -1, 4)
    assert pool_spec((-1, 3, -1, 9), global_pooling=True) == (-1, 3, 1, 1)
    assert pool_spec((-1, -1, 9, 3), adaptive=True, data_format="NHWC") == (-1, 2, 2, 3)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (AttributeValueError, "pooling_type max or avg, got 'median'", dict(pooling_type="median")),
        (ShapeError, "expected X to have 4 dimensions, got shape [-1, 8]", dict(shape=(-1, 8))),
        (DTypeError, "expected X to be float16, float32 or float64", dict(dtype="int64")),
        (AttributeValueError, "ksize of 2 numbers from 1, got [2]", dict(ksize=[2])),
        (AttributeValueError, "strides of 2 numbers from 1, got [0, 1]", dict(strides=[0, 1])),
        (AttributeValueError, "NCHW or NHWC, got 'HWCN'", dict(data_format="HWCN")),
        (ShapeError, "a window of 9 does not fit into 8", dict(ksize=[9, 1])),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    with pytest.raises(error) as raised:
        pool_spec(**given)
    assert message in str(raised.value)
