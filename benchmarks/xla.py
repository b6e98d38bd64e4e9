"""Training steps on the backend "jax" against the same steps written by hand in JAX.

    python benchmarks/xla.py                       measures and prints
    python benchmarks/xla.py --only lenet --rounds 9
    python benchmarks/xla.py --write               and writes docs/performance.md
    python benchmarks/xla.py --gpu --batches 32    on a GPU, with batches 32 times as large

Both live in processes of their own and take turns, as in ``steps.py``; before they are timed,
losses and parameters of a few steps are compared.  Ours is what ``Executor.prepare`` gives, since
theirs is a function, too, that is kept.  Shown are the shortest steps in microseconds, their ratio,
that of the median steps, and the seconds that the first step takes, which compiles.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import machine
from page import PAGE, replace_part
from problems import FULL
from steps import measure, start

OURS, BY_HAND = "fluidlite on JAX, prepared", "jax"


def main() -> None:
    """Measure and print."""
    args = arguments()
    loads = [machine.load()]
    players = start([OURS, BY_HAND], [sys.executable], None, 0, "cuda,cpu" if args.gpu else "cpu")
    if len(players) < 2:
        return
    row = "{:>15}  {:>10}  {:>10}  {:>6}  {:>7}  {:>10}  {:>10}"
    heads = ["step", "ours", "by hand", "ratio", "medians", "first, s", "by hand, s"]
    print(row.format(*heads), flush=True)
    wrong, rows = [], []
    try:
        for name in args.only:
            firsts = []
            for player in players:
                player.ask("make", name, args.small, args.dtype, args.batches)
                answer = player.ask("first")
                firsts.append(answer["times"][0] if "times" in answer else float("nan"))
            found = measure(players, name, args)
            wrong += [f"{name}: {t}: {r.wrong}" for t, r in found.items() if r.wrong]
            ours, theirs = (found[title].figure("min") for title in (OURS, BY_HAND))
            middle = found[OURS].figure("median") / found[BY_HAND].figure("median")
            cells = [f"{ours:,.1f}", f"{theirs:,.1f}", f"{ours / theirs:.2f}", f"{middle:.2f}"]
            rows.append([name, *cells, *(f"{each:.2f}" for each in firsts)])
            print(row.format(*rows[-1]), flush=True)
    finally:
        for player in players:
            player.close()
    loads.append(machine.load())
    where = f"Machine: {machine.description()}; load {loads[0]:.1f} and {loads[1]:.1f}."
    if args.gpu:
        where += f" GPU: {machine.accelerator()}; batches {args.batches} times those of the CPU."
    print(where)
    if wrong:
        sys.exit("; ".join(wrong))
    if args.write:
        replace_part(Path(args.write), "xla-gpu" if args.gpu else "xla", table(rows, where))


def table(rows: list[list[str]], where: str) -> str:
    """The figures as Markdown.

    Args:
        rows: of what is printed.
        where: what is said of the machine.
    """
    head = ["step", "ours, µs", "by hand, µs", "ratio", "of medians", "first step, s", "by hand, s"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{where}\n"


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description=str(__doc__).partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=list(FULL), default=list(FULL), help="which steps")
    add("--rounds", type=int, default=5, help="how many turns each takes")
    add("--seconds", type=float, default=1.0, help="how long a turn is")
    add("--steps", type=int, default=2000, help="how many steps a turn has at most")
    add("--warmup", type=float, default=1.0, help="how long each runs before it is timed")
    add("--write", metavar="PAGE", nargs="?", const=str(PAGE), help="write the table to a page")
    add("--small", action="store_true", help="sizes that show that it works")
    add("--dtype", choices=["float32", "float64"], default="float32", help="element type")
    add("--gpu", action="store_true", help="on the GPU that JAX sees")
    add("--batches", type=int, default=1, help="how many times as large the batches are")
    args = parser.parse_args()
    args.check = False
    return args


if __name__ == "__main__":
    main()
