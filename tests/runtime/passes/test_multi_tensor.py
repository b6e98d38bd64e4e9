"""Steps of an optimizer on small parameters, put together in compiled plans."""

import numpy as np
import pytest

import fluidlite as fluid
import fluidlite.paddle as paddle
from fluidlite.runtime.passes import multi_tensor

layers = fluid.layers


@pytest.fixture(autouse=True)
def numpy_only(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")


def network(widths, dtype="float32", adam=fluid.optimizer.Adam):
    """A perceptron that Adam trains: the loss."""
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 2
    hidden = fluid.data("x", [None, 6], dtype)
    for width in widths:
        hidden = layers.fc(hidden, width, act="tanh")
    loss = layers.mean(layers.square(hidden))
    adam(0.05).minimize(loss)
    return loss


def trained(loss, dtype="float32", runs=8):
    """What some steps leave in the scope, and the plan's source."""
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)
    rng = np.random.default_rng(0)
    for _ in range(runs):
        feed = {"x": rng.normal(size=[5, 6]).astype(dtype)}
        exe.run(feed=feed, fetch_list=[loss], scope=scope)
    held = {variable.name: np.array(variable.get_tensor()) for variable in scope}
    return held, exe.plan(fetch_list=[loss]).source


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("type", ["adam", "adam_v2"])
def test_small_parameters_take_a_step_together_to_the_same_bits(type, dtype, monkeypatch):
    paddle.enable_static()
    adam = fluid.optimizer.Adam if type == "adam" else paddle.optimizer.Adam
    loss = network([7, 80, 90, 3], dtype, adam)
    found, source = trained(loss, dtype)
    assert source.count(f"# {type} of 7,") == source.count(f"# {type},") == 1  # 80 x 90 is not
    monkeypatch.setattr(multi_tensor, "FEWEST", 100)
    expected, source = trained(loss, dtype)
    assert source.count(f"# {type},") == 8
    assert len(found) > 30
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_two_are_left_as_they_are():
    _, source = trained(network([4]))
    assert source.count("# adam,") == 2


def test_a_parameter_that_is_read_between_two_steps_keeps_its_place(monkeypatch):
    loss = network([5, 4])
    block = fluid.default_main_program().global_block()
    twice = layers.reduce_sum(block.var("fc_0.b_0"))
    fluid.optimizer.Adam(0.1).minimize(twice, parameter_list=["fc_0.b_0"])
    found, source = trained(loss)
    assert "# adam of 3," in source
    monkeypatch.setattr(multi_tensor, "FEWEST", 100)
    for name, value in trained(loss)[0].items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_other_rates_and_other_decays_stay_apart():
    fluid.default_startup_program().random_seed = 2
    x = fluid.data("x", [None, 6], "float32")
    for beta1 in (0.9, 0.8):
        hidden = layers.fc(layers.fc(x, 3), 2)
        loss = layers.mean(layers.square(hidden))
        fluid.optimizer.Adam(0.05, beta1=beta1).minimize(loss)
    _, source = trained(loss)
    assert source.count("# adam of 4,") == 2
