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


def is_positive(x):
    return layers.reduce_sum(x) > layers.fill_constant([1], "float64", 0.0)


THREE = np.array([[1.0, 2, 3], [-1, -2, -3], [1, 1, 1]])


@pytest.mark.parametrize("numbers", [THREE, np.abs(THREE), -np.abs(THREE)])
def test_a_branch_of_each_example_runs_for_all(numbers):
    _, y = branches(is_positive)
    check(["x"], {"x": numbers}, [y])
    made = vmap(fluid.default_main_program(), ["x"], [y])
    assert "while" not in {op.type for block in made.program.blocks for op in block.ops}


def test_branches_within_branches_run_for_all():
    x = fluid.data("x", [3], "float64")
    w = fluid.data("w", [3], "float64")

    def inner():
        less = layers.reduce_sum(x) > layers.fill_constant([1], "float64", 5.0)
        return layers.cond(less, lambda: x * w, lambda: (x - w, w)[0])

    y = layers.cond(is_positive(x), inner, lambda: layers.assign(w))
    check(["x"], {"x": THREE, "w": RANDOM.normal(size=[3])}, [y])


def test_a_branch_that_changes_a_value_keeps_it_for_other_examples():
    x = fluid.data("x", [3], "float64")
    total = layers.assign(x)
    switch = layers.Switch()
    with switch:
        with switch.case(is_positive(x)):
            layers.assign(x * 2.0, total)
        with switch.default():
            layers.assign(x * x, total)
    check(["x"], {"x": THREE}, [layers.tanh(total)])


def test_what_a_side_gives_for_examples_of_the_other_side_is_not_chosen():
    x = fluid.data("x", [3], "float64")
    y = layers.cond(is_positive(x), lambda: layers.log(x), lambda: layers.sqrt(-x))
    check(["x"], {"x": THREE}, [y])


def test_results_of_each_example_may_come_from_several_branches():
    x = fluid.data("x", [3], "float64")
    made = layers.cond(
        is_positive(x), lambda: (x * 2.0, layers.reduce_max(x)), lambda: (x, layers.reduce_min(x))
    )
    check(["x"], {"x": THREE}, list(made))


@pytest.mark.parametrize("does", ["draws", "loops"])
def test_a_branch_that_draws_or_loops_runs_for_one_example_after_the_other(does):
    x = fluid.data("x", [3], "float64")

    def halved():
        small = layers.fill_constant([1], "float64", 1.0)
        return layers.while_loop(lambda v: layers.reduce_sum(v) > small, lambda v: [v / 2.0], [x])[
            0
        ]

    taken = {"draws": lambda: layers.dropout(x, 0.0), "loops": halved}[does]
    y = layers.cond(is_positive(x), taken, lambda: x * 1.0)
    check(["x"], {"x": THREE}, [y], looped=["conditional_block"])


def test_gradients_of_a_branch_are_looped():
    x, y = branches(lambda x: layers.reduce_sum(x) > layers.fill_constant([1], "float64", 0.0))
    (gradient,) = fluid.gradients(y, x)
    feed = {"x": np.array([[1.0, 2, 3], [-1, -2, -3], [1, 1, 1]])}
    check(["x"], feed, [y, gradient], looped=["conditional_block_grad"])


@pytest.mark.parametrize("flag", [False, True])
def test_a_loop_takes_in_branches_that_may_not_be_taken(flag):
    x, w = fluid.data("x", [3], "float64"), fluid.data("w", [3], "float64")
    w.stop_gradient = False
    y = layers.cond(fluid.data("flag", [1], "bool"), lambda: x * 2.0, lambda: x * w)
    z = layers.cond(is_positive(x), lambda: y * y, lambda: y * 3.0)
    (gradient,) = fluid.gradients(layers.reduce_sum(z), w)
    feed = {"x": RANDOM.normal(size=[4, 3]), "w": np.arange(3.0), "flag": np.array([flag])}
    check(["x"], feed, [gradient], looped=["conditional_block"])


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


