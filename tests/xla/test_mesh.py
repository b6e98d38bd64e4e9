"""A mesh of devices shares the work of a program, and the results are those of one device."""

import json
import os
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import distributed, layers
from fluidlite.errors import ArgumentError

from . import two_processes


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
    feed = {"x": rng.normal(size=[16, 6]).astype("float32"), "y": rng.integers(0, 4, [16, 1])}
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


@pytest.mark.parametrize(
    "axis, over, message",
    [
        (0, "model", "dimension 0 of variable 'fc_0.w_0'.*to be a multiple of 4, got .6, 8."),
        (1, "modle", "'fc_0.w_0' is to be split over the axis 'modle'.*has 'data', 'model'"),
    ],
)
def test_a_split_that_a_mesh_does_not_have_is_refused(axis, over, message):
    loss = network()
    distributed.shard(fluid.default_main_program().global_block().var("fc_0.w_0"), axis, over)
    with distributed.mesh(data=2, model=4), pytest.raises(ArgumentError, match=message):
        trained(loss)


def test_what_is_fed_is_split_where_its_rows_can_be():
    loss = network()
    distributed.shard(fluid.default_main_program().global_block().var("x"), 0, "data")
    exe, found = fluid.Executor(backend="jax"), []
    fluid.default_startup_program().random_seed = 3
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    rng = np.random.default_rng(0)
    for rows in (8, 5, 1):
        feed = {
            "x": rng.normal(size=[rows, 6]).astype("float32"),
            "y": rng.integers(0, 4, [rows, 1]),
        }
        with fluid.scope_guard(copied(fluid.global_scope())):
            right = fluid.Executor(backend="numpy").run(feed=feed, fetch_list=[loss])[0]
        with distributed.mesh(data=4):
            found.append(exe.run(feed=feed, fetch_list=[loss])[0] / right)
    np.testing.assert_allclose(np.ravel(found), 1, 1e-5)


def copied(scope):
    made = fluid.Scope()
    for held in scope:
        if held.is_initialized:
            made.var(held.name).get_tensor().set(np.array(held.get_tensor()), fluid.CPUPlace())
    return made


@pytest.mark.parametrize(
    "address, message",
    [("nowhere", "as host:port, got 'nowhere'"), ("127.0.0.1:1", "listen at 127.0.0.1:1: .*start")],
)
def test_an_address_at_which_nobody_listens_is_refused(address, message):
    with pytest.raises(ArgumentError, match=message):
        distributed.initialize(address, 2, 1, timeout=0)


@pytest.fixture(scope="module")
def said():
    """What two processes found, by the name of the trial."""
    pytest.importorskip("jax", reason='the backend "jax" needs fluidlite[jax]')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    script = Path(__file__).with_name("two_processes.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(fluid.__file__).parents[1])}
    environment["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    started = [
        subprocess.Popen(
            [sys.executable, str(script), address, str(k)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for k in range(2)
    ]
    texts = [each.communicate(timeout=240)[0] for each in started]
    assert [each.returncode for each in started] == [0, 0], texts
    return [
        dict(json.loads(line) for line in text.splitlines() if line.startswith('["'))
        for text in texts
    ]


@pytest.mark.parametrize("name", two_processes.NAMES)
def test_two_processes_compute_what_one_does(name, said):
    trials = two_processes.Trials(lambda feed: feed, nullcontext)
    right = getattr(trials, name)()
    found, other = (each[name] for each in said)
    assert found == other
    compare(found, right)


def compare(found, right):
    if isinstance(right, (list, tuple)):
        assert len(found) == len(right)
        for mine, want in zip(found, right):
            compare(mine, want)
    else:
        assert found == (right if isinstance(right, str) else pytest.approx(right, 1e-4, 1e-5))


def test_two_processes_go_on_from_seeds_of_the_first_and_refuse_what_is_not_the_same(said):
    found, other = (each["refusals"] for each in said)
    assert found == other
    assert "got float32[2, 6] for variable 'x' in process 0 and float32[3, 6]" in found[2]
    assert "number 0 is fill_constant, not assign_value" in found[3]
