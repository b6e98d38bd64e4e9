"""Time and memory per operator of building, differentiating, copying and printing long programs.

    python benchmarks/long_chain.py [--sizes 10000 100000 1000000] [--write]

Prints a table: microseconds per forward operator, and the largest memory of the process when it has
built and differentiated.  Besides a chain there are a wide graph (one variable used by all
operators) and a program of many parameters.
``--write`` puts it into docs/performance.md.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
from page import PAGE, block, replace_part

import fluidlite as fluid
from fluidlite.ir.passes import prune
from fluidlite.ir.verify import verify

CHAINS = ("chain", "wide", "parameters")


def build(kind: str, size: int) -> tuple[fluid.Program, Any]:
    """A program of about ``size`` forward operators, and its loss."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        block = main.global_block()
        x = fluid.data("x", [4, 8], "float32")
        x.stop_gradient = False
        if kind == "chain":
            out = x
            for _ in range(size // 2):
                out = fluid.layers.tanh(fluid.layers.elementwise_add(out, x))
        elif kind == "wide":
            out = fluid.layers.sum([fluid.layers.tanh(x) for _ in range(size)])
        else:
            out = x
            for k in range(size):
                weight = block.create_parameter([8], "float32", name=f"w_{k}")
                out = fluid.layers.elementwise_add(out, weight)
        return main, fluid.layers.reduce_sum(out)


def measured(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a function takes, and what it gives."""
    gc.collect()
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def one(kind: str, size: int) -> None:
    """Measure one program and print a row."""
    seconds = {}
    seconds["build"], (main, loss) = measured(lambda: build(kind, size))
    count = len(main.global_block().ops)
    seconds["backward"], _ = measured(lambda: fluid.backward.append_backward(loss))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds["clone"], twin = measured(main.clone)
    del twin
    seconds["prune"], twin = measured(lambda: prune(main, [], [loss.name]))
    del twin
    seconds["verify"], _ = measured(lambda: verify(main))
    seconds["text"], _ = measured(lambda: str(main))
    row = [f"{s / count * 1e6:8.1f}" for s in seconds.values()]
    print(f"{kind:<11}{count:>9}", *row, f"{peak:6.2f} GiB", flush=True)


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--wide", type=int, default=100_000, help="operators of the wide graph")
    parser.add_argument("--parameters", type=int, default=10_000, help="how many parameters")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        sys.setrecursionlimit(200)
        one(args.one[0], int(args.one[1]))
        return
    lines = [
        f"{'program':<11}{'operators':>9}    build backward    clone    prune   verify     text"
    ]
    print(lines[0])
    runs = [("chain", size) for size in args.sizes]
    for kind, size in [*runs, ("wide", args.wide), ("parameters", args.parameters)]:
        command = [sys.executable, __file__, "--one", kind, str(size)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        lines.append(done.stdout.strip())
        print(lines[-1], flush=True)
    if args.write:
        text = f"{machine.description()}\n\n{block(lines)}"
        replace_part(Path(args.write), "long programs", text)


if __name__ == "__main__":
    main()
