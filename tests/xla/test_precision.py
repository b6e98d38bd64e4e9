"""How precise products are is said to the executor; everything else keeps its element type."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError

rng = np.random.default_rng(0)
A, B = rng.normal(size=[6, 8]).astype("float32"), rng.normal(size=[8, 5]).astype("float32")


def rounded(array):
    """The numbers of an array with the eight bits that bfloat16 keeps, ties to even."""
    bits = array.view("uint32").astype("uint64")
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype("uint32").view("float32")


def product(dtype="float32"):
    a, b = fluid.data("a", [6, 8], dtype), fluid.data("b", [8, 5], dtype)
    return layers.matmul(a, b), {"a": A.astype(dtype), "b": B.astype(dtype)}


def test_products_of_bfloat16_are_those_of_rounded_operands_summed_in_float32():
    out, feed = product()
    (found,) = fluid.Executor(backend="jax", precision="bfloat16").run(feed=feed, fetch_list=[out])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, rounded(A) @ rounded(B), 1e-5, 1e-6)
    assert np.abs(found - A @ B).max() > 1e-3


def test_products_are_the_most_precise_unless_something_else_is_said(monkeypatch):
    out, feed = product()
    (found,) = fluid.Executor(backend="jax").run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found, A @ B, 1e-5, 1e-6)
    monkeypatch.setenv("FLUIDLITE_JAX_PRECISION", "bfloat16")
    (found,) = fluid.Executor(backend="jax").run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found, rounded(A) @ rounded(B), 1e-5, 1e-6)
    (found,) = fluid.Executor(backend="jax", precision="highest").run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found, A @ B, 1e-5, 1e-6)


def test_products_of_doubles_stay_what_they_are():
    out, feed = product("float64")
    (found,) = fluid.Executor(backend="jax", precision="bfloat16").run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found, feed["a"] @ feed["b"], 1e-12)


def test_a_network_trains_with_products_of_bfloat16_and_keeps_its_parameters_in_float32():
    x, y = fluid.data("x", [8, 3, 6, 6], "float32"), fluid.data("y", [8, 1], "int64")
    h = layers.pool2d(layers.conv2d(x, 4, 3, act="relu"), 2, "max", 2)
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(h, 3), y))
    fluid.optimizer.Adam(0.01).minimize(loss)
    fluid.default_startup_program().random_seed = 3
    feed = {"x": rng.normal(size=[8, 3, 6, 6]).astype("float32"), "y": rng.integers(0, 3, [8, 1])}
    found = {}
    for precision in ("highest", "bfloat16"):
        with fluid.scope_guard(fluid.Scope()):
            fluid.Executor(backend="numpy").run(fluid.default_startup_program())
            exe = fluid.Executor(backend="jax", precision=precision)
            found[precision] = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(8)]
            for parameter in fluid.default_main_program().all_parameters():
                assert fluid.global_scope().host_value(parameter.name).dtype == np.float32
    np.testing.assert_allclose(found["bfloat16"], found["highest"], 2e-2)
    assert found["bfloat16"] != found["highest"]
    assert found["bfloat16"][-1] < 0.9 * found["bfloat16"][0]


def test_a_precision_that_is_none_is_refused(monkeypatch):
    with pytest.raises(ArgumentError, match="expected precision to be one of highest, .*'16'"):
        fluid.Executor(backend="jax", precision="16")
    with pytest.raises(ArgumentError, match="expected backend='jax' with precision='bfloat16'"):
        fluid.Executor(backend="numpy", precision="bfloat16")
    monkeypatch.setenv("FLUIDLITE_JAX_PRECISION", "half")
    with pytest.raises(ArgumentError, match="expected FLUIDLITE_JAX_PRECISION to be one of"):
        fluid.Executor(backend="jax")


def test_a_run_leaves_the_types_and_the_precision_of_jax_as_they_were(jax):
    out, feed = product("float64")
    fluid.Executor(backend="jax", precision="bfloat16").run(feed=feed, fetch_list=[out])
    assert jax.numpy.asarray(np.ones(2)).dtype == np.float32
    assert jax.config.jax_default_matmul_precision is None
    assert not jax.config.jax_enable_x64


def test_halves_are_computed_as_on_numpy():
    out, feed = product("float16")
    found = [
        fluid.Executor(backend=backend).run(feed=feed, fetch_list=[out])[0]
        for backend in ("numpy", "jax")
    ]
    assert found[0].dtype == found[1].dtype == np.float16
    np.testing.assert_allclose(found[1], found[0], 2e-3, 2e-3)


def test_a_function_of_jax_has_the_precision_that_it_is_asked_for():
    out, feed = product()
    function, parameters = fluid.jax.function(feeds=["a", "b"], fetches=[out], precision="bfloat16")
    (found,) = function(parameters, feed)
    np.testing.assert_allclose(found, rounded(A) @ rounded(B), 1e-5, 1e-6)
    with pytest.raises(ArgumentError, match="expected precision to be one of"):
        fluid.jax.function(feeds=["a", "b"], fetches=[out], precision="low")


def test_a_training_of_mixed_precision_is_that_of_numpy():
    x, y = fluid.data("x", [8, 6], "float32"), fluid.data("y", [8, 1], "float32")
    loss = layers.mean(layers.square(layers.fc(layers.fc(x, 8, act="relu"), 1) - y))
    optimizer = fluid.contrib.mixed_precision.decorate(
        fluid.optimizer.SGD(0.05), init_loss_scaling=64.0, use_dynamic_loss_scaling=True
    )
    optimizer.minimize(loss)
    types = {v.dtype.dtype.name for v in fluid.default_main_program().list_vars() if v.has_dtype}
    assert "float16" in types
    fluid.default_startup_program().random_seed = 3
    draws = np.random.default_rng(3)
    feed = {n: draws.normal(size=[8, k]).astype("float32") for n, k in (("x", 6), ("y", 1))}
    found = {}
    for backend in ("numpy", "jax"):
        with fluid.scope_guard(fluid.Scope()):
            fluid.Executor(backend="numpy").run(fluid.default_startup_program())
            exe = fluid.Executor(backend=backend)
            found[backend] = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(6)]
    np.testing.assert_allclose(found["jax"], found["numpy"], 5e-3)
    assert found["jax"][-1] < found["jax"][0]
