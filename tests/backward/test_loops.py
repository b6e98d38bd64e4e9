"""Second and higher orders through loops: against finite differences, and networks without one."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import NoGradientError
from fluidlite.ir.verify import verify

layers = fluid.layers
RNG = np.random.default_rng(7)
A, W = RNG.normal(size=[2, 3]) * 0.5, RNG.normal(size=[3, 3]) * 0.4
ONE, OTHER = np.array([0.7]), np.array([1.3])
SEQUENCES = RNG.normal(size=[3, 2, 3]) * 0.5
#: builders of a scalar, with what they are fed and the highest order that is checked
NETWORKS = []


def network(order, **inputs):
    def register(build):
        NETWORKS.append(pytest.param(build, inputs, order, id=build.__name__))
        return build

    return register


def number(value, dtype="float64"):
    made = layers.fill_constant([1], dtype, value)
    made.stop_gradient = dtype != "float64"
    return made


def repeated(times, step, value):
    """What a step makes of a value in so many passes of a loop."""
    i, n = number(0, "int64"), number(times, "int64")
    i, value = layers.while_loop(
        lambda i, _: layers.less_than(i, n),
        lambda i, v: [i + 1, step(v)],
        [i, layers.assign(value)],
    )
    return value


def recurrence(x, step):
    """The states of a StaticRNN."""
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(shape=[-1, 3], batch_ref=x, init_value=0.1)
        after = step(now, before)
        rnn.update_memory(before, after)
        rnn.step_output(after)
    return rnn()


def squares(x):
    return layers.reduce_sum(layers.square(x))


@network(3, x=A, w=W)
def a_loop(x, w):
    return squares(repeated(3, lambda h: layers.tanh(layers.matmul(h, w)) + x * h, x))


@network(2, x=ONE, w=OTHER)
def a_loop_without_a_pass(x, w):
    return layers.reduce_sum(repeated(0, lambda h: layers.sin(h * w), x * w) * x)


@network(3, x=ONE, w=OTHER)
def a_loop_in_a_loop(x, w):
    inner = lambda h: repeated(2, lambda g: layers.sin(g * w) + x, h)
    return layers.reduce_sum(repeated(3, lambda h: inner(h) * h, x))


@network(3, x=ONE, w=OTHER)
def a_branch_in_a_loop(x, w):
    def step(h):
        below = layers.less_than(h, number(0.8))
        return layers.cond(below, lambda: layers.sin(h * w), lambda: h * h * 0.5)

    return layers.reduce_sum(repeated(4, step, x))


@network(3, x=ONE, w=OTHER)
def a_loop_in_a_branch(x, w):
    taken = lambda: repeated(3, lambda h: layers.sin(h * w) + x, x) * w
    return layers.reduce_sum(
        layers.cond(layers.less_than(number(0.0), x), taken, lambda: x * w) * x
    )


@network(2, x=ONE, start=np.array([0.5]))
def values_written_in_place(x, start):
    """The counter is a float that the result depends on."""
    y, i, limit = layers.scale(x, 1.0), layers.scale(start, 1.0), number(3.0)
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        layers.assign(y * i + y * y * 0.1, y)
        layers.assign(layers.sin(y) * x + y, y)
        layers.increment(i, 1.0, in_place=True)
        layers.less_than(i, limit, cond=cond)
    return layers.reduce_sum(y * i)


@network(2, x=A, w=W)
def branches_that_write_in_place(x, w):
    h, i, n = layers.scale(x, 1.0), number(0, "int64"), number(3, "int64")
    cond = layers.less_than(i, n)
    with layers.While(cond).block():
        with layers.Switch() as switch:
            with switch.case(layers.equal(i, number(1, "int64"))):
                layers.assign(layers.matmul(h, w), h)
            with switch.default():
                layers.assign(layers.sin(h) + x, h)
        layers.increment(i, 1, in_place=True)
        layers.less_than(i, n, cond=cond)
    return squares(h)


@network(2, x=ONE)
def branches_before_a_loop_that_write_in_place(x):
    """Without a loop: a value that is overwritten flows into the branch's second order."""
    y = layers.scale(x, 2.0)
    with layers.Switch() as switch, switch.case(layers.less_than(number(0.0), x)):
        layers.assign(y * y * x, y)
    return layers.reduce_sum(repeated(2, layers.sin, y))


