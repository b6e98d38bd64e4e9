"""Rescaling by channels, sums, neighbours and norms."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written

X = np.random.default_rng(3).normal(2, 3, size=[6, 4]).astype("float32")


def parameters():
    return fluid.default_main_program().global_block().all_parameters()


def test_affine_channel_takes_its_numbers():
    out = layers.affine_channel(data(), data("s", [4]), data("b", [4]), act="relu")
    scale, bias = np.float32([1, -1, 2, 0.5]), np.float32([0, 1, 2, 3])
    assert np.allclose(run(out, x=X, s=scale, b=bias), (X * scale + bias).clip(0), rtol=1e-5)
    x, scale = data("y"), data("t", [4])
    with refused(ArgumentError, "expected bias of affine_channel to be a variable, got None"):
        layers.affine_channel(x, scale)


def test_data_norm_has_sums():
    first = {"batch_size": 2.0, "batch_sum": 3.0, "batch_square": 8.0}
    out = layers.data_norm(data(), name="sums", param_attr=first, act="relu")
    assert [p.name for p in parameters()] == [
        "sums.batch_size",
        "sums.batch_sum",
        "sums.batch_square_sum",
    ]
    assert out.name == "sums.tmp_0"
    assert np.allclose(run(out, x=X), ((X - 1.5) * 0.5).clip(0), rtol=1e-5)


@pytest.mark.parametrize("stopped", [True, False])
def test_an_optimizer_steps_against_what_data_norm_counts_as_in_fluid(stopped):
    x = data()
    x.stop_gradient = stopped
    first = {"batch_size": 100.0, "batch_sum": 3.0, "batch_square": 8.0}
    loss = layers.mean(layers.data_norm(x, name="sums", param_attr=first))
    _, pairs = fluid.optimizer.SGD(0.5).minimize(loss)
    names = ["sums.batch_size", "sums.batch_sum", "sums.batch_square_sum"]
    assert [p.name for p, _ in pairs] == names
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": X}, fetch_list=[loss])
    size, total, squares = [np.array(fluid.global_scope().find_var(n).get_tensor()) for n in names]
    others = tuple(i for i in range(X.ndim) if i != 1)
    count = X.size // X.shape[1]
    assert np.allclose(size, 100 - 0.5 * count)
    assert np.allclose(total, 3 - 0.5 * X.sum(others))
    around = ((X - np.float32(0.03)) ** 2).sum(others) + count * 1e-5
    assert np.allclose(squares, 8 - 0.5 * around, rtol=1e-5)


def test_data_norm_may_learn_a_scale():
    out = layers.data_norm(data(), enable_scale_and_shift=True)
    assert [p.name for p in parameters()][3:] == ["dn.scale_w", "dn.bias"]
    fluid.optimizer.SGD(0.1).minimize(layers.mean(out))
    assert any("Param=dn.scale_w" in line for line in written())
    assert any("Param=dn.batch_sum" in line for line in written())


def test_data_norm_refuses_what_it_does_not_know():
    x, y = data(), data("y", [None, None])
    with refused(ArgumentError, "keys among batch_size, batch_sum"):
        layers.data_norm(x, param_attr={"sum": 1.0})
    with refused(ShapeError, "number of channels of 'y' to be known"):
        layers.data_norm(y)


def test_activated_batch_norm_is_in_place():
    x = layers.scale(data(), scale=1.0)
    expected = layers.leaky_relu(layers.batch_norm(x), alpha=0.25)
    found = run(expected, x=X)
    assert layers.inplace_abn(x, act="leaky_relu", act_alpha=0.25) is x
    assert np.allclose(run(x, x=X), found, rtol=1e-4, atol=1e-5)
    with refused(ArgumentError, "expected act 'leaky_relu', 'elu' or 'identity', got 'relu'"):
        layers.inplace_abn(x, act="relu")


def test_lrn_names_its_results():
    out = layers.lrn(data(shape=[None, 4, 3, 3]), n=3)
    assert out.name == "lrn_0.tmp_1"
    assert "MidOut=lrn_0.tmp_0" in written()[0]


def test_spectral_norm_keeps_vectors_that_are_not_learnt():
    out = layers.spectral_norm(data(shape=[4, 3, 2]), dim=1, power_iters=30)
    assert [(p.shape, p.stop_gradient) for p in parameters()] == [((3,), True), ((8,), True)]
    value = run(out, x=np.random.default_rng(0).normal(size=[4, 3, 2]).astype("float32"))
    matrix = np.moveaxis(value, 1, 0).reshape(3, 8)
    assert np.isclose(np.linalg.svd(matrix)[1][0], 1, rtol=1e-4)
    y = data("y")
    with refused(ShapeError, "shape of 'y' to be known"):
        layers.spectral_norm(y)


def test_group_norm_has_parameters_where_they_are_asked_for():
    x = data(shape=[None, 4, 3])
    out = layers.group_norm(x, 2)
    assert not parameters()
    layers.group_norm(x, 2, param_attr="scale", bias_attr="bias", act="relu")
    assert [p.name for p in parameters()] == ["scale", "bias"]
    value = np.random.default_rng(0).normal(size=[2, 4, 3]).astype("float32")
    rows = value.reshape(4, 6)
    normal = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    assert np.allclose(run(out, x=value), normal.reshape(2, 4, 3), rtol=1e-4, atol=1e-5)


def test_instance_norm_has_both_parameters():
    out = layers.instance_norm(data(shape=[None, 4, 3]))
    assert out.name == "instance_norm_0.tmp_2"
    assert [p.name for p in parameters()] == ["instance_norm_0.w_0", "instance_norm_0.b_0"]
    y = data("y", [None, 4, 3])
    with refused(ArgumentError, "expected bias_attr of instance_norm to be a ParamAttr, got False"):
        layers.instance_norm(y, bias_attr=False)
