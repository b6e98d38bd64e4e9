"""Training steps on sequences of several lengths, other ones in every step: fluidlite, PyTorch with
packed sequences, and paddlepaddle 1.8.5.

    python benchmarks/sequences.py                      all problems
    python benchmarks/sequences.py lstm --rounds 20     one of them, longer
    python benchmarks/sequences.py --threads 2          two threads each

``FLUIDLITE_PADDLE18`` names a Python that has paddlepaddle 1.8.5; without it that column is left
out.  Everybody lives in a process of its own with one thread, and they take turns.  A figure is the
processor time of a step in milliseconds: the mean over batches of the least that was seen.  With
more threads it is what the clock shows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine

HERE = Path(__file__).resolve().parent
PROBLEMS = ("lstm", "gru_crf", "ctc", "dynamic_rnn", "translate", "beam")
THREADS = ("OMP", "OPENBLAS", "MKL", "FLUIDLITE")
NEAR = 1e-3  # how far losses may be apart, relative
#: paddlepaddle's gradient of float32 memories is wrong where the size of states is a multiple of 8,
#: as the difference quotient shows, so there only the loss before the first step is compared
WRONG_THERE = ("lstm",)


class Player:
    """A contestant in a process.

    Args:
        title: as the worker knows it.
        python: the interpreter.
        threads: how many it may use.
    """

    def __init__(self, title: str, python: str, threads: int) -> None:
        self.title = title
        self.best: list[float] = []
        counts = {f"{name}_NUM_THREADS": str(threads) for name in THREADS}
        env = {**os.environ, **counts, "CPU_NUM": "1"}
        env["FLUIDLITE_KEEP_MEMORY"] = "1"  # as docs/performance.md says
        if title == "fluidlite":
            env["PYTHONPATH"] = str(HERE.parent)
        else:
            env.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [python, str(HERE / "sequence_worker.py"), title, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            text=True,
        )

    def ask(self, *command: Any) -> dict[str, Any]:
        """The answer to a command."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        found: dict[str, Any] = json.loads(line) if line else {"missing": "its process has ended"}
        return found

    def time(self) -> None:
        """Measure a round."""
        times = self.ask("time", None)["times"]
        self.best = [min(pair) for pair in zip(times, self.best or times, strict=True)]

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measured(name: str, players: list[Player], rounds: int) -> str:
    """A line of the table, after a look at the losses."""
    cells, present, losses = {}, [], {}
    for player in players:
        answer = player.ask("make", name)
        player.best = []
        if "missing" in answer:
            cells[player.title] = answer["missing"]
        else:
            present.append(player)
            losses[player.title] = answer["losses"]
    if {"fluidlite", "paddle"} <= losses.keys():
        pairs = list(zip(losses["fluidlite"], losses["paddle"], strict=True))
        for mine, theirs in pairs[:1] if name in WRONG_THERE else pairs:
            if abs(mine - theirs) > NEAR * abs(theirs):
                raise SystemExit(f"{name}: loss {mine}, paddlepaddle has {theirs}")
    for _ in range(rounds):
        for player in present:
            player.time()
    means = {p.title: 1e3 * sum(p.best) / len(p.best) for p in present}
    for title, mean in means.items():
        cells[title] = f"{mean:.2f} ms"
        if title != "fluidlite" and "fluidlite" in means:
            cells[title] += f" (fluidlite: {means['fluidlite'] / mean:.2f} of it)"
    return f"{name:12s}" + "   ".join(f"{title} {cell}" for title, cell in cells.items())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=PROBLEMS, help=", ".join(PROBLEMS))
    parser.add_argument("--threads", type=int, default=1, help="how many everybody may use")
    parser.add_argument("--rounds", type=int, default=10, help="how often everybody has a turn")
    args = parser.parse_args()
    print(machine.description())
    count = args.threads
    players = [Player(title, sys.executable, count) for title in ("fluidlite", "torch")]
    real = os.environ.get("FLUIDLITE_PADDLE18")
    if real:
        players.append(Player("paddle", real, count))
    for name in args.problems:
        print(measured(name, players, args.rounds), flush=True)
    for player in players:
        player.end()


if __name__ == "__main__":
    main()
