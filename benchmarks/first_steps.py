"""Time to the first step, to the tenth, and to the first with generated kernels: with an empty
cache, and in a second process; what ten later steps take there, and the ratio of both tens.

    python benchmarks/first_steps.py [--only lenet] [--small] [--write]

Prints a table, in milliseconds from when the training program is built.  ``--write`` puts it into
docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
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

STEPS = 10  #: that are timed together
LATER = 40  #: steps that are run behind them; the later half tells what ten take


def one(name: str, small: bool, patience: float) -> None:
    """Print milliseconds to the end of the first step, of the tenth, and of the first with
    generated kernels, zero where it has none, how many steps there were by then, and milliseconds
    of ten steps behind them.
    """
    given = problem(name, small)
    main, startup, loss = programs.build(fluid, given)
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    first, ten, native, steps, turn, looked = 0.0, 0.0, 0.0, 0, 0, 0.0

    def step() -> None:
        exe.run(main, feed=given.feeds[turn % len(given.feeds)], fetch_list=[loss], scope=scope)

    begin = time.perf_counter()
    while not (ten and (native or time.perf_counter() - begin > patience)):
        step()
        turn += 1
        now = time.perf_counter()
        first = first or now - begin
        ten = now - begin - looked if turn == STEPS else ten
        if not native and programs.has_kernels(exe, main, loss):
            native, steps = now - begin - looked, turn
        looked += time.perf_counter() - now  # which no training does
    later = []
    for _ in range(LATER):
        begin = time.perf_counter()
        step()
        later.append(time.perf_counter() - begin)
    usual = STEPS * statistics.median(later[LATER // 2 :])
    print(first * 1e3, ten * 1e3, native * 1e3, steps, usual * 1e3)


def measured(folder: str, cache: str, *options: str) -> list[float]:
    """What a process finds out: see :func:`one`.

    Args:
        folder: takes the bytecode of modules, as installing a package does.
        cache: takes kernels.
        options: of this script.
    """
    env = {**os.environ, "FLUIDLITE_CACHE": os.path.join(folder, cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = os.path.join(folder, "modules")
    command = [sys.executable, __file__, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env)
    return [float(number) for number in done.stdout.split()]


def row(name: str, small: bool, patience: float) -> str:
    """A row of the table, of two processes that share a cache; one before them reads modules."""
    columns = f"{name:<16}"
    options = ["--one", name, "--patience", str(patience), *(["--small"] if small else [])]
    with tempfile.TemporaryDirectory() as folder:
        measured(folder, "other", "--one", name, "--patience", "0", "--small")
        for _ in ("cold", "warm"):
            first, ten, native, steps, usual = measured(folder, "kernels", *options)
            said = f"{native:10.0f}{steps:8.0f}" if native else f"{'-':>10}{'-':>8}"
            columns += f"{first:10.1f}{ten:10.1f}{said}"
    return f"{columns}{usual:10.1f}{ten / usual:8.1f}"


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
        f"{'':<16}{'nothing in the cache':>38}{'a second process':>38}".rstrip(),
        f"{'step':<16}"
        + f"{'first':>10}{'ten':>10}{'native':>10}{'steps':>8}" * 2
        + f"{'later':>10}{'ratio':>8}",
    ]
    print("\n".join(lines), flush=True)
    for name in args.only:
        lines.append(row(name, args.small, args.patience))
        print(lines[-1], flush=True)
    if args.write:
        replace_part(Path(args.write), "first steps", f"{machine.description()}\n\n{block(lines)}")


if __name__ == "__main__":
    main()
