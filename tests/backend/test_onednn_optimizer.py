"""Steps of optimizers on oneDNN: the same as NumPy's."""

import numpy as np
import pytest
from backend.agreement import agree, assert_near, fed, gradients, needs_library, ran

import fluidlite as fluid
from fluidlite.kernels.tuning import ThreadTuner
from fluidlite.opdef.definition import lookup

from one_operator import OneOperator

layers, optimizer = fluid.layers, fluid.optimizer

RULES = {
    "sgd": ("sgd", {}),
    "momentum": ("momentum", {"mu": 0.9}),
    "momentum without memory": ("momentum", {"mu": 0.0}),
    "nesterov": ("momentum", {"mu": 0.9, "use_nesterov": True}),
    "adam": ("adam", {}),
    "adam with other numbers": ("adam", {"beta1": 0.5, "beta2": 0.75, "epsilon": 1e-3}),
    "adam without memory": ("adam", {"beta1": 0.0, "beta2": 0.0}),
}
OPTIMIZERS = {
    "sgd": lambda rate: optimizer.SGD(rate),
    "momentum": lambda rate: optimizer.Momentum(rate, 0.9),
    "nesterov": lambda rate: optimizer.Momentum(rate, 0.9, use_nesterov=True),
    "adam": lambda rate: optimizer.Adam(rate),
}
NUMBERS = {"LearningRate": 0.3, "Beta1Pow": 0.81, "Beta2Pow": 0.98, "Beta1Tensor": 0.7}


def one_step(type, attrs, shape, dtype="float32", without=("Beta1Tensor", "Beta2Tensor")):
    """A program of one step, with every input fed."""
    op, rng = lookup(type)(attrs), np.random.default_rng(len(shape))
    inputs = {}
    for name in (slot.name for slot in op.inputs if slot.name not in without):
        array = np.full([1], NUMBERS[name]) if name in NUMBERS else rng.normal(size=shape)
        inputs[name] = (np.square(array) if name == "Moment2" else array).astype(dtype)
    outputs = {slot.name: 1 for slot in op.outputs}
    program = fluid.default_main_program()
    one = OneOperator(type, inputs, outputs, op.attr_values(), program=program)
    return one.all_outputs, one.feed


def served(source, type):
    """Whether the lines of an operator are oneDNN's, one for each."""
    return [line.endswith("oneDNN") for line in source.splitlines() if f"# {type}," in line]


@needs_library
@pytest.mark.parametrize("shape", [[1], [16], [17], [3, 5, 7], [40, 51], [300, 200]])
@pytest.mark.parametrize("rule", RULES)
def test_one_step_agrees_with_numpy(monkeypatch, rule, shape):
    type, attrs = RULES[rule]
    source = agree(monkeypatch, one_step, 1e-6, type=type, attrs=attrs, shape=shape)
    assert served(source, type) == [rule != "adam without memory"]


def net(rule, width=37, rate=0.05):
    x, feed = fed("x", [6, 21])
    hidden = layers.fc(x, width, act="tanh")
    loss = layers.mean(layers.square(layers.fc(hidden, 5)))
    OPTIMIZERS[rule](rate() if callable(rate) else rate).minimize(loss)
    return [loss, *fluid.default_main_program().all_parameters()], feed


@needs_library
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_training_for_some_steps_agrees_with_numpy(monkeypatch, rule):
    source = agree(monkeypatch, net, 1e-5, times=9, rule=rule)
    assert served(source, RULES[rule][0]) == [True] * 4


@needs_library
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_a_rate_that_changes_from_step_to_step_is_seen(monkeypatch, rule):
    def rate():
        return layers.natural_exp_decay(0.1, decay_steps=2, decay_rate=0.5)

    agree(monkeypatch, net, 1e-5, times=9, rule=rule, rate=rate)


