"""Normalisations."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written

X = np.random.default_rng(3).normal(2, 3, size=[6, 4]).astype("float32")


def names():
    return [p.name for p in fluid.default_main_program().global_block().all_parameters()]


def normal(x, axis):
    mean = x.mean(axis, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis, keepdims=True) + 1e-5)


def test_batch_norm_normalises_each_channel():
    out = layers.batch_norm(data(), act="relu", name="bn")
    assert names() == ["bn.w_0", "bn.b_0", "bn.w_1", "bn.w_2"]
    assert out.name == "bn.tmp_3"
    assert np.allclose(run(out, x=X), normal(X, 0).clip(0), rtol=1e-4, atol=1e-5)


def test_batch_norm_keeps_running_values_in_place():
    layers.batch_norm(data(), momentum=0.5)
    (line,) = written()
    assert "MeanOut=batch_norm_0.w_1" in line
    assert "VarianceOut=batch_norm_0.w_2" in line
    block = fluid.default_main_program().global_block()
    mean, variance = run(block.var("batch_norm_0.w_1"), block.var("batch_norm_0.w_2"), x=X)
    assert np.allclose(mean, X.mean(0) / 2, rtol=1e-4)
    assert np.allclose(variance, 0.5 + X.var(0) / 2, rtol=1e-4)


def test_batch_norm_takes_the_running_values_in_a_test():
    out = layers.batch_norm(data(), is_test=True)
    assert np.allclose(run(out, x=X), X / np.sqrt(1 + 1e-5), rtol=1e-5)


def test_batch_norm_names_its_running_values():
    layers.batch_norm(data(), moving_mean_name="m", moving_variance_name="v")
    assert names()[2:] == ["m", "v"]


def test_batch_norm_in_place_writes_to_its_input():
    x = layers.relu(data())
    assert layers.batch_norm(x, in_place=True) is x


def test_batch_norm_takes_channels_that_come_last():
    out = layers.batch_norm(data(shape=[None, 5, 3]), data_layout="NHWC")
    assert fluid.default_main_program().global_block().var("batch_norm_0.w_0").shape == (3,)
    assert out.shape == (-1, 5, 3)


def test_batch_norm_knows_the_number_of_channels():
    x = data(shape=[None, None])
    with refused(ShapeError, r"number of channels of 'x' to be known, got shape \[-1, -1\]"):
        layers.batch_norm(x)


@pytest.mark.parametrize("attr", ["param_attr", "bias_attr"])
def test_batch_norm_has_both_parameters(attr):
    x = data()
    with refused(ArgumentError, f"expected {attr} of batch_norm to be a ParamAttr, got False"):
        layers.batch_norm(x, **{attr: False})


def test_layer_norm_normalises_each_row():
    out = layers.layer_norm(data())
    assert names() == ["layer_norm_0.w_0", "layer_norm_0.b_0"]
    assert out.name == "layer_norm_0.tmp_2"
    assert np.allclose(run(out, x=X), normal(X, 1), rtol=1e-4, atol=1e-5)


def test_layer_norm_may_lack_scale_and_bias():
    layers.layer_norm(data(shape=[None, 3, 4]), scale=False, begin_norm_axis=2)
    layers.layer_norm(data("y"), shift=False)
    assert names() == ["layer_norm_0.b_0", "layer_norm_1.w_0"]


def test_layer_norm_knows_the_size_of_a_row():
    x = data(shape=[None, None, 4])
    with refused(ShapeError, r"sizes of 'x' from dimension 1 on to be known.*\[-1, -1, 4\]"):
        layers.layer_norm(x)


def test_layer_norm_refuses_a_parameter_that_is_asked_for_and_not():
    x = data()
    with refused(ArgumentError, "bias_attr=False asks for no parameter and shift=True for one"):
        layers.layer_norm(x, bias_attr=False)
