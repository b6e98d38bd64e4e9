"""Derivatives and batches as programs against the same written in JAX, jitted.

    python benchmarks/transform.py                       measures and prints
    python benchmarks/transform.py --only jacobian --rounds 9
    python benchmarks/transform.py --write               and writes docs/performance.md

Both run on one thread of this process and take turns, each as what is called again and again:
``Executor.prepare`` and ``jax.jit``.  Before they are timed, their results are compared.  Shown are
the shortest calls in microseconds, their ratio, that of the median calls, and the seconds that it
takes until the first result is there: the transformation, and what compiles.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  (threads are chosen before)
import jax.numpy as jnp  # noqa: E402
import machine  # noqa: E402
import numpy as np  # noqa: E402
from page import PAGE, replace_part  # noqa: E402

import fluidlite as fluid  # noqa: E402
from fluidlite import layers, transform  # noqa: E402
from fluidlite.transform.derivative_matrices import Mode  # noqa: E402

LIMIT = 1.2  #: of the time of a call, as a multiple of JAX's


class Problem(NamedTuple):
    """The same computation twice.

    ours: makes the transformed program and what is fed, of the default program; its parameters have
        been initialized.
    theirs: makes a function of what is fed by name, and of the parameters, that is to be jitted.
    """

    build: Callable[[int], Any]
    ours: Callable[[Any], transform.Transformed]
    theirs: Callable[[dict[str, Any]], Any]


def uniform(*shape: int) -> Any:
    """Numbers of a fixed seed."""
    return np.random.default_rng(len(shape)).uniform(-1, 1, shape).astype("float32")


def mlp(small: int) -> tuple[Any, dict[str, Any]]:
    """The loss of a perceptron of two hidden layers, and what is fed."""
    rows, inputs, hidden, classes = (8, 4, 5, 3) if small else (64, 64, 128, 10)
    x = fluid.data("x", [rows, inputs], "float32")
    t = fluid.data("t", [rows, classes], "float32")
    h = x
    for k in range(2):
        h = layers.fc(h, hidden, act="tanh", param_attr=f"w{k}", bias_attr=f"b{k}")
    y = layers.fc(h, classes, param_attr="w2", bias_attr="b2")
    return layers.mean(layers.square(y - t)), {"x": uniform(*x.shape), "t": uniform(*t.shape)}


def jax_mlp(v: dict[str, Any]) -> Any:
    """The same in JAX."""
    h = v["x"]
    for k in range(2):
        h = jnp.tanh(h @ v[f"w{k}"] + v[f"b{k}"])
    return jnp.mean(jnp.square(h @ v["w2"] + v["b2"] - v["t"]))


PARAMETERS = [f"{kind}{k}" for k in range(3) for kind in "wb"]


def product(loss: Any) -> transform.Transformed:
    """The second derivatives of a loss, times a vector."""
    return transform.hvp(fluid.default_main_program(), loss, PARAMETERS)


def jax_product(v: dict[str, Any]) -> Any:
    """The same in JAX, forward over reverse."""
    at = {p: v[p] for p in PARAMETERS}
    along = {p: v[p + "@TANGENT"] for p in PARAMETERS}
    slopes = jax.grad(lambda given: jax_mlp({**v, **given}))
    found = jax.jvp(slopes, (at,), (along,))[1]
    return [found[p] for p in PARAMETERS]


def vector_function(small: int) -> tuple[Any, dict[str, Any]]:
    """A vector of a vector."""
    size = 6 if small else 100
    x = fluid.data("x", [1, size], "float32")
    h = layers.fc(x, size, act="tanh", param_attr="w0", bias_attr=False)
    y = layers.fc(h, size, act="sigmoid", param_attr="w1", bias_attr=False)
    return y * x, {"x": uniform(1, size)}


def jax_vector_function(v: dict[str, Any]) -> Any:
    """The same in JAX."""
    return jax.nn.sigmoid(jnp.tanh(v["x"] @ v["w0"]) @ v["w1"]) * v["x"]


def matrix(mode: Mode) -> Callable[[Any], transform.Transformed]:
    """The Jacobian of that vector."""
    return lambda y: transform.jacobian(fluid.default_main_program(), y, "x", mode=mode)


def jax_matrix(derive: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """The same in JAX."""
    return lambda v: [derive(lambda x: jax_vector_function({**v, "x": x}))(v["x"])]


def scalar_function(small: int) -> tuple[Any, dict[str, Any]]:
    """A number of some unknowns."""
    size = 5 if small else 50
    x = fluid.data("x", [size], "float32")
    part = layers.slice(x, [0], [1], [size])
    rest = layers.slice(x, [0], [0], [size - 1])
    far = layers.reduce_sum(layers.square(part - layers.square(rest)))
    return far * 100.0 + layers.reduce_sum(layers.square(rest - 1.0)), {"x": uniform(size)}


def jax_scalar_function(x: Any) -> Any:
    """The same in JAX: Rosenbrock's function."""
    far = jnp.sum(jnp.square(x[1:] - jnp.square(x[:-1])))
    return far * 100.0 + jnp.sum(jnp.square(x[:-1] - 1.0))


