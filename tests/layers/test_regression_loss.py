"""Losses of predicted numbers."""

import numpy as np

import fluidlite as fluid
from fluidlite import layers

from building import data, run, started, written

X = np.array([[0.0, 4.0], [1.0, -1.0]], "float32")
Y = np.zeros([2, 2], "float32")


def both():
    return data(shape=[None, 2]), data("y", [None, 2])


def test_huber_loss_is_named_after_its_second_output():
    out = layers.huber_loss(*both(), delta=1.0)
    assert out.name == "huber_loss_0.tmp_1"
    assert run(out, x=X, y=Y).tolist() == [[0, 3.5], [0.5, 0.5]]


def test_smooth_l1_has_a_sigma_of_1_by_itself():
    out = layers.smooth_l1(*both())
    assert (out.name, out.shape) == ("smooth_l1_loss_0.tmp_1", (-1, 1))
    assert "sigma" not in written()[0]
    assert run(out, x=X, y=Y).tolist() == [[3.5], [1.0]]


def test_smooth_l1_weighs_inside_and_outside():
    x, y = both()
    out = layers.smooth_l1(x, y, inside_weight=y, outside_weight=x, sigma=2.0)
    assert "InsideWeight=y, OutsideWeight=x, sigma=2.0" in written()[0]
    assert run(out, x=X, y=Y).tolist() == [[0], [0]]


def test_center_loss_moves_its_centres_in_every_run():
    x, label = data(shape=[None, 2]), data("label", [None, 1], "int64")
    attr = fluid.ParamAttr(name="centers", initializer=fluid.initializer.Constant(0.0))
    out = layers.center_loss(x, label, num_classes=3, alpha=0.5, param_attr=attr)
    centers = fluid.default_main_program().global_block().var("centers")
    assert centers.stop_gradient
    assert len(started()) == 1
    loss, moved = run(out, centers, x=X, label=np.array([[2], [2]]))
    assert loss.tolist() == [[8], [1]]
    assert np.allclose(moved[2], 0.5 * X.sum(0) / 3)
    assert not moved[:2].any()


def test_the_rate_of_centres_may_be_a_variable_and_has_a_free_name():
    x, label = data(shape=[None, 2]), data("label", [None, 1], "int64")
    rate = data("rate", [1])
    layers.center_loss(x, label, 3, rate, None, update_center=False)
    assert "CenterUpdateRate=rate" in written()[0]
    layers.center_loss(x, label, 3, 0.1, None)
    layers.center_loss(x, label, 3, 0.2, None)
    rates = [line.split(" = ")[0] for line in written() if "fill_constant" in line]
    assert rates == ["centerloss_alpha", "centerloss_alpha_0"]
