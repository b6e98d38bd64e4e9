"""Weights as a direction and a length, against NumPy."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

from building import data, refused, run, started, written

ROWS = np.random.default_rng(0).normal(size=[2, 4]).astype("float32")


def weight_of(v, g, dim):
    """The weight, from its two parts."""
    if dim is None:
        return g.reshape(-1)[0] * v / np.sqrt((v * v).sum())
    others = tuple(i for i in range(v.ndim) if i != dim)
    return g * v / np.sqrt((v * v).sum(axis=others, keepdims=True))


def value(name):
    return np.array(fluid.global_scope().find_var(name).get_tensor())


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_a_weight_is_its_length_times_its_direction(dim):
    attr = fluid.WeightNormParamAttr(dim=dim, name="w")
    out = fluid.layers.fc(data(), 3, param_attr=attr, bias_attr=False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    v, g = value("w_v"), value("w_g")
    np.testing.assert_allclose(weight_of(v, g, dim), v, rtol=1e-5)  # at first
    scope = fluid.global_scope()
    scope.find_var("w_g").get_tensor().set(g * np.arange(1, g.size + 1).reshape(g.shape))
    (found,) = exe.run(feed={"x": ROWS}, fetch_list=[out])
    np.testing.assert_allclose(found, ROWS @ weight_of(v, value("w_g"), dim), rtol=1e-5)


@pytest.mark.parametrize("dim", range(4))
def test_filters_have_a_length_along_any_dimension(dim):
    attr = fluid.WeightNormParamAttr(dim=dim, name="w")
    image = data(shape=[2, 3, 6, 7])
    out = fluid.layers.conv2d(image, 5, [2, 3], param_attr=attr, bias_attr=False)
    plain = fluid.layers.conv2d(image, 5, [2, 3], param_attr="plain", bias_attr=False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    v = value("w_v")
    g = np.random.default_rng(1).uniform(1, 2, value("w_g").shape).astype("float32")
    assert g.shape == tuple(n if i == dim else 1 for i, n in enumerate(v.shape))
    scope = fluid.global_scope()
    scope.find_var("w_g").get_tensor().set(g)
    scope.find_var("plain").get_tensor().set(weight_of(v, g, dim))
    x = np.random.default_rng(2).normal(size=[2, 3, 6, 7]).astype("float32")
    one, other = exe.run(feed={"x": x}, fetch_list=[out, plain])
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_both_parts_are_trained():
    attr = fluid.WeightNormParamAttr(dim=1, name="w")
    target = data("y", [None, 3])
    out = fluid.layers.fc(data(), 3, param_attr=attr, bias_attr=False)
    loss = fluid.layers.mean(fluid.layers.square_error_cost(out, target))
    ops, _ = fluid.optimizer.SGD(0.5).minimize(loss)
    assert [op.input("Param") for op in ops] == [["w_g"], ["w_v"]]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    before = value("w_g"), value("w_v")
    feed = {"x": ROWS, "y": ROWS[:, :3] * 2}
    first, *_, last = (exe.run(feed=feed, fetch_list=[loss])[0][0] for _ in range(60))
    assert last < 0.1 * first
    assert not np.allclose(value("w_g"), before[0]) and not np.allclose(value("w_v"), before[1])


def test_the_program_is_fluids(check_program):
    image = data("image", [None, 3, 6, 6])
    hidden = fluid.layers.conv2d(
        image, 4, 3, param_attr=fluid.WeightNormParamAttr(dim=1), bias_attr=False
    )
    decay = fluid.regularizer.L2Decay(0.1)
    fluid.layers.fc(
        hidden,
        5,
        param_attr=fluid.WeightNormParamAttr(
            dim=1, regularizer=decay, learning_rate=0.5, trainable=False
        ),
        bias_attr=fluid.WeightNormParamAttr(initializer=fluid.initializer.Constant(1.0)),
    )
    check_program(fluid.default_main_program(), "weight_norm")
    check_program(fluid.default_startup_program(), "weight_norm_startup")


def test_what_the_user_said_holds_for_both_parts():
    attr = fluid.WeightNormParamAttr(0, "w", learning_rate=0.5, trainable=False)
    fluid.layers.fc(data(), 3, param_attr=attr, bias_attr=False)
    for name in ("w_g", "w_v"):
        param = fluid.default_main_program().global_block().var(name)
        assert param.optimize_attr == {"learning_rate": 0.5}
        assert (param.trainable, param.do_model_average) == (False, False)


def test_a_bias_may_have_a_length_too():
    ones = fluid.initializer.Constant(1.0)
    attr = fluid.WeightNormParamAttr(name="b", initializer=ones)
    out = fluid.layers.fc(data(), 4, param_attr=ones, bias_attr=attr)
    found = run(out, x=ROWS)
    np.testing.assert_allclose(found, ROWS.sum(axis=1, keepdims=True) + np.ones([1, 4]), rtol=1e-5)
    assert value("b_g") == pytest.approx(2.0)


def test_a_dimension_that_the_weight_lacks_is_refused():
    x = data()
    with refused(ArgumentError, r"a dimension of the weight 'w' of shape \[4, 3\], .* got 2"):
        fluid.layers.fc(x, 3, param_attr=fluid.WeightNormParamAttr(2, "w"))


@pytest.mark.parametrize("dim", [-1, 1.0, True, "0"])
def test_a_dim_of_another_kind_is_refused(dim):
    with pytest.raises(ArgumentError, match="expected dim to be None or the number of a dimension"):
        fluid.WeightNormParamAttr(dim)


def test_an_eager_parameter_has_none():
    with pytest.raises(ArgumentError, match="makes operators of a program"):
        fluid.create_parameter([2, 3], "float32", attr=fluid.WeightNormParamAttr(0))
    with fluid.dygraph.guard(), pytest.raises(ArgumentError, match="makes operators of a program"):
        fluid.dygraph.Linear(2, 3, param_attr=fluid.WeightNormParamAttr(0))
    assert not written() and not started()