@network(2, x=SEQUENCES, w=W)
def a_recurrent_network(x, w):
    return squares(recurrence(x, lambda now, h: layers.tanh(layers.matmul(h, w) + now)))


@network(2, x=SEQUENCES, w=W)
def a_branch_and_a_loop_in_a_recurrent_network(x, w):
    def step(now, h):
        total = layers.reshape(layers.reduce_sum(now), [1])
        below = layers.less_than(total, number(0.0))
        h = layers.cond(below, lambda: layers.sin(h) * now, lambda: now * 2.0)
        return repeated(2, lambda g: layers.tanh(layers.matmul(g, w)) + now, h)

    return squares(recurrence(x, step))


@network(2, x=SEQUENCES, w=W)
def a_recurrent_network_in_a_loop(x, w):
    step = lambda now, h: layers.tanh(layers.matmul(now, w) + h)
    return squares(repeated(2, lambda h: recurrence(h, step) + x, x))


@network(2, x=fluid.create_lod_tensor(RNG.normal(size=[5, 2]) * 0.5, [[2, 3]]), w=W[:2, :2])
def sequences_of_two_lengths(x, w):
    rnn = layers.DynamicRNN()
    with rnn.block():
        now = rnn.step_input(x)
        before = rnn.memory(shape=[2], value=0.1, dtype="float64")
        after = layers.tanh(layers.matmul(before, w) + now * now)
        rnn.update_memory(before, after)
        rnn.output(after)
    return squares(rnn())


@network(2, x=A, w=W)
def statistics_of_a_normalization(x, w):
    norm = lambda h: layers.layer_norm(h, scale=False, shift=False)
    return layers.reduce_sum(
        layers.sin(repeated(2, lambda h: norm(layers.matmul(h, w) + x), x)) * x
    )


@network(2, x=SEQUENCES, w=W)
def statistics_in_a_recurrent_network(x, w):
    norm = lambda h: layers.layer_norm(h, scale=False, shift=False)
    states = recurrence(x, lambda now, h: norm(layers.matmul(h, w) + now))
    return layers.reduce_sum(layers.sin(states) * x)


@network(2, x=A, w=W)
def numbers_drawn_in_a_loop(x, w):
    step = lambda h: layers.dropout(layers.tanh(layers.matmul(h, w)) + x, 0.5)
    return squares(repeated(3, step, x))


@network(2, x=A, w=W)
def learning_to_learn_in_a_loop(x, w):
    def step(v):
        v = layers.assign(v)
        (slope,) = fluid.gradients(squares(layers.tanh(layers.matmul(x, v))), v)
        return v - 0.1 * slope

    return squares(layers.matmul(x, repeated(2, step, w)))


@network(1, x=A, w=W)
def learning_in_a_loop_to_learn_a_loop(x, w):
    def step(v):
        v = layers.assign(v)
        states = repeated(2, lambda h: layers.tanh(layers.matmul(h, v)), x)
        (slope,) = fluid.gradients(squares(states), v)
        return v - 0.1 * slope

    return squares(layers.matmul(x, repeated(2, step, w)))


@pytest.mark.parametrize("build, inputs, order", NETWORKS)
def test_every_order_agrees_with_finite_differences(build, inputs, order):
    fluid.gradcheck(build, inputs, order=order, elements=3)


def variable(name, shape):
    made = fluid.data(name, shape, "float64")
    made.stop_gradient = False
    return made


def test_orders_up_to_the_fourth_are_those_of_a_power():
    x = variable("x", [1])
    found, derivatives = repeated(3, lambda y: y * x, x), []
    for _ in range(4):
        (found,) = fluid.gradients(found, x)
        derivatives.append(found)
    verify(fluid.default_main_program())
    exe = fluid.Executor()
    for _ in range(3):  # interpreted, compiled, bound
        values = exe.run(feed={"x": np.array([2.0])}, fetch_list=derivatives)
        assert [v.item() for v in values] == [32.0, 48.0, 48.0, 24.0]


