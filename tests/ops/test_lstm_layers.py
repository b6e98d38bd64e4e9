"""Layers of long short-term memories, against a loop over single sequences."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, ShapeError
from fluidlite.opdef.definition import lookup

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def by_hand(x, h, c, weights, size, layers, ways):
    """States of the last layer, last states and last cells; weights taken one by one."""
    weights = list(weights)
    take = lambda *shape: np.reshape([weights.pop(0) for _ in range(np.prod(shape))], shape)
    matrices, width = [], x.shape[2]
    for _ in range(layers):
        for _ in range(ways):
            of_input = [take(size, width) for _ in "ifgo"]
            matrices.append((of_input, [take(size, size) for _ in "ifgo"]))
        width = size * ways
    biases = [([take(size) for _ in "ifgo"], [take(size) for _ in "ifgo"]) for _ in matrices]
    assert not weights
    last_h, last_c = np.array(h), np.array(c)
    for layer in range(layers):
        out = np.zeros([*x.shape[:2], size * ways])
        for way in range(ways):
            k = layer * ways + way
            for row in range(x.shape[1]):
                for t in range(len(x))[:: -1 if way else 1]:
                    i, r, g, o = (
                        matrices[k][0][n] @ x[t, row]
                        + matrices[k][1][n] @ last_h[k, row]
                        + biases[k][0][n]
                        + biases[k][1][n]
                        for n in range(4)
                    )
                    last_c[k, row] = logistic(r) * last_c[k, row] + logistic(i) * np.tanh(g)
                    last_h[k, row] = logistic(o) * np.tanh(last_c[k, row])
                    out[t, row, way * size : (way + 1) * size] = last_h[k, row]
        x = out
    return x, last_h, last_c


@pytest.mark.parametrize("both_ways", [False, True])
def test_layers_of_memories_follow_each_other(both_ways):
    ways, size, layers = 1 + both_ways, 2, 3
    x = rng.normal(size=[4, 3, 5])
    h, c = (rng.normal(size=[layers * ways, 3, size]) for _ in range(2))
    layout = dict(hidden_size=size, num_layers=layers, is_bidirec=both_ways)
    w = rng.normal(size=lookup("cudnn_lstm")(layout).parts(5)[1])
    found = f.cudnn_lstm(x, h, c, w, **layout, input_size=5)
    for mine, wanted in zip(found, by_hand(x, h, c, w, size, layers, ways)):
        np.testing.assert_allclose(mine, wanted)


def test_the_composition_computes_what_the_kernels_compute():
    layout = dict(hidden_size=2, num_layers=2, is_bidirec=True)
    op = lookup("lstm_layers")(layout)
    x, h, c = rng.normal(size=[3, 2, 4]), *(rng.normal(size=[4, 2, 2]) for _ in range(2))
    w, kept = rng.normal(size=op.parts(4)[1]), rng.integers(0, 2, size=[1, 3, 2, 4]) * 2.0
    whole = op.expand(f, x, h, c, w, kept)
    for mine, wanted in zip(op.run_numpy(np, x, h, c, w, kept), whole):
        np.testing.assert_allclose(mine, wanted)


def built(dropout_prob, seed=-1, is_test=False):
    x = fluid.data("x", [5, 4, 3])
    h = fluid.layers.fill_constant([2, 4, 6], "float32", 0.0)
    out = fluid.layers.lstm(
        x, h, h, 5, 6, 2, dropout_prob, is_test=is_test, seed=seed,
        default_initializer=fluid.initializer.Uniform(-1.0, 1.0),
    )[0]  # fmt: skip
    return x, out


def test_dropout_between_layers_differs_between_runs_and_its_gradient_is_that_of_the_run():
    x, out = built(0.5)
    x.stop_gradient = False
    loss = fluid.layers.reduce_sum(out)
    fluid.backward.append_backward(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    value = rng.normal(size=[5, 4, 3]).astype("float32")
    fetch = [loss, x.name + "@GRAD", fluid.default_main_program().global_block().var("x")]
    first, second = (exe.run(feed={"x": value}, fetch_list=fetch) for _ in range(2))
    assert first[0] != second[0]
    kept = next(
        op for op in fluid.default_main_program().global_block().ops if op.type[:5] == "cudnn"
    )
    weights = fluid.global_scope().find_var(kept.input("W")[0]).get_tensor()
    again = exe.run(feed={"x": value}, fetch_list=[loss, "x@GRAD", kept.output("Kept")[0]])
    op = lookup("lstm_layers")(dict(hidden_size=6, num_layers=2))
    zero, w = np.zeros([2, 4, 6]), np.array(weights).astype("float64")
    total, flow = op.run_numpy(np, value, zero, zero, w, again[2])[0], None
    np.testing.assert_allclose(total.sum(), again[0], rtol=1e-4)
    flow = op.grad_numpy(np, value, zero, zero, w, again[2], dOut=np.ones_like(total))["Input"]
    np.testing.assert_allclose(flow, again[1], rtol=1e-3, atol=1e-5)
    assert set(np.unique(again[2])) == {0.0, 2.0}


def test_a_seed_fixes_what_is_dropped_and_tests_drop_nothing():
    value = rng.normal(size=[5, 4, 3]).astype("float32")
    for dropout, seed, is_test in ((0.5, 7, False), (0.5, -1, True), (0.0, -1, False)):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup):
            _, out = built(dropout, seed, is_test)
        exe = fluid.Executor()
        exe.run(startup)
        first, second = (exe.run(main, feed={"x": value}, fetch_list=[out])[0] for _ in range(2))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "changed, message",
    [
        (dict(InitH=[1, 2, 4]), r"expected InitH of shape \[2, 3, 4\]"),
        (dict(W=[7]), "expected W of 352 elements"),
        (dict(Input=[21, 3, 6]), "expected at most max_len=20 steps"),
        (dict(Input=[5, 3, 7], W=[368]), "expected Input 6 wide"),
    ],
)
def test_what_does_not_fit_is_refused(changed, message):
    good = dict(Input=[5, 3, 6], InitH=[2, 3, 4], InitC=[2, 3, 4], W=[352])
    given = {slot: (shape, "float32") for slot, shape in {**good, **changed}.items()}
    layout = dict(hidden_size=4, num_layers=2, input_size=6)
    with pytest.raises(ShapeError, match=message):
        infer("cudnn_lstm", layout, **given)


def test_everything_cannot_be_dropped():
    with pytest.raises(AttributeValueError, match=r"expected dropout_prob in \[0, 1\), got 1"):
        built(1.0)
