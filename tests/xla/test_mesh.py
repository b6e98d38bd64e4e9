"""A mesh of devices shares the work of a program, and the results are those of one device."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import distributed, layers
from fluidlite.errors import ArgumentError


def network():
    x, y = fluid.data("x", [None, 6], "float32"), fluid.data("y", [None, 1], "int64")
    h = layers.fc(x, 8, act="tanh")
    p = layers.fc(h, 4, act="softmax")
    loss = layers.mean(layers.cross_entropy(p, y))
    fluid.optimizer.Adam(0.05).minimize(loss)
    return loss


def trained(loss, steps=3):
    scope = fluid.Scope()
    fluid.default_startup_program().random_seed = 3
    fluid.Executor(backend="numpy").run(fluid.default_startup_program(), scope=scope)
    exe = fluid.Executor(backend="jax")
    rng = np.random.default_rng(0)
    feed = {
        "x": rng.normal(size=[16, 6]).astype("float32"),
        "y": rng.integers(0, 4, [16, 1]),
    }
    losses = [exe.run(feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(steps)]
    return np.ravel(losses).tolist(), scope


def test_a_training_whose_parameters_and_states_are_split_is_that_of_one_device(jax):
    loss = network()
    right, alone = trained(loss)
    block = fluid.default_main_program().global_block()
    distributed.shard(block.var("fc_0.w_0"), 1)
    distributed.shard(block.var("fc_1.w_0"), 0)
    with distributed.mesh(data=4, model=2):
        found, scope = trained(loss)
    np.testing.assert_allclose(found, right, 1e-5)
    for held in scope:
        if held.is_initialized:
            value = np.array(held.get_tensor())
            right = np.array(alone.find_var(held.name).get_tensor())
            np.testing.assert_allclose(value, right, 1e-4, 1e-6, err_msg=held.name)
    arrays = [v for v in scope if isinstance(v.value, jax.Array)]
    split = [v.name for v in arrays if not v.value.is_fully_replicated]
    assert len(split) == 6  # two parameters, each with two moments
    weight = scope.find_var("fc_0.w_0").value
    assert {shard.data.shape for shard in weight.addressable_shards} == {(6, 4)}


def test_a_training_goes_on_on_one_device_after_a_mesh():
    loss = network()
    right, _ = trained(loss, 4)
    with distributed.mesh(data=8):
        first, scope = trained(loss, 2)
    exe = fluid.Executor(backend="numpy")
    rng = np.random.default_rng(0)
    feed = {"x": rng.normal(size=[16, 6]).astype("float32"), "y": rng.integers(0, 4, [16, 1])}
    more = [float(exe.run(feed=feed, fetch_list=[loss], scope=scope)[0]) for _ in range(2)]
    np.testing.assert_allclose([*first, *more], right, 1e-5)


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({}, "expected axes with numbers of devices.*got nothing"),
        ({"data": 0}, "got data=0"),
        ({"data": 5, "model": 2}, "at most 8 devices.*got 5 x 2 = 10"),
    ],
)
def test_a_mesh_that_cannot_be_is_refused(sizes, message):
    with pytest.raises(ArgumentError, match=message):
        distributed.mesh(**sizes)


def test_a_dimension_that_is_not_there_is_refused():
    x = fluid.data("x", [None, 6], "float32")
    with pytest.raises(ArgumentError, match=r"axis in \[-2, 2\) for variable 'x'.*got 2"):
        distributed.shard(x, 2)
    with pytest.raises(ArgumentError, match="a variable to split, got 'x'"):
        distributed.shard("x", 0)


def test_two_processes_train_together():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    script = Path(__file__).with_name("two_processes.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(fluid.__file__).parents[1])}
    environment["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    command = [sys.executable, str(script), address]
    started = [
        subprocess.Popen(
            [*command, str(k)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for k in range(2)
    ]
    said = [each.communicate(timeout=120)[0] for each in started]
    assert [each.returncode for each in started] == [0, 0], said
    found = [[float(w.split()[1]) for w in s.splitlines() if w.startswith("loss")] for s in said]
    assert found[0] == found[1]
    x, y = fluid.data("x", [None, 6], "float32"), fluid.data("y", [None, 1], "float32")
    fluid.default_startup_program().random_seed = 3
    loss = layers.mean(layers.square(layers.fc(x, 1) - y))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor(backend="numpy")
    exe.run(fluid.default_startup_program())
    given = np.random.default_rng(0).normal(size=[8, 6]).astype("float32")
    feed = {"x": given, "y": given.sum(axis=1, keepdims=True)}
    right = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(3)]
    np.testing.assert_allclose(found[0], right, 1e-5)
