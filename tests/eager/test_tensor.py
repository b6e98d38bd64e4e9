"""Tensors: what they are, how they are converted, compared, copied and shown."""

import copy
import json
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, GradientShapeError, GradientStateError, ShapeError
from fluidlite.functions.sizes import TensorShape


def leaf(values, dtype="float32"):
    return fluid.to_tensor(np.array(values), dtype=dtype, stop_gradient=False)


@pytest.mark.parametrize(
    "data, dtype",
    [
        (1.0, "float32"),
        ([1.5], "float32"),
        (1, "int64"),
        ([1, 2], "int64"),
        (True, "bool"),
        (np.ones(2), "float64"),
        (np.ones(2, "int32"), "int32"),
        (np.float64(3.0), "float64"),
        ([fluid.to_tensor(1.0), fluid.to_tensor(2.0)], "float32"),
    ],
)
def test_element_types_of_what_tensors_are_made_of(data, dtype):
    assert str(fluid.to_tensor(data).dtype) == dtype


def test_what_is_no_array_of_numbers_is_refused():
    with pytest.raises(ArgumentError, match="expected numbers or truth values"):
        fluid.to_tensor("text")
    with pytest.raises(ArgumentError, match="lists of the same length"):
        fluid.to_tensor([[1, 2], [3]])


def test_shapes_are_lists_and_tuples():
    shape = fluid.ones([2, 3, 4]).shape
    assert shape == [2, 3, 4]
    assert shape == (2, 3, 4)
    assert shape == [2, 3, 4]
    assert shape != [2, 3]
    assert shape[:-1] + [5] == [2, 3, 5]
    assert [5] + shape == [5, 2, 3, 4]
    assert (5,) + shape[1:] == (5, 3, 4)
    assert isinstance(shape[1:], TensorShape)
    assert repr(shape) == "[2, 3, 4]"


def test_shapes_are_lists_of_yours():
    x = fluid.ones([2, 3, 4])
    shape = x.shape
    shape[0] *= 3
    shape.append(1)
    assert shape.pop(1) == 3
    assert (shape, x.shape) == ([6, 4, 1], [2, 3, 4])
    assert ("%s" % x.shape) == "[2, 3, 4]"  # noqa: UP031
    assert isinstance(x.shape, list) and x.reshape(shape).shape == [6, 4, 1]
    assert json.dumps(x.shape) == "[2, 3, 4]"


def test_tensors_of_one_element_are_numbers():
    x = fluid.to_tensor([2.5])
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5 + 0j)
    assert [10, 20, 30][fluid.to_tensor([1])] == 20
    assert f"{x:.1f}" == "2.5"
    for wrong in (lambda: float(fluid.ones([2])), lambda: bool(fluid.ones([2]))):
        with pytest.raises(ShapeError, match=r"expected one element, got shape \[2\]"):
            wrong()
    with pytest.raises(TypeError, match="only tensors of integers are indices"):
        [1, 2][x]


def test_length_iteration_and_membership():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2
    a, b = x
    fluid.sum(a * b).backward()
    np.testing.assert_array_equal(x.grad, [[3, 4], [1, 2]])
    assert 3.0 in x
    assert 5.0 not in x
    for wrong in (len, iter):
        with pytest.raises(TypeError, match=r"shape \[\]"):
            wrong(fluid.to_tensor(1.0))


