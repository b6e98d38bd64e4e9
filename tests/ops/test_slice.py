"""Parts of a tensor and elements in reverse order, against Python's own slices of lists."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[4, 5, 3])


def by_lists(x, cuts):
    """``x`` cut along its first dimensions by (start, end, stride)."""
    picked = [list(range(n)) for n in x.shape]
    for axis, (start, end, stride) in cuts.items():
        picked[axis] = picked[axis][start:end:stride]
    values = [x[place] for place in itertools.product(*picked)]
    return np.array(values).reshape([len(one) for one in picked]), picked


CUTS = [
    {0: (1, 3, 1)},
    {0: (1, 3, 1), 2: (-2, -1, 1)},
    {1: (2, 10000000, 1)},
    {1: (-100, 2, 1)},
    {0: (0, 4, 2), 1: (1, 5, 3)},
    {0: (3, 0, -2), 1: (-1, -6, -1)},
    {1: (10000000, -10000000, -1)},
    {2: (2, 0, -5)},
]


def attributes(cuts):
    starts, ends, strides = (list(column) for column in zip(*cuts.values()))
    return dict(axes=list(cuts), starts=starts, ends=ends), dict(strides=strides)


@pytest.mark.parametrize("cuts", CUTS)
def test_slices_take_what_slices_of_lists_take(cuts):
    expected, _ = by_lists(X, cuts)
    bounds, strides = attributes(cuts)
    np.testing.assert_array_equal(f.strided_slice(X, **bounds, **strides), expected)
    found = infer("strided_slice", dict(bounds, **strides), Input=(X.shape, "float64"))["Out"]
    assert found.shape == expected.shape
    if set(strides["strides"]) == {1}:
        np.testing.assert_array_equal(f.slice(X, **bounds), expected)
        found = infer("slice", bounds, Input=(X.shape, "float64"))["Out"]
        assert found.shape == expected.shape


@pytest.mark.parametrize("cuts", CUTS)
def test_bounds_in_tensors_go_before_the_attributes(cuts):
    expected, _ = by_lists(X, cuts)
    bounds, strides = attributes(cuts)
    all_bounds = dict(bounds, **strides)
    vectors = {
        f"{name.capitalize()}Tensor": np.array(all_bounds[name], np.int32)
        for name in ("starts", "ends", "strides")
    }
    lists = {f"{name}List": [n.reshape(1) for n in one] for name, one in vectors.items()}
    others = dict(axes=bounds["axes"], starts=[7] * len(cuts), ends=[9] * len(cuts))
    for given in (vectors, lists):
        found = f.strided_slice(X, **given, **others, strides=[9] * len(cuts))
        np.testing.assert_array_equal(found, expected)
        if set(strides["strides"]) == {1}:
            given = {name: one for name, one in given.items() if "Strides" not in name}
            np.testing.assert_array_equal(f.slice(X, **given, **others), expected)


@pytest.mark.parametrize("cuts", CUTS)
def test_gradient_goes_where_the_elements_came_from(cuts):
    taken, picked = by_lists(X, cuts)
    g, expected = rng.normal(size=taken.shape), np.zeros(X.shape)
    for place, value in zip(itertools.product(*picked), g.reshape(-1)):
        expected[place] = value
    bounds, strides = attributes(cuts)
    whole = dict(bounds, **strides)
    (found,) = pull_back(f, lambda f, x: f.strided_slice(x, **whole), [X], [g])
    np.testing.assert_array_equal(found, expected)
    if set(strides["strides"]) == {1}:
        (found,) = pull_back(f, lambda f, x: f.slice(x, **bounds), [X], [g])
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(f.strided_slice_adjoint(g, size=X.shape, **whole), expected)


@pytest.mark.parametrize("type", ["slice", "strided_slice"])
def test_items_lose_their_dimensions(type):
    take, more = getattr(f, type), {} if type == "slice" else dict(strides=[1, 1])
    attrs = dict(axes=[0, 2], starts=[2, -1], ends=[3, 9], decrease_axis=[0, 2], **more)
    np.testing.assert_array_equal(take(X, **attrs), X[2, :, -1])
    assert infer(type, attrs, Input=([-1, 5, 3], "float32"))["Out"].shape == (5,)
    more = {} if type == "slice" else dict(strides=[1])
    attrs = dict(axes=[0], starts=[2], ends=[3], decrease_axis=[0], **more)
    np.testing.assert_array_equal(take(X[:, 0, 0], **attrs), [X[2, 0, 0]])
    assert infer(type, attrs, Input=([4], "float32"))["Out"].shape == (1,)


def test_inferred_shape_of_a_slice_of_unknown_sizes():
    one = lambda attrs, **more: infer("slice", attrs, Input=([-1, 5], "float32"), **more)["Out"]
    assert one(dict(axes=[0, 1], starts=[1, 0], ends=[3, 4])).shape == (-1, 4)
    number = ([1], "int32")
    given = dict(StartsTensorList=[number] * 2, EndsTensorList=[number] * 2)
    attrs = dict(axes=[0, 1], starts=[-1, 1], ends=[-1, 3], infer_flags=[-1, 1])
    assert one(attrs, **given).shape == (-1, 2)
    assert one(dict(attrs, decrease_axis=[0]), **given).shape == (2,)
    assert one(dict(axes=[1], infer_flags=[1]), StartsTensor=number).shape == (-1, -1)


@pytest.mark.parametrize("start, end", [(2, 2), (4, 2), (5, 9), (-1, 1)])
def test_empty_slices_are_refused(start, end):
    attrs = dict(axes=[0], starts=[start], ends=[end])
    message = f"at least one element along axis 0, got start {start}, end {end} .* size 4"
    with pytest.raises(ShapeError, match=message):
        infer("slice", attrs, Input=([4, 5], "float32"))
    with pytest.raises(ShapeError, match=message):
        f.slice(X, **attrs)


def test_slices_refuse_what_does_not_fit():
    x = ([4, 5], "float32")
    with pytest.raises(ShapeError, match="one element along each of decrease_axis"):
        infer("slice", dict(axes=[0], starts=[1], ends=[3], decrease_axis=[0]), Input=x)
    with pytest.raises(AttributeValueError, match=r"for each of the axes \[0, 1\], got \[1\]"):
        infer("slice", dict(axes=[0, 1], starts=[1], ends=[3]), Input=x)
    with pytest.raises(ShapeError, match=r"axes in \[-2, 2\), got 2"):
        infer("slice", dict(axes=[2], starts=[1], ends=[3]), Input=x)
    with pytest.raises(AttributeValueError, match="strides other than 0"):
        infer("strided_slice", dict(axes=[0], starts=[1], ends=[3], strides=[0]), Input=x)
    bounds = dict(axes=[0], starts=[1], ends=[3], strides=[1], size=[4, 5])
    with pytest.raises(ShapeError, match=r"G of shape \[2, 5\], got \[3, 5\]"):
        infer("strided_slice_adjoint", bounds, G=([3, 5], "float32"))


def test_python_indices_run():
    x = fluid.data("x", [None, 5], "float32")
    fetches = [x[1], x[-1, 2], x[1:3, ::-2], x[..., 0]]
    value = rng.normal(size=[4, 5]).astype("float32")
    found = fluid.Executor().run(feed={"x": value}, fetch_list=fetches)
    expected = [value[1], value[-1, 2:3], value[1:3, ::-2], value[..., 0]]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_are_cut_are_no_sequences():
    x = fluid.layers.data("x", [5], "float32", lod_level=1)
    cut = lambda axis: x.block.builder("cut").slice(x, axes=[axis], starts=[0], ends=[2])
    assert (cut(0).lod_level, cut(1).lod_level) == (0, 1)


@pytest.mark.parametrize("type", ["crop", "crop_tensor"])
def test_crop_takes_a_part(type):
    crop = getattr(f, type)
    expected, _ = by_lists(X, {0: (1, 3, 1), 1: (2, 5, 1), 2: (0, 2, 1)})
    np.testing.assert_array_equal(crop(X, offsets=[1, 2, 0], shape=[2, 3, 2]), expected)
    np.testing.assert_array_equal(crop(X, offsets=[1, 2, 0], shape=[2, -1, 2]), expected)
    offsets = np.array([1, 2, 0])
    np.testing.assert_array_equal(crop(X, Offsets=offsets, shape=[2, 3, 2]), expected)
    np.testing.assert_array_equal(crop(X, shape=[2, 3, 2]), X[:2, :3, :2])


def test_shape_of_a_crop_may_be_that_of_another_tensor():
    found = f.crop(X, np.zeros([2, 3, 2]), offsets=[1, 2, 0], shape=[1, 1, 1])
    np.testing.assert_array_equal(found, X[1:3, 2:5, :2])
    found = infer("crop", X=([4, 5], "float32"), Y=([-1, 2], "float32"))["Out"]
    assert found.shape == (-1, 2)


def test_shape_and_offsets_of_a_crop_may_be_tensors():
    expected = X[1:3, 2:5, :2]
    np.testing.assert_array_equal(
        f.crop_tensor(X, np.array([2, -1, 2]), np.array([1, 2, 0])), expected
    )
    shape, offsets = ([np.array([n]) for n in some] for some in ([2, 3, 2], [1, 2, 0]))
    found = f.crop_tensor(X, ShapeTensor=shape, OffsetsTensor=offsets, shape=[9, 9, 9])
    np.testing.assert_array_equal(found, expected)
    x, number = ([4, 5], "float32"), ([1], "int32")
    found = infer("crop_tensor", dict(shape=[-1, 3]), X=x, ShapeTensor=[number] * 2)["Out"]
    assert found.shape == (-1, 3)
    found = infer("crop_tensor", dict(shape=[2, -1]), X=x, Offsets=([2], "int32"))["Out"]
    assert found.shape == (2, -1)
    found = infer("crop_tensor", X=x, Shape=([2], "int32"))["Out"]
    assert found.shape == (-1, -1)


@pytest.mark.parametrize("type", ["crop", "crop_tensor"])
def test_crop_refuses_to_reach_beyond_the_end(type):
    attrs = dict(offsets=[3, 0], shape=[2, 5])
    message = r"a part of X of shape \[4, 5\], got offsets \[3, 0\] and sizes \[2, 5\]"
    with pytest.raises(ShapeError, match=message):
        infer(type, attrs, X=([4, 5], "float32"))
    with pytest.raises(ShapeError, match=message):
        getattr(f, type)(X[..., 0], **attrs)
    with pytest.raises(ShapeError, match="an offset and a size for each dimension"):
        infer(type, dict(shape=[2]), X=([4, 5], "float32"))


@pytest.mark.parametrize("type, name", [("reverse", "axis"), ("flip", "dims")])
def test_reverse_turns_dimensions_round(type, name):
    turn = getattr(f, type)
    expected, _ = by_lists(X, {0: (None, None, -1), 2: (None, None, -1)})
    np.testing.assert_array_equal(turn(X, **{name: [0, -1]}), expected)
    np.testing.assert_array_equal(turn(X, **{name: [1]}), by_lists(X, {1: (None, None, -1)})[0])


@pytest.mark.parametrize("type, name", [("reverse", "axis"), ("flip", "dims")])
def test_reverse_refuses_dimensions_that_are_not_there(type, name):
    x = ([4, 5], "float32")
    with pytest.raises(ShapeError, match=rf"{name} in \[-2, 2\), got 2"):
        infer(type, {name: [2]}, X=x)
    with pytest.raises(AttributeValueError, match=f"{name} to name at least one dimension"):
        infer(type, {name: []}, X=x)
