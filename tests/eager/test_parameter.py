"""Parameters."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, GradientTypeError


def test_parameters_want_gradients():
    w = fluid.create_parameter([2, 3], "float32")
    assert (w.stop_gradient, w.trainable, w.is_leaf, w.persistable) == (False, True, True, True)
    w.trainable = False
    assert w.stop_gradient
    w.stop_gradient = False
    assert w.trainable


def test_results_of_parameters_are_ordinary_tensors():
    w = fluid.create_parameter([2], "float32")
    y = w * 2.0
    assert type(y) is fluid.Tensor
    y.backward()
    assert type(w.grad) is fluid.Tensor


def test_first_values():
    bias = fluid.create_parameter([3], "float64", is_bias=True)
    assert (bias.tolist(), str(bias.dtype)) == ([0, 0, 0], "float64")
    fluid.seed(1)
    w = fluid.create_parameter([100, 50], "float32").numpy()
    limit = np.sqrt(6 / 150)
    assert abs(w).max() <= limit
    assert w.std() == pytest.approx(limit / np.sqrt(3), rel=0.05)
    given = fluid.create_parameter([2], default_initializer=fluid.initializer.Constant(3.0))
    assert given.tolist() == [3, 3]


def test_what_is_said_about_a_parameter_is_kept():
    attr = fluid.ParamAttr("w", fluid.initializer.Constant(2.0), learning_rate=0.5, trainable=False)
    w = fluid.create_parameter([2], attr=attr)
    assert (w.name, w.tolist(), w.trainable) == ("w", [2, 2], False)
    assert w.optimize_attr == {"learning_rate": 0.5}


def test_parameters_are_floats_of_known_shape():
    with pytest.raises(GradientTypeError):
        fluid.create_parameter([2], "int64", is_bias=True)
    with pytest.raises(ArgumentError, match="expected a shape of known sizes"):
        fluid.create_parameter([None, 2])
