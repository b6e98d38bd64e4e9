"""Random graphs of element-wise operators, reductions and views, as programs."""

import warnings

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.errors import FluidWarning

NEAR = 2e-5  #: how far results may be apart, as a share of the largest element
SHAKES, MORE = 8, 8  #: samples of how rounding moves results, and how many times more is too much

UNARY = (
    *(layers.tanh, layers.sigmoid, layers.relu, layers.relu6, layers.gelu, layers.erf),
    *(layers.square, layers.abs, layers.softplus, layers.softsign, layers.leaky_relu),
    *(lambda x: layers.sqrt(layers.abs(x) + 1.0), lambda x: layers.log(layers.abs(x) + 1.0)),
    *(lambda x: layers.exp(layers.clip(x, -3.0, 3.0)), lambda x: layers.scale(x, -0.7, 0.3)),
    *(lambda x: layers.cast(layers.cast(x, "float64"), "float32"), layers.softmax),
    *(lambda x: x * 2.5 - 1.0, lambda x: 1.0 / (layers.square(x) + 0.5)),
)
BINARY = (
    *(layers.elementwise_add, layers.elementwise_sub, layers.elementwise_mul),
    *(layers.elementwise_max, layers.elementwise_min),
)


class Recording(Compiler):
    """A compiler that notes what is asked for, and compiles nothing by itself."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def find(self, sources):
        self.seen.update((source.name, source) for source in sources)
        return super().find(sources)

    def request(self, sources):
        return []


def build(seed, shaken=None):
    """A program, what is fed to it, and the variables that are fetched.

    Args:
        seed: of the graph.
        shaken: draws a factor for each element of each value, as rounding would be one; None for
            the graph as it is.
    """
    rng = np.random.default_rng(seed)
    rows, columns = (int(n) for n in rng.choice([1, 2, 3, 5, 8, 17, 33, 64], 2))
    split = 2 if rows % 2 == 0 else 1
    shapes = {"x": (rows, columns), "y": (rows, columns), "r": (rows, 1), "c": (columns,)}
    shapes["m"] = columns, 1
    feed = {n: rng.standard_normal(s).astype("float32") for n, s in shapes.items()}
    feed["k"] = rng.integers(0, columns, (rows, 1))
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        given = {n: fluid.data(n, list(s), "float32") for n, s in shapes.items()}
        label = fluid.data("k", [rows, 1], "int64")
        for each in given.values():
            each.stop_gradient = False

        def rounded(value):
            if shaken is None:
                return value
            name = f"factor{len(feed)}"
            feed[name] = shaken(tuple(value.shape))
            return layers.elementwise_mul(value, fluid.data(name, list(value.shape), "float32"))

        moved = {n: rounded(v) for n, v in given.items()}
        full = [moved["x"], moved["y"]]
        fetched = []

        def pick():
            return full[int(rng.integers(max(0, len(full) - 4), len(full)))]

        for _ in range(int(rng.integers(2, 12))):
            kind = int(rng.integers(13))
            if kind < 4:
                made = UNARY[int(rng.integers(len(UNARY)))](pick())
            elif kind < 6:
                made = BINARY[int(rng.integers(len(BINARY)))](pick(), pick())
            elif kind == 6:
                made = BINARY[int(rng.integers(3))](pick(), moved["rc"[int(rng.integers(2))]])
            elif kind == 7:
                reduce = (layers.reduce_sum, layers.reduce_mean, layers.reduce_max)
                made = reduce[int(rng.integers(3))](pick(), dim=[1], keep_dim=True)
                made = layers.elementwise_sub(pick(), rounded(made))
            elif kind == 12:
                made = layers.elementwise_add(pick(), layers.matmul(pick(), moved["m"]))
            elif kind == 8:
                fetched.append(layers.reduce_sum(pick(), dim=[0]))
                continue
            elif kind == 9:
                fetched.append(layers.mean(layers.square(pick())))
                continue
            elif kind == 10:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FluidWarning)  # some are softmaxes already
                    fetched.append(layers.softmax_with_cross_entropy(pick(), label))
                continue
            else:
                shape = [split, rows // split, columns]
                made = layers.tanh(layers.reshape(pick(), shape))
                made = layers.reshape(made, [rows, columns])
            full.append(rounded(made))
        fetched.append(full[-1])
        if rng.integers(2):
            fetched += fluid.gradients([full[-1]], list(given.values()))
        fetched = [v for v in fetched if v is not None]
    return main, feed, fetched


def results(seed, runs=3):
    """What a program gives when it is interpreted, and at the last of some runs."""
    main, feed, fetched = build(seed)
    exe, scope = fluid.Executor(), fluid.Scope()
    found = [exe.run(main, feed, fetched, scope=scope) for _ in range(runs)]
    return found[0], found[-1], exe.plan(main, fetched).source


def rounding(seed):
    """How far each fetched value moves where each value before it is rounded at random: the largest
    of some samples, by the interpreter (Monte Carlo arithmetic).
    """
    rng, moved = np.random.default_rng(seed), []
    unit = np.finfo("float32").eps

    def shaken(shape):
        return (1 + unit * rng.uniform(-1, 1, shape)).astype("float32")

    main, feed, fetched = build(seed, shaken)
    factors = [name for name in feed if name.startswith("factor")]
    samples = []
    for _ in range(SHAKES):
        feed.update((name, shaken(feed[name].shape)) for name in factors)
        samples.append(fluid.Executor().run(main, feed, fetched, scope=fluid.Scope()))
    for each in zip(*samples):
        stack = np.stack(each).astype("float64")
        moved.append(float(np.abs(stack - stack.mean(0)).max(initial=0)))
    return moved


def findings(seeds, level="-O0"):
    """The graphs among some whose kernels compute otherwise than interpretation: their seeds with
    the largest difference; how many have kernels; and the seeds with differences that rounding
    explains, where large terms leave a small result.

    Args:
        seeds: of the graphs.
        level: of optimization; without any the compiler is quick.
    """
    recording = Recording()
    COMPILER.switch(recording)
    for seed in seeds:
        results(seed)
    recording.together(list(recording.seen.values()), level)
    wrong, count, rounded = [], 0, []
    for seed in seeds:
        meant, found, source = results(seed)
        count += ", native" in source
        off = [_apart(a, b) for a, b in zip(meant, found)]
        far = [k for k, share in enumerate(off) if not share < NEAR]
        if not far:
            continue
        moved = rounding(seed)
        allowed = [MORE * moved[k] / _scale(meant[k]) for k in far]
        explained = all(off[k] <= most for k, most in zip(far, allowed))
        (rounded if explained else wrong).append((seed, max(off[k] for k in far)))
    return wrong, count, rounded


def _scale(value):
    return max(1.0, float(np.abs(value).max(initial=0)))


def _apart(a, b):
    """How far two results are apart; infinitely where they are of other types or shapes."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.inf
    return float(np.abs(a - b).max(initial=0)) / _scale(a)