def second(y: Any) -> transform.Transformed:
    """The Hessian of that number."""
    return transform.hessian(fluid.default_main_program(), y, "x")


def jax_second(v: dict[str, Any]) -> Any:
    """The same in JAX."""
    return [jax.hessian(jax_scalar_function)(v["x"])]


def images(small: int) -> tuple[Any, dict[str, Any]]:
    """The loss of a convolution net on a batch of images."""
    rows, size, maps = (2, 12, 2) if small else (32, 28, 8)
    x = fluid.data("x", [None, 1, size, size], "float32")
    t = fluid.data("t", [None, 10], "float32")
    h = x
    for k in range(2):
        h = layers.conv2d(h, maps << k, 3, act="relu", param_attr=f"w{k}", bias_attr=f"b{k}")
        h = layers.pool2d(h, 2, "max", 2)
    y = layers.fc(h, 10, param_attr="w2", bias_attr="b2")
    return layers.mean(layers.square(y - t)), {
        "x": uniform(rows, 1, size, size),
        "t": uniform(rows, 10),
    }


def of_each(loss: Any) -> transform.Transformed:
    """The loss and the gradients of each image."""
    return transform.per_sample_gradients(loss, ["x", "t"], PARAMETERS)._replace(inputs=())


def jax_images(v: dict[str, Any]) -> Any:
    """The loss of one image in JAX."""
    h = v["x"][None]
    for k in range(2):
        form = ("NCHW", "OIHW", "NCHW")
        h = jax.lax.conv_general_dilated(h, v[f"w{k}"], (1, 1), "VALID", dimension_numbers=form)
        h = jax.nn.relu(h + v[f"b{k}"][None, :, None, None])
        window = (1, 1, 2, 2)
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, window, window, "VALID")
    return jnp.mean(jnp.square(h.reshape(1, -1) @ v["w2"] + v["b2"] - v["t"]))


def jax_of_each(v: dict[str, Any]) -> Any:
    """The same in JAX."""
    parameters = {p: v[p] for p in PARAMETERS}

    def loss(given: dict[str, Any], x: Any, t: Any) -> Any:
        return jax_images({**given, "x": x, "t": t})

    found, slopes = jax.vmap(jax.value_and_grad(loss), (None, 0, 0))(parameters, v["x"], v["t"])
    return [found[:, None], *(slopes[p] for p in PARAMETERS)]


def recurrence(small: int) -> tuple[Any, dict[str, Any]]:
    """A number that a loop of fifty steps gives."""
    steps, rows, width = (4, 2, 3) if small else (50, 8, 32)
    x, h0 = fluid.data("x", [steps, rows, width], "float32"), fluid.data("h0", [rows, width])
    rnn = layers.StaticRNN()
    with rnn.step():
        step, before = rnn.step_input(x), rnn.memory(init=h0)
        after = layers.tanh(step + layers.fc(before, width, param_attr="w", bias_attr=False))
        rnn.update_memory(before, after)
        rnn.output(after)
    feed = {"x": uniform(steps, rows, width), "h0": uniform(rows, width)}
    return layers.mean(layers.square(rnn())), feed


def jax_recurrence(v: dict[str, Any]) -> Any:
    """The same in JAX."""

    def step(before: Any, x: Any) -> tuple[Any, Any]:
        after = jnp.tanh(x + before @ v["w"])
        return after, after

    return jnp.mean(jnp.square(jax.lax.scan(step, v["h0"], v["x"])[1]))


