"""Branches, loops and recurrences of batches."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.transform import vmap

RANDOM = np.random.default_rng(0)


def check(inputs, feed, wanted, looped=(), size=None):
    """Hold a program for a batch against runs for one example after the other."""
    main, exe = fluid.default_main_program(), fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = vmap(main, inputs, wanted, size)
    said = " ".join(str(each.message) for each in caught)
    assert all(type in said for type in looped), said
    assert looped or "one example after the other" not in said, said
    count = len(feed[inputs[0]])
    found = exe.run(made.program, feed, list(made.outputs))
    for k in range(count):
        one = {name: value[k] if name in inputs else value for name, value in feed.items()}
        expected = exe.run(main, one, wanted)
        for got, each in zip(found, expected, strict=True):
            np.testing.assert_allclose(got[k], each, rtol=1e-10, atol=1e-12)


def branches(condition):
    x = fluid.data("x", [3], "float64")
    x.stop_gradient = False
    flag = fluid.data("flag", [1], "bool") if condition is None else condition(x)
    y = layers.cond(flag, lambda: layers.tanh(x) * 2.0, lambda: layers.square(x))
    return x, layers.reduce_sum(y)


@pytest.mark.parametrize("flag", [False, True])
def test_a_branch_that_examples_share_is_batched_as_it_is(flag):
    _, y = branches(None)
    feed = {"x": RANDOM.normal(size=[4, 3]), "flag": np.array([flag])}
    check(["x"], feed, [y])


def test_a_branch_of_each_example_is_looped():
    _, y = branches(lambda x: layers.reduce_sum(x) > layers.fill_constant([1], "float64", 0.0))
    feed = {"x": np.array([[1.0, 2, 3], [-1, -2, -3], [1, 1, 1]])}
    check(["x"], feed, [y], looped=["conditional_block"])


def test_gradients_of_a_branch_are_looped():
    x, y = branches(lambda x: layers.reduce_sum(x) > layers.fill_constant([1], "float64", 0.0))
    (gradient,) = fluid.gradients(y, x)
    feed = {"x": np.array([[1.0, 2, 3], [-1, -2, -3], [1, 1, 1]])}
    check(["x"], feed, [y, gradient], looped=["conditional_block_grad"])


def powers(steps):
    """x * w * w ... as a loop of ``steps`` passes."""
    x, w = fluid.data("x", [3], "float64"), fluid.data("w", [3], "float64")
    x.stop_gradient = w.stop_gradient = False
    number = layers.fill_constant([1], "int64", 0)
    last = layers.fill_constant([1], "int64", steps) if steps else fluid.data("n", [1], "int64")

    def again(i, value):
        return [layers.increment(i, in_place=False), layers.elementwise_mul(value, w)]

    _, out = layers.while_loop(
        lambda i, _: layers.less_than(i, last), again, [number, layers.assign(x)]
    )
    return x, w, out


@pytest.mark.parametrize("inputs", [["x"], ["w"], ["x", "w"]])
def test_a_loop_of_as_many_passes_for_all_examples_is_batched_as_it_is(inputs):
    *_, out = powers(3)
    feed = {name: RANDOM.normal(size=[3]) for name in ("x", "w")}
    feed |= {name: RANDOM.normal(size=[4, 3]) for name in inputs}
    check(inputs, feed, [out])


def test_a_loop_may_write_its_input():
    x = fluid.data("x", [3], "float64")
    last = layers.fill_constant([1], "int64", 2)
    number = layers.fill_constant([1], "int64", 0)
    again = lambda i, value: [layers.increment(i, in_place=False), layers.tanh(value)]
    _, out = layers.while_loop(lambda i, _: layers.less_than(i, last), again, [number, x])
    check(["x"], {"x": RANDOM.normal(size=[4, 3])}, [out])


def test_a_loop_whose_passes_differ_is_looped():
    *_, out = powers(None)
    feed = {"n": np.array([[1], [4], [0]]), "x": RANDOM.normal(size=[3, 3]), "w": np.full(3, 2.0)}
    check(["n", "x"], feed, [out], looped=["while"])


@pytest.mark.parametrize("inputs", [["x"], ["w"], ["x", "w"]])
def test_gradients_of_a_loop_are_looped(inputs):
    x, w, out = powers(3)
    gradients = fluid.gradients(layers.reduce_sum(out), [x, w])
    feed = {name: RANDOM.normal(size=[3]) for name in ("x", "w")}
    feed |= {name: RANDOM.normal(size=[4, 3]) for name in inputs}
    check(inputs, feed, [out, *gradients], looped=["while_grad"])


def recurrence():
    """A recurrence over four steps, and its states."""
    x, h = fluid.data("x", [4, 2, 3], "float64"), fluid.data("h", [2, 3], "float64")
    x.stop_gradient = h.stop_gradient = False
    rnn = layers.StaticRNN()
    with rnn.step():
        step, memory = rnn.step_input(x), rnn.memory(init=h)
        state = layers.tanh(step + layers.fc(memory, 3, bias_attr=False, param_attr="u"))
        rnn.update_memory(memory, state)
        rnn.step_output(state)
    return x, h, rnn()


@pytest.mark.parametrize("inputs", [["x"], ["h"], ["x", "h"]])
def test_a_recurrence_is_batched(inputs):
    *_, out = recurrence()
    feed = {"x": RANDOM.normal(size=[4, 2, 3]), "h": RANDOM.normal(size=[2, 3])}
    feed |= {name: RANDOM.normal(size=[3, *feed[name].shape]) for name in inputs}
    check(inputs, feed, [out], looped=["recurrent"])


def test_gradients_of_a_recurrence_are_those_of_each_example():
    *_, out = recurrence()
    pairs = fluid.append_backward(layers.reduce_sum(out))
    feed = {"x": RANDOM.normal(size=[3, 4, 2, 3]), "h": RANDOM.normal(size=[2, 3])}
    wanted = [out, *(gradient for _, gradient in pairs)]
    check(["x"], feed, wanted, looped=["recurrent_grad"])


def test_arrays_of_batched_tensors_are_batched():
    x = fluid.data("x", [3], "float64")
    at = layers.fill_constant([1], "int64", 0)
    array = layers.array_write(layers.tanh(x), at)
    y = layers.array_read(array, at) * 2.0
    check(["x"], {"x": RANDOM.normal(size=[4, 3])}, [y])


def test_a_counter_beside_a_loop_stays_the_same_for_all_examples():
    *_, out = powers(3)
    made = vmap(fluid.default_main_program(), ["x"], [out])
    shapes = {v.name: v.shape for v in made.program.list_vars() if v.dtype.name == "INT64"}
    assert set(shapes.values()) == {(1,)}


@pytest.mark.parametrize("flag", [False, True])
def test_a_branch_that_gives_the_same_for_all_examples_stands_beside_one_that_does_not(flag):
    x, w = fluid.data("x", [3], "float64"), fluid.data("w", [3], "float64")
    y = layers.cond(fluid.data("flag", [1], "bool"), lambda: x * 2.0, lambda: layers.square(w))
    feed = {"x": RANDOM.normal(size=[4, 3]), "w": np.arange(3.0), "flag": np.array([flag])}
    check(["x"], feed, [y])


def test_names_of_new_variables_are_not_those_of_a_program_that_was_batched():
    x, y = fluid.data("x", [3], "float64"), fluid.data("y", [3], "float64")
    out = layers.cumsum(layers.elementwise_mul(x, y))
    inner = vmap(fluid.default_main_program(), [y], [out])
    with fluid.unique_name.guard():
        outer = vmap(fluid.Program.parse(str(inner.program)), ["x"], [out.name])
    feed = {"x": RANDOM.normal(size=[2, 3]), "y": RANDOM.normal(size=[4, 3])}
    (found,) = fluid.Executor().run(outer.program, feed, list(outer.outputs))
    np.testing.assert_allclose(found, np.cumsum(feed["x"][:, None] * feed["y"], axis=-1))
