"""Warnings of arguments that are probably mistakes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import FluidWarning, ShapeError

X, Y = np.ones((4, 1), "float32"), np.ones(4, "float32")


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "square_error_cost"])
def test_a_prediction_that_meets_the_labels_of_others_is_warned_of(name):
    loss = getattr(fluid.nn.functional, name)
    x, y = fluid.to_tensor(X), fluid.to_tensor(Y)
    for given in ((x, y), (y, x)):
        with pytest.warns(FluidWarning, match=rf"{name}: a prediction of shape \[4.*stretched"):
            loss(*given)
    loss(x, fluid.ones([4, 3]))  # one is stretched to the other: no warning
    loss(x, fluid.ones([1]))
    with pytest.raises(ShapeError, match="cannot broadcast"):  # and nothing is stretched
        loss(fluid.ones([2, 4, 1]), fluid.ones([2, 4]))


def test_programs_and_tensors_of_oneflow_are_warned_of_it_too():
    x, y = fluid.data("x", [None, 1]), fluid.data("y", [None])
    with pytest.warns(FluidWarning, match=r"shape \[-1, 1\] and a label of shape \[-1\]"):
        fluid.nn.functional.mse_loss(x, y)
    with pytest.warns(FluidWarning, match="mse_loss: a prediction"):
        flow.nn.MSELoss()(flow.tensor(X), flow.tensor(Y))


@pytest.mark.parametrize("name", ["smooth_l1_loss", "binary_cross_entropy_with_logits"])
def test_losses_of_one_shape_refuse_others(name):
    loss = getattr(fluid.nn.functional, name)
    with pytest.raises(ShapeError, match=r"a label of shape \[4, 1\], as the input, got \[4\]"):
        loss(fluid.to_tensor(X), fluid.to_tensor(Y))