def weight_product(loss: Any) -> transform.Transformed:
    """The second derivatives of that number by the weight, times a vector."""
    return transform.hvp(fluid.default_main_program(), loss, "w")


def jax_weight_product(v: dict[str, Any]) -> Any:
    """The same in JAX."""
    slope = jax.grad(lambda w: jax_recurrence({**v, "w": w}))
    return [jax.jvp(slope, (v["w"],), (v["w@TANGENT"],))[1]]


PROBLEMS = {
    "hvp of an MLP": Problem(mlp, product, jax_product),
    "jacobian, forward": Problem(vector_function, matrix("forward"), jax_matrix(jax.jacfwd)),
    "jacobian, reverse": Problem(vector_function, matrix("reverse"), jax_matrix(jax.jacrev)),
    "hessian": Problem(scalar_function, second, jax_second),
    "hvp through 50 steps": Problem(recurrence, weight_product, jax_weight_product),
    "gradients of each image": Problem(images, of_each, jax_of_each),
}


class Sides(NamedTuple):
    """What is timed, and how long it took to make it."""

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    first: tuple[float, float]


def made(problem: Problem, small: bool) -> Sides:
    """Both sides of a problem, whose results agree.

    Raises:
        SystemExit: they do not.
    """
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.scope_guard(scope), fluid.unique_name.guard():
        y, feed = problem.build(small)
        exe = fluid.Executor()
        if startup.global_block().ops:
            exe.run(startup)
        values = {p.name: np.array(p.get_value()) for p in main.all_parameters()}
        begin = time.perf_counter()
        program, more, outputs = problem.ours(y)
        feed |= {v.name: uniform(*v.shape) for v in more}
        names = [v.name for v in outputs]
        call = exe.prepare(program, list(feed), names, scope=scope)
        mine = call(feed)
        end = time.perf_counter()
        for _ in range(4):  # compiled, and with its buffers there
            mine = call(feed)
    given = {name: jnp.asarray(value) for name, value in {**values, **feed}.items()}
    start = time.perf_counter()
    jitted = jax.jit(problem.theirs)
    right = jax.block_until_ready(jitted(given))
    took = end - begin, time.perf_counter() - start
    for a, b in zip(mine, right, strict=True):
        if not np.allclose(a, b, 1e-3, 1e-4 * max(1.0, np.abs(b).max())):
            sys.exit(f"results differ by {np.abs(a - b).max()}")
    return Sides(lambda: call(feed), lambda: jax.block_until_ready(jitted(given)), took)


def times(sides: Sides, rounds: int, seconds: float) -> tuple[list[float], list[float]]:
    """Microseconds of calls of both, which take turns.

    Args:
        sides: what to call.
        rounds: how many turns.
        seconds: of a turn.
    """
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, into in zip((sides.ours, sides.theirs), taken):
            until = time.perf_counter() + seconds
            while True:
                begin = time.perf_counter()
                call()
                end = time.perf_counter()
                into.append((end - begin) * 1e6)
                if end > until:
                    break
    return taken


def main() -> None:
    """Measure and print."""
    args = arguments()
    before = machine.load()
    head = ["", "ours, µs", "JAX, µs", "ratio", "of medians", "first, s", "JAX, s"]
    row = "{:>24}  {:>10}  {:>10}  {:>6}  {:>10}  {:>9}  {:>9}"
    print(row.format(*head), flush=True)
    rows = []
    for name in [name for name in PROBLEMS if args.only in name]:
        sides = made(PROBLEMS[name], args.small)
        ours, theirs = times(sides, args.rounds, args.seconds)
        middle = statistics.median(ours) / statistics.median(theirs)
        shortest = min(ours), min(theirs)
        cells = [f"{t:,.1f}" for t in shortest] + [f"{shortest[0] / shortest[1]:.2f}"]
        rows.append([name, *cells, f"{middle:.2f}", *(f"{t:.2f}" for t in sides.first)])
        print(row.format(*rows[-1]), flush=True)
    where = f"Machine: {machine.description()}; load {before:.1f} and {machine.load():.1f}."
    print(where)
    if args.write:
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        replace_part(Path(args.write), "transform", f"{table}\n\n{where}\n")


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", default="", help="problems with this in their name")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    parser.add_argument("--small", action="store_true", help="a few elements, to see that it runs")
    parser.add_argument("--write", nargs="?", const=PAGE, help="put the table into a page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