@needs_library
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_a_gradient_that_is_a_transposed_view_is_read_as_one(monkeypatch, rule):
    def turned():
        weight = layers.create_parameter([23, 9], "float32")
        factors, feed = fed("factors", [9, 23])
        loss = layers.reduce_sum(layers.transpose(weight, [1, 0]) * factors)
        found = gradients(loss, [weight])
        OPTIMIZERS[rule](0.05).minimize(loss)
        return [*found, weight], feed

    source = agree(monkeypatch, turned, 1e-6, times=6)
    assert served(source, RULES[rule][0]) == [True]


@needs_library
def test_a_parameter_without_a_gradient_so_far_stays_as_it_is(monkeypatch):
    def still():
        fetches, feed = one_step("adam", {}, [40])
        return fetches, {n: a * (n not in ("Grad", "Moment1", "Moment2")) for n, a in feed.items()}

    (*_, (new, *_)), source = ran(monkeypatch, "onednn", still)
    with fluid.program_guard(fluid.Program()), fluid.unique_name.guard():
        _, feed = still()
    assert served(source, "adam") == [True]
    np.testing.assert_array_equal(new, feed["Param"])


@needs_library
def test_what_is_written_to_is_never_what_is_read(monkeypatch):
    def once():
        return one_step("momentum", {"mu": 0.9}, [3000])

    right, _ = ran(monkeypatch, "numpy", once, times=1)
    found, _ = ran(monkeypatch, "onednn", once, times=7)
    for each in found:
        assert_near(each, right[0], 1e-6)


@needs_library
@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam"])
def test_small_parameters_and_other_types_stay_with_numpy(monkeypatch, rule):
    type, attrs = RULES[rule]
    for kernels, shape, dtype, mine in (
        ("auto", [64], "float32", False),
        ("auto", [300, 200], "float32", True),
        ("onednn", [64], "float32", True),
        ("onednn", [300, 200], "float64", False),
    ):
        _, source = ran(
            monkeypatch, kernels, one_step, type=type, attrs=attrs, shape=shape, dtype=dtype
        )
        assert served(source, type) == [mine], (kernels, shape, dtype)


@needs_library
def test_a_beta_that_is_a_tensor_stays_with_numpy(monkeypatch):
    source = agree(
        monkeypatch, one_step, 1e-6, type="adam", attrs={}, shape=[40], without=("Beta2Tensor",)
    )
    assert served(source, "adam") == [False]


@needs_library
@pytest.mark.parametrize("trained", [True, False])
def test_products_go_where_the_steps_of_large_parameters_are_made(monkeypatch, trained):
    """Threads of two libraries get into each other's way."""
    monkeypatch.setattr("fluidlite.kernels.threads.count", lambda: 2)
    monkeypatch.setattr("fluidlite.backend.onednn.library.Library.is_newer_than_blas", False)

    def wide():
        x, feed = fed("x", [32, 200])
        loss = layers.mean(layers.fc(x, 300, bias_attr=False))
        if trained:
            optimizer.Adam(1e-3).minimize(loss)
        return [loss], feed

    _, source = ran(monkeypatch, "auto", wide)
    assert served(source, "mul") == [trained]
    assert served(source, "adam") == [True] * trained


@needs_library
@pytest.mark.parametrize("product, most", [(True, 1), (False, 2)])
def test_there_is_one_thread_where_products_stay_with_the_other_library(monkeypatch, product, most):
    monkeypatch.setattr("fluidlite.kernels.threads.count", lambda: 2)
    monkeypatch.setattr("fluidlite.backend.onednn.library.Library.is_newer_than_blas", False)
    crews = []

    class Noted(ThreadTuner):
        def __init__(self, contexts, most, *how):
            crews.append(most)
            super().__init__(contexts, most, *how)

    monkeypatch.setattr("fluidlite.backend.onednn.offers.ThreadTuner", Noted)

    def layer():
        x, feed = fed("x", [64, 80])
        hidden = layers.fc(x, 300, bias_attr=False) if product else x
        return [layers.layer_norm(hidden)], feed

    _, source = ran(monkeypatch, "auto", layer)
    assert served(source, "layer_norm") == [True]
    assert served(source, "mul") == [False] * product
    assert set(crews) == {most}
