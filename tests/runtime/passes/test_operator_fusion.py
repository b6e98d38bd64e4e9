"""Kernels of compiled plans that do the work of two, or that come in another order."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import session

layers = fluid.layers


@pytest.fixture(autouse=True)
def numpy_only(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")


def runs(feeds, wanted):
    """What is fetched in some runs from the start, and the source of the plan."""
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        if fluid.default_startup_program().global_block().ops:
            exe.run(fluid.default_startup_program())
        found = [exe.run(feed=feed, fetch_list=wanted) for feed in feeds]
    return found, exe.plan(fetch_list=wanted).source


def same_bits(feeds, wanted, monkeypatch):
    """The plan's source, which computes to the last bit what the steps one by one do."""
    found, source = runs(feeds, wanted)
    with monkeypatch.context() as patch:
        patch.setattr(session, "function_for", lambda *_: None)
        expected, _ = runs(feeds, wanted)
    for mine, other in zip(found, expected, strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_array_equal(a, b)
    return source


def seeded():
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 5


def pooled_net(size=2, stride=2, pool_type="max"):
    """Fetches of a net with pooling behind a relu: the loss, and the gradient of an image."""
    seeded()
    image = fluid.data("image", [4, 2, 10, 10], "float32")
    image.stop_gradient = False
    hidden = layers.relu(image * 2.0)
    pooled = layers.pool2d(hidden, size, pool_type, stride)
    loss = layers.mean(layers.square(pooled - 0.3))
    fluid.backward.append_backward(loss)
    return hidden, pooled, [loss, "image@GRAD"]


def images():
    rng = np.random.default_rng(2)
    rounded = [np.round(rng.normal(size=[4, 2, 10, 10]) * 3) for _ in range(5)]  # with many ties
    return [{"image": values.astype("float32")} for values in rounded]


def order(source):
    """The operators of a source, in order."""
    behind = [line.rpartition("# ")[2].partition(",")[0] for line in source.splitlines()]
    return [name for name in behind if name.startswith(("relu", "pool"))]


@pytest.mark.parametrize("size, stride", [(2, 2), (3, 2), (5, 5)])
def test_the_largest_are_taken_before_the_relu(size, stride, monkeypatch):
    _, _, wanted = pooled_net(size, stride)
    source = same_bits(images(), wanted, monkeypatch)
    assert order(source) == ["pool2d", "relu", "relu_grad", "pool2d_grad"]


def test_means_are_taken_behind_the_relu(monkeypatch):
    _, _, wanted = pooled_net(pool_type="avg")
    assert order(same_bits(images(), wanted, monkeypatch))[0] == "relu"


def test_a_relu_that_is_fetched_is_taken_of_the_whole_image(monkeypatch):
    hidden, _, wanted = pooled_net()
    source = same_bits(images(), [*wanted, hidden], monkeypatch)
    assert order(source) == ["relu", "pool2d", "pool2d_grad", "relu_grad"]


def test_a_relu_that_something_else_reads_is_taken_of_the_whole_image(monkeypatch):
    seeded()
    image = fluid.data("image", [4, 2, 10, 10], "float32")
    hidden = layers.relu(image)
    both = [layers.pool2d(hidden, 2, "max", 2), layers.reduce_sum(hidden)]
    assert order(same_bits(images(), both, monkeypatch)) == ["relu", "pool2d"]


def classifier(ignored=-100):
    """Fetches of a classifier with a softmax and a cross entropy, each an operator of its own."""
    seeded()
    x = fluid.data("x", [6, 5], "float32")
    label = fluid.data("label", [6, 1], "int64")
    scores = layers.fc(x, 7, param_attr="w", bias_attr="b")
    guess = layers.softmax(scores)
    loss = layers.mean(layers.cross_entropy(guess, label, ignore_index=ignored))
    fluid.optimizer.SGD(0.1).minimize(loss)
    return guess, [loss, f"{scores.name}@GRAD"]


def labelled(scale=1.0):
    rng = np.random.default_rng(3)
    return [
        {
            "x": (rng.normal(size=[6, 5]) * scale).astype("float32"),
            "label": rng.integers(0, 7, [6, 1]),
        }
        for _ in range(5)
    ]


@pytest.mark.parametrize("ignored", [-100, 3])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_gradient_of_a_softmax_takes_that_of_the_label_in_one_pass(scale, ignored, monkeypatch):
    _, wanted = classifier(ignored)
    source = same_bits(labelled(scale), wanted, monkeypatch)
    assert "softmax_grad" in source and "# place_label" not in source


def test_a_gradient_that_is_fetched_is_made_as_a_whole(monkeypatch):
    guess, wanted = classifier()
    source = same_bits(labelled(), [*wanted, f"{guess.name}@GRAD"], monkeypatch)
    assert "softmax_grad" in source and "# place_label" in source


@pytest.mark.parametrize("ignored", [-100, 3])
def test_the_gradient_of_logits_is_that_of_the_steps_one_by_one(ignored, monkeypatch):
    seeded()
    x, label = fluid.data("x", [6, 5], "float32"), fluid.data("label", [6, 1], "int64")
    scores = layers.fc(x, 7, param_attr="w", bias_attr="b")
    loss = layers.softmax_with_cross_entropy(scores, label, ignore_index=ignored)
    loss = layers.mean(loss)
    fluid.optimizer.SGD(0.1).minimize(loss)
    source = same_bits(labelled(), [loss, f"{scores.name}@GRAD"], monkeypatch)
    assert "softmax_with_cross_entropy_grad" in source and "# place_label" not in source
