"""Random expression programs: each order against finite differences of the one below."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fluidlite as fluid
from fluidlite.ir.verify import verify

layers = fluid.layers

#: smooth functions of one variable that stay moderate
UNARY = [
    layers.tanh,
    layers.sigmoid,
    layers.sin,
    layers.cos,
    lambda v: layers.exp(v * 0.3),
    lambda v: layers.square(v) * 0.25,
    lambda v: layers.softplus(v),
    lambda v: layers.reshape(layers.transpose(layers.reshape(v, [3, 2]), [1, 0]), [2, 3]),
    lambda v: layers.concat([v[:, 1:], v[:, :1]], axis=1),
    lambda v: layers.softmax(v) * 2.0,
]
BINARY = [
    layers.elementwise_add,
    layers.elementwise_sub,
    lambda a, b: a * b * 0.5,
    lambda a, b: a / (layers.square(b) + 2.0),
    lambda a, b: layers.matmul(layers.matmul(a, b, transpose_y=True), b) * 0.2,
    lambda a, b: a * layers.reduce_mean(b, dim=[0], keep_dim=True),
]
steps = st.tuples(
    st.sampled_from(range(len(UNARY) + len(BINARY))), st.integers(0, 9), st.integers(0, 9)
)


def build(plan, names):
    """A program's scalar that combines variables of shape [2, 3] as a plan says."""
    made = []
    for name in names:
        x = fluid.data(name, [2, 3], "float64")
        x.stop_gradient = False
        made.append(x)
    inputs = list(made)
    for which, i, j in plan:
        a, b = made[i % len(made)], made[j % len(made)]
        made.append(UNARY[which](a) if which < len(UNARY) else BINARY[which - len(UNARY)](a, b))
    return inputs, layers.reduce_sum(sum(made[1:], made[0]))


@settings(max_examples=25, deadline=None)
@given(plan=st.lists(steps, min_size=1, max_size=6), seed=st.integers(0, 10**6))
def test_gradients_agree_with_finite_differences_to_third_order(plan, seed):
    rng = np.random.default_rng(seed)
    feed = {name: rng.uniform(-1, 1, [2, 3]) for name in ("a", "b")}
    along = {name: rng.normal(size=[2, 3]) for name in feed}
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
        inputs, value = build(plan, feed)
        directions = {n: fluid.data(f"along_{n}", [2, 3], "float64") for n in feed}
        orders = [value]
        for _ in range(3):  # derivatives of the scalar along the direction
            slopes = fluid.gradients(orders[-1], inputs)
            parts = [
                layers.reduce_sum(g * directions[x.name])
                for x, g in zip(inputs, slopes, strict=True)
                if g is not None
            ]
            if not parts:
                break
            orders.append(sum(parts[1:], parts[0]))
    verify(main)
    exe = fluid.Executor()
    more = {f"along_{n}": v for n, v in along.items()}

    def values(t):
        moved = {n: v + t * along[n] for n, v in feed.items()}
        return np.array([v.item() for v in exe.run(main, {**moved, **more}, orders)])

    h = 1e-3
    numeric = (values(-2 * h) - 8 * values(-h) + 8 * values(h) - values(2 * h)) / (12 * h)
    found = values(0.0)
    scale = 1 + np.abs(found[1:])
    assert (np.abs(numeric[:-1] - found[1:]) <= 1e-6 * scale).all()
