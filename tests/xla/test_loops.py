"""Loops whose number of passes is known become scans: with their gradients as on NumPy, and as
short for many passes as for few.
"""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers

X = np.random.default_rng(1).normal(size=[2, 3]).astype("float64")


def wide():
    from fluidlite.backend import jax_

    return jax_.wide()


def number(value):
    return layers.fill_constant([1], "int64", value)


def through_array(x, passes):
    """What a pass makes is written to an array, and read from there in the next one."""
    i, n = number(0), number(passes)
    array = layers.array_write(x, i)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        value = layers.fc(layers.array_read(array, i), 3, act="tanh", param_attr="w")
        layers.increment(i, 1, True)
        layers.array_write(value, i, array)
        layers.less_than(i, n, cond=more)
    return layers.array_read(array, i)


def handed_on(x, passes):
    """What a pass makes is handed on by name; it draws nothing and reads the same parameter."""
    i, n, value = number(0), number(passes), layers.assign(x)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.assign(layers.fc(value, 3, act="tanh", param_attr="w") + 0.5 * value, value)
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    return value


def parts_of_arrays(x, passes):
    """One array is read only, and read twice in a pass; another is written, and is joined then."""
    zero = number(0)
    rows = layers.array_write(x, zero)
    for k in range(1, passes + 1):
        layers.array_write(x * float(k), number(k), rows)
    i, n = number(0), number(passes)
    memory = layers.assign(x)
    made = layers.create_array("float64")
    layers.array_write(memory, zero, made)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        now = layers.array_read(rows, i)
        before = layers.array_read(made, i)
        layers.increment(i, 1, True)
        coming = layers.array_read(rows, i)
        layers.array_write(layers.tanh(now * 0.3 + before * coming), i, made)
        layers.less_than(i, n, cond=more)
    whole, _ = layers.tensor_array_to_tensor(made, axis=1)
    return layers.square(whole)


def with_a_branch(x, passes):
    """A pass chooses by its number, and by values."""
    i, n, value = number(0), number(passes), layers.assign(x)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        chosen = layers.less_than(i, number(2))
        layers.assign(
            layers.cond(chosen, lambda: layers.tanh(value), lambda: layers.sin(value) * 1.5), value
        )
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    return value


def loop_in_a_loop(x, passes):
    i, n, value = number(0), number(passes), layers.assign(x)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.assign(handed_on(value, passes), value)
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    return value


def counted_by_twos(x, passes):
    """Positions that are computed from the count."""
    i, n, two = number(0), number(2 * passes), number(2)
    array = layers.array_write(x, i)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        half = layers.elementwise_floordiv(i, two)
        value = layers.sin(layers.array_read(array, half)) * 1.2
        layers.array_write(value, layers.elementwise_add(half, number(1)), array)
        layers.increment(i, 2, True)
        layers.less_than(i, n, cond=more)
    return layers.array_read(array, number(passes)) + layers.array_read(array, number(1))


LOOPS = [
    *(through_array, handed_on, parts_of_arrays, with_a_branch, loop_in_a_loop, counted_by_twos)
]


def built(loop, passes):
    """The loss of a loop and its gradients; parameters have values."""
    x = fluid.data("x", [2, 3], "float64")
    x.stop_gradient = False
    loss = layers.reduce_mean(layers.square(loop(x, passes)))
    parameters = fluid.default_main_program().all_parameters()
    gradients = fluid.gradients(loss, [x, *parameters])
    if parameters:
        fluid.default_startup_program().random_seed = 3
        fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    return loss, gradients


def ran(backend, fetches):
    exe = fluid.Executor(backend=backend)
    return [exe.run(feed={"x": X}, fetch_list=fetches) for _ in range(2)][-1]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_and_its_gradients_are_a_scan(loop, jax):
    loss, gradients = built(loop, 5)
    fetches = [loss, *gradients]
    for mine, right in zip(ran("jax", fetches), ran("numpy", fetches)):
        assert (mine.shape, mine.dtype) == (right.shape, right.dtype)
        np.testing.assert_allclose(mine, right, 1e-9, 1e-12)
    stages = fluid.Executor(backend="jax").plan(fluid.default_main_program(), fetches).stages
    assert [stage.where for stage in stages] == ["compiled"]
    function, parameters = fluid.jax.function(feeds=["x"], fetches=fetches)
    with wide():
        text = str(jax.make_jaxpr(function)(parameters, {"x": X}))
    assert text.count("scan[") >= 2


