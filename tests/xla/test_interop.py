"""Programs as functions of JAX, and as StableHLO."""

import subprocess
import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import (
    ArgumentError,
    FeedError,
    NotInitializedError,
    OutOfRangeError,
    UnsupportedError,
)

from saved_models import unpack

X = np.random.default_rng(1).normal(size=[5, 4]).astype("float32")


@pytest.fixture
def model():
    x = fluid.data("x", [None, 4], "float32")
    y = fluid.data("y", [None, 1], "int64")
    p = layers.fc(layers.fc(x, 8, act="tanh"), 3, act="softmax")
    loss = layers.mean(layers.cross_entropy(p, y))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.default_startup_program().random_seed = 5
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    return p, loss


def test_a_program_is_a_function_under_jit_vmap_and_grad(model, jax):
    p, loss = model
    labels = np.array([[0], [1], [2], [1], [0]])
    feed = {"x": X, "y": labels}
    block = fluid.default_main_program().global_block()
    gradient = block.var("fc_0.w_0@GRAD")
    right = fluid.Executor(backend="numpy")
    want = right.run(fluid.default_main_program().clone(), feed, [p, loss, gradient])
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    function, parameters = fluid.jax.function(feeds=["x", "y"], fetches=[p, loss])
    assert sorted(parameters) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]
    found = jax.jit(function)(parameters, feed)
    np.testing.assert_allclose(found[0], want[0], 1e-5)
    slopes = jax.grad(lambda q: function(q, feed)[1].reshape(()))(parameters)
    np.testing.assert_allclose(slopes["fc_0.w_0"], want[2], 1e-4, 1e-6)
    each = jax.vmap(lambda x, y: function(parameters, {"x": x[None], "y": y[None]})[1])(X, labels)
    np.testing.assert_allclose(np.mean(each), want[1][0], 1e-5)


def test_nothing_is_changed_outside_the_function(model, jax):
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[model[0]])
    function(parameters, {"x": X})
    assert jax.numpy.arange(2).dtype == "int32"


def test_a_saved_model_of_paddle_is_a_function_of_jax(tmp_path, jax):
    folder = unpack(tmp_path, "fc/")
    exe = fluid.Executor(backend="numpy")
    program, feeds, fetches = fluid.io.load_inference_model(folder / "inference", exe)
    function, parameters = fluid.jax.function(program, feeds, fetches)
    shape = [3 if n == -1 else n for n in program.global_block().var(feeds[0]).shape]
    given = np.random.default_rng(0).normal(size=shape).astype("float32")
    (right,) = exe.run(program, {feeds[0]: given}, fetches)
    found = jax.jit(function)(parameters, {feeds[0]: given})[0]
    np.testing.assert_allclose(found, right, 1e-5)


def test_stablehlo_refuses_sizes_that_neither_an_array_nor_a_name_tells(model):
    p, _ = model
    with pytest.raises(ArgumentError, match="a dictionary of arrays by name, .* got 'x'"):
        fluid.export.stablehlo(None, "x", [])
    with pytest.raises(ArgumentError, match="dimension 0 of 'x' is unknown and has no name"):
        fluid.export.stablehlo(None, ["x"], [p])
    modulo = fluid.data("modulo", ["mod", 4])
    with pytest.raises(ArgumentError, match="JAX has another meaning for the name 'mod'"):
        fluid.export.stablehlo(None, ["modulo"], [modulo * 2.0])


def test_stablehlo_of_sizes_with_names_takes_any(jax):
    from jax import export

    x = fluid.data("x", ["batch", "time", 4])
    y = fluid.data("y", ["batch", "time", 4])
    scores = layers.softmax(layers.matmul(x + y, y, transpose_y=True))
    joined = layers.concat([x, y], axis=1)
    exported = export.deserialize(
        fluid.export.stablehlo(feeds=["x", "y"], fetches=[scores, joined])
    )
    for shape in (2, 3, 4), (5, 1, 4):
        feed = {name: np.random.default_rng(0).normal(size=shape).astype("f") for name in "xy"}
        want = fluid.Executor(backend="numpy").run(feed=feed, fetch_list=[scores, joined])
        for given, expected in zip(exported.call(feed), want):
            np.testing.assert_allclose(given, expected, 1e-5)


