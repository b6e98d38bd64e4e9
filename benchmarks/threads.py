"""Training steps on one thread and on two: how much faster, and whether the bits are the same.

    python benchmarks/threads.py                            fluidlite, and torch where it is
    python benchmarks/threads.py --only lenet gpt_block     two of the steps
    python benchmarks/threads.py --python PYTHON --write    with torch of PYTHON, into the page

Each number of threads has three new processes.  The first one leaves its generated kernels in the
cache.  The others train from the same parameters and are compared to the last bit; then steps are
timed, one process at a time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, replace_part
from problems import FULL
from steps import Player, start

OURS = "fluidlite, oneDNN"
STEPS = 20  # that are compared
COUNTS = 1, 2
WAIT = 5  # times as long as others have, until kernels are compiled
HEAD = ["step", "1 thread, us", "2 threads, us", "speed-up", "same bits", "apart", "torch's"]


def trained(player: Player, folder: Path) -> dict[str, Any]:
    """The parameters after some steps.

    Raises:
        RuntimeError: the process failed.
    """
    path = folder / "parameters.npz"
    answer = player.ask("check", str(path), STEPS)
    if "failed" in answer:
        raise RuntimeError(answer["failed"])
    with np.load(path) as file:
        return dict(file)


def timed(title: str, threads: int, name: str, args: argparse.Namespace) -> tuple[float, list[Any]]:
    """The median step in microseconds, and the parameters of two processes.

    Args:
        title: a contestant.
        threads: how many it has.
        name: of the step.
        args: the command line.
    """
    parameters, times = [], []
    for k in range(3):
        players = start([title], [sys.executable, *args.python], threads, 0)
        if not players:
            return float("nan"), []
        (player,) = players
        try:
            player.ask("make", name, args.small, "float32")
            if k == 0:  # it compiles kernels
                player.ask("run", 0, 1, WAIT * args.seconds)
                continue
            with tempfile.TemporaryDirectory() as folder:
                parameters.append(trained(player, Path(folder)))
            times += player.ask("run", args.seconds, 300, args.seconds)["times"]
        finally:
            player.close()
    return 1e6 * statistics.median(times), parameters


def row(name: str, args: argparse.Namespace) -> list[str]:
    """The cells of a step."""
    found = {count: timed(OURS, count, name, args) for count in COUNTS}
    same = all(np.array_equal(a[k], b[k]) for _, (a, b) in found.values() for k in a)
    (one, (first, _)), (two, (second, _)) = found[1], found[2]
    apart = max(
        float(np.linalg.norm(first[k] - second[k]) / (np.linalg.norm(first[k]) or 1)) for k in first
    )
    theirs = [timed("torch", count, name, args)[0] for count in COUNTS]
    return [
        name,
        *(f"{us:,.1f}" if us < 100 else f"{us:,.0f}" for us in (one, two)),
        f"{one / two:.2f}",
        "yes" if same else "no",
        f"{apart:.1e}",
        "-" if np.isnan(theirs).any() else f"{theirs[0] / theirs[1]:.2f}",
    ]


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    add = parser.add_argument
    add("--only", nargs="+", choices=list(FULL), default=list(FULL), help="which steps")
    add("--python", nargs="+", default=[], help="interpreters to look for torch in")
    add("--seconds", type=float, default=1.0, help="to warm up, and then to time")
    add("--small", action="store_true", help="tiny sizes, to see that everything runs")
    add("--write", metavar="PAGE", nargs="?", const=str(PAGE), help="write the table to a page")
    args = parser.parse_args()
    rows = []
    for name in args.only:
        rows.append(row(name, args))
        print("  ".join(rows[-1]), flush=True)
    lines = [f"| {' | '.join(cells)} |" for cells in (HEAD, *rows)]
    lines.insert(1, "| --- |" + " ---: |" * (len(HEAD) - 1))
    lines += ["", f"- Machine: {machine.description()}; load {machine.load():.1f}."]
    if args.write:
        replace_part(Path(args.write), "threads", "\n".join(lines))


if __name__ == "__main__":
    main()
