"""What running costs beside the kernels: microseconds of a run, of a step, and of planning.

    python benchmarks/overheads.py [--sizes 1000 10000 100000] [--longest 1000000] [--write]

Prints a table.  ``--write`` puts it into docs/performance.md.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, block, replace_part

import fluidlite as fluid

LENGTH = 200  # operators of the chain whose steps are timed


def shortest(work: Callable[[], Any], rounds: int, count: int = 2000) -> float:
    """Microseconds of a call, in the quickest of some rounds of many calls."""
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(count):
            work()
        found.append((time.perf_counter() - begin) / count * 1e6)
    return min(found)


def chain(length: int) -> tuple[fluid.Program, Any]:
    """A program of additions and its result."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [4, 8], "float32")
        x.stop_gradient = False
        out = x
        for _ in range(length):
            out = fluid.layers.elementwise_add(out, x)
        return main, out


def runs(rounds: int) -> list[str]:
    """Rows for programs that are run again and again."""
    exe, feed = fluid.Executor(), {"x": np.ones([4, 8], "float32")}
    empty, (one, out), (many, last) = fluid.Program(), chain(1), chain(LENGTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is nothing to run
        alone = shortest(lambda: exe.run(empty), rounds)
    single = shortest(lambda: exe.run(one, feed=feed, fetch_list=[out]), rounds)
    ready = exe.prepare(one, ["x"], [out])
    prepared = shortest(lambda: ready(feed), rounds)
    whole = shortest(lambda: exe.run(many, feed=feed, fetch_list=[last]), rounds, 200)
    x = feed["x"]
    bare = shortest(lambda: np.add(x, x), rounds, 20_000)
    return [
        f"run of an empty program               {alone:8.1f} us",
        f"run of one operator, fed and fetched  {single:8.1f} us",
        f"the same prepared                     {prepared:8.1f} us",
        f"each further operator                 {(whole - single) / (LENGTH - 1):8.2f} us",
        f"numpy.add by itself                   {bare:8.2f} us",
    ]


def planned(size: int) -> str:
    """A row for the first runs of a long program, with its gradients: of processor time, which
    other processes change less.
    """
    begin = time.process_time()
    main, out = chain(size)
    with fluid.program_guard(main, fluid.Program()):
        loss = fluid.layers.reduce_sum(out)
        fluid.backward.append_backward(loss)
    count = len(main.global_block().ops)
    exe, feed = fluid.Executor(), {"x": np.ones([4, 8], "float32")}
    marks = [time.process_time()]
    for _ in range(3):  # interpreted; planned; on the finished source
        exe.run(main, feed=feed, fetch_list=[loss])
        marks.append(time.process_time())
    built, first, second, third = np.diff([begin, *marks])
    each = [f"{t / count * 1e6:8.1f}" for t in (built, first, second, third)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"{count:>9}{''.join(each)}{built + first:10.2f} s{peak:13.2f} GiB"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--longest", type=int, nargs="*", default=[], metavar="SIZE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    sys.setrecursionlimit(200)
    lines = runs(args.rounds)
    lines += ["", "operators   built   first  second   third  built and run once  the most"]
    lines += [planned(size) for size in sorted([*args.sizes, *args.longest])]
    print("\n".join(lines))
    if args.write:
        replace_part(Path(args.write), "overheads", f"{machine.description()}\n\n{block(lines)}")


if __name__ == "__main__":
    main()
