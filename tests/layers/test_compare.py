"""Comparisons, logic, and questions about whole variables."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import DTypeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, written

X, Y = np.array([[1, 2, 3]], "float32"), np.array([[2, 2, 2]], "float32")
COMPARISONS = {
    "equal": [False, True, False],
    "not_equal": [True, False, True],
    "less_than": [True, False, False],
    "less_equal": [True, True, False],
    "greater_than": [False, False, True],
    "greater_equal": [False, True, True],
}
LOGIC = {
    "logical_and": [True, False, False],
    "logical_or": [True, True, False],
    "logical_xor": [False, True, False],
}


@pytest.mark.parametrize("name, wanted", COMPARISONS.items())
def test_a_comparison_gives_truth_values_at_which_gradients_stop(name, wanted):
    x, y = data(shape=[None, 3]), data("y", [None, 3])
    out = getattr(layers, name)(x, y)
    assert written() == [f"{name}_0.tmp_0 = {name}(X=x, Y=y)"]
    assert out.dtype is DType.BOOL
    assert out.stop_gradient
    assert run(out, x=X, y=Y)[0].tolist() == wanted


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_writes_to_a_given_variable(name):
    x, y, cond = data(), data("y"), layers.create_tensor("bool", name="go_on")
    assert getattr(layers, name)(x, y, cond=cond) is cond
    assert written() == [f"go_on = {name}(X=x, Y=y)"]
    assert cond.shape == (-1, 4)


def test_less_than_keeps_the_place():
    x = data()
    layers.less_than(x, x, force_cpu=True)
    layers.less_than(x, x, force_cpu=False)
    assert "force_cpu=true" in written()[0]
    assert "force_cpu" not in written()[1]


def test_a_comparison_of_two_element_types_is_doubted_and_refused_when_it_runs():
    x, y = data(), data("y", dtype="int64")
    with pytest.warns(UserWarning, match="X float32, Y int64"):
        out = layers.equal(x, y)
    with pytest.raises(DTypeError, match=r"(?s)X float32, Y int64.*x float32\[2, 4\], y int64"):
        run(out, x=np.ones([2, 4], "float32"), y=np.ones([2, 4], "int64"))


def test_elementwise_equal_is_named_after_itself():
    x = data()
    assert layers.elementwise_equal(x, x).name == "elementwise_equal_0.tmp_0"
    assert layers.elementwise_equal(x, x, name="same").name == "same.tmp_0"
    assert written()[0] == "elementwise_equal_0.tmp_0 = equal(X=x, Y=x)"


@pytest.mark.parametrize("name, wanted", LOGIC.items())
def test_logic_combines_truth_values(name, wanted):
    x, y = data(shape=[3], dtype="bool"), data("y", [3], "bool")
    out = getattr(layers, name)(x, y, name="both")
    assert written() == [f"both.tmp_0 = {name}(X=x, Y=y)"]
    found = run(out, x=np.array([True, True, False]), y=np.array([True, False, False]))
    assert found.tolist() == wanted


def test_logic_writes_to_a_given_variable():
    x, out = data(dtype="bool"), layers.create_tensor("bool", name="out")
    assert layers.logical_not(x, out) is out
    assert layers.logical_or(x, x, out=out) is out
    assert written() == ["out = logical_not(X=x)", "out = logical_or(X=x, Y=x)"]


def test_logic_takes_truth_values_only():
    x = data()
    with refused(DTypeError, r"(?s)truth values \(bool\), got float32.*x float32"):
        layers.logical_not(x)


@pytest.mark.parametrize(
    "name, kind, wanted",
    [
        ("isfinite", "isfinite", [True, False, False]),
        ("has_inf", "isinf", [False, True, False]),
        ("has_nan", "isnan", [False, False, True]),
    ],
)
def test_a_question_is_answered_by_one_truth_value(name, kind, wanted):
    out = getattr(layers, name)(data(shape=[2]))
    assert written() == [f"{kind}_0.tmp_0 = {kind}(X=x)"]
    assert (out.shape, out.dtype) == ((1,), DType.BOOL)
    values = [[1, 2], [1, np.inf], [1, np.nan]]
    assert [run(out, x=np.array(v, "float32")).item() for v in values] == wanted


def test_is_empty_writes_to_a_given_variable():
    x, cond = data(), layers.create_tensor("bool", name="none_left")
    assert layers.is_empty(x, cond=cond) is cond
    assert layers.is_empty(x).stop_gradient
    assert run(cond, x=np.zeros([0, 4], "float32")).tolist() == [True]


def test_allclose_has_tolerances():
    x, y = data(shape=[2]), data("y", [2])
    out = layers.allclose(x, y, rtol=0.0, atol=0.5)
    near, far = np.array([1.4, 2], "float32"), np.array([1.6, 2], "float32")
    one = np.array([1, 2], "float32")
    assert [run(out, x=one, y=other).item() for other in (near, far)] == [True, False]


def test_a_loop_that_does_not_end_is_warned_about():
    i, n = (fluid.layers.fill_constant([1], "int64", k) for k in (0, 3))
    loop = fluid.layers.While(fluid.layers.less_than(i, n))

    def build():
        with loop.block():
            fluid.layers.increment(i)

    with pytest.warns(UserWarning, match="does not write its condition"):
        build()
    assert i.block.ops[-1].type == "while"
