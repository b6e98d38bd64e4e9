"""Other shapes of the same elements, and shapes as values."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError, ShapeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, written

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.mark.parametrize(
    "shape, wanted", [([3, 8], (3, 8)), ([0, -1], (2, 12)), ((4, 6), (4, 6)), ([-1], (24,))]
)
def test_reshape_keeps_the_elements_in_order(shape, wanted):
    out = layers.reshape(data(shape=[2, 3, 4]), shape)
    assert out.shape == wanted
    assert np.array_equal(run(out, x=X), X.reshape(wanted))


def test_reshape_remembers_the_shape():
    x = data(shape=[2, 3, 4])
    layers.reshape(x, [6, 4], act="relu")
    assert written() == [
        "{Out=reshape2_0.tmp_0, XShape=reshape2_0.tmp_1} = reshape2(X=x, shape=[6, 4])",
        "reshape2_0.tmp_2 = relu(X=reshape2_0.tmp_0)",
    ]
    assert x.block.var("reshape2_0.tmp_1").shape == (0, 2, 3, 4)


def test_reshape_takes_sizes_that_are_variables():
    x, n, m = data(shape=[2, 3, 4]), data("n", [1], "int32"), data("m", [1], "int64")
    one, both = layers.reshape(x, [n, 12]), layers.reshape(x, [m, -1])
    assert written()[0].startswith("reshape2_0.tmp_0 = fill_constant(dtype=int32, shape=[1]")
    assert "ShapeTensor=[n, reshape2_0.tmp_0], shape=[-1, 12]" in written()[1]
    assert (one.name, one.shape, both.shape) == ("reshape2_0.tmp_1", (-1, 12), (-1, -1))
    found = run(one, both, x=X, n=np.array([2], "int32"), m=np.array([8]))
    assert [value.shape for value in found] == [(2, 12), (8, 3)]


def test_reshape_takes_a_shape_that_is_a_variable():
    x, s = data(shape=[2, 3, 4]), data("s", [2], "int32")
    whole, actual = layers.reshape(x, s), layers.reshape(x, [0, -1], actual_shape=s)
    assert "Shape=s" in written()[0]
    assert "Shape=s, shape=[0, -1]" in written()[1]
    found = run(whole, actual, x=X, s=np.array([4, 6], "int32"))
    assert [value.shape for value in found] == [(4, 6), (4, 6)]


def test_reshape_is_declared_as_its_shape_says_where_another_one_is_given_when_run():
    x, s = data(shape=[None, 3, 4]), data("s", [3], "int32")
    assert layers.reshape(x, [-1, 4], actual_shape=s).shape == (-1, 4)
    assert layers.fc(layers.reshape(x, [0, 12], actual_shape=s), 2).shape == (-1, 2)
    both = layers.reshape(x, data("whole", [2], "int32"), actual_shape=s)
    found = run(both, x=X, whole=np.array([4, 6], "int32"), s=np.array([2, 3, 4], "int32"))
    assert found.shape == (4, 6)  # a shape that is a variable goes before


def test_reshape_in_place_writes_to_its_input():
    x = layers.relu(data(shape=[2, 3, 4]))
    assert layers.reshape(x, [24], inplace=True) is x
    assert x.shape == (24,)


@pytest.mark.parametrize(
    "shape, error, match",
    [
        ([5, 5], ShapeError, r"(?s)\[2, 3, 4\] to \[5, 5\].*x float32\[2, 3, 4\]"),
        ([-1, -1], ShapeError, "only one size of a new shape may be -1"),
        ([2, 3, 4, 0], ShapeError, r"(?s)copies dimension 3.*x float32"),
        ([2, 12.5], ArgumentError, "expected shape to hold integers"),
        (24, ArgumentError, "expected shape to be a list of integers, got 24"),
    ],
)
def test_reshape_refuses_a_shape_that_does_not_fit(shape, error, match):
    x = data(shape=[2, 3, 4])
    with refused(error, match):
        layers.reshape(x, shape)


def test_reshape_refuses_a_size_that_is_no_integer():
    x = data(shape=[2, 3, 4])
    with refused(DTypeError, "expected shape to be given by integers, got 'x' of float32"):
        layers.reshape(x, [x, 12])


def test_transpose_puts_the_dimensions_in_order():
    out = layers.transpose(data(shape=[2, 3, 4]), [2, 0, 1])
    assert written() == [
        "{Out=transpose_0.tmp_0, XShape=transpose_0.tmp_1} = transpose2(X=x, axis=[2, 0, 1])"
    ]
    assert np.array_equal(run(out, x=X), X.transpose(2, 0, 1))


def test_transpose_names_each_dimension_once():
    x = data(shape=[2, 3, 4])
    with refused(ShapeError, r"(?s)3 dimensions.*\[0, 1\].*x float32\[2, 3, 4\]"):
        layers.transpose(x, [0, 1])


def test_t_transposes_matrices_and_leaves_vectors():
    vector = data(shape=[3])
    assert layers.t(vector) is vector
    assert layers.t(data("m", [3, 4])).name == "t_0.tmp_0" or written()
    cube = data("c", [2, 3, 4])
    with refused(ShapeError, r"expected a matrix or a vector, got 'c' of shape \[2, 3, 4\]"):
        layers.t(cube)


def test_squeeze_drops_sizes_of_1():
    x = data(shape=[1, 3, 1, 4])
    made = [layers.squeeze(x, [0]), layers.squeeze(x, []), layers.squeeze(x, [-2], name="s")]
    assert [v.name for v in made] == ["squeeze_0.tmp_0", "squeeze_1.tmp_0", "s.tmp_0"]
    assert [v.shape for v in made] == [(3, 1, 4), (3, 4), (1, 3, 4)]


def test_unsqueeze_puts_in_sizes_of_1():
    x, n = data(shape=[2, 3]), data("n", [1], "int32")
    made = [layers.unsqueeze(x, 1), layers.unsqueeze(x, [0, -1]), layers.unsqueeze(x, [n])]
    assert [v.name for v in made] == [f"unsqueeze2_{i}.tmp_0" for i in range(3)]
    assert [v.shape for v in made] == [(2, 1, 3), (1, 2, 3, 1), (-1, -1, -1)]
    assert "AxesTensorList=n" in written()[2].replace("[n]", "n")


def test_flatten_makes_a_matrix():
    x = data(shape=[None, 3, 4])
    made = [layers.flatten(x), layers.flatten(x, 0), layers.flatten(x, 2), layers.flatten(x, 3)]
    assert [v.shape for v in made] == [(-1, 12), (1, -1), (-1, 4), (-1, 1)]
    assert made[0].name == "flatten_0.tmp_0"


@pytest.mark.parametrize("axis", [-1, 4, None])
def test_flatten_refuses_an_axis_that_is_not_there(axis):
    x = data(shape=[None, 3, 4])
    with refused(ArgumentError, "expected axis from 0 to 3, the number of dimensions of 'x'"):
        layers.flatten(x, axis)


def test_expand_repeats():
    x, n, s = data(shape=[2, 3]), data("n", [1], "int32"), data("s", [2], "int32")
    made = [layers.expand(x, [1, 2]), layers.expand(x, [n, 2]), layers.expand(x, s)]
    assert [v.shape for v in made] == [(2, 6), (-1, 6), (-1, -1)]
    assert "expand_times_tensor=[n, expand_1.tmp_0]" in written()[2]
    value = X[0, :2, :3]
    found = run(*made, x=value, n=np.array([2], "int32"), s=np.array([3, 1], "int32"))
    times = [(1, 2), (2, 2), (3, 1)]
    assert all(np.array_equal(v, np.tile(value, t)) for v, t in zip(found, times))


def test_expand_has_a_number_for_each_dimension():
    x = data(shape=[2, 3])
    with refused(ShapeError, r"(?s)expand_times.*x float32\[2, 3\]"):
        layers.expand(x, [2])


def test_expand_as_takes_the_shape_of_another_variable():
    x, y = data(shape=[2, 3]), data("y", [4, 9])
    out = layers.expand_as(x, y)
    assert out.shape == (4, 9)
    value = X[0, :2, :3]
    assert np.array_equal(run(out, x=value, y=np.zeros([4, 9], "float32")), np.tile(value, (2, 3)))


@pytest.mark.parametrize("axis, wanted", [(0, [0]), ([0, 2], [0, 2]), (-1, [-1])])
def test_reverse_turns_dimensions_around(axis, wanted):
    out = layers.reverse(data(shape=[2, 3, 4]), axis)
    assert f"reverse(X=x, axis={wanted})" in written()[0].replace("axis=0", "axis=[0]")
    assert np.array_equal(run(out, x=X), np.flip(X, axis))


def test_shapes_are_values():
    x = data(shape=[None, 3, 4])
    shape, size, rank = layers.shape(x), layers.size(x), layers.rank(x)
    assert (shape.name, shape.shape, shape.dtype) == ("shape_0.tmp_0", (3,), DType.INT32)
    assert (rank.name, rank.shape) == ("assign_0.tmp_0", ())
    found = run(shape, size, rank, x=X)
    assert found[0].tolist() == [2, 3, 4]
    assert found[1].item() == 24
    assert found[2].item() == 3


def test_a_size_that_is_known_when_run_makes_a_shape():
    x = data(shape=[None, 3, 4])
    out = layers.reshape(x, [layers.shape(x)[0], 12])
    assert run(out, x=X).shape == (2, 12)


def test_meshgrid_gives_a_variable_for_each_dimension():
    x, y = data(shape=[3]), data("y", [2])
    both = layers.meshgrid([x, y])
    assert [v.name for v in both] == ["meshgrid_0.tmp_0", "meshgrid_0.tmp_1"]
    assert [v.shape for v in both] == [(3, 2), (3, 2)]
    values = np.arange(3, dtype="float32"), np.arange(2, dtype="float32")
    expected = np.meshgrid(*values, indexing="ij")
    assert np.array_equal(run(*both, x=values[0], y=values[1]), expected)
