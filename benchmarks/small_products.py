"""Products of small matrices on NumPy and as generated kernels, and the step of a small net.

    python benchmarks/small_products.py             measures and prints
    python benchmarks/small_products.py --write     and writes docs/performance.md

Microseconds on one thread, the shortest of many calls.
"""

from __future__ import annotations

import os

os.environ["FLUIDLITE_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import machine
import numpy as np
from page import PAGE, block, replace_part
from products import shortest

import fluidlite as fluid
from fluidlite.backend.native.compiler import COMPILER
from fluidlite.backend.native.products import product_source
from fluidlite.opdef.structure import MatrixProduct
from fluidlite.runtime import recording

#: rows, depth, columns
SIZES = [(8, 8, 8), (16, 16, 32), (20, 32, 10), (32, 32, 32), (32, 64, 64), (64, 64, 64)]
FORMS = {"X Y": (False, False), "X^T Y": (True, False), "X Y^T": (False, True)}
NET = (16, 16, 32, 4)  # rows, inputs, width of two hidden layers, classes


def product(size: tuple[int, int, int], form: tuple[bool, bool], seconds: float) -> list[float]:
    """A product on NumPy, and by a generated kernel."""
    rows, depth, columns = size
    x = np.ones((depth, rows) if form[0] else (rows, depth), "float32")
    y = np.ones((columns, depth) if form[1] else (depth, columns), "float32")
    out = np.empty((rows, columns), "float32")
    source = product_source(MatrixProduct(*form), x.shape, y.shape, x.dtype)
    assert source is not None
    compiler = COMPILER.get()
    for event in compiler.request([source]):
        event.wait()
    kernel = compiler.find([source])[source.name]
    assert kernel is not None
    first, second = x.T if form[0] else x, y.T if form[1] else y
    return [
        shortest(partial(np.matmul, first, second, out=out), seconds),
        shortest(partial(kernel.run, (x, y, out)), seconds),
    ]


@contextmanager
def single_calls() -> Iterator[None]:
    """Plans that are made inside call kernels one by one."""
    with mock.patch.object(recording, "FEWEST", 1 << 30):
        yield


def step(seconds: float) -> float:
    """A step of a small net with Adam, by ``Executor.run``."""
    rows, inputs, width, classes = NET
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [rows, inputs], "float32")
        label = fluid.data("label", [rows, 1], "int64")
        hidden = fluid.layers.fc(fluid.layers.fc(x, width, act="relu"), width, act="relu")
        scores = fluid.layers.fc(hidden, classes, act="softmax")
        loss = fluid.layers.mean(fluid.layers.cross_entropy(scores, label))
        fluid.optimizer.Adam(0.01).minimize(loss)
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    rng = np.random.RandomState(0)
    feed: dict[str, Any] = {
        "x": rng.normal(size=[rows, inputs]).astype("float32"),
        "label": rng.randint(0, classes, [rows, 1]),
    }
    return shortest(partial(exe.run, main, feed, [loss], scope=scope), seconds)


def lines(seconds: float) -> Iterator[str]:
    """The tables."""
    heads = [f"{name}: {who}" for name in FORMS for who in ("NumPy", "ours")]
    yield f"{'':15}" + "".join(f"{head:>14}" for head in heads)
    for size in SIZES:
        found = [each for form in FORMS.values() for each in product(size, form, seconds)]
        yield f"{' x '.join(map(str, size)):15}" + "".join(f"{each:14.2f}" for each in found)
    yield ""
    for name, kernels in (("NumPy", "numpy"), ("generated kernels", "native")):
        with mock.patch.dict(os.environ, {"FLUIDLITE_KERNELS": kernels}), single_calls():
            yield f"{'a small net, ' + name:45}{step(10 * seconds):9.1f}"
    with mock.patch.dict(os.environ, {"FLUIDLITE_KERNELS": "native"}):
        yield f"{'a small net, generated kernels in one call':45}{step(10 * seconds):9.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.3, help="for each figure")
    parser.add_argument("--write", nargs="?", const=PAGE, type=Path, help="the page to write")
    options = parser.parse_args()
    found = list(lines(options.seconds))
    print("\n".join(found))
    if options.write:
        text = f"{machine.description()}\n\n{block(found)}"
        replace_part(options.write, "small products", text)


if __name__ == "__main__":
    main()