def test_stablehlo_runs_without_fluidlite(model, tmp_path):
    p, loss = model
    feed = {"x": X, "y": np.ones([5, 1], "int64")}
    path = tmp_path / "model.stablehlo"
    data = fluid.export.stablehlo(None, feed, [p, loss], path)
    assert path.read_bytes() == data
    np.savez(tmp_path / "feed.npz", x=X, y=np.ones([5, 1], "int32"))
    script = (
        "import sys, numpy, jax.export\n"
        "call = jax.export.deserialize(open('model.stablehlo', 'rb').read()).call\n"
        "found = call(dict(numpy.load('feed.npz')))\n"
        "assert 'fluidlite' not in sys.modules\n"
        "numpy.savez('found.npz', *map(numpy.asarray, found))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    main = fluid.default_main_program().clone(for_test=True)
    want = fluid.Executor(backend="numpy").run(main, feed, [p, loss])
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_allclose(found["arr_0"], want[0], 1e-5)


def test_an_operator_that_needs_the_host_is_named_with_the_users_line(jax):
    x = fluid.data("x", [None], "float32")
    places = layers.where(x > 1.0)
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[places])
    with pytest.raises(UnsupportedError, match=r"where_index: it needs values[^$]*interop.py:\d+"):
        jax.jit(function)(parameters, {"x": np.ones(3, "float32")})


def test_what_is_missing_is_named(model):
    p, loss = model
    with pytest.raises(FeedError, match="depends on 'y', which is not among the feeds x"):
        fluid.jax.function(feeds=["x"], fetches=[loss])
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[p])
    with pytest.raises(FeedError, match="expected values of x; 'x' is missing"):
        function(parameters, {})
    del parameters["fc_1.b_0"]
    with pytest.raises(FeedError, match="of the parameters fc_0.w_0, .*; 'fc_1.b_0' is missing"):
        function(parameters, {"x": X})
    with pytest.raises(NotInitializedError, match=r"'fc_0.w_0' has no value"):
        fluid.jax.function(feeds=["x"], fetches=[p], scope=fluid.Scope())


def test_what_does_not_fit_is_refused_as_by_an_executor(model):
    function, parameters = fluid.jax.function(feeds=["x", "y"], fetches=[model[1]])
    labels = np.ones([5, 1], "int64")
    with pytest.raises(FeedError, match=r"'x' is declared with shape \[-1, 4\] and was fed shape"):
        function(parameters, {"x": X[:, :3], "y": labels})
    with pytest.raises(FeedError, match="an array for variable 'x', got sequences"):
        rows = fluid.create_lod_tensor(X, [[2, 3]], fluid.CPUPlace())
        function(parameters, {"x": rows, "y": labels})
    with pytest.raises(OutOfRangeError, match=r"label in \[0, 3\), got 8[^$]*test_interop.py:\d+"):
        function(parameters, {"x": X, "y": labels + 7})
    with pytest.raises(ArgumentError, match="seed in .*, got -1"):
        function(parameters, {"x": X, "y": labels}, seed=-1)


def test_a_parameter_that_only_a_loop_reads_is_one_of_the_function(jax):
    x = fluid.data("x", [2, 3], "float32")
    number, last = (layers.fill_constant([1], "int64", n) for n in (0, 6))

    def one_pass(number, state):
        return [number + 1, layers.fc(state, 3, act="tanh", param_attr="w", bias_attr=False)]

    layers.while_loop(lambda n, _: layers.less_than(n, last), one_pass, [number, x])
    exe = fluid.Executor(backend="numpy")
    exe.run(fluid.default_startup_program())
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[x])
    feed = {"x": X[:2, :3]}
    found = jax.jit(function)(parameters, feed)
    np.testing.assert_allclose(found, exe.run(feed=feed, fetch_list=[x]), 1e-5)
    slopes = jax.grad(lambda given: function(given, feed)[0].sum())(parameters)
    assert np.abs(slopes["w"]).min() > 0
