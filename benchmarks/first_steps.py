"""Time to the first step, and to the first step with generated kernels: with an empty cache, and in
a second process.

    python benchmarks/first_steps.py [--only lenet] [--small] [--write]

Prints a table, in milliseconds from when the training program is built.  ``--write`` puts it into
docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
import programs
from page import PAGE, block, replace_part
from problems import FULL, problem

import fluidlite as fluid


def one(name: str, small: bool, patience: float) -> None:
    """Print milliseconds to the first step and to the end of the first with generated kernels,
    zero where it has none, and how many steps there were by then.
    """
    given = problem(name, small)
    main, startup, loss = programs.build(fluid, given)
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    first, native, turn, looked = 0.0, 0.0, 0, 0.0
    begin = time.perf_counter()
    while not (first and (native or time.perf_counter() - begin > patience)):
        exe.run(main, feed=given.feeds[turn % len(given.feeds)], fetch_list=[loss], scope=scope)
        turn += 1
        now = time.perf_counter()
        first = first or now - begin
        if ", native" in exe.plan(main, [loss]).source:
            native = now - begin - looked
        looked += time.perf_counter() - now  # which no training does
    print(first * 1e3, native * 1e3, turn)


def row(name: str, small: bool, patience: float) -> str:
    """A row of the table, of two processes that share a cache."""
    columns = f"{name:<16}"
    command = [sys.executable, __file__, "--one", name, "--patience", str(patience)]
    command += ["--small"] if small else []
    with tempfile.TemporaryDirectory() as cache:
        for _ in ("cold", "warm"):
            env = {**os.environ, "FLUIDLITE_CACHE": cache}
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env)
            first, native, steps = map(float, done.stdout.split())
            said = f"{native:10.0f}{steps:8.0f}" if native else f"{'-':>10}{'-':>8}"
            columns += f"{first:10.1f}{said}"
    return columns


def main() -> None:
    """Measure each step in processes of its own."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(FULL), choices=list(FULL), metavar="STEP")
    parser.add_argument("--small", action="store_true", help="the smallest sizes")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    parser.add_argument(
        "--patience", type=float, default=60.0, help="seconds to wait for generated kernels"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        one(args.one, args.small, args.patience)
        return
    lines = [
        f"{'':<16}{'nothing in the cache':>28}{'a second process':>28}".rstrip(),
        f"{'step':<16}" + f"{'first':>10}{'native':>10}{'steps':>8}" * 2,
    ]
    print("\n".join(lines), flush=True)
    for name in args.only:
        lines.append(row(name, args.small, args.patience))
        print(lines[-1], flush=True)
    if args.write:
        replace_part(Path(args.write), "first steps", f"{machine.description()}\n\n{block(lines)}")


if __name__ == "__main__":
    main()
