"""Values that share memory do not spoil each other."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.kernels import threads

layers = fluid.layers


@pytest.fixture
def cut_small(monkeypatch):
    """Work is cut into parts that a small test has, too."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    monkeypatch.setattr(threads, "CHEAP", 1 << 18)
    monkeypatch.setattr(threads, "COSTLY", 1 << 18)


@pytest.mark.parametrize("first", [True, False], ids=["first operand", "second operand"])
@pytest.mark.parametrize("activation", [layers.exp, layers.relu, layers.square])
def test_a_result_is_not_written_over_an_operand_in_another_order(cut_small, first, activation):
    x, y = fluid.data("x", [700, 400]), fluid.data("y", [400, 700])
    turned = activation(layers.transpose(x, [1, 0]))
    out = layers.reduce_sum(layers.sqrt(turned + y if first else y + turned), dim=1)
    exe, rng = fluid.Executor(), np.random.default_rng(3)
    feed = {v.name: rng.random(v.shape, "float32") for v in (x, y)}
    wanted = exe.run(feed=feed, fetch_list=[out])[0]  # interpreted
    for _ in range(3):
        np.testing.assert_allclose(exe.run(feed=feed, fetch_list=[out])[0], wanted, rtol=1e-5)


def test_a_result_is_written_over_an_operand_in_the_same_order(cut_small):
    x = fluid.data("x", [700, 400])
    out = layers.reduce_sum(layers.sqrt(layers.exp(layers.transpose(x, [1, 0]))))
    exe = fluid.Executor()
    for _ in range(3):
        exe.run(feed={"x": np.ones([700, 400], "float32")}, fetch_list=[out])
    size = 700 * 400 * 4
    assert size <= exe.plan(fetch_list=[out]).footprint.buffers < 1.5 * size
