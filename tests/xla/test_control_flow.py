"""Loops and branches become JAX's own, and compute what they compute on NumPy."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import OutOfRangeError

SMALL, LARGE = np.array([0.1, 0.2, 0.5], "float32"), np.array([1, 2, 1.5], "float32")


def results(fetches, feed, runs=2):
    """What both backends compute, run by run; and the stages on JAX."""
    found, program = {}, fluid.default_main_program()
    for backend in ("numpy", "jax"):
        scope = fluid.Scope()
        with fluid.scope_guard(scope):
            fluid.default_startup_program().random_seed = 4
            if fluid.default_startup_program().global_block().ops:
                fluid.Executor(backend="numpy").run(fluid.default_startup_program())
            exe = fluid.Executor(backend=backend)
            found[backend] = [exe.run(feed=feed, fetch_list=fetches) for _ in range(runs)]
    stages = exe.plan(program, fetches).stages
    return found, stages


def check(fetches, feed, where=("compiled",)):
    found, stages = results(fetches, feed)
    for mine, right in zip(found["jax"], found["numpy"]):
        for a, b in zip(mine, right):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    assert tuple(stage.where for stage in stages) == where


def data():
    x = fluid.data("x", [3], "float32")
    x.stop_gradient = False
    return x


def test_a_loop_whose_passes_depend_on_values_is_part_of_the_function():
    x, total = data(), layers.fill_constant([1], "float32", 0.0)

    def grow(count, value):
        return [count + 1.0, value * 1.5]

    out = layers.while_loop(lambda n, v: layers.reduce_sum(v) < 100.0, grow, [total, x])
    check(out, {"x": LARGE})
    check(out, {"x": LARGE * 100})


def test_a_loop_with_gradients_is_unrolled_where_its_passes_are_known():
    x = data()
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 4)
    array = layers.array_write(x, i)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        value = layers.tanh(layers.array_read(array, i) * 1.3)
        layers.increment(i, 1, True)
        layers.array_write(value, i, array)
        layers.less_than(i, n, cond=more)
    loss = layers.reduce_sum(layers.array_read(array, i))
    check([loss, *fluid.gradients(loss, x)], {"x": LARGE})


def test_a_loop_with_gradients_whose_passes_depend_on_values_runs_on_the_host():
    x = data()
    i, n = layers.fill_constant([1], "int64", 0), layers.cast(layers.reduce_sum(x), "int64")
    value, more = layers.assign(x), layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.assign(layers.tanh(value), value)
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    loss = layers.reduce_sum(value)
    found, stages = results([loss, *fluid.gradients(loss, x)], {"x": LARGE})
    for a, b in zip(found["jax"][-1], found["numpy"][-1]):
        np.testing.assert_allclose(a, b, 1e-5)
    said = [str(stage) for stage in stages if stage.where == "host"]
    assert "host: while: its passes are kept for gradients" in said[0]


@pytest.mark.parametrize("value", [SMALL, LARGE], ids=["false", "true"])
def test_branches_and_their_gradients_are_part_of_the_function(value):
    x = data()
    chosen = layers.reduce_sum(x) > 2.0
    out = layers.cond(chosen, lambda: layers.tanh(x) * 2.0, lambda: layers.square(x))
    loss = layers.reduce_sum(out)
    check([out, *fluid.gradients(loss, x)], {"x": value})


def test_a_variable_that_a_branch_changes_keeps_its_value_where_it_is_not_taken():
    step = layers.autoincreased_step_counter()
    rate = layers.create_global_var([1], 0.0, "float32", persistable=True)
    with layers.Switch() as switch:
        with switch.case(step < layers.fill_constant([1], "int64", 2)):
            layers.assign(np.array([0.1], "float32"), rate)
        with switch.default():
            layers.assign(np.array([0.2], "float32"), rate)
    check([rate * 1.0], {})


def test_a_recurrent_network_and_its_training_are_one_function():
    x = fluid.data("x", [5, 2, 3], "float32")
    rnn = layers.StaticRNN()
    with rnn.step():
        now = rnn.step_input(x)
        memory = rnn.memory(shape=[-1, 3], batch_ref=now)
        new = layers.fc([now, memory], 3, act="tanh")
        rnn.update_memory(memory, new)
        rnn.step_output(new)
    loss = layers.reduce_mean(rnn())
    fluid.optimizer.SGD(0.1).minimize(loss)
    check([loss], {"x": np.random.default_rng(1).normal(size=[5, 2, 3]).astype("float32")})


def test_random_numbers_differ_from_pass_to_pass():
    n = layers.fill_constant([1], "float32", 0.0)
    total = layers.fill_constant([3], "float32", 0.0)
    x = data()

    def add(count, value):
        return [count + 1.0, layers.uniform_random([3], min=0.0, max=1.0) * x]

    _, last = layers.while_loop(lambda n, v: n < layers.reduce_sum(x), add, [n, total])
    exe = fluid.Executor(backend="jax")
    fluid.default_main_program().random_seed = 2
    ones = np.ones(3, "float32")
    third = exe.run(feed={"x": ones}, fetch_list=[last])[0]
    again = fluid.Executor(backend="jax").run(feed={"x": ones}, fetch_list=[last])[0]
    np.testing.assert_array_equal(third, again)
    assert len(np.unique(third)) == 3


def test_a_number_out_of_range_in_a_pass_is_refused():
    x, table = data(), layers.create_parameter([4, 2], "float32")
    n = layers.fill_constant([1], "int64", 0)
    found = layers.fill_constant([1, 2], "float32", 0.0)

    def look(count, value):
        return [count + 1, layers.gather(table, layers.cast(count, "int32") * 2)]

    _, last = layers.while_loop(
        lambda n, v: layers.cast(n, "float32") < layers.reduce_sum(x), look, [n, found]
    )
    scope = fluid.Scope()
    fluid.Executor(backend="numpy").run(fluid.default_startup_program(), scope=scope)
    exe = fluid.Executor(backend="jax")
    few, many = np.full(3, 0.5, "float32"), np.full(3, 1, "float32")
    exe.run(feed={"x": few}, fetch_list=[last], scope=scope)
    with pytest.raises(OutOfRangeError, match=r"in \[0, 4\), got 4"):
        exe.run(feed={"x": many}, fetch_list=[last], scope=scope)


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_a_recurrent_network_with_gradients_is_a_scan_as_short_for_many_steps(reverse, jax):
    x = fluid.data("x", [6, 2, 3], "float32")
    x.stop_gradient = False
    rnn = layers.StaticRNN()
    with rnn.step():
        now = rnn.step_input(x)
        memory = rnn.memory(shape=[-1, 3], batch_ref=now)
        new = layers.fc([now, memory], 3, act="tanh")
        rnn.update_memory(memory, new)
        rnn.step_output(new)
    loss = layers.reduce_mean(layers.square(rnn()))
    gradients = fluid.gradients(loss, x)
    for op in fluid.default_main_program().global_block().ops:
        if op.type in ("recurrent", "recurrent_grad"):
            op._set_attr("reverse", reverse)
    given = np.random.default_rng(1).normal(size=[6, 2, 3]).astype("float32")
    check([loss, *gradients], {"x": given})
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[loss, *gradients])
    text = str(jax.make_jaxpr(function)(parameters, {"x": given}))
    assert text.count("scan[") == 2
    assert text.count(" tanh ") == 1


def recurrent(block):
    """A loss of the outputs of a recurrent network, and its gradients.

    Args:
        block: makes the state behind a pass from a step of ``x`` and the state before.
    """
    x = fluid.data("x", [6, 2, 3], "float32")
    x.stop_gradient = False
    rnn = layers.StaticRNN()
    with rnn.step():
        now = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 4], batch_ref=now, init_value=0.5)
        after = block(now, before)
        rnn.update_memory(before, after)
        rnn.step_output(after)
    loss = layers.reduce_mean(layers.square(rnn()))
    return [loss, *fluid.gradients(loss, [x, *fluid.default_main_program().all_parameters()])]


def normed(now, before):
    hidden = layers.fc([layers.scale(now, 2.0), before], 4, act="tanh")
    return layers.scale(layers.relu(layers.fc(hidden, 4)), 0.5)


def rebound(now, before):
    gate = layers.sigmoid(layers.fc(now, 4))
    layers.assign(layers.scale(now, 0.5), now)
    return layers.elementwise_mul(layers.fc([now, before], 4, act="tanh"), gate)


def of_columns(now, before):
    added = layers.create_parameter([2], "float32")  # one number for each row
    return layers.fc([now, layers.elementwise_add(before, added, axis=0)], 4, act="tanh")


def shared(now, before):
    same = fluid.ParamAttr("shared")
    twice = layers.fc(layers.fc(now, 4), 4, param_attr=same)
    return layers.tanh(twice + layers.fc(before, 4, param_attr=same))


@pytest.mark.parametrize("block", [normed, rebound, of_columns, shared])
def test_products_of_all_passes_as_one_are_those_of_passes(block):
    given = np.random.default_rng(1).normal(size=[6, 2, 3]).astype("float32")
    check(recurrent(block), {"x": given})


def test_products_that_do_not_wait_for_states_are_outside_the_scan(jax):
    found = recurrent(lambda now, before: layers.fc([now, before], 4, act="tanh"))
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    function, parameters = fluid.jax.function(feeds=["x"], fetches=found)
    given = {"x": np.zeros([6, 2, 3], "float32")}
    equations = jax.make_jaxpr(function)(parameters, given).jaxpr.eqns
    outside = [each for each in equations if each.primitive.name == "dot_general"]
    assert len(outside) == 3  # of x, and the gradients of two weights
