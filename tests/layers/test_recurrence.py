"""Recurrent networks of cells, against loops over single sequences."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

rng = np.random.default_rng(0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def parameters():
    """The parameters with random values, by name."""
    found = {}
    for p in fluid.default_main_program().all_parameters():
        found[p.name] = rng.normal(size=p.shape).astype("float32")
    return found


def run(feed, fetch):
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    values = parameters()
    for name, value in values.items():
        fluid.global_scope().find_var(name).get_tensor().set(value)
    return values, exe.run(feed=feed, fetch_list=fetch)


def lstm(x, h, c, w, b):
    i, g, r, o = np.split(np.concatenate([x, h]) @ w + b, 4)
    c = logistic(r + 1) * c + logistic(i) * np.tanh(g)
    return logistic(o) * np.tanh(c), c


def gru(x, h, gates, candidate, b, d):
    r, u = np.split(logistic(np.concatenate([x, h]) @ gates + b), 2)
    new = np.tanh(np.concatenate([x, r * h]) @ candidate + d)
    return u * h + (1 - u) * new


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_states_stay_as_they_are_behind_the_end_of_a_sequence(time_major, is_reverse):
    x = fluid.data("x", [4, None, 3] if time_major else [None, 4, 3])
    n = fluid.data("n", [None], "int64")
    out, (h, c) = layers.rnn(
        layers.LSTMCell(2), x, None, n, time_major=time_major, is_reverse=is_reverse
    )
    value, lengths = rng.normal(size=[5, 4, 3]).astype("float32"), np.array([4, 0, 2, 1, 3])
    feed = {"x": value.swapaxes(0, 1) if time_major else value, "n": lengths}
    given, (found, last_h, last_c) = run(feed, [out, h, c])
    found = found.swapaxes(0, 1) if time_major else found
    w, b = given.values()
    for row, length in enumerate(lengths):
        state, cell = np.zeros(2), np.zeros(2)
        for t in reversed(range(4)) if is_reverse else range(4):
            after = lstm(value[row, t], state, cell, w, b)
            np.testing.assert_allclose(found[row, t], after[0], rtol=1e-5, atol=1e-6)
            state, cell = after if t < length else (state, cell)
        np.testing.assert_allclose(last_h[row], state, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(last_c[row], cell, rtol=1e-5, atol=1e-6)


def test_a_gated_cell_begins_with_the_states_that_it_is_given():
    x, first = fluid.data("x", [None, 4, 3]), fluid.data("first", [None, 2])
    out, last = layers.rnn(layers.GRUCell(2), x, first)
    value, start = (rng.normal(size=s).astype("float32") for s in ([3, 4, 3], [3, 2]))
    given, (found, end) = run({"x": value, "first": start}, [out, last])
    for row in range(3):
        state = start[row]
        for t in range(4):
            state = gru(value[row, t], state, *given.values())
            np.testing.assert_allclose(found[row, t], state, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(end[row], state, rtol=1e-5, atol=1e-6)


def test_gradients_reach_first_states_inputs_and_parameters():
    x, first = fluid.data("x", [2, 3, 2], "float64"), fluid.data("first", [2, 2], "float64")
    n = layers.assign(np.array([3, 1]))
    out, last = layers.rnn(layers.GRUCell(2, dtype="float64"), x, first, n)
    x.stop_gradient = False
    loss = layers.reduce_sum(layers.square(out)) + layers.reduce_sum(last)
    names = [p.name for p in fluid.default_main_program().all_parameters()]
    fluid.backward.append_backward(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": rng.normal(size=[2, 3, 2]), "first": rng.normal(size=[2, 2])}
    wanted = ["x", "first", *names]
    found = exe.run(feed=feed, fetch_list=[f"{name}@GRAD" for name in wanted])
    for name, slope in zip(wanted, found):
        box = fluid.global_scope().find_var(name)
        value = feed[name] if box is None else np.array(box.get_tensor())
        at = tuple(rng.integers(0, size) for size in value.shape)
        sides = []
        for step in (1e-6, -1e-6):
            moved = value.copy()
            moved[at] += step
            if box is None:
                sides.append(exe.run(feed={**feed, name: moved}, fetch_list=[loss])[0])
            else:
                box.get_tensor().set(moved)
                sides.append(exe.run(feed=feed, fetch_list=[loss])[0])
                box.get_tensor().set(value)
        np.testing.assert_allclose(slope[at], (sides[0] - sides[1])[0] / 2e-6, rtol=1e-6, atol=1e-8)


class Two(layers.RNNCell):
    """Reads two sequences, and keeps states of two kinds in a dictionary."""

    def call(self, inputs, states, scale=1.0):
        a, b = inputs
        return [a + b, states["n"]], {"sum": states["sum"] + a * scale, "n": states["n"] + 1.0}

    @property
    def state_shape(self):
        return {"sum": [2], "n": [1]}


def test_a_cell_may_take_and_give_structures():
    a, b = fluid.data("a", [None, 3, 2]), fluid.data("b", [None, 3, 2])
    (both, count), last = layers.rnn(Two(), [a, b], scale=2.0)
    one = np.ones([4, 3, 2], "float32")
    found = fluid.Executor().run(
        feed={"a": one, "b": 2 * one}, fetch_list=[both, count, last["sum"], last["n"]]
    )
    np.testing.assert_array_equal(found[0], 3 * one)
    assert found[1][0, :, 0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found[2], np.full([4, 2], 6))
    np.testing.assert_array_equal(found[3], np.full([4, 1], 3))


def test_cells_share_their_parameters_between_networks():
    x = fluid.data("x", [None, 3, 2])
    cell = layers.GRUCell(4, param_attr=fluid.ParamAttr("w"), bias_attr=False)
    layers.rnn(cell, x)
    layers.rnn(cell, x, is_reverse=True)
    names = [p.name for p in fluid.default_main_program().all_parameters()]
    assert names == ["w_gate", "w_candidate"]
    with pytest.raises(ShapeError, match="expected inputs 2 wide, as at the cell's first step"):
        layers.rnn(cell, fluid.data("y", [None, 3, 5]))


def test_cells_run_at_once():
    with fluid.dygraph.guard():
        x, h = (fluid.dygraph.to_variable(np.ones([2, n], "float32")) for n in (4, 3))
        cell, other = layers.GRUCell(3), layers.LSTMCell(3)
        first, second = cell(x, h)[0], cell(x, h)[0]
        np.testing.assert_array_equal(first.numpy(), second.numpy())
        assert other(x, [h, h])[1][1].shape == [2, 3]


def test_what_does_not_fit_a_network_is_refused():
    x, n = fluid.data("x", [None, 3, 2]), fluid.data("n", [None, 1], "int64")
    cell = layers.LSTMCell(4)
    with pytest.raises(ArgumentError, match="expected cell to be an RNNCell, got None"):
        layers.rnn(None, x)
    with pytest.raises(ShapeError, match=r"expected sequence_length of shape \[-1\].*'n'"):
        layers.rnn(cell, x, sequence_length=n)
    with pytest.raises(ArgumentError, match="'x' to hold integers, got float32"):
        layers.rnn(cell, x, sequence_length=x)
    with pytest.raises(ArgumentError, match="expected sequence_length to be a variable"):
        layers.rnn(cell, x, sequence_length=[1, 2])
    with pytest.raises(ArgumentError, match=r"states of an LSTMCell as \[state, cell\]"):
        layers.rnn(cell, x, fluid.data("h", [None, 4]))
    with pytest.raises(ShapeError, match=r"expected the state of shape \[batch, 4\]"):
        layers.rnn(cell, x, [fluid.data("p", [None, 3]), fluid.data("q", [None, 3])])
    with pytest.raises(ArgumentError, match="expected hidden_size to be a positive whole number"):
        layers.GRUCell(0)

    class Forgetful(Two):
        def call(self, inputs, states):
            return inputs, {"sum": inputs}

    with pytest.raises(ArgumentError, match="expected the cell to give 2 states, as it is given"):
        layers.rnn(Forgetful(), x)
    assert len(fluid.default_main_program().blocks) == 1
