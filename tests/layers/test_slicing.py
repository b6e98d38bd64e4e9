"""Parts of a variable, and room around it."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError, ShapeError

from building import data, refused, run, written

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def cube():
    return data(shape=[2, 3, 4])


def test_slice_takes_what_lies_between_bounds():
    out = layers.slice(cube(), [0, 2], [1, -3], [2, 100])
    assert out.shape == (1, 3, 3)
    (line,) = written()
    assert line.startswith("slice_0.tmp_0 = slice(Input=x, axes=[0, 2], starts=[1, -3]")
    assert "infer_flags=[1, 1]" in line
    assert np.array_equal(run(out, x=X), X[1:2, :, -3:])


def test_bounds_may_be_variables():
    x, n, s = cube(), data("n", [1], "int32"), data("s", [2], "int32")
    some = layers.slice(x, [0, 1], [n, 0], [2, n])
    whole = layers.slice(x, [0, 1], [0, 1], s)
    assert some.name == "slice_0.tmp_2"
    line = written()[2]
    for part in (
        "StartsTensorList=[n, slice_0.tmp_0]",
        "EndsTensorList=[slice_0.tmp_1, n]",
        "starts=[-1, 0]",
        "ends=[2, -1]",
        "infer_flags=[-1, -1]",
    ):
        assert part in line
    assert "EndsTensor=s" in written()[3]
    found = run(some, whole, x=X, n=np.array([1], "int32"), s=np.array([1, 3], "int32"))
    assert np.array_equal(found[0], X[1:2, 0:1])
    assert np.array_equal(found[1], X[0:1, 1:3])


def test_there_is_a_bound_for_each_dimension():
    x = cube()
    with refused(ArgumentError, r"expected one of ends for each of axes=\[0, 1\], got 1"):
        layers.slice(x, [0, 1], [0, 0], [1])


def test_a_bound_is_an_integer():
    x = cube()
    with refused(ArgumentError, "expected starts to hold integers, or variables.*got 0.5"):
        layers.slice(x, [0], [0.5], [1])
    with refused(DTypeError, "expected ends to be given by integers, got 'x' of float32"):
        layers.slice(x, [0], [0], [x])


def test_a_dimension_to_slice_is_there():
    x = cube()
    with refused(ValueError, r"(?s)3.*x float32\[2, 3, 4\]"):
        layers.slice(x, [3], [0], [1])


def test_strided_slice_takes_every_other_element():
    out = layers.strided_slice(cube(), [1, 2], [0, 3], [3, 0], [2, -2])
    assert out.name == "strided_slice_0.tmp_0"
    assert np.array_equal(run(out, x=X), X[:, 0:3:2, 3:0:-2])


def test_strides_may_be_variables():
    x, n = cube(), data("n", [1], "int32")
    out = layers.strided_slice(x, [2], [0], [4], [n])
    assert "StridesTensorList" in written()[-1]
    assert np.array_equal(run(out, x=X, n=np.array([3], "int32")), X[:, :, ::3])


def test_crop_takes_a_shape():
    x, y = cube(), data("y", [1, 2, 2])
    plain = layers.crop(x, [1, 2, 2])
    moved = layers.crop(x, (1, 2, 2), offsets=[1, 1, 0], name="c")
    like = layers.crop(x, y)
    assert [v.name for v in (plain, moved, like)] == ["crop_0.tmp_0", "c.tmp_0", "crop_1.tmp_0"]
    assert "Y=y" in written()[2]
    found = run(plain, moved, like, x=X, y=np.zeros([1, 2, 2], "float32"))
    assert np.array_equal(found[0], X[:1, :2, :2])
    assert np.array_equal(found[1], X[1:, 1:, :2])
    assert np.array_equal(found[2], X[:1, :2, :2])


def test_crop_takes_offsets_that_are_a_variable():
    x, s = cube(), data("s", [3], "int32")
    out = layers.crop(x, [1, 2, 2], offsets=s)
    assert np.array_equal(run(out, x=X, s=np.array([1, 0, 2], "int32")), X[1:, :2, 2:])


@pytest.mark.parametrize("crop", [layers.crop, layers.crop_tensor])
def test_crop_needs_a_shape(crop):
    x = cube()
    with refused(ArgumentError, "expected the shape of the part to crop, got None"):
        crop(x)


def test_crop_tensor_takes_sizes_and_offsets_that_are_variables():
    x, n, s = cube(), data("n", [1], "int32"), data("s", [3], "int32")
    some = layers.crop_tensor(x, [n, n, -1], [n, 0, n])
    whole = layers.crop_tensor(x, s, offsets=s)
    assert some.name == "crop_tensor_0.tmp_0"
    line = written()[2]
    for part in ("offsets=[-1, 0, -1]", "shape=[0, 0, -1]"):
        assert part in line
    assert whole.shape == (-1, -1, -1)
    found = run(some, whole, x=X, n=np.array([1], "int32"), s=np.array([1, 1, 2], "int32"))
    assert np.array_equal(found[0], X[1:2, 0:1, 1:])
    assert np.array_equal(found[1], X[1:2, 1:2, 2:4])


def test_pad_puts_room_around():
    out = layers.pad(cube(), [0, 1, 1, 0, 2, 2], pad_value=1.5)
    assert out.shape == (3, 4, 8)
    wanted = np.pad(X, [(0, 1), (1, 0), (2, 2)], constant_values=1.5)
    assert np.array_equal(run(out, x=X), wanted)


def test_pad_has_two_sizes_for_each_dimension():
    x = cube()
    with refused(ShapeError, r"(?s)x float32\[2, 3, 4\]"):
        layers.pad(x, [1, 1])


@pytest.mark.parametrize(
    "mode, numpys", [("constant", "constant"), ("reflect", "reflect"), ("edge", "edge")]
)
def test_pad2d_has_three_modes(mode, numpys):
    images = data(shape=[None, 2, 3, 4])
    out = layers.pad2d(images, [1, 2, 0, 3], mode=mode)
    assert out.shape == (-1, 2, 6, 7)
    value = X[None]
    wanted = np.pad(value, [(0, 0), (0, 0), (1, 2), (0, 3)], mode=numpys)
    assert np.array_equal(run(out, x=value), wanted)


def test_pad2d_refuses_another_mode():
    images = data(shape=[None, 2, 3, 4])
    with refused(ArgumentError, "expected mode 'constant', 'reflect' or 'edge', got 'wrap'"):
        layers.pad2d(images, [1, 1, 1, 1], mode="wrap")


def test_pad2d_takes_sizes_that_are_a_variable():
    images, s = data(shape=[None, 2, 3, 4]), data("s", [4], "int32")
    out = layers.pad2d(images, s)
    assert run(out, x=X[None], s=np.array([1, 0, 0, 2], "int32")).shape == (1, 2, 4, 6)


def test_pad_constant_like_makes_as_large_as_another():
    x, y = cube(), data("y", [1, 3, 2])
    out = layers.pad_constant_like(x, y, pad_value=7)
    assert out.shape == (2, 3, 4)
    found = run(out, x=X, y=X[:1, :, :2])
    assert np.array_equal(found[:1, :, :2], X[:1, :, :2])
    assert (found[1:] == 7).all()