def test_python_operators():
    x, y = leaf([7.0, -7.0]), leaf([2.0, 3.0])
    cases = [
        (x + y, [9, -4]),
        (x - y, [5, -10]),
        (x * y, [14, -21]),
        (x / y, [3.5, -7 / 3]),
        (x // y, [3, -3]),
        (x % y, [1, 2]),
        (y**2, [4, 9]),
        (2**y, [4, 8]),
        (1 - x, [-6, 8]),
        (14 / y, [7, 14 / 3]),
        (-x, [-7, 7]),
        (+x, [7, -7]),
        (abs(x), [7, 7]),
        (np.array([1.0, 2.0], "float32") * x, [7, -14]),
        (x @ y, -7),
    ]
    for found, expected in cases:
        np.testing.assert_allclose(found.numpy(), expected, 1e-6)
        assert isinstance(found, fluid.Tensor)
    assert (x > y).tolist() == [True, False]
    assert (x == y).tolist() == [False, False]
    assert ((x > 0) & (y > 0)).tolist() == [True, False]
    assert ((x > 0) | (y > 0)).tolist() == [True, True]
    assert ((x > 0) ^ (y > 0)).tolist() == [False, True]
    assert (~(x > 0)).tolist() == [False, True]


def test_what_is_no_number_is_left_to_python():
    x = leaf([1.0])
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "text"


@pytest.mark.parametrize(
    "x, y, dtype",
    [
        ("float64", 2.5, "float64"),
        ("float32", 2, "float32"),
        ("int64", 2, "int64"),
        ("int64", 2.5, "float32"),
        ("float32", "float64", "float64"),
        ("int64", "int32", "int64"),
        ("float32", "int64", "float32"),
        ("float16", "bool", "float16"),
    ],
)
def test_element_types_of_results(x, y, dtype):
    """All others: tests/functions/test_mixing.py."""
    x = fluid.ones([2], x)
    y = fluid.ones([2], y) if isinstance(y, str) else y
    for found in (x * y, x + y, x - y):
        assert str(found.dtype) == dtype
    assert (x / y).dtype.is_float


def test_gradients_keep_the_types_of_their_leaves():
    x, w = leaf([1.0, 2.0], "float64"), leaf([3.0, 4.0])
    fluid.sum(x * w).backward()
    assert (str(x.grad.dtype), str(w.grad.dtype)) == ("float64", "float32")
    np.testing.assert_array_equal(w.grad, [1, 2])


def test_numbers_are_as_exact_as_the_tensor():
    x = fluid.to_tensor([1.0], dtype="float64")
    assert float(x * 0.1) == 0.1
    assert float(x + 1e-10) == 1 + 1e-10
    assert float((x * 2.0) ** 0.3) == 2.0**0.3


def test_arrays_of_tensors_are_copies():
    x = fluid.to_tensor([1.0, 2.0])
    for taken in (x.numpy(), np.asarray(x), np.array(x, "float64")):
        taken[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    assert np.asarray(x, "float64").dtype == np.float64


def test_a_gradient_is_set_to_a_copy_that_keeps_where_gradients_stop():
    x, given = leaf([1.0, 2.0]), fluid.to_tensor([10.0, 20.0])
    x.grad = given
    given.set_value(np.zeros(2, "float32"))
    assert x.grad.tolist() == [10, 20] and x.grad.stop_gradient
    (x * 2.0).sum().backward()
    assert (x.grad.tolist(), given.tolist()) == ([12, 22], [0, 0])
    assert x.grad.stop_gradient
    x.grad = None
    (x * 2.0).sum().backward()
    assert not x.grad.stop_gradient
    x.grad = x.grad * 2
    assert x.grad.tolist() == [4, 4] and not x.grad.stop_gradient
    x.grad *= 0.5
    assert x.grad.tolist() == [2, 2]


def test_gradients_can_be_set_and_cleared():
    x = leaf([1.0, 2.0])
    assert x.gradient() is None
    x.clear_grad()
    assert x.grad is None
    x.grad = fluid.to_tensor([10.0, 20.0])
    (x * x).backward()
    held = x.grad
    assert held.tolist() == [12, 24]
    x.clear_gradient()
    assert held.tolist() == [0, 0]
    x.clear_gradient(set_to_zero=False)
    assert (x.grad, x.gradient()) == (None, None)
    (x * 5.0).backward()
    assert (held.tolist(), x.grad.tolist()) == ([0, 0], [5, 5])
    x.clear_grad(set_to_zero=False)
    assert x.grad is None
    x.grad = None
    assert x.grad is None
    with pytest.raises(GradientShapeError, match=r"expected a gradient of shape \[2\]"):
        x.grad = fluid.to_tensor([1.0])
    with pytest.raises(ArgumentError, match="expected a tensor or None"):
        x.grad = 3.0


def test_leaves():
    x, c = leaf([1.0]), fluid.to_tensor([1.0])
    assert [t.is_leaf for t in (x, c, c * 2.0, x * 2.0, (x * 2.0).detach())] == [
        True, True, True, False, True
    ]  # fmt: skip


def test_stopping_a_result_cuts_what_flows_through_it():
    x = leaf([1.0, 2.0])
    m = x * x
    m.stop_gradient = True
    fluid.sum(m * x).backward()
    np.testing.assert_array_equal(x.grad, [1, 4])


def test_names_are_made_up_when_asked_for():
    with fluid.unique_name.guard():
        x, y = fluid.ones([1]), fluid.ones([1])
        assert (y.name, x.name) == ("generated_tensor_0", "generated_tensor_1")
    x.name = "mine"
    assert x.name == "mine"


def test_deep_copies_of_leaves_are_leaves_of_their_own():
    x = leaf([1.0, 2.0])
    x.mark = "kept"
    (x * x).backward()
    made = copy.deepcopy([x, x])
    assert made[0] is made[1]
    assert made[0].grad.tolist() == [2, 4]
    assert made[0].mark == "kept"
    (made[0] * 3.0).backward()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(GradientStateError, match=r"only leaves are copied deeply.*detach"):
        copy.deepcopy(x * 2.0)


def test_tensors_can_be_pickled():
    x = leaf([[1.0, 2.0]], "float64")
    x.name = "w"
    made = pickle.loads(pickle.dumps(x))
    assert type(made) is fluid.Tensor
    assert (made.tolist(), str(made.dtype), made.name) == ([[1, 2]], "float64", "w")
    assert not made.stop_gradient
    w = fluid.create_parameter([2], "float32", name="p")
    made = pickle.loads(pickle.dumps(w))
    assert type(made) is fluid.Parameter
    assert (made.name, made.trainable, made.tolist()) == ("p", True, w.tolist())


@pytest.mark.parametrize(
    "data, text",
    [
        (1.0, "1."),
        ([1.0, 2.5], "[1.        , 2.50000000]"),
        ([[1.0, 2.0], [3.0, 4.0]], "[[1., 2.],\n        [3., 4.]]"),
        ([1, 20], "[1 , 20]"),
        ([True, False], "[True , False]"),
        ([-1.0, np.inf, np.nan], "[-1. , inf.,  nan]"),
        (np.zeros([0, 3], "float32"), "[]"),
        (np.arange(2000), "[0   , 1   , 2   , ..., 1997, 1998, 1999]"),
    ],
)
def test_tensors_as_text(data, text):
    x = fluid.to_tensor(data)
    head = f"Tensor(shape={list(x.shape)}, dtype={x.dtype}, place=Place(cpu), stop_gradient=True,\n"
    assert str(x) == f"{head}       {text})"


def test_how_tensors_are_shown_can_be_chosen():
    x = fluid.to_tensor([0.123456789])
    fluid.set_printoptions(precision=2)
    assert str(x).endswith("[0.12])")
    fluid.set_printoptions(sci_mode=True)
    assert str(x).endswith("[1.23e-01])")


def test_what_is_assigned_to_data_takes_the_place_of_the_elements():
    x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    shared = x.detach()
    x.data = fluid.to_tensor([5.0, 6.0])
    assert x.tolist() == shared.tolist() == [5, 6]
    assert not x.stop_gradient
    with pytest.raises(ArgumentError, match="expected a tensor"):
        x.data = 1.0


def test_get_tensor_reads_and_writes_the_elements():
    x = fluid.to_tensor([1.0, 2.0])
    holder = x.value().get_tensor()
    assert holder.shape() == [2]
    holder.set(np.zeros(2, "float32"), fluid.CPUPlace())
    assert x.tolist() == np.array(x.get_tensor()).tolist() == [0, 0]


@pytest.mark.parametrize("refused", [len, list])
@pytest.mark.parametrize("kind", [TypeError, AssertionError])
def test_a_tensor_without_dimensions_has_no_length(refused, kind):
    with pytest.raises(kind, match=r"a tensor of shape \[\]"):
        refused(fluid.to_tensor(1.0))
