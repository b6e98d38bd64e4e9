"""Other shapes and orders, element by element; and what their gradients read."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ShapeError
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec

from gradcheck import check_gradients, evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 4])
WITH_SHAPE_KEPT = {
    "reshape2": dict(shape=[6, 4]),
    "transpose2": dict(axis=[1, 2, 0]),
    "squeeze2": dict(axes=[-2]),
    "unsqueeze2": dict(axes=[1]),
    "flatten2": dict(axis=2),
}


def rows(values, *shape):
    """Numbers in a shape, filled row by row."""
    out, left = np.zeros(shape), iter(values)
    for place in np.ndindex(*shape):
        out[place] = next(left)
    return out


def in_order(x):
    """The elements of an array, row by row."""
    return [x[place] for place in np.ndindex(x.shape)]


@pytest.mark.parametrize("type", ["reshape", "reshape2"])
@pytest.mark.parametrize("shape", [[6, 4], [-1, 4], [2, 0, -1], [0, 0, 2, 2], [2, 1, 12], [24]])
def test_reshape_keeps_the_order_of_the_elements(type, shape):
    found = getattr(f, type)(X, shape=shape)
    sizes = {(2, 0, -1): [2, 3, -1], (0, 0, 2, 2): [2, 3, 2, 2]}.get(tuple(shape), shape)
    sizes = [n if n != -1 else -24 // np.prod(sizes) for n in sizes]
    assert list(found.shape) == sizes
    assert in_order(found) == in_order(X)


@pytest.mark.parametrize("type", ["reshape", "reshape2"])
def test_shapes_in_tensors_go_before_the_attribute(type):
    reshape = getattr(f, type)
    assert reshape(X, np.array([4, 6]), shape=[2, 12]).shape == (4, 6)
    sizes = [np.array([0]), np.array([-1])]
    assert reshape(X, np.array([4, 6]), sizes, shape=[24]).shape == (2, 12)


@pytest.mark.parametrize("type", ["reshape", "reshape2"])
def test_inferred_shape_of_a_reshape(type):
    one = lambda attrs, **more: infer(type, attrs, X=([-1, 3, 4], "float32"), **more)["Out"]
    assert one(dict(shape=[-1, 6])).shape == (-1, 6)
    assert one(dict(shape=[0, 12])).shape == (-1, 12)
    vector, number = ([2], "int32"), ([1], "int32")
    assert one(dict(shape=[2, 12]), Shape=vector).shape == (-1, -1)
    assert one({}, Shape=([-1], "int32")) is None
    assert one({}, ShapeTensor=[number, number]).shape == (-1, -1)
    assert one(dict(shape=[0, -1, 4]), ShapeTensor=[number] * 3).shape == (-1, -1, 4)


@pytest.mark.parametrize("shape", [[5, 5], [-1, 5], [-1, -1], [2, 3, 4, 0]])
def test_reshape_refuses_a_shape_of_another_size(shape):
    with pytest.raises(ShapeError, match="shape"):
        infer("reshape2", dict(shape=shape), X=([2, 3, 4], "float32"))
    with pytest.raises(ShapeError, match="shape"):
        f.reshape2(X, shape=shape)


@pytest.mark.parametrize("type", ["transpose", "transpose2"])
@pytest.mark.parametrize("axis", [[0, 1, 2], [2, 0, 1], [1, 2, 0], [-1, 1, -3]])
def test_transpose_moves_dimensions(type, axis):
    found = getattr(f, type)(X, axis=axis)
    for place in np.ndindex(X.shape):
        assert found[tuple(place[d] for d in axis)] == X[place]


@pytest.mark.parametrize("axis", [[0, 1], [0, 1, 1], [0, 1, 2, 3]])
def test_transpose_refuses_an_axis_that_is_no_order(axis):
    with pytest.raises(ShapeError, match="each of the 3 dimensions of X once"):
        infer("transpose2", dict(axis=axis), X=([2, 3, 4], "float32"))


@pytest.mark.parametrize("type", ["squeeze", "squeeze2"])
def test_squeeze_drops_dimensions(type):
    squeeze = getattr(f, type)
    x = rng.normal(size=[1, 3, 1, 2])
    np.testing.assert_array_equal(squeeze(x, axes=[0]), rows(in_order(x), 3, 1, 2))
    np.testing.assert_array_equal(squeeze(x, axes=[-2, 0]), rows(in_order(x), 3, 2))
    np.testing.assert_array_equal(squeeze(x), rows(in_order(x), 3, 2))
    assert squeeze(np.ones([1, 1])).shape == ()


@pytest.mark.parametrize("type", ["squeeze", "squeeze2"])
def test_squeeze_of_all_ones_has_derivatives(type):
    x = rng.normal(size=[1, 3, 1])
    for order in (1, 2):
        check_gradients(lambda f, x: getattr(f, type)(x), [x], order)


@pytest.mark.parametrize("type", ["squeeze", "squeeze2"])
def test_squeeze_takes_a_named_dimension_of_unknown_size_for_one(type):
    x = ([-1, 3, 1, 4], "float32")
    assert infer(type, dict(axes=[0, 2]), X=x)["Out"].shape == (3, 4)
    assert infer(type, {}, X=x)["Out"].shape == (-1, 3, 4)


def test_squeeze_refuses_another_size_than_one():
    with pytest.raises(ShapeError, match=r"size 1 along each of the axes \[1\].* \[1, 3\]"):
        infer("squeeze2", dict(axes=[1]), X=([1, 3], "float32"))
    with pytest.raises(ShapeError, match="size 1 along each of the axes"):
        f.squeeze(np.ones([2, 3]), axes=[0])
    with pytest.raises(ShapeError, match="axes in"):
        infer("squeeze", dict(axes=[2]), X=([1, 3], "float32"))


@pytest.mark.parametrize("type", ["unsqueeze", "unsqueeze2"])
@pytest.mark.parametrize(
    "axes, shape",
    [
        ([1], [3, 1, 4]),
        ([0, 3, 1], [1, 1, 3, 4, 1]),
        ([-1], [3, 4, 1]),
        ([-1, 0], [1, 3, 4, 1]),
        ([-2, -1], [3, 1, 4, 1]),
    ],
)
def test_unsqueeze_inserts_one_dimension_after_the_other(type, axes, shape):
    x, unsqueeze = rng.normal(size=[3, 4]), getattr(f, type)
    expected = rows(in_order(x), *shape)
    np.testing.assert_array_equal(unsqueeze(x, axes=axes), expected)
    np.testing.assert_array_equal(unsqueeze(x, np.array(axes), axes=[0]), expected)
    listed = [np.array([axis]) for axis in axes]
    np.testing.assert_array_equal(unsqueeze(x, AxesTensorList=listed), expected)


def test_unsqueeze_refuses_a_place_beyond_the_end():
    with pytest.raises(ShapeError, match=r"axes in \[-3, 3\), got 3"):
        infer("unsqueeze2", dict(axes=[3]), X=([3, 4], "float32"))


def test_unsqueeze_by_tensors_has_unknown_sizes():
    x, axes = ([3, 4], "float32"), ([2], "int32")
    assert infer("unsqueeze2", {}, X=x, AxesTensor=axes)["Out"].shape == (-1,) * 4
    assert infer("unsqueeze", {}, X=x, AxesTensor=([-1], "int32"))["Out"] is None


@pytest.mark.parametrize("type", ["flatten", "flatten2"])
def test_flatten_makes_a_matrix(type):
    for axis, shape in enumerate([(1, 24), (2, 12), (6, 4), (24, 1)]):
        found = getattr(f, type)(X, axis=axis)
        np.testing.assert_array_equal(found, rows(in_order(X), *shape))


def test_flatten_infers_what_is_known():
    x = ([-1, 3, 4], "float32")
    assert infer("flatten2", {}, X=x)["Out"].shape == (-1, 12)
    assert infer("flatten2", dict(axis=0), X=x)["Out"].shape == (1, -1)


@pytest.mark.parametrize("axis", [-1, 4])
def test_flatten_refuses_an_axis_outside_of_the_dimensions(axis):
    with pytest.raises(ShapeError, match=f"axis from 0 to 3, the dimensions of X, got {axis}"):
        infer("flatten2", dict(axis=axis), X=([2, 3, 4], "float32"))


@pytest.mark.parametrize("type, attrs", WITH_SHAPE_KEPT.items())
def test_kept_shape_has_no_element(type, attrs):
    x = X if type != "squeeze2" else X[:, :1]
    kept = getattr(f, type).all(x, **attrs)["XShape"]
    assert (kept.shape, kept.dtype) == ((0, *x.shape), x.dtype)
    inferred = infer(type, attrs, X=([-1, *x.shape[1:]], "float32"))["XShape"]
    assert inferred == spec([0, -1, *x.shape[1:]], "float32")


@pytest.mark.parametrize("type", WITH_SHAPE_KEPT)
def test_gradient_reads_the_kept_shape_and_not_the_input(type):
    assert [slot.name for slot in lookup(type + "_grad").inputs] == ["XShape", "Out@GRAD"]


@pytest.mark.parametrize("type, attrs", WITH_SHAPE_KEPT.items())
def test_gradient_puts_every_element_back(type, attrs):
    x = X if type != "squeeze2" else X[:, :1]
    move = lambda f, x: getattr(f, type)(x, **attrs)
    weights = move(f, x) * 2
    (found,) = pull_back(f, move, [x], [weights])
    np.testing.assert_array_equal(found, 2 * x)


def test_gradient_operator_in_a_program_reads_the_kept_shape():
    x = fluid.data("x", [None, 3, 4], "float32")
    x.stop_gradient = False
    block = x.block
    y = block.create_var(name="y")
    kept = block.create_var(name="kept")
    attrs = {"shape": [-1, 12]}
    block.append_op("reshape2", {"X": x}, {"Out": y, "XShape": kept}, attrs)
    fluid.gradients(y, x)
    gradient = block.ops[-1]
    assert (gradient.type, gradient.input("XShape")) == ("reshape2_grad", ["kept"])
    assert kept.shape == (0, -1, 3, 4)


def test_shape_and_size_tell_the_sizes():
    found = f.shape(X)
    assert (found.tolist(), found.dtype) == ([2, 3, 4], np.int32)
    found = f.size(X)
    assert (found.tolist(), found.dtype) == ([24], np.int64)
    assert infer("shape", Input=([-1, 3], "float32"))["Out"] == spec([2], "int32")
    assert infer("size", Input=([-1, 3], "float32"))["Out"] == spec([1], "int64")
