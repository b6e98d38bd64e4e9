"""Random graphs of element-wise operators, reductions and views, as programs."""

import warnings

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.errors import FluidWarning

NEAR = 2e-5  #: how far a result may be off, as a share of its largest element
WORSE = 2  #: times what interpretation is off, which more than that may be, too

UNARY = (
    *(layers.tanh, layers.sigmoid, layers.relu, layers.relu6, layers.gelu, layers.erf),
    *(layers.square, layers.abs, layers.softplus, layers.softsign, layers.leaky_relu),
    *(lambda x: layers.sqrt(layers.abs(x) + 1.0), lambda x: layers.log(layers.abs(x) + 1.0)),
    *(lambda x: layers.exp(layers.clip(x, -3.0, 3.0)), lambda x: layers.scale(x, -0.7, 0.3)),
    *(lambda x: layers.cast(layers.cast(x, "float64"), x.dtype), layers.softmax),
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
        # files, which have comments, are compiled alone: one text cannot hold them twice
        self.seen.update((s.name, s) for s in sources if "/*" not in s.text)
        return super().find(sources)

    def request(self, sources):
        return []


def cut_and_joined(x, rng):
    """A value whose parts go different ways and are put together again."""
    axis = int(rng.integers(-2, 2))
    size = x.shape[axis]
    if size < 2:
        return layers.tanh(x)
    low = int(rng.integers(1, size))
    high = int(rng.integers(low, size))
    kind = int(rng.integers(4))
    if kind == 0:  # equal parts, some of them in another order, or not at all
        parts = layers.split(x, 2 if size % 2 == 0 else size, dim=axis)
        parts = [layers.tanh(parts[int(rng.integers(len(parts)))]) for _ in parts]
        return layers.elementwise_mul(layers.concat(parts, axis=axis), x)
    if kind == 1:  # of other sizes
        parts = layers.split(x, [low, size - low], dim=axis)
        return layers.concat([layers.tanh(parts[0]), layers.sigmoid(parts[1])], axis=axis)
    if kind == 2:  # some elements in both of them
        first = layers.slice(x, axes=[axis], starts=[0], ends=[high])
        second = layers.slice(x, axes=[axis], starts=[size - high], ends=[size])
        if high < 1:
            return layers.tanh(x)
        made = layers.sigmoid(first) * layers.tanh(second)
        both = [made, made * 0.5, *([first] if rng.integers(2) else [])]
        whole = layers.concat(both, axis=axis)
        return layers.elementwise_add(
            x, layers.reduce_mean(layers.square(whole), dim=[axis], keep_dim=True)
        )
    gates = layers.split(layers.concat([x, layers.tanh(x)], axis=axis), 2, dim=axis)
    return layers.sigmoid(gates[1]) * gates[0]


def build(seed, dtype="float32"):
    """A program, what is fed to it, and the variables that are fetched; the numbers are the same in
    every element type.
    """
    rng = np.random.default_rng(seed)
    rows, columns = (int(n) for n in rng.choice([1, 2, 3, 5, 8, 17, 33, 64], 2))
    split = 2 if rows % 2 == 0 else 1
    shapes = {"x": (rows, columns), "y": (rows, columns), "r": (rows, 1), "c": (columns,)}
    shapes["m"] = columns, 1
    feed = {n: rng.standard_normal(s).astype("float32").astype(dtype) for n, s in shapes.items()}
    feed["k"] = rng.integers(0, columns, (rows, 1))
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        given = {n: fluid.data(n, list(s), dtype) for n, s in shapes.items()}
        label = fluid.data("k", [rows, 1], "int64")
        for each in given.values():
            each.stop_gradient = False
        full = [given["x"], given["y"]]
        fetched = []

        def pick():
            return full[int(rng.integers(max(0, len(full) - 4), len(full)))]

        for _ in range(int(rng.integers(2, 12))):
            kind = int(rng.integers(16))
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
            elif kind > 12:
                made = cut_and_joined(pick(), rng)
                if rng.integers(4) == 0:
                    fetched.append(made)
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
    the largest difference; how many have kernels; and the seeds where both are as far from what
    float64 gives, as where large terms leave a small result.

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
        if far:
            exact = _exact(seed)
            right = all(is_rounding(meant[k], found[k], exact[k]) for k in far)
            (rounded if right else wrong).append((seed, max(off[k] for k in far)))
    return wrong, count, rounded


def _exact(seed):
    """What a program gives in double precision."""
    main, feed, fetched = build(seed, "float64")
    return fluid.Executor().run(main, feed, fetched, scope=fluid.Scope())


def is_rounding(meant, found, exact):
    """Whether a result is about as near to the exact one as that of interpretation."""
    if meant.dtype != found.dtype or meant.shape != found.shape:
        return False
    scale = max(1.0, float(np.abs(exact).max(initial=0)))
    off = [float(np.abs(each - exact).max(initial=0)) / scale for each in (meant, found)]
    return off[1] <= max(NEAR, WORSE * off[0])


def _apart(a, b):
    """How far two results are apart, as a share of the largest element; infinitely where they are
    of other types or shapes.
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.inf
    return float(np.abs(a - b).max(initial=0)) / max(1.0, float(np.abs(a).max(initial=0)))
