"""Inference in numbers of few bits: float32, bfloat16 and whole numbers of 8 bits.

    python benchmarks/narrow.py                 nets, and bare products of oneDNN
    python benchmarks/narrow.py --only mobilenet --rounds 3
    python benchmarks/narrow.py --write         into docs/performance.md, too

A net is built, its scales are found with samples, and both models are saved and served.  Times are
milliseconds of processor time of one thread, the least of several rounds, which take turns.  Large
nets have random weights: their rows say how far numbers are apart.  A small one is trained, and its
row has accuracies.  The bare products have no net around them: they say what the processor allows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from eager import THREADS
from page import PAGE, replace_part

import fluidlite as fluid
from fluidlite.backend.onednn import memory
from fluidlite.backend.onednn.library import FLOAT32, INT8, UINT8, load
from fluidlite.contrib.slim.quantization import PostTrainingQuantization

layers = fluid.layers
BFLOAT16 = 2
Net = Callable[[Any], Any]
Predict = Callable[[np.ndarray], np.ndarray]


def normed(
    x: Any, filters: int, size: int, stride: int = 1, groups: int = 1, act: Any = None, **how: Any
) -> Any:
    """A convolution with a batch norm."""
    x = layers.conv2d(x, filters, size, stride, size // 2, groups=groups, bias_attr=False)
    return layers.batch_norm(x, act=act, **{"is_test": True, **how})


def resnet50(x: Any) -> Any:
    """ResNet-50 (He et al. 2016)."""
    x = layers.pool2d(normed(x, 64, 7, 2, act="relu"), 3, "max", 2, 1)
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(blocks):
            step = stride if number == 0 else 1
            inner = normed(normed(x, width, 1, act="relu"), width, 3, step, act="relu")
            short = normed(x, 4 * width, 1, step) if number == 0 else x
            x = layers.relu(layers.elementwise_add(normed(inner, 4 * width, 1), short))
    return layers.fc(layers.pool2d(x, 7, "avg", global_pooling=True), 1000)


def mobilenet(x: Any) -> Any:
    """MobileNet (Howard et al. 2017)."""
    x = normed(x, 32, 3, 2, act="relu")
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5]
    for filters, stride in (*plan, (1024, 2), (1024, 1)):
        x = normed(x, x.shape[1], 3, stride, x.shape[1], "relu")
        x = normed(x, filters, 1, act="relu")
    return layers.fc(layers.pool2d(x, 7, "avg", global_pooling=True), 1000)


def bert(x: Any) -> Any:
    """The encoder of BERT-base (Devlin et al. 2018), with scores for each token."""
    heads, width = 12, 768
    steps = x.shape[1]

    def dense(value: Any, size: int, act: Any = None) -> Any:
        return layers.fc(value, size, num_flatten_dims=2, act=act)

    def split(value: Any) -> Any:
        return layers.transpose(
            layers.reshape(value, [-1, steps, heads, width // heads]), [0, 2, 1, 3]
        )

    for _ in range(12):
        q, k, v = (split(dense(x, width)) for _ in range(3))
        weights = layers.softmax(
            layers.matmul(q, k, transpose_y=True, alpha=(width // heads) ** -0.5)
        )
        mixed = layers.transpose(layers.matmul(weights, v), [0, 2, 1, 3])
        mixed = layers.reshape(mixed, [-1, steps, width])
        x = layers.layer_norm(x + dense(mixed, width), begin_norm_axis=2)
        inner = dense(dense(x, 4 * width, "gelu"), width)
        x = layers.layer_norm(x + inner, begin_norm_axis=2)
    return dense(x, 2)


#: in which a net is served; "simulated" is the quantized one without whole numbers
WAYS = ("float32", "bfloat16", "simulated", "int8")
IMAGE = (3, 224, 224)
#: row of the table -> what builds the net, and the shape of its input
NETS: dict[str, tuple[Net, tuple[int, ...]]] = {
    "resnet50, batch 1": (resnet50, (1, *IMAGE)),
    "resnet50, batch 8": (resnet50, (8, *IMAGE)),
    "mobilenet, batch 1": (mobilenet, (1, *IMAGE)),
    "mobilenet, batch 8": (mobilenet, (8, *IMAGE)),
    "bert, 1 x 128": (bert, (1, 128, 768)),
}


def inputs(shape: tuple[int, ...], count: int, seed: int) -> list[np.ndarray]:
    """Images of blurred noise, or tokens of plain noise."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        if len(shape) == 4:
            coarse = rng.normal(size=(*shape[:2], shape[2] // 8, shape[3] // 8))
            values = np.kron(coarse, np.ones([1, 1, 8, 8])) + rng.normal(size=shape) / 4
        else:
            values = rng.normal(size=shape)
        found.append(values.astype("float32"))
    return found


def saved(build: Net, shape: tuple[int, ...], folder: str) -> list[Predict]:
    """A net, served in all ways of ``WAYS``."""
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    main.random_seed = startup.random_seed = 7
    exe = fluid.Executor()
    with fluid.scope_guard(scope), fluid.unique_name.guard():
        with fluid.program_guard(main, startup):
            out = build(fluid.data("x", [None, *shape[1:]], "float32"))
        exe.run(startup)
        _settle(exe, main, scope, inputs((2, *shape[1:]), 1, 3)[0])
        samples = [row for batch in inputs((2, *shape[1:]), 2, 5) for row in batch]
        return _all_ways(exe, main, out, samples, folder)


def _all_ways(exe: Any, main: Any, out: Any, samples: Any, folder: str) -> list[Predict]:
    """A program, served in all ways of ``WAYS``."""
    plain, rounded = os.path.join(folder, "plain"), os.path.join(folder, "rounded")
    fluid.io.save_inference_model(plain, ["x"], [out], exe, main)
    quantizer = PostTrainingQuantization(
        executor=exe,
        sample_generator=lambda: ((row,) for row in samples),
        model_dir=plain,
        batch_size=2,
        batch_nums=len(samples) // 2,
        algo="abs_max",
        quantizable_op_type=["conv2d", "depthwise_conv2d", "mul"],
    )
    quantizer.quantize()
    quantizer.save_quantized_model(rounded)
    return [
        *(served(plain), served(plain, in_bfloat16=True)),
        *(served(rounded), served(rounded, in_int8=True)),
    ]


def trained(steps: int, tests: int, classes: int = 10, size: int = 32) -> str:
    """The accuracies of a small residual net that tells noisy pictures apart."""
    rng = np.random.default_rng(2)
    pictures = np.kron(rng.normal(size=(classes, 3, 8, 8)), np.ones([1, 1, 4, 4]))

    def batch(count: int) -> tuple[np.ndarray, np.ndarray]:
        label = rng.integers(0, classes, [count, 1])
        noise = rng.normal(size=(count, 3, size, size)) * 4
        return (pictures[label[:, 0]] + noise).astype("float32"), label

    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    main.random_seed = startup.random_seed = 7
    exe = fluid.Executor()
    with (
        fluid.scope_guard(scope),
        fluid.unique_name.guard(),
        tempfile.TemporaryDirectory() as folder,
    ):
        with fluid.program_guard(main, startup):
            x, label = (
                fluid.data("x", [None, 3, size, size], "float32"),
                fluid.data("label", [None, 1], "int64"),
            )
            hidden = normed(x, 16, 3, act="relu", is_test=False)
            for stride in (2, 1, 2):
                inner = normed(hidden, 16, 3, stride, act="relu", is_test=False)
                inner = normed(inner, 16, 3, is_test=False)
                short = normed(hidden, 16, 1, stride, is_test=False)
                hidden = layers.relu(layers.elementwise_add(inner, short))
            out = layers.fc(layers.pool2d(hidden, 8, "avg", global_pooling=True), classes)
            tested = main.clone(for_test=True)
            loss = layers.mean(layers.softmax_with_cross_entropy(out, label))
            fluid.optimizer.Adam(3e-3).minimize(loss)
        exe.run(startup)
        for _ in range(steps):
            exe.run(main, dict(zip(("x", "label"), batch(32))), [loss])
        runs = _all_ways(exe, tested, out, list(batch(32)[0]), folder)
        x, label = batch(tests)
        found = [np.mean(np.argmax(run(x), -1) == label[:, 0]) for run in runs]
    return f"right of {tests:,} pictures: " + ", ".join(f"{w} {v:.1%}" for w, v in zip(WAYS, found))


def _settle(exe: Any, main: Any, scope: Any, x: np.ndarray) -> None:
    """Give batch norms the statistics of a batch, one after the other, as a training does."""
    tested = main.clone(for_test=True)
    for op in main.global_block().ops:
        if op.type != "batch_norm":
            continue
        (value,) = exe.run(tested, {"x": x}, [op.input("X")[0]])
        scope.find_var(op.input("Mean")[0]).get_tensor().set(value.mean((0, 2, 3)))
        scope.find_var(op.input("Variance")[0]).get_tensor().set(value.var((0, 2, 3)))


def served(
    folder: str, in_bfloat16: bool = False, in_int8: bool = False
) -> Callable[[np.ndarray], np.ndarray]:
    """What runs a model."""
    config = fluid.core.AnalysisConfig(folder)
    if in_bfloat16:
        config.enable_mkldnn_bfloat16()
    if in_int8:
        config.enable_mkldnn_int8()
    predictor = fluid.core.create_paddle_predictor(config)

    def run(x: np.ndarray) -> np.ndarray:
        (out,) = predictor.run([fluid.core.PaddleTensor(x, "x")])
        return out.as_ndarray().copy()

    return run


def least(functions: list[Callable[[], Any]], rounds: int, seconds: float) -> list[float]:
    """The least milliseconds of processor time of functions, which take turns."""
    found = [float("inf")] * len(functions)
    for function in functions:
        function()
    for _ in range(rounds):
        for place, function in enumerate(functions):
            until = time.process_time() + seconds
            while (begin := time.process_time()) < until:
                function()
                found[place] = min(found[place], 1e3 * (time.process_time() - begin))
    return found


def row_of(name: str, rounds: int, seconds: float, small: bool) -> list[str]:
    """A row of the table of nets."""
    build, shape = NETS[name]
    shape = (shape[0], 3, 32, 32) if small else shape
    with tempfile.TemporaryDirectory() as folder:
        runs = saved(build, shape, folder)
    tested = inputs(shape, 2, 11)
    for _ in range(12):  # plans and generated kernels are there
        for run in runs:
            run(tested[0])
    exact, *others = ([run(each) for each in tested] for run in runs)
    timed = [lambda run=runs[k]: run(tested[0]) for k in (0, 1, 3)]
    times = least(timed, rounds, seconds)
    return [
        *(name, *(f"{each:.1f}" for each in times)),
        *(f"{times[0] / each:.2f}" for each in times[1:]),
        *(f"{_apart(exact, each):.1%}" for each in others),
    ]


def _apart(right: list[np.ndarray], found: list[np.ndarray]) -> float:
    """The largest difference, relative to the largest number."""
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in zip(right, found))


# -- bare products ---------------------------------------------------------------------------------


def bare(kind: str, sizes: tuple[int, ...], seconds: float) -> list[float]:
    """Milliseconds of a product by oneDNN alone in float32, bfloat16, and with 8 bits.

    Args:
        kind: ``convolution`` or ``product``.
        sizes: samples, channels, rows, window and filters; or rows, depth and columns.
    """
    library = load()
    if library is None:
        raise SystemExit('oneDNN is not installed: pip install "fluidlite[fast]"')
    functions = []
    for source, weights, target in (
        (FLOAT32, FLOAT32, FLOAT32),
        (BFLOAT16, BFLOAT16, BFLOAT16),
        (UINT8, INT8, FLOAT32),
    ):
        contexts = memory.ContextFactory(library)
        if kind == "product":
            rows, depth, columns = sizes
            packed = memory.any_of(library, (depth, columns), weights)
            first, last = (
                memory.lying(library, memory.row_major(shape), type)
                for shape, type in (((rows, depth), source), ((rows, columns), target))
            )
            what, arguments = "matmul", (first, packed, None, last)
        else:
            n, channels, size, window, filters = sizes
            images = [(n, channels, size, size), (n, filters, size, size)]
            packed = memory.any_of(library, (filters, channels, window, window), weights)
            first, last = (
                memory.any_of(library, shape, type) for shape, type in zip(images, (source, target))
            )
            steps = [memory.dims((each, each)) for each in (1, 0, window // 2, window // 2)]
            what, arguments = "convolution_forward", (96, 1, first, packed, None, last, *steps)
        descriptor = memory.PrimitiveDescriptor(library, what, *arguments)
        numbers = [(n, descriptor.memory(of)) for n, of in ((1, 129), (33, 131), (17, 133))]
        primitive = memory.Primitive(contexts, descriptor, numbers)
        arrays = [memory.aligned(library.size(handle)) for _, handle in numbers]
        for array in arrays:
            array[...] = 0
        run = primitive.at(contexts())
        functions.append(lambda run=run, arrays=arrays: run(*arrays))
    return least(functions, 2, seconds)


BARE = [
    ("convolution", (1, 64, 56, 3, 64)),
    ("convolution", (1, 64, 56, 1, 256)),
    ("convolution", (1, 256, 14, 3, 256)),
    ("convolution", (8, 128, 28, 3, 128)),
    ("product", (128, 768, 768)),
    ("product", (128, 3072, 768)),
]


def main() -> None:
    """Measure, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of nets")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.5, help="that a round takes")
    parser.add_argument("--small", action="store_true", help="small images, and little of the rest")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    warnings.filterwarnings("ignore", "enable_mkldnn_bfloat16")  # then both take the same time
    one = {f"{name}_NUM_THREADS": "1" for name in THREADS}
    if not one.items() <= os.environ.items():  # libraries read it when they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **one})
    busy = f"{machine.description()}; one thread; load {machine.load():.1f}"
    heads = ["", *("float32", "bfloat16", "int8"), *("bfloat16 faster", "int8 faster")]
    heads += [f"{way} off" for way in WAYS[1:]]
    table = [heads, ["---"] * len(heads)]
    for name in NETS:
        if args.only in name:
            table.append(row_of(name, args.rounds, args.seconds, args.small))
            print(" | ".join(table[-1]), flush=True)
    accuracy = trained(*(1, 20) if args.small else (150, 2000))
    print(accuracy, flush=True)
    heads = ["oneDNN alone", "float32", "bfloat16", "int8", "bfloat16 faster", "int8 faster"]
    other = [heads, ["---"] * len(heads)]
    for kind, sizes in BARE[-1:] if args.small else BARE:
        times = bare(kind, sizes, args.seconds)
        faster = [f"{times[0] / each:.2f}" for each in times[1:]]
        name = f"{kind} {' x '.join(map(str, sizes))}"
        other.append([name, *(f"{each:.2f}" for each in times), *faster])
        print(" | ".join(other[-1]), flush=True)
    if args.write:
        rows = [f"{busy}; {accuracy}", "", *map(_line, table), "", *map(_line, other)]
        replace_part(Path(args.write), "narrow", "\n".join(rows))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
