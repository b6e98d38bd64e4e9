"""Several layers of cells in one call, against cells in networks of their own."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.contrib.layers import BasicGRUUnit, BasicLSTMUnit, basic_gru, basic_lstm, tree_conv
from fluidlite.errors import ArgumentError, ShapeError

rng = np.random.default_rng(0)
SIZE, LAYERS = 2, 2


def same_with_cells(cell, x, first, n, names):
    """Layers of cells, one network above the other, with parameters of these names."""
    found, last = [], []
    for direction in range(2):
        out = x
        for k in range(LAYERS):
            way = "bw" if direction else "fw"
            weight, bias = (fluid.ParamAttr(f"{name}_{way}_{name[0]}_{k}") for name in names)
            state = [each[2 * k + direction] for each in first]
            state = state if len(state) > 1 else state[0]
            own = cell(SIZE, weight, bias)
            # outputs of a cell are not masked, but states, which the next layer reads, are
            out, end = layers.rnn(Masked(own), out, state, n, is_reverse=bool(direction))
            last.append(end)
        found.append(out)
    return layers.concat(found, axis=2), [last[0], last[2], last[1], last[3]]


class Masked(layers.RNNCell):
    """A cell that hands its state out."""

    def __init__(self, cell):
        self.cell = cell

    def call(self, inputs, states):
        _, states = self.cell(inputs, states)
        return (states[0] if isinstance(states, list) else states), states


@pytest.mark.parametrize("whole", [basic_lstm, basic_gru])
def test_layers_compute_what_their_cells_compute(whole):
    x, n = fluid.data("x", [None, 5, 3]), fluid.data("n", [None], "int64")
    kinds = 2 if whole is basic_lstm else 1
    first = [fluid.data(f"first{k}", [2 * LAYERS, None, SIZE]) for k in range(kinds)]
    attrs = dict(param_attr=fluid.ParamAttr("w"), bias_attr=fluid.ParamAttr("b"))
    out, *last = whole(x, *first, SIZE, LAYERS, n, bidirectional=True, **attrs)
    cell = layers.LSTMCell if kinds == 2 else layers.GRUCell
    other, ends = same_with_cells(cell, x, first, n, ("w", "b"))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": rng.normal(size=[3, 5, 3]).astype("float32"), "n": np.array([5, 5, 5])}
    for each in first:
        feed[each.name] = rng.normal(size=[2 * LAYERS, 3, SIZE]).astype("float32")
    ends = [each if isinstance(each, list) else [each] for each in ends]
    fetch = [out, other, *last, *(end for each in ends for end in each)]
    found = exe.run(feed=feed, fetch_list=fetch)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
    for k in range(kinds):
        for row in range(2 * LAYERS):
            wanted = found[2 + kinds + row * kinds + k]
            np.testing.assert_allclose(found[2 + k][row], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("whole", [basic_lstm, basic_gru])
def test_states_end_with_their_sequences(whole):
    x, n = fluid.data("x", [None, 5, 3]), fluid.data("n", [None], "int64")
    nothing = [None] * (2 if whole is basic_lstm else 1)
    out, last = whole(x, *nothing, SIZE, sequence_length=n)[:2]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": rng.normal(size=[3, 5, 3]).astype("float32"), "n": np.array([5, 2, 0])}
    found, end = exe.run(feed=feed, fetch_list=[out, last])
    for row, length in enumerate(feed["n"]):
        wanted = found[row, length - 1] if length else np.zeros(SIZE)
        np.testing.assert_allclose(end[0, row], wanted, rtol=1e-6)


def test_layers_drop_elements_while_they_train_only():
    x = fluid.data("x", [None, 4, 3])
    out = basic_lstm(x, None, None, SIZE, LAYERS, dropout_prob=0.5)[0]
    tested = fluid.default_main_program().clone(for_test=True)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": rng.normal(size=[3, 4, 3]).astype("float32")}
    assert (exe.run(feed=feed, fetch_list=[out])[0] == 0).any()
    assert (exe.run(tested, feed=feed, fetch_list=[out.name])[0] != 0).all()


def test_units_share_their_steps_with_cells_and_run_at_once():
    with fluid.dygraph.guard():
        x, h, c = (
            fluid.dygraph.to_variable(rng.normal(size=[2, n]).astype("float32")) for n in (3, 4, 4)
        )
        unit, gru = (
            BasicLSTMUnit("a", 4, forget_bias=0.0),
            BasicGRUUnit("b", 4, activation=layers.relu),
        )
        state, cell = unit(x, h, c)
        both = np.concatenate([x.numpy(), h.numpy()], axis=1)
        weight, bias = (p.numpy() for p in unit.parameters())
        i, g, f, o = np.split(both @ weight + bias, 4, axis=1)
        logistic = lambda v: 1 / (1 + np.exp(-v))
        wanted = logistic(f) * c.numpy() + logistic(i) * np.tanh(g)
        np.testing.assert_allclose(cell.numpy(), wanted, rtol=1e-5)
        np.testing.assert_allclose(state.numpy(), logistic(o) * np.tanh(wanted), rtol=1e-5)
        new = gru(x, h)
        new.backward()
        assert [p.name for p in gru.parameters()] == [
            f"b/BasicGRUUnit_0.{part}" for part in ("w_0", "w_1", "b_0", "b_1")
        ]
        assert all(p.gradient() is not None for p in gru.parameters())


def test_what_does_not_fit_layers_is_refused():
    x, h = fluid.data("x", [None, 5, 3]), fluid.data("h", [2, None, 3])
    with pytest.raises(ArgumentError, match="expected both of init_hidden and init_cell"):
        basic_lstm(x, h, None, 3)
    with pytest.raises(ShapeError, match=r"first states of shape \[4, -1, 3\].*got 'h'"):
        basic_gru(x, h, 3, 2, bidirectional=True)
    with pytest.raises(ArgumentError, match="expected num_layers to be a positive whole number"):
        basic_gru(x, None, 3, 0)
    with pytest.raises(ShapeError, match="expected input of 3 dimensions"):
        basic_gru(fluid.data("y", [None, 3]), None, 3)


def test_convolution_over_trees_has_a_bias_for_each_node():
    nodes, edges = fluid.data("nodes", [None, 3, 2]), fluid.data("edges", [None, 2, 2], "int32")
    out = tree_conv(nodes, edges, 4, 5, bias_attr=fluid.ParamAttr("b"))
    assert out.shape == (-1, 3, 4, 5)
    assert fluid.default_main_program().global_block().var("b").shape == (3, 4, 5)
    assert fluid.default_main_program().global_block().ops[-1].type == "tanh"
    with fluid.dygraph.guard():
        conv = fluid.dygraph.TreeConv(2, 4, 5, act=None, bias_attr=fluid.initializer.Constant(2.0))
        x = fluid.dygraph.to_variable(np.zeros([1, 3, 2], "float32"))
        e = fluid.dygraph.to_variable(np.array([[[1, 2], [1, 3]]], "int32"))
        np.testing.assert_array_equal(conv(x, e).numpy(), np.full([1, 3, 4, 5], 2))
        with pytest.raises(ShapeError, match=r"\[batch, nodes, 2\]"):
            conv(fluid.dygraph.to_variable(np.zeros([1, 3, 7], "float32")), e)


@pytest.mark.parametrize("whole", [basic_lstm, basic_gru])
def test_first_states_may_be_rows(whole):
    kinds = 2 if whole is basic_lstm else 1
    x = fluid.data("x", [None, 5, 3])
    rows = [fluid.data(f"rows_{k}", [None, SIZE]) for k in range(kinds)]
    first = [fluid.data(f"first_{k}", [2 * LAYERS, None, SIZE]) for k in range(kinds)]
    names = dict(param_attr="w", bias_attr="b", num_layers=LAYERS, bidirectional=True)
    of_rows, of_first = whole(x, *rows, SIZE, **names), whole(x, *first, SIZE, **names)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    values = rng.normal(size=[kinds, 2 * LAYERS, 3, SIZE]).astype("float32")
    feed = {"x": rng.normal(size=[3, 5, 3]).astype("float32")}
    feed |= {f"first_{k}": values[k] for k in range(kinds)}
    feed |= {f"rows_{k}": values[k].reshape(-1, SIZE) for k in range(kinds)}
    found = exe.run(feed=feed, fetch_list=[*of_rows, *of_first])
    for one, other in zip(found[: kinds + 1], found[kinds + 1 :]):
        np.testing.assert_array_equal(one, other)