@pytest.mark.parametrize(
    "loop", [through_array, handed_on, with_a_branch], ids=lambda f: f.__name__
)
def test_a_function_of_many_passes_is_as_long_as_one_of_few(loop, jax):
    sizes = []
    for passes in (6, 600):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            loss, gradients = built(loop, passes)
            function, parameters = fluid.jax.function(main, ["x"], [loss, *gradients])
        with wide():
            sizes.append(len(jax.make_jaxpr(function)(parameters, {"x": X}).eqns))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("loop", [through_array, handed_on], ids=lambda f: f.__name__)
def test_second_derivatives_of_a_loop_are_those_of_numbers_on_numpy(loop, jax):
    """A program has no second derivative of a loop; JAX differentiates the first one."""
    _, (gradient, *_) = built(loop, 5)
    direction = np.random.default_rng(2).normal(size=X.shape)
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[gradient])
    with wide():
        first = jax.jit(lambda x: function(parameters, {"x": x})[0])
        _, found = jax.jvp(first, (X,), (direction,))
        pulled = jax.vjp(first, X)[1](direction)[0]
    exe, step = fluid.Executor(backend="numpy"), 1e-5

    def at(x):
        return exe.run(feed={"x": x}, fetch_list=[gradient])[0]

    right = (at(X + step * direction) - at(X - step * direction)) / (2 * step)
    np.testing.assert_allclose(found, right, 1e-6, 1e-9)
    np.testing.assert_allclose(pulled, right, 1e-6, 1e-9)  # it is symmetric


def test_a_long_loop_without_gradients_is_a_scan_too(jax):
    i, n = number(0), number(3000)
    x = fluid.data("x", [2, 3], "float64")
    _, out = layers.while_loop(
        lambda i, v: layers.less_than(i, n), lambda i, v: [i + 1, v * 0.5 + 1.0], [i, x * 1.0]
    )
    function, parameters = fluid.jax.function(feeds=["x"], fetches=[out])
    with wide():
        assert str(jax.make_jaxpr(function)(parameters, {"x": X})).count("scan[") == 1
    np.testing.assert_allclose(ran("jax", [out])[0], 2.0, 1e-12)


def test_random_numbers_of_a_scan_differ_from_pass_to_pass_and_come_again():
    x = fluid.data("x", [2, 3], "float64")
    i, n, array = number(0), number(6), layers.create_array("float64")
    layers.array_write(x, i, array)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.increment(i, 1, True)
        drawn = layers.cast(layers.uniform_random([2, 3], min=0.0, max=1.0), "float64")
        layers.array_write(drawn + 0.0 * x, i, array)
        layers.less_than(i, n, cond=more)
    fluid.default_main_program().random_seed = 2
    fetches = [layers.tensor_array_to_tensor(array, axis=0)[0]]
    first, again = ran("jax", fetches)[0][2:], ran("jax", fetches)[0][2:]
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == first.size


def test_an_element_that_nothing_has_written_is_refused_with_its_position():
    i, n = number(0), number(6)
    x = fluid.data("x", [2, 3], "float64")
    array, value = layers.array_write(x, i), layers.assign(x)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.assign(layers.array_read(array, i), value)
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    exe = fluid.Executor(backend="jax")
    with pytest.raises(fluid.errors.OutOfRangeError, match="one below 1, got 1"):
        exe.run(feed={"x": X}, fetch_list=[value])


def test_passes_that_are_not_alike_are_unrolled():
    x = fluid.data("x", [2, 3], "float64")
    x.stop_gradient = False
    i, n, value = number(0), number(5), layers.assign(x)
    more = layers.less_than(i, n)
    loop = layers.While(more)
    with loop.block():
        layers.assign(layers.concat([value, layers.tanh(value)], 0)[1:], value)
        layers.increment(i, 1, True)
        layers.less_than(i, n, cond=more)
    loss = layers.reduce_sum(layers.square(value))
    fetches = [loss, *fluid.gradients(loss, [x])]
    for mine, right in zip(ran("jax", fetches), ran("numpy", fetches)):
        np.testing.assert_allclose(mine, right, 1e-9, 1e-12)
