"""The memory of a training step: what its plan says, and what is measured.

    python benchmarks/memory.py [--only lenet] [--small] [--write]

Prints a table, in MiB.  ``--write`` puts it into docs/performance.md.  Counted is what there is
beside feeds, parameters and the states of optimizers, at the moment when it is most.
"""

from __future__ import annotations

import argparse
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import programs
from page import PAGE, block, replace_part
from problems import FULL, Problem, problem

import fluidlite as fluid


def measured(step: Callable[[int], Any], runs: int = 3) -> int:
    """Bytes at the worst moment of runs beyond what was there before them; what makes buffers for
    the first time is among them.
    """
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for turn in range(runs):
        step(turn)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def both(given: Problem) -> tuple[int, int, int]:
    """Bytes that all values of a step take together, the planned peak, and the measured one."""
    main, startup, loss = programs.build(fluid, given)
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)

    def step(turn: int) -> None:
        exe.run(main, feed=given.feeds[turn], fetch_list=[loss], scope=scope)

    for turn in range(2):  # interpreted, and traced; what is left has its buffers to make
        step(turn)
    found = measured(step)
    footprint = exe.plan(main, [loss]).footprint
    assert footprint is not None, "not all of it has been planned"
    return footprint.everything, footprint.peak, found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    steps = [name for name in FULL if name != "fit_a_line"]  # which has no arrays to speak of
    parser.add_argument("--only", nargs="*", default=steps, choices=list(FULL), metavar="STEP")
    parser.add_argument("--small", action="store_true", help="the smallest sizes")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    lines = ["step            kernels   all kept   planned   measured   differs"]
    print(lines[0], flush=True)
    for name in args.only:
        for kernels in ("numpy", "auto"):
            os.environ["FLUIDLITE_KERNELS"] = kernels
            whole, planned, found = both(problem(name, args.small))
            lines.append(
                f"{name:<16}{kernels:<7}{whole / 2**20:11.2f}{planned / 2**20:10.2f}"
                f"{found / 2**20:11.2f}{planned / found - 1:+10.1%}"
            )
            print(lines[-1], flush=True)
    if args.write:
        replace_part(Path(args.write), "memory", f"{machine.description()}\n\n{block(lines)}")


if __name__ == "__main__":
    main()
