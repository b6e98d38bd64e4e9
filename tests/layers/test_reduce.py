"""Reductions over dimensions."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import DTypeError, ShapeError

from building import data, refused, run, written

X = np.arange(24, dtype="float32").reshape(2, 3, 4) / 8 + 0.5
FLOATS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
}
TRUTHS = {"reduce_all": np.all, "reduce_any": np.any}


def value_of(name):
    return X if name in FLOATS else X > 1.5


@pytest.mark.parametrize("name, expected", (FLOATS | TRUTHS).items())
@pytest.mark.parametrize(
    "dim, keep_dim, axis, attributes",
    [
        (None, False, (0, 1, 2), "reduce_all=true"),
        ([], False, (0, 1, 2), "reduce_all=true"),
        (1, False, 1, "dim=[1]"),
        (-1, True, -1, "dim=[-1], keep_dim=true"),
        ([0, 2], False, (0, 2), "dim=[0, 2]"),
        ((0, 1, 2), True, (0, 1, 2), "dim=[0, 1, 2], keep_dim=true"),
    ],
)
def test_a_reduction_is_one_operator(name, expected, dim, keep_dim, axis, attributes):
    x = data(shape=[None, 3, 4], dtype="float32" if name in FLOATS else "bool")
    out = getattr(layers, name)(x, dim=dim, keep_dim=keep_dim)
    assert written() == [f"{name}_0.tmp_0 = {name}(X=x, {attributes})"]
    wanted = expected(value_of(name), axis=axis, keepdims=keep_dim)
    found = run(out, x=value_of(name))
    assert np.allclose(found, wanted.reshape(found.shape), rtol=1e-5)
    assert found.shape == (wanted.shape or (1,))
    assert len(out.shape) == found.ndim


def test_the_mean_of_all_has_one_element():
    out = layers.mean(data(shape=[None, 3, 4]), name="m")
    assert written() == ["m.tmp_0 = mean(X=x)"]
    assert out.shape == (1,)
    assert np.allclose(run(out, x=X), X.mean())


def test_a_dimension_that_is_not_there_is_refused():
    x = data()
    with refused(ShapeError, r"(?s)\[-2, 2\), got 2.*x float32\[-1, 4\]"):
        layers.reduce_sum(x, dim=2)


def test_truth_values_are_asked_for_where_they_are_reduced():
    x = data()
    with refused(DTypeError, r"(?s)bool.*x float32\[-1, 4\]"):
        layers.reduce_all(x)


def test_logsumexp_is_written_in_three_operators():
    x = data(shape=[None, 3, 4])
    out = layers.logsumexp(x, dim=[1])
    assert [line.split(" = ")[1].split("(")[0] for line in written()] == [
        "exp",
        "reduce_sum",
        "log",
    ]
    assert (out.name, out.shape) == ("log_0.tmp_0", (-1, 4))
    value = np.arange(12, dtype="float32").reshape(1, 3, 4) / 9
    assert np.allclose(run(out, x=value), np.log(np.exp(value).sum(1)), rtol=1e-5)
