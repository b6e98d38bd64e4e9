"""Random graphs of element-wise operators, reductions and views, as programs."""

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.backend.native.compiler import COMPILER, Compiler

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


def build(seed):
    """A program, what is fed to it, and the variables that are fetched."""
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
        full = [given["x"], given["y"]]
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
                made = BINARY[int(rng.integers(3))](pick(), given["rc"[int(rng.integers(2))]])
            elif kind == 7:
                reduce = (layers.reduce_sum, layers.reduce_mean, layers.reduce_max)
                made = reduce[int(rng.integers(3))](pick(), dim=[1], keep_dim=True)
                made = layers.elementwise_sub(pick(), made)
            elif kind == 12:
                made = layers.elementwise_add(pick(), layers.matmul(pick(), given["m"]))
            elif kind == 8:
                fetched.append(layers.reduce_sum(pick(), dim=[0]))
                continue
            elif kind == 9:
                fetched.append(layers.mean(layers.square(pick())))
                continue
            elif kind == 10:
                fetched.append(layers.softmax_with_cross_entropy(pick(), label))
                continue
            else:
                shape = [split, rows // split, columns]
                made = layers.tanh(layers.reshape(pick(), shape))
                made = layers.reshape(made, [rows, columns])
            full.append(made)
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


def findings(seeds, level="-O0"):
    """The graphs among some whose kernels compute otherwise than interpretation: their seeds with
    the largest difference; and how many have kernels.

    Args:
        seeds: of the graphs.
        level: of optimization; without any the compiler is quick.
    """
    recording = Recording()
    COMPILER.switch(recording)
    for seed in seeds:
        results(seed)
    recording.together(list(recording.seen.values()), level)
    wrong, count = [], 0
    for seed in seeds:
        meant, found, source = results(seed)
        count += ", native" in source
        for a, b in zip(meant, found):
            scale = max(1.0, float(np.abs(a).max(initial=0)))
            off = float(np.abs(a - b).max(initial=0)) / scale
            if a.dtype != b.dtype or a.shape != b.shape or not off < 2e-5:
                wrong.append((seed, off))
                break
    return wrong, count