def test_a_number_of_passes_that_is_fed():
    x, limit = variable("x", [1]), fluid.data("limit", [1], "int64")
    i = number(0, "int64")
    _, y = layers.while_loop(
        lambda i, y: layers.less_than(i, limit), lambda i, y: [i + 1, y * x], [i, layers.assign(x)]
    )
    (slope,) = fluid.gradients(y, x)
    (curvature,) = fluid.gradients(slope, x)
    exe = fluid.Executor()
    for passes, expected in [(3, 48.0), (0, 0.0), (1, 2.0), (3, 48.0)]:
        feed = {"x": np.array([2.0]), "limit": np.array([passes])}
        assert exe.run(feed=feed, fetch_list=[curvature])[0].item() == expected


def penalties(loops, backend):
    """The gradients of a penalty on the gradients of a recurrent network, with and without a loop,
    behind three runs.
    """
    x, w, start = variable("x", [4, 2, 3]), variable("w", [3, 3]), variable("start", [2, 3])
    step = lambda now, h: layers.tanh(layers.matmul(h, w) + now)
    if loops:
        rnn = layers.StaticRNN()
        with rnn.step():
            now, before = rnn.step_input(x), rnn.memory(init=start)
            rnn.update_memory(before, step(now, before))
            rnn.step_output(step(now, before))
        loss = squares(rnn())
    else:
        state, loss = start, 0.0
        for t in range(4):
            state = step(x[t], state)
            loss = squares(state) + loss
    for _ in range(2):
        loss = sum(map(squares, fluid.gradients(loss, [x, w, start])))
    found = fluid.gradients(loss, [x, w, start])
    verify(fluid.default_main_program())
    rng, exe = np.random.default_rng(1), fluid.Executor(backend=backend)
    feed = {v.name: rng.normal(size=v.shape) for v in (x, w, start)}
    return [exe.run(feed=feed, fetch_list=found) for _ in range(3)]


def test_the_third_order_of_a_recurrent_network_is_that_without_a_loop():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        expected = penalties(False, "numpy")[0]
    for found in penalties(True, "numpy"):
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


def test_sparse_gradients_and_parameters_of_a_loop_are_trained_on_a_penalty():
    ids = fluid.data("ids", [2, 1], "int64")
    x = variable("x", [2, 3])
    step = lambda h: layers.tanh(layers.fc(h, 3, param_attr="w", bias_attr="b"))
    (slope,) = fluid.gradients(squares(repeated(3, step, x)), x)
    loss = squares(slope) + 0.1 * squares(layers.embedding(ids, [5, 3], dtype="float64"))
    fluid.optimizer.Adam(0.01).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": A, "ids": np.array([[1], [3]])}
    losses = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(30)]
    assert losses[-1] < losses[0] * 0.5


def test_loops_that_a_second_order_does_not_go_through_stay_as_they_are():
    x, y = variable("x", [1]), variable("y", [1])
    (slope,) = fluid.gradients(repeated(2, lambda h: h * h, x), x)
    fluid.gradients(repeated(2, lambda h: h * y, y), y)
    block = fluid.default_main_program().global_block()
    _, other = (op for op in block.ops if op.type == "while_grad")
    fluid.gradients(slope + y, [x, y])
    assert other in block.ops
    verify(fluid.default_main_program())


def test_numbers_drawn_in_a_branch_of_a_loop_are_a_named_error_that_changes_nothing():
    x = variable("x", [1])

    def step(h):
        below = layers.less_than(h, number(0.5))
        return layers.cond(below, lambda: layers.dropout(h, 0.5), lambda: h * h)

    (slope,) = fluid.gradients(repeated(2, step, x), x)
    before = str(fluid.default_main_program())
    with pytest.raises(NoGradientError, match="'dropout' draws random numbers in a block within a"):
        fluid.gradients(slope, x)
    assert str(fluid.default_main_program()) == before


def test_the_text_of_a_second_order_parses_back():
    x = variable("x", [1])
    (slope,) = fluid.gradients(repeated(2, lambda y: y * x, x), x)
    (curvature,) = fluid.gradients(slope, x)
    again = fluid.Program.parse(str(fluid.default_main_program()))
    found = fluid.Executor().run(again, feed={"x": np.array([3.0])}, fetch_list=[curvature.name])
    assert found[0].item() == 18.0
