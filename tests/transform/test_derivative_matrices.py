"""Jacobians and Hessians as programs, in either mode."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers, transform
from fluidlite.errors import ArgumentError, ShapeError

D = "float64"
X, Z = np.array([0.5, -0.2, 0.9]), np.arange(4.0).reshape(2, 2) / 5
STEP = 1e-5


def two_functions():
    x, z = fluid.data("x", [3], D), fluid.data("z", [2, 2], D)
    y = layers.concat([layers.tanh(x) * layers.reduce_sum(z), layers.reshape(z * z, [-1])])
    return [y, layers.sin(layers.reduce_sum(x)) * z]


def differences(program, fetches, feed, name):
    """Central differences of each fetched value by each element of a feed."""
    exe, columns = fluid.Executor(), []
    for place in np.ndindex(feed[name].shape):
        values = []
        for step in (STEP, -STEP):
            moved = feed[name].copy()
            moved[place] += step
            values.append(exe.run(program, {**feed, name: moved}, fetches))
        columns.append([(a - b) / (2 * STEP) for a, b in zip(*values, strict=True)])
    return [
        np.stack([c[k] for c in columns], -1).reshape(*np.shape(columns[0][k]), *feed[name].shape)
        for k in range(len(fetches))
    ]


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_matrices_are_those_of_differences_for_each_output_and_each_input(mode):
    outputs = two_functions()
    program, feed = fluid.default_main_program(), {"x": X, "z": Z}
    made = transform.jacobian(program, outputs, ["x", "z"], mode=mode)
    y, w = (v.name for v in outputs)
    assert [v.name for v in made.outputs] == [
        f"{y}@JACOBIAN@x", f"{y}@JACOBIAN@z", f"{w}@JACOBIAN@x", f"{w}@JACOBIAN@z",
    ]  # fmt: skip
    assert [v.shape for v in made.outputs] == [(7, 3), (7, 2, 2), (2, 2, 3), (2, 2, 2, 2)]
    assert not made.inputs
    exe = fluid.Executor()
    for _ in range(3):
        found = exe.run(made.program, feed, list(made.outputs))
    by_x, by_z = (differences(program, outputs, feed, name) for name in ("x", "z"))
    for mine, right in zip(found, [by_x[0], by_z[0], by_x[1], by_z[1]], strict=True):
        np.testing.assert_allclose(mine, right, 1e-7, 1e-9)


def test_the_mode_with_fewer_directions_is_taken():
    x = fluid.data("x", [5], D)
    few, many = layers.reduce_sum(layers.exp(x), keep_dim=True), layers.expand(x * x, [3])
    program = fluid.default_main_program()
    for output, directions in [(few, 1), (many, 5)]:
        made = transform.jacobian(program, output, x).program
        (eye,) = [op for op in made.global_block().ops if op.type == "eye"]
        assert eye.attrs["num_rows"] == directions


def test_a_hessian_is_that_of_differences_of_gradients():
    total = layers.reduce_sum(layers.concat([layers.reshape(v, [-1]) for v in two_functions()]))
    program, feed = fluid.default_main_program(), {"x": X, "z": Z}
    loss = layers.exp(total * 0.1)
    made = transform.hessian(program, loss, ["x", "z"])
    slopes = transform.vjp(program, loss, ["x", "z"])
    seed = {slopes.inputs[0].name: np.ones(loss.shape)}
    found = fluid.Executor().run(made.program, feed, list(made.outputs))
    fetches = [v.name for v in slopes.outputs]
    by_x, by_z = (
        differences(slopes.program, fetches, {**feed, **seed}, name) for name in ("x", "z")
    )
    for mine, right in zip(found, [by_x[0], by_z[0], by_x[1], by_z[1]], strict=True):
        np.testing.assert_allclose(mine, right, 1e-6, 1e-8)
    assert [v.shape for v in made.outputs] == [(3, 3), (3, 2, 2), (2, 2, 3), (2, 2, 2, 2)]


def test_matrices_of_parameters_are_there_too():
    x = fluid.data("x", [4, 3], D)
    y = layers.fc(x, 2, act="sigmoid", param_attr="w", bias_attr="b")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    made = transform.jacobian(fluid.default_main_program(), y, ["w", "b"])
    rows = np.random.default_rng(0).normal(size=(4, 3))
    value, by_w, by_b = exe.run(
        made.program, {"x": rows}, [y.name, *(v.name for v in made.outputs)]
    )
    slope = value * (1 - value)
    np.testing.assert_allclose(by_b, slope[:, :, None] * np.eye(2)[None], 1e-9)
    right = np.einsum("nk,ni,kl->nkil", slope, rows, np.eye(2))
    np.testing.assert_allclose(by_w, right, 1e-9, 1e-12)


def a_loop(x):
    i, end = (layers.fill_constant([1], "int64", n) for n in (0, 3))
    going = lambda i, h: layers.less_than(i, end)
    _, h = layers.while_loop(going, lambda i, h: [i + 1, layers.tanh(h * x) + h], [i, x * 1.0])
    return h


def a_branch(x):
    positive = layers.reduce_sum(x) > 0.0
    return layers.cond(positive, lambda: layers.tanh(x) * x, lambda: layers.exp(x))


def a_recurrence(x):
    rnn, start = layers.StaticRNN(), layers.fill_constant([2, 3], D, 0.5)
    with rnn.step():
        step = rnn.step_input(x)
        before = rnn.memory(init=start)
        after = layers.tanh(step * before + layers.fc(before, 3, param_attr="u"))
        rnn.update_memory(before, after)
        rnn.output(after)
    return rnn()


def an_lstm(x):
    h, c = (layers.fill_constant([1, 2, 3], D, value) for value in (0.5, -0.5))
    return layers.lstm(x, h, c, 4, 3, 1)[0]


def a_convolution(x):
    hidden = layers.conv2d(x, 3, 3, act="tanh", param_attr="filters")
    return layers.softmax(layers.pool2d(hidden, 2, "avg"))


@pytest.mark.parametrize(
    "build, shape",
    [
        (a_loop, [3]),
        (a_branch, [3]),
        (a_recurrence, [4, 2, 3]),
        (an_lstm, [4, 2, 3]),
        (a_convolution, [1, 2, 4, 4]),
        (layers.layer_norm, [4, 3]),
        (layers.batch_norm, [4, 3]),
        (lambda x: layers.reduce_prod(x, dim=1), [2, 3]),
        (lambda x: layers.dropout(x, 0.5) * x, [5]),
        (layers.tanh, [0, 3]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.filterwarnings("ignore:these operators have no rule of batching")
def test_both_modes_give_the_same_matrix(build, shape):
    x = fluid.data("x", shape, D)
    y = build(x)
    program, exe = fluid.default_main_program(), fluid.Executor()
    program.random_seed = 3
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    feed = {"x": np.random.default_rng(1).normal(size=shape)}
    forward, backward = (
        exe.run(made.program, feed, list(made.outputs))[0]
        for mode in ("forward", "reverse")
        for made in [transform.jacobian(program, y, x, mode=mode)]
    )
    assert forward.shape == (*y.shape, *shape)
    np.testing.assert_allclose(forward, backward, 1e-5, 1e-6)  # attributes are single


def test_a_size_that_is_not_known_is_named():
    x = fluid.data("x", [None, 3], D)
    with pytest.raises(ShapeError, match=r"known size, 'tanh_0.tmp_0' has shape \[-1, 3\]"):
        transform.jacobian(fluid.default_main_program(), layers.tanh(x), x)
    with pytest.raises(ArgumentError, match="mode 'auto', 'forward' or 'reverse', got 'both'"):
        transform.jacobian(fluid.default_main_program(), x, x, mode="both")
