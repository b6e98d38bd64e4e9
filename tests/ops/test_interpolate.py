"""Images in another size against loops over every new element."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
X = np.random.default_rng(0).normal(size=[2, 3, 4, 5])


def place(i, old, new, corners, mode):
    """Where new element ``i`` lies among the old ones."""
    if corners:
        return i * (old - 1) / (new - 1) if new > 1 else 0.0
    step = old / new if new > 1 else 0.0
    return step * (i + 0.5) - 0.5 if mode == 0 else step * i


def linear(row, at):
    at = max(at, 0.0)
    low = int(at)
    high = min(low + 1, len(row) - 1)
    return row[low] * (1 - (at - low)) + row[high] * (at - low)


def nearest(row, at):
    return row[int(at)]


def cubic(row, at):
    low, total = int(np.floor(at)), 0.0
    for k in (-1, 0, 1, 2):
        d = abs(at - low - k)
        weight = 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3
        total += weight * row[min(max(low + k, 0), len(row) - 1)]
    return total


def by_loops(x, axis, new, value, where):
    """Rows along an axis in another size."""
    rows = np.moveaxis(x, axis, -1)
    out = np.empty((*rows.shape[:-1], new))
    for index in np.ndindex(rows.shape[:-1]):
        out[index] = [value(rows[index], where(i, rows.shape[-1])) for i in range(new)]
    return np.moveaxis(out, -1, axis)


MODES = [(True, 1), (False, 0), (False, 1)]


@pytest.mark.parametrize("corners, mode", MODES)
@pytest.mark.parametrize("size", [(6, 3), (4, 9), (1, 2)])
def test_linear_and_cubic_sums_of_neighbours(corners, mode, size):
    attrs = dict(out_h=size[0], out_w=size[1], align_corners=corners, align_mode=mode)
    for type, value, kind in (("bilinear", linear, mode), ("bicubic", cubic, 0)):
        expected = X
        for axis, new in zip((2, 3), size):
            where = lambda i, old, new=new, kind=kind: place(i, old, new, corners, kind)
            expected = by_loops(expected, axis, new, value, where)
        found = getattr(f, f"{type}_interp")(X, **attrs)
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)  # steps have single precision
        last = X.transpose(0, 2, 3, 1)
        found = getattr(f, f"{type}_interp")(last, data_layout="NHWC", **attrs)
        np.testing.assert_allclose(found, expected.transpose(0, 2, 3, 1), 1e-5, 1e-6)


@pytest.mark.parametrize("corners", [True, False])
def test_nearest_neighbours(corners):
    expected = X
    for axis, new in ((2, 7), (3, 3)):
        where = lambda i, old, new=new: place(i, old, new, corners, 1) + 0.5 * corners
        expected = by_loops(expected, axis, new, nearest, where)
    found = f.nearest_interp(X, out_h=7, out_w=3, align_corners=corners)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("corners, mode", MODES)
def test_volumes_are_linear_in_three_dimensions(corners, mode):
    x = X[None]
    expected = x
    for axis, new in ((2, 2), (3, 6), (4, 3)):
        where = lambda i, old, new=new: place(i, old, new, corners, mode)
        expected = by_loops(expected, axis, new, linear, where)
    attrs = dict(out_d=2, out_h=6, out_w=3, align_corners=corners, align_mode=mode)
    np.testing.assert_allclose(f.trilinear_interp(x, **attrs), expected, 1e-5, 1e-6)


def test_sizes_come_from_the_first_that_is_given():
    attrs, size = dict(out_h=3, out_w=3, scale=2.0), lambda *n: [np.array([k]) for k in n]
    shape = lambda **given: f.nearest_interp(X, **given, **attrs).shape[2:]
    assert shape() == (8, 10)
    assert shape(Scale=np.array([1.5])) == (6, 7)
    assert shape(Scale=np.array([1.5]), OutSize=np.array([2, 9])) == (2, 9)
    assert shape(OutSize=np.array([2, 9]), SizeTensor=size(1, 4)) == (1, 4)


def interp_spec(shape=(-1, 3, 4, 5), type="bilinear_interp", inputs=(), **attrs):
    return infer(type, attrs, X=(shape, "float32"), **dict(inputs))["Out"].shape


def test_unknown_sizes_stay_unknown():
    assert interp_spec(out_h=6, out_w=7) == (-1, 3, 6, 7)
    assert interp_spec((-1, 3, -1, 5), scale=1.5) == (-1, 3, -1, 7)
    size = dict(OutSize=((2,), "int32"))
    assert interp_spec(out_h=6, out_w=7, inputs=size) == (-1, 3, -1, -1)
    sizes = dict(SizeTensor=[((1,), "int32"), ((1,), "int32")])
    assert interp_spec(out_h=-1, out_w=7, inputs=sizes) == (-1, 3, -1, 7)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "expected X to have 4 dimensions", dict(shape=(3, 4, 5))),
        (AttributeValueError, "sizes of at least 1, got out_h=0, out_w=7", dict(out_w=7)),
        (AttributeValueError, "sizes of at least 1", dict(scale=0.1)),
        (AttributeValueError, "align_mode 0 or 1, got 2", dict(out_h=2, out_w=2, align_mode=2)),
        (AttributeValueError, "got 'HWC'", dict(out_h=2, out_w=2, data_layout="HWC")),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    with pytest.raises(error) as raised:
        interp_spec(**given)
    assert message in str(raised.value)


def test_sizes_in_tensors_are_checked_when_they_are_there():
    with pytest.raises(AttributeValueError, match="expected 2 sizes of at least 1, got"):
        f.nearest_interp(X, OutSize=np.array([0, 2]))


@pytest.mark.parametrize("type", ["nearest_interp", "bilinear_interp", "trilinear_interp"])
def test_images_of_bytes_lose_what_is_behind_the_point(type):
    shape = (2, 2, 3, 4, 5) if type == "trilinear_interp" else (2, 2, 4, 5)
    x = np.random.default_rng(0).integers(0, 256, shape).astype("uint8")
    sizes = dict(out_d=5) if len(shape) == 5 else {}
    for how in (dict(align_corners=True), dict(align_corners=False, align_mode=0)):
        found = getattr(f, type)(x, out_h=7, out_w=9, **sizes, **how)
        assert found.dtype == "uint8"
        exact = getattr(f, type)(x.astype("float64"), out_h=7, out_w=9, **sizes, **how)
        beside = np.floor(exact + 1e-3) - np.floor(exact - 1e-3)  # whole numbers may go either way
        assert (np.abs(found - np.floor(exact + 1e-3)) <= beside).all()


def test_bytes_between_bytes_are_those_of_fluid():
    x = np.array([[[[111, 83, 238], [50, 31, 254], [201, 99, 245]]]], "uint8")
    found = f.bilinear_interp(x, out_h=2, out_w=2, align_corners=False, align_mode=0)
    np.testing.assert_array_equal(found[0, 0], [[89, 199], [142, 205]])
