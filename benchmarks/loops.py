"""A second derivative through a loop of 50 steps, beside JAX's.

    python benchmarks/loops.py [--size 32] [--steps 50] [--times 200] [--only StaticRNN]

A network h = tanh(h w + x_t) goes through the steps, and the sum of squares of the loss's gradient
with respect to w is differentiated.  Rows: a ``StaticRNN`` and a ``while_loop`` that counts, both
beside ``lax.scan`` (jitted), and the same network without a loop.  Times are medians of calls that
take turns, with what is fed and fetched as NumPy's arrays on both sides.
"""

import argparse
import time

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

import fluidlite as fluid
from fluidlite import layers

KINDS = ["StaticRNN", "while_loop", "none"]


def stepped(kind, x, w, steps, size):
    """The loss of a network."""
    if kind == "StaticRNN":
        rnn = layers.StaticRNN()
        with rnn.step():
            now, before = rnn.step_input(x), rnn.memory(shape=[size, size], batch_ref=x)
            after = layers.tanh(layers.matmul(before, w) + now)
            rnn.update_memory(before, after)
            rnn.step_output(after)
        return layers.reduce_mean(layers.square(rnn()))
    state = layers.fill_constant([size, size], "float32", 0.0)
    state.stop_gradient = False
    if kind == "while_loop":
        i, n = (layers.fill_constant([1], "int64", k) for k in (0, steps))

        def step(i, state):
            now = layers.reshape(layers.gather(x, i), [size, size])
            return [i + 1, layers.tanh(layers.matmul(state, w) + now)]

        _, state = layers.while_loop(lambda i, _: layers.less_than(i, n), step, [i, state])
        return layers.reduce_mean(layers.square(state))
    states = []
    for t in range(steps):
        state = layers.tanh(layers.matmul(state, w) + x[t])
        states.append(state)
    return layers.reduce_mean(layers.square(layers.stack(states)))


def ours(kind, feed, steps, size):
    """A call, and the seconds until it is bound."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.data("x", [steps, size, size], "float32")
        w = fluid.data("w", [size, size], "float32")
        w.stop_gradient = False
        (slope,) = fluid.gradients(stepped(kind, x, w, steps, size), w)
        (result,) = fluid.gradients(layers.reduce_sum(layers.square(slope)), w)
    exe = fluid.Executor()

    def call():
        return exe.run(main, feed=feed, fetch_list=[result])[0]

    begin = time.perf_counter()
    for _ in range(3):
        call()
    return call, time.perf_counter() - begin


def peers(kind, feed, size):
    """JAX's call, and the seconds of the first."""

    def loss(w, x):
        def step(state, now):
            after = jnp.tanh(state @ w + now)
            return after, after

        last, states = lax.scan(step, jnp.zeros((size, size), "float32"), x)
        return jnp.mean(jnp.square(last if kind == "while_loop" else states))

    slope = jax.grad(loss)
    second = jax.jit(jax.grad(lambda w, x: jnp.sum(jnp.square(slope(w, x)))))

    def call():
        return np.asarray(second(feed["w"], feed["x"]))

    begin = time.perf_counter()
    call()
    return call, time.perf_counter() - begin


def main():
    """Print a row for each kind of loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=32, help="rows and columns of w and of a step")
    parser.add_argument("--steps", type=int, default=50, help="of the loop")
    parser.add_argument("--times", type=int, default=200, help="calls of each")
    parser.add_argument("--only", nargs="+", default=KINDS, choices=KINDS, help="these rows")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = (options.steps, options.size, options.size)
    feed = {
        "x": rng.normal(size=shape).astype("float32") * 0.5,
        "w": rng.normal(size=shape[1:]).astype("float32") / options.size**0.5,
    }
    print(
        f"{'loop':12} {'ms':>8} {'jax ms':>8} {'ratio':>6} {'first s':>8} {'jax s':>6} difference"
    )
    for kind in options.only:
        calls = [ours(kind, feed, *shape[:2]), peers(kind, feed, options.size)]
        times = [[], []]
        for _ in range(options.times):
            for (call, _), taken in zip(calls, times):
                begin = time.perf_counter()
                call()
                taken.append(time.perf_counter() - begin)
        mine, other = (np.median(each) * 1e3 for each in times)
        found, expected = (call() for call, _ in calls)
        difference = np.abs(found - expected).max() / np.abs(expected).max()
        first, first_other = (seconds for _, seconds in calls)
        print(
            f"{kind:12} {mine:8.3f} {other:8.3f} {mine / other:6.2f} {first:8.2f} "
            f"{first_other:6.2f} {difference:.1e}"
        )


if __name__ == "__main__":
    main()
