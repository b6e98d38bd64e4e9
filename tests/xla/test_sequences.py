"""Programs with sequences of different lengths: the host works on these."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers

pytest.importorskip("jax")

from fluidlite.runtime.xla import session

WORDS, CLASSES = 50, 3


def network():
    """A dynamic recurrent network, its loss and optimizer."""
    ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    label = fluid.data("label", [None, 1], "int64")
    words = layers.embedding(ids, [WORDS, 4], dtype="float64")
    rnn = layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(words)
        before = rnn.memory(shape=[5], dtype="float64")
        hidden = layers.fc([word, before], 5, act="tanh")
        rnn.update_memory(before, hidden)
        rnn.output(hidden)
    last = layers.sequence_last_step(rnn())
    guess = layers.fc(last, CLASSES, act="softmax")
    loss = layers.mean(layers.cross_entropy(guess, label))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return loss


def batches(count=8):
    """Batches of other lengths each."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        lengths = rng.integers(1, 7, 4).tolist()
        ids = rng.integers(0, WORDS, [sum(lengths), 1])
        label = rng.integers(0, CLASSES, [4, 1])
        found.append({"ids": fluid.create_lod_tensor(ids, [lengths]), "label": label})
    return found


def trained(backend, loss, feeds):
    """Losses, and parameters behind the last of them."""
    fluid.default_startup_program().random_seed = 3
    scope = fluid.Scope()
    with fluid.scope_guard(scope):
        fluid.Executor(backend="numpy").run(fluid.default_startup_program())
        exe = fluid.Executor(backend=backend)
        losses = [exe.run(feed=feed, fetch_list=[loss])[0].item() for feed in feeds]
    return losses, {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}


def test_a_dynamic_network_is_trained_as_on_numpy_whatever_the_lengths():
    loss = network()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (mine, here), (right, there) = (trained(each, loss, batches()) for each in ("jax", "numpy"))
    np.testing.assert_allclose(mine, right, 1e-10)
    for name, value in there.items():
        np.testing.assert_allclose(here[name], value, 1e-9, 1e-10, err_msg=name)


def test_batches_of_other_sizes_beside_sequences_are_named_alone():
    loss = network()
    feeds = batches(5)
    for k, feed in enumerate(feeds):
        lengths = feed["ids"].recursive_sequence_lengths()[0] + [1] * k
        ids = np.zeros([sum(lengths), 1], "int64")
        feed["ids"] = fluid.create_lod_tensor(ids, [lengths])
        feed["label"] = np.zeros([4 + k, 1], "int64")
    with pytest.warns(UserWarning, match="'label'") as found:
        trained("jax", loss, feeds)
    assert "'ids'" not in str(found[0].message)


def test_passes_of_a_dynamic_network_are_the_host_s_as_a_whole_and_the_rest_is_compiled():
    loss = network()
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    exe.run(feed=batches(1)[0], fetch_list=[loss])
    program = fluid.default_main_program()
    stages = exe.plan(program, [loss]).stages
    compiled = [each for each in stages if each.where == "compiled"]
    assert sum(each.operators for each in compiled) >= 15  # behind the network, and the optimizer
    loop = next(k for k, each in enumerate(stages) if each.text.startswith("while:"))
    size = len(program.block(1).ops)
    assert {each.where for each in stages[loop : loop + 1 + size]} == {"host"}
    assert "a few operators beside those of sequences" in stages[loop + 1].text


def test_values_of_a_loop_on_the_host_come_from_the_device_once(monkeypatch):
    loss = network()
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    feed = batches(1)[0]
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[loss])
    seen = []
    before = session.on_host
    monkeypatch.setattr(session, "on_host", lambda value: seen.append(1) or before(value))
    exe.run(feed=feed, fetch_list=[loss])
    longest = max(feed["ids"].recursive_sequence_lengths()[0])
    few = len(seen)
    seen.clear()
    feed["ids"] = fluid.create_lod_tensor(np.zeros([40, 1], "int64"), [[37, 1, 1, 1]])
    exe.run(feed=feed, fetch_list=[loss])
    assert longest < 37 and len(seen) == few  # whatever the number of passes