def test_a_loop_whose_passes_differ_goes_on_until_the_last_example_ends():
    *_, out = powers(None)
    feed = {"n": np.array([[1], [4], [0]]), "x": RANDOM.normal(size=[3, 3]), "w": np.full(3, 2.0)}
    check(["n", "x"], feed, [out])


@pytest.mark.parametrize("inputs", [["x"], ["w"], ["x", "w"]])
def test_gradients_of_a_loop_are_batched(inputs):
    x, w, out = powers(3)
    gradients = fluid.gradients(layers.reduce_sum(out), [x, w])
    feed = {name: RANDOM.normal(size=[3]) for name in ("x", "w")}
    feed |= {name: RANDOM.normal(size=[4, 3]) for name in inputs}
    check(inputs, feed, [out, *gradients])


def test_the_array_of_what_passes_of_a_batched_loop_compute_has_its_shape():
    x, w, out = powers(3)
    gradients = fluid.gradients(layers.reduce_sum(out), [x, w])
    program = vmap(fluid.default_main_program(), ["x"], gradients).program
    ops = program.global_block().ops
    arrays = [op.attr("shape") for op in ops if op.type == "empty_array"]
    assert arrays == [[-1, 3]] * len(arrays) != []


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
    check(inputs, feed, [out])


def test_gradients_of_a_recurrence_are_those_of_each_example():
    *_, out = recurrence()
    pairs = fluid.append_backward(layers.reduce_sum(out))
    feed = {"x": RANDOM.normal(size=[3, 4, 2, 3]), "h": RANDOM.normal(size=[2, 3])}
    wanted = [out, *(gradient for _, gradient in pairs)]
    check(["x"], feed, wanted)


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


# -- each example has a condition of its own -------------------------------------------------------


def test_a_loop_that_ends_by_what_it_computes_ends_for_each_example_at_its_pass():
    a = fluid.data("a", [3], "float64")
    near = lambda v: (
        layers.reduce_max(layers.abs(v * v - a)) > layers.fill_constant([1], "float64", 1e-10)
    )
    (root,) = layers.while_loop(near, lambda v: [0.5 * (v + a / v)], [layers.assign(a)])
    check(["a"], {"a": RANDOM.uniform(1, 9, [5, 3])}, [root])


def test_what_an_ended_example_would_compute_does_not_reach_it():
    n, x = fluid.data("n", [1], "int64"), fluid.data("x", [2], "float64")
    zero = layers.fill_constant([1], "int64", 0)
    again = lambda i, v: [layers.increment(i, in_place=False), 1.0 / (v - 1.0)]
    _, out = layers.while_loop(lambda i, v: layers.less_than(i, n), again, [zero, layers.assign(x)])
    feed = {"n": np.array([[0], [1], [3]]), "x": np.array([[1.0, 1.0], [3.0, 2.0], [3.0, 5.0]])}
    with np.errstate(all="ignore"):
        check(["n", "x"], feed, [out])


def test_integers_are_carried_too():
    a = fluid.data("a", [1], "int64")
    b, zero = layers.fill_constant([1], "int64", 36), layers.fill_constant([1], "int64", 0)
    divisor, _ = layers.while_loop(
        lambda a, b: layers.less_than(zero, b),
        lambda a, b: [b, layers.elementwise_mod(a, b)],
        [layers.assign(a), b],
    )
    check(["a"], {"a": np.array([[24], [35], [36], [1]])}, [divisor])


def test_a_loop_in_a_loop_of_each_example():
    x, n = fluid.data("x", [2], "float64"), fluid.data("n", [1], "int64")

    def grown(i, v):
        limit = layers.cast(i, "float64") + 1.0
        (v,) = layers.while_loop(lambda v: layers.reduce_max(v) < limit, lambda v: [v * 1.5], [v])
        return [layers.increment(i, in_place=False), v]

    begin = [layers.fill_constant([1], "int64", 0), layers.assign(x)]
    _, out = layers.while_loop(lambda i, v: layers.less_than(i, n), grown, begin)
    feed = {"x": RANDOM.uniform(0.1, 1, [4, 2]), "n": np.array([[0], [3], [1], [4]])}
    check(["x", "n"], feed, [out])


