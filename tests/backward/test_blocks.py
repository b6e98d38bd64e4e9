"""Gradients through branches, loops and recurrent networks."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backward.sweep import CONTROL_RULES
from fluidlite.ir.text import program_text
from fluidlite.ir.verify import verify
from fluidlite.opdef.definition import registered

layers = fluid.layers


def variable(name="x", shape=(1,)):
    made = fluid.data(name, list(shape), "float64")
    made.stop_gradient = False
    return made


def number(value, dtype="float64"):
    made = layers.fill_constant([1], dtype, value)
    made.stop_gradient = False
    return made


def run(fetch, startup=False, **feed):
    verify(fluid.default_main_program())
    feed = {name: np.asarray(value, "float64") for name, value in feed.items()}
    exe = fluid.Executor()
    if startup:
        exe.run(fluid.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


def loop(body, until, i, *names):
    """A While over i that runs a body which writes to variables made before."""
    limit = layers.fill_constant([1], "float64", until)
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        body()
        layers.increment(i, 1.0, in_place=True)
        layers.less_than(i, limit, cond=cond)


def test_gradients_of_loop_variables_are_the_true_ones():
    """x = x + i; i += 1 while i < 3, from 1 and 1."""
    x0, i0 = variable("x"), variable("i")
    x, i = layers.scale(x0, 1.0), layers.scale(i0, 1.0)
    loop(lambda: layers.assign(x + i, x), 3.0, i)
    dx, di = fluid.gradients(layers.reduce_sum(x), [x0, i0])
    assert [v.item() for v in run([x, dx, di], x=[1], i=[1])] == [4.0, 1.0, 2.0]


def test_a_value_that_each_pass_forgets_has_no_gradient():
    """x = i * i; i += 1 while i < 11: x is (i + n - 1)^2 after n passes."""
    x0, i0 = variable("x"), variable("i")
    x, i = layers.scale(x0, 1.0), layers.scale(i0, 1.0)
    loop(lambda: layers.assign(i * i, x), 11.0, i)
    dx, di = fluid.gradients(layers.reduce_sum(x), [x0, i0])
    assert [v.item() for v in run([dx, di], x=[5], i=[1])] == [0.0, 20.0]


def test_a_loop_that_does_not_run_passes_gradients_through():
    x0, i0 = variable("x"), variable("i")
    x, i = layers.scale(x0, 3.0), layers.scale(i0, 1.0)
    loop(lambda: layers.assign(x * i, x), 0.0, i)
    (dx,) = fluid.gradients(layers.reduce_sum(x), x0)
    assert run([dx], x=[2], i=[5])[0].item() == 3.0


def test_what_a_loop_only_reads_collects_a_part_from_each_pass():
    x, w = variable("x"), variable("w")
    total, i = number(0.0), number(0.0)
    loop(lambda: layers.assign(total + w * x * i, total), 4.0, i)  # (0 + 1 + 2 + 3) w x
    dw, dx = fluid.gradients(layers.reduce_sum(total), [w, x])
    assert [v.item() for v in run([dw, dx], x=[2], w=[5])] == [12.0, 30.0]


def test_a_loop_in_a_loop():
    """y = y * x, i times in pass i, for i = 0, 1, 2: x^3 in all."""
    x = variable()
    y, i = layers.scale(x, 0.0) + 1.0, number(0.0)

    def body():
        k = layers.scale(i, 0.0)
        cond = layers.less_than(k, i)
        with layers.While(cond).block():
            layers.assign(y * x, y)
            layers.increment(k, 1.0, in_place=True)
            layers.less_than(k, i, cond=cond)

    loop(body, 3.0, i)
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    value, slope = run([y, dx], x=[2])
    assert (value.item(), slope.item()) == (8.0, 12.0)


def test_a_branch_in_a_loop_is_followed_pass_by_pass():
    """Multiply by x where i is 0 or 2, add x where it is 1: (x + x) * x for a start of 1."""
    x = variable()
    y, i, one = layers.scale(x, 0.0) + 1.0, number(0.0), number(1.0)

    def body():
        odd = layers.equal(i, one)
        layers.assign(layers.cond(odd, lambda: y + x, lambda: y * x), y)

    loop(body, 3.0, i)
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    value, slope = run([y, dx], x=[3])
    assert (value.item(), slope.item()) == (18.0, 12.0)


def test_arrays_carry_gradients_through_a_loop():
    """memory[i + 1] = 1.5 (memory[i] + data[i]): the real system gets these wrong."""
    data = [variable(f"d{k}") for k in range(3)]
    i = layers.fill_constant([1], "int64", 0)
    memory = layers.array_write(number(0.0), i)
    stored = layers.array_write(data[0], i)
    for each in data[1:]:
        i = layers.increment(i, in_place=False)
        layers.array_write(each, i, array=stored)
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    cond = layers.less_than(i, n)
    with layers.While(cond).block():
        total = layers.array_read(stored, i) + layers.array_read(memory, i)
        layers.increment(i, in_place=True)
        layers.array_write(total * 1.5, i, array=memory)
        layers.less_than(i, n, cond=cond)
    loss = layers.reduce_sum(layers.array_read(memory, i))
    found = run(fluid.gradients(loss, data), d0=[1], d1=[1], d2=[1])
    assert [v.item() for v in found] == [1.5**3, 1.5**2, 1.5]


def test_an_element_of_an_array_that_is_written_over_gets_no_gradient():
    x, y = variable("x"), variable("y")
    i = layers.fill_constant([1], "int64", 0)
    array = layers.array_write(x, i)
    layers.array_write(y, i, array=array)
    loss = layers.reduce_sum(layers.array_read(array, i))
    dx, dy = run(fluid.gradients(loss, [x, y]), x=[1], y=[1])
    assert (dx.item(), dy.item()) == (0.0, 1.0)


@pytest.mark.parametrize("at, orders", [(2.0, [12.0, 12.0, 6.0]), (-2.0, [12.0, -6.0, 0.0])])
def test_branches_are_differentiated_to_any_order(at, orders):
    """x^3 above 0, -3 x^2 below."""
    x = variable()
    above = layers.less_than(number(0.0), x)
    y = layers.cond(above, lambda: x * x * x, lambda: layers.scale(x * x, -3.0))
    found, derivatives = y, []
    for _ in orders:
        (found,) = fluid.gradients(found, x)
        derivatives.append(found)
    assert [v.item() for v in run(derivatives, x=[at])] == orders


def test_what_a_branch_does_not_write_keeps_its_value_and_its_gradient():
    x = variable()
    y = layers.scale(x, 2.0)
    with layers.Switch() as switch, switch.case(layers.less_than(number(0.0), x)):
        layers.assign(x * x * x, y)
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    assert run([dx], x=[3])[0].item() == 27.0
    assert run([dx], x=[-3])[0].item() == 2.0


def test_gradients_over_a_branch_can_be_asked_for_twice():
    x = variable()
    y = layers.cond(layers.less_than(number(0.0), x), lambda: x * x, lambda: x * -3.0)
    (first,), (second,) = fluid.gradients(y, x), fluid.gradients(y, x)
    assert first.name != second.name
    assert [v.item() for v in run([first, second], x=[2])] == [4.0, 4.0]


def test_a_parameter_made_in_a_branch_is_trained():
    x = fluid.data("x", [1, 2], "float64")
    positive = layers.less_than(number(0.0), layers.reduce_sum(x))
    ones = fluid.initializer.Constant(1.0)
    branches = [
        lambda name=name: layers.fc(x, 1, param_attr=fluid.ParamAttr(name, ones), bias_attr=False)
        for name in ("yes", "no")
    ]
    loss = layers.mean(layers.cond(positive, *branches))
    pairs = fluid.backward.append_backward(loss)
    assert [p.name for p, _ in pairs] == ["yes", "no"]
    yes, no = run([g for _, g in pairs], startup=True, x=[[1, 5]])
    assert yes.tolist() == [[1.0], [5.0]]
    assert no.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("steps", [1, 4])
def test_a_recurrent_network_is_differentiated_as_its_unrolled_form(steps):
    """h = tanh(x_t w + h u), every h used."""
    shape = [steps, 2, 3]
    x = variable("x", shape)
    w, u = variable("w", [3, 3]), variable("u", [3, 3])
    zero = layers.fill_constant([2, 3], "float64", 0.1)
    zero.stop_gradient = False
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(init=zero)
        after = layers.tanh(layers.matmul(now, w) + layers.matmul(before, u))
        rnn.update_memory(before, after)
        rnn.step_output(after)
    together = layers.reduce_sum(layers.square(rnn()))
    state, total = zero, 0.0
    for t in range(steps):
        state = layers.tanh(layers.matmul(x[t], w) + layers.matmul(state, u))
        total = layers.reduce_sum(layers.square(state)) + total
    wanted = [x, w, u, zero]
    found = fluid.gradients(together, wanted)
    unrolled = fluid.gradients(total, wanted)
    rng = np.random.default_rng(1)
    feed = {n: rng.normal(size=s) for n, s in (("x", shape), ("w", [3, 3]), ("u", [3, 3]))}
    values = run([together, total, *found, *unrolled], **feed)
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)
    for mine, other in zip(values[2:6], values[6:], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


def test_text_of_a_program_with_blocks_of_gradients_parses_back():
    x = variable()
    y, i = layers.scale(x, 1.0), number(0.0)
    loop(lambda: layers.assign(y * x, y), 2.0, i)
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    text = program_text(fluid.default_main_program(), call_sites=False)
    again = fluid.Program.parse(text)
    assert program_text(again, call_sites=False) == text
    found = fluid.Executor().run(again, feed={"x": np.array([3.0])}, fetch_list=[dx.name])
    assert found[0].item() == 27.0


def test_every_operator_with_a_block_that_passes_gradients_has_a_control_rule():
    driving = [d for d in registered() if d.block_attributes and d.grad is not None]
    assert {d.type for d in driving} == CONTROL_RULES.keys()
    assert {"conditional_block", "while", "recurrent"} < CONTROL_RULES.keys()
