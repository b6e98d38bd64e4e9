"""Several variables made one, and one made several."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written

X = np.arange(24, dtype="float32").reshape(4, 6)


def test_concat_joins_along_a_dimension():
    x, y = data(shape=[None, 3]), data("y", [None, 2])
    out = layers.concat([x, y], axis=-1)
    assert written() == ["concat_0.tmp_0 = concat(X=[x, y], axis=-1)"]
    assert out.shape == (-1, 5)
    assert np.array_equal(run(out, x=X[:, :3], y=X[:, 3:5]), X[:, :5])


def test_concat_takes_a_tuple_and_warns_of_one_variable():
    x = data(shape=[2, 3])
    assert layers.concat((x, x)).shape == (4, 3)
    with pytest.warns(UserWarning, match="got the one variable .x.: there is nothing"):
        assert layers.concat(x).shape == (2, 3)


def test_the_dimension_may_be_a_variable():
    x, n = data(shape=[4, 6]), data("n", [1], "int32")
    n.stop_gradient = False
    joined, parts = layers.concat([x, x], axis=n), layers.split(x, 2, dim=n)
    assert "AxisTensor=n" in written()[0]
    assert "AxisTensor=n" in written()[1]
    assert n.stop_gradient
    found = run(joined, *parts, x=X, n=np.array([1], "int32"))
    assert [value.shape for value in found] == [(4, 12), (4, 3), (4, 3)]


def test_concat_refuses_sizes_that_differ():
    x, y = data(shape=[2, 3]), data("y", [4, 2])
    with refused(ShapeError, r"(?s)x float32\[2, 3\], y float32\[4, 2\]"):
        layers.concat([x, y])


def test_concat_takes_variables_only():
    x = data()
    with refused(ArgumentError, "expected input to be a variable or a list of them, got 3"):
        layers.concat([x, 3])


@pytest.mark.parametrize(
    "parts, dim, shapes",
    [
        (2, 0, [(2, 6), (2, 6)]),
        (3, -1, [(4, 2)] * 3),
        ([1, 3], 0, [(1, 6), (3, 6)]),
        ((1, -1, 2), 1, [(4, 1), (4, 3), (4, 2)]),
        (1, 1, [(4, 6)]),
    ],
)
def test_split_gives_a_list_of_parts(parts, dim, shapes):
    made = layers.split(data(shape=[4, 6]), parts, dim=dim)
    assert isinstance(made, list)
    assert [v.shape for v in made] == shapes
    assert [v.name for v in made] == [f"split_0.tmp_{i}" for i in range(len(shapes))]
    found = run(layers.concat(made, axis=dim), x=X)
    assert np.array_equal(found, X)


def test_split_counts_dimensions_from_the_front():
    layers.split(data(shape=[4, 6]), 2, dim=-2, name="s")
    assert "axis=1" not in written()[0]
    assert "axis=-2" not in written()[0]


def test_sizes_of_parts_may_be_variables():
    x, n = data(shape=[4, 6]), data("n", [1], "int32")
    made = layers.split(x, [n, 3, -1], dim=1)
    assert [v.name for v in made] == ["split_0.tmp_2", "split_0.tmp_3", "split_0.tmp_4"]
    assert "SectionsTensorList=[n, split_0.tmp_0, split_0.tmp_1]" in written()[2]
    found = run(*made, x=X, n=np.array([2], "int32"))
    assert [value.shape for value in found] == [(4, 2), (4, 3), (4, 1)]


def test_split_refuses_a_size_that_cannot_be_divided():
    x = data(shape=[4, 5])
    with refused(ValueError, r"(?s)5.*2.*x float32\[4, 5\]"):
        layers.split(x, 2, dim=1)


def test_split_refuses_a_dimension_that_is_not_there():
    x = data(shape=[4, 6])
    with refused(ShapeError, r"expected dim in \[-2, 2\), got 2"):
        layers.split(x, 2, dim=2)


@pytest.mark.parametrize("parts", [0, 2.5, "two"])
def test_split_refuses_what_is_no_number_of_parts(parts):
    x = data(shape=[4, 6])
    with refused(ArgumentError, "num_or_sections"):
        layers.split(x, parts)


def test_stack_adds_a_dimension():
    x, y = data(shape=[None, 6]), data("y", [None, 6])
    out = layers.stack([x, y], axis=1)
    assert written() == ["stack_0.tmp_0 = stack(X=[x, y], axis=1)"]
    assert out.shape == (-1, 2, 6)
    assert np.array_equal(run(out, x=X, y=-X), np.stack([X, -X], 1))


def array_of(*variables):
    array = None
    for i, variable in enumerate(variables):
        array = layers.array_write(variable, layers.fill_constant([1], "int64", i), array)
    return array


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("join, axis", [("concat", 0), ("concat", -1), ("stack", 1), ("stack", -1)])
def test_the_tensors_of_an_array_are_joined(join, axis, listed):
    x = data(shape=[4, 6])
    x.stop_gradient = False
    array = array_of(x, x * 2.0)
    out = getattr(layers, join)([array] if listed else array, axis)
    (dx,) = fluid.gradients(layers.reduce_sum(out * out), x)
    expected = {"concat": np.concatenate, "stack": np.stack}[join]([X, X * 2], axis)
    op = fluid.default_main_program().global_block().ops[5]
    assert (op.type, op.attr("use_stack")) == ("tensor_array_to_tensor", join == "stack")
    assert out.name == f"{join}_0.tmp_0"
    found, gradient = run(out, dx, x=X)
    assert np.array_equal(found, expected)
    assert np.array_equal(gradient, 10 * X)


@pytest.mark.parametrize("join", [layers.concat, layers.stack])
def test_an_array_of_tensors_is_joined_alone(join):
    array, x = array_of(data()), data("y")
    with refused(ArgumentError, "one array of tensors, got the array 'array_write_0.out' among 2"):
        join([array, x])


def test_an_array_of_tensors_is_joined_along_a_number():
    array, axis = array_of(data()), layers.fill_constant([1], "int32", 1)
    with refused(ArgumentError, "expected axis to be a number where an array"):
        layers.concat(array, axis)


def test_stack_refuses_shapes_that_differ():
    x, y = data(shape=[2, 3]), data("y", [3, 3])
    with refused(ShapeError, r"(?s)x float32\[2, 3\], y float32\[3, 3\]"):
        layers.stack([x, y])


@pytest.mark.parametrize("axis, num, shape", [(0, None, (6,)), (-1, None, (4,)), (1, 6, (4,))])
def test_unstack_gives_a_list_of_slices(axis, num, shape):
    made = layers.unstack(data(shape=[4, 6]), axis, num)
    assert {v.shape for v in made} == {shape}
    found = run(layers.stack(made, axis=axis), x=X)
    assert np.array_equal(found, X)


def test_unstack_needs_a_known_size():
    x = data(shape=[None, 3])
    with refused(ShapeError, r"the size of 'x' along axis 0 to be known, got shape \[-1, 3\]"):
        layers.unstack(x)
