"""Products of matrices on NumPy and on oneDNN, with and without what follows them.

    python benchmarks/products.py                measures and prints
    python benchmarks/products.py --write        and writes docs/performance.md

Microseconds, the shortest of many calls; oneDNN computes nothing with the largest products.  NumPy
has a process of its own, since its threads wait for their next product, awake; so has each of two
ways in which Y may lie.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, block, replace_part

from fluidlite.backend.onednn.library import NotDone, load
from fluidlite.backend.onednn.memory import ExecutionContext
from fluidlite.backend.onednn.offers import OneDnnKernels
from fluidlite.backend.onednn.post_ops import BINARY, UNARY, PostOp
from fluidlite.backend.onednn.product import Product, ProductGeometry
from fluidlite.kernels import threads
from fluidlite.opdef.definition import lookup

#: rows, depth, columns
SIZES = [
    *((64, 64, 64), (64, 200, 200), (32, 128, 512), (64, 784, 200), (512, 64, 256)),
    *((100, 256, 2000), (512, 384, 1024), (1024, 512, 2048)),
]
SMALL = [(2, 3, 4)]
FOLLOWING: dict[str, Callable[[Any, Any, tuple[int, int]], list[PostOp]]] = {
    "alone": lambda bias, like, shape: [],
    "bias, relu": lambda bias, like, shape: [
        PostOp([("binary", BINARY["add"])], bias, (1, shape[1])),
        PostOp([("eltwise", *function) for function in UNARY["relu"]()]),
    ],
    "bias, tanh": lambda bias, like, shape: [
        PostOp([("binary", BINARY["add"])], bias, (1, shape[1])),
        PostOp([("eltwise", *function) for function in UNARY["tanh"]()]),
    ],
    "residual": lambda bias, like, shape: [PostOp([("binary", BINARY["add"])], like, shape)],
}
BY_NUMPY = ("NumPy: alone", "bias, relu")


def shortest(function: Callable[[], Any], seconds: float) -> float:
    """The shortest of many calls, in microseconds."""
    found, end = [], time.perf_counter() + seconds
    while not found or time.perf_counter() < end:
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return 1e6 * min(found)


def on_numpy(size: tuple[int, int, int], turned: bool, seconds: float) -> list[float]:
    """A product on NumPy, and with a bias and relu behind it."""
    (x, y, bias, _), out = operands(size, turned), np.empty((size[0], size[2]), "float32")

    def followed() -> None:
        np.matmul(x, y, out=out)
        np.add(out, bias, out=out)
        np.maximum(out, 0, out=out)

    return [shortest(lambda: np.matmul(x, y, out=out), seconds), shortest(followed, seconds)]


def on_library(size: tuple[int, int, int], turned: bool, seconds: float) -> list[float]:
    """A product on oneDNN, with each of what may follow."""
    library = load()
    assert library is not None
    (x, y, bias, like), out = operands(size, turned), np.empty((size[0], size[2]), "float32")
    kernels = OneDnnKernels(library, [], True)
    op, found = lookup("matmul")({"transpose_Y": turned}), []
    geometry = ProductGeometry(op, x.shape, y.T.shape if turned else y.shape)
    for make in FOLLOWING.values():
        posts, context = make(bias, like, out.shape), ExecutionContext(kernels.contexts)
        try:
            product = Product(kernels, geometry, posts)
        except NotDone:
            found.append(float("nan"))
            continue
        given = (x, y.T if turned else y, *(p.value for p in posts if p.value is not None))
        run = partial(product.run, *given, context, out=out)
        found.append(kernels.contexts.within(threads.count(), shortest, run, seconds))
    return found


def operands(size: tuple[int, int, int], turned: bool) -> list[Any]:
    """Two matrices, a bias, and a matrix like the result."""
    rng, (rows, depth, columns) = np.random.default_rng(0), size
    x, y, bias, like = (
        rng.normal(size=shape).astype("float32")
        for shape in ((rows, depth), (depth, columns), (1, columns), (rows, columns))
    )
    return [x, np.asfortranarray(y) if turned else y, bias, like]


def main() -> None:
    """Measure, each library in a process of its own."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="a size that shows that it runs")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each figure")
    parser.add_argument("--write", metavar="PAGE", nargs="?", type=Path, const=PAGE)
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = SMALL if options.small else SIZES
    if options.part:
        measure = {"numpy": on_numpy, "onednn": on_library}[options.part[0]]
        turned = options.part[1] == "turned"
        print(json.dumps([measure(size, turned, options.seconds) for size in sizes]))
        return
    names = [*BY_NUMPY, *(f"oneDNN: {name}" for name in FOLLOWING)]
    lines = [f"{'rows, depth, columns':<24}" + "".join(f"{name:>19}" for name in names)]
    for turned in ("plain", "turned"):
        parts = [measured(library, turned, options) for library in ("numpy", "onednn")]
        for size, *rows in zip(sizes, *parts, strict=True):
            title = f"{', '.join(map(str, size))}{', Y turned' * (turned == 'turned')}"
            figures = "".join(f"{n:>19.1f}" for row in rows for n in row)
            lines.append(f"{title:<24}{figures.replace('nan', '  -')}")
    print("\n".join(lines))
    if options.write:
        replace_part(options.write, "products", f"{machine.description()}\n\n{block(lines)}")


def measured(library: str, turned: str, options: argparse.Namespace) -> Any:
    """What a process of its own measures."""
    command = [sys.executable, __file__, "--part", library, turned]
    command += ["--seconds", str(options.seconds), *(["--small"] if options.small else [])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