def test_gradients_of_a_loop_that_ends_at_its_own_pass_are_looped():
    x, _, out = powers(None)
    (gradient,) = fluid.gradients(layers.reduce_sum(out), [x])
    feed = {"n": np.array([[1], [4], [2]]), "x": RANDOM.normal(size=[3, 3]), "w": np.full(3, 2.0)}
    check(["n", "x"], feed, [out, gradient], looped=["while"])


def test_sizes_of_an_example_that_are_not_known_are_looped():
    x, n = fluid.data("x", [None, 3], "float64"), fluid.data("n", [1], "int64")
    begin = [layers.fill_constant([1], "int64", 0), layers.assign(x)]
    again = lambda i, v: [layers.increment(i, in_place=False), layers.tanh(v)]
    _, out = layers.while_loop(lambda i, v: layers.less_than(i, n), again, begin)
    feed = {"x": RANDOM.normal(size=[3, 2, 3]), "n": np.array([[0], [3], [1]])}
    check(["x", "n"], feed, [out], looped=["while"])


# -- recurrences -----------------------------------------------------------------------------------


def gated():
    """A recurrence with two states, whose step has a loop, and its states."""
    x, h = fluid.data("x", [4, 2, 3], "float64"), fluid.data("h", [2, 3], "float64")
    x.stop_gradient = h.stop_gradient = False
    zeros = layers.fill_constant([2, 3], "float64", 0.0)
    rnn = layers.StaticRNN()
    with rnn.step():
        step, memory, cell = rnn.step_input(x), rnn.memory(init=h), rnn.memory(init=zeros)
        gate = layers.sigmoid(layers.fc(layers.concat([step, memory], 1), 3, param_attr="w"))
        begin = [layers.fill_constant([1], "int64", 0), gate * cell + step]
        twice = layers.fill_constant([1], "int64", 2)
        again = lambda i, v: [layers.increment(i, in_place=False), layers.tanh(v)]
        _, new = layers.while_loop(lambda i, _: layers.less_than(i, twice), again, begin)
        rnn.update_memory(cell, new)
        rnn.update_memory(memory, layers.tanh(new) * gate)
        rnn.step_output(memory)
        rnn.step_output(new)
    return x, h, rnn()


@pytest.mark.parametrize("inputs", [["x"], ["h"], ["x", "h"]])
def test_a_recurrence_with_a_loop_in_its_step_is_batched_with_its_gradients(inputs):
    x, h, outs = gated()
    gradients = fluid.gradients(layers.reduce_sum(outs[0] * outs[1]), [x, h])
    feed = {"x": RANDOM.normal(size=[4, 2, 3]), "h": RANDOM.normal(size=[2, 3])}
    feed |= {name: RANDOM.normal(size=[3, *feed[name].shape]) for name in inputs}
    check(inputs, feed, [*outs, *gradients])


def test_a_batched_recurrence_is_batched_once_more():
    *_, outs = recurrence()
    fluid.Executor().run(fluid.default_startup_program())
    inner = vmap(fluid.default_main_program(), ["x"], [outs], 2)
    outer = vmap(inner.program, ["h"], list(inner.outputs))
    feed = {"x": RANDOM.normal(size=[2, 4, 2, 3]), "h": RANDOM.normal(size=[3, 2, 3])}
    (found,) = fluid.Executor().run(outer.program, feed, list(outer.outputs))
    for i in range(3):
        one = {**feed, "h": feed["h"][i]}
        (expected,) = fluid.Executor().run(inner.program, one, list(inner.outputs))
        np.testing.assert_allclose(found[i], expected, rtol=1e-10)
