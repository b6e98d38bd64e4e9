"""Functions of pairs of elements."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import DTypeError, ShapeError

from building import data, refused, run, written

X, Y = np.array([[5.0, -3.0, 2.0]], "float32"), np.array([[2.0, 2.0, -1.0]], "float32")
FLOATS = {
    "elementwise_add": [7, -1, 1],
    "elementwise_sub": [3, -5, 3],
    "elementwise_mul": [10, -6, -2],
    "elementwise_div": [2.5, -1.5, -2],
    "elementwise_max": [5, 2, 2],
    "elementwise_min": [2, -3, -1],
    "elementwise_pow": [25, 9, 0.5],
}
INTEGERS = {"elementwise_mod": [1, -1, 0], "elementwise_floordiv": [2, -1, -2]}


@pytest.mark.parametrize("name, wanted", (FLOATS | INTEGERS).items())
def test_one_operator_of_the_same_name_computes_it(name, wanted):
    dtype = "float32" if name in FLOATS else "int64"
    x, y = data(shape=[None, 3], dtype=dtype), data("y", [None, 3], dtype)
    out = getattr(layers, name)(x, y)
    assert written() == [f"{name}_0.tmp_0 = {name}(X=x, Y=y)"]
    found = run(out, x=X.astype(dtype), y=Y.astype(dtype))
    assert found.dtype == dtype
    assert found[0].tolist() == wanted


@pytest.mark.parametrize("name", FLOATS | INTEGERS)
def test_the_second_operand_begins_at_axis(name):
    x, y = data(shape=[2, 3, 4], dtype="int64"), data("y", [3], "int64")
    assert getattr(layers, name)(x, y, axis=1).shape == (2, 3, 4)
    assert written()[0].endswith(f"{name}(X=x, Y=y, axis=1)")


@pytest.mark.parametrize("name", FLOATS | INTEGERS)
def test_an_activation_follows(name):
    dtype = "float32" if name in FLOATS else "int64"
    x, y = data(dtype=dtype), data("y", dtype=dtype)
    assert getattr(layers, name)(x, y, act="scale", name="e").name == "e.tmp_1"


def test_shapes_that_do_not_fit_are_refused_by_the_names_of_the_variables():
    x, y = data(shape=[2, 3]), data("y", [2, 4])
    with refused(ShapeError, r"(?s)\[2, 3\] and \[2, 4\].*x float32\[2, 3\], y float32\[2, 4\]"):
        layers.elementwise_add(x, y)


def test_element_types_are_never_promoted():
    x, y = data(), data("y", dtype="int64")
    with pytest.warns(UserWarning, match="expected one element type, got X float32, Y int64"):
        out = layers.elementwise_mul(x, y)
    with pytest.raises(DTypeError, match="expected one element type, got X float32, Y int64"):
        run(out, x=np.ones([2, 4], "float32"), y=np.ones([2, 4], "int64"))


def test_addcmul_adds_a_scaled_product():
    x, y = data(), data("y")
    out = layers.addcmul(x, y, y, value=0.5)
    value = np.arange(8, dtype="float32").reshape(2, 4)
    assert np.array_equal(run(out, x=value, y=value), value + 0.5 * value**2)
    mine = layers.create_tensor("float32")
    assert layers.addcmul(x, y, y, out=mine) is mine
    assert written()[-1].startswith(f"{mine.name} = assign(")
