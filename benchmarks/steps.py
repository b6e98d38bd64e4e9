"""Training steps on fluidlite, on hand-written NumPy, and on other libraries that are installed.

    python benchmarks/steps.py                                    measures and prints
    python benchmarks/steps.py --only lenet resnet --rounds 9     two of them, longer
    python benchmarks/steps.py --write                            and writes docs/performance.md
    python benchmarks/steps.py --check --dtype float64            only compares what they compute
    python benchmarks/steps.py --beside                           alone, and beside a busy process

Every contestant lives in a process of its own, with the number of threads that it takes by itself;
they take turns, round by round, and each turn begins with the same parameters.  All get batches as
NumPy arrays and give the loss as a number.  Before they are timed, losses and parameters of a few
steps are compared with those of fluidlite.  With ``--beside`` the turns are taken once more while a
foreign process keeps one processor busy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import machine
import numpy as np
from contestants import CONTESTANTS
from page import PAGE, replace_part
from problems import FULL, Problem, problem

HERE = Path(__file__).resolve().parent
BESIDE = ("fluidlite", "fluidlite, oneDNN", "torch", "jax")  # contestants beside other work
BY_HAND, REFERENCE = "NumPy by hand", "fluidlite"
PATIENCE = 900  # seconds for one answer; some compile for minutes
REST = 0.05  # seconds between turns, until threads that wait for work stop spinning
NEAR = 1e-4  # how far parameters may be from the reference, relative, for NumPy and fluidlite
LIMITS = (  # variables for the number of threads; the last is what XLA asks for
    *(f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "FLUIDLITE")),
    *("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS", "NPROC"),
)
BUSY = 0.05  # the share of a processor from which on another process disturbs
LIKE = 1e-3  # for the others, whose Adam may put epsilon elsewhere


class Player:
    """A contestant in a process.

    Args:
        title: of ``CONTESTANTS``.
        python: the interpreter.
        threads: how many threads its libraries may take; None to let them choose.
        cores: how many processors it may run on; 0 for all.
        platforms: JAX's, the first one first.
    """

    def __init__(
        self, title: str, python: str, threads: int | None, cores: int, platforms: str = "cpu"
    ) -> None:
        self.title, self.failed = title, ""
        search = [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH")]
        environment = {
            **os.environ,
            **CONTESTANTS[title].environment,
            "PYTHONPATH": os.pathsep.join(filter(None, search)),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "JAX_PLATFORMS": platforms,
        }
        if threads is not None:
            environment.update(dict.fromkeys(LIMITS, str(threads)))

        def restrict() -> None:
            if cores and hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

        self._errors = tempfile.TemporaryFile(  # noqa: SIM115, closed with the process
            "w+", encoding="utf-8", errors="replace"
        )
        self._process = subprocess.Popen(
            [python, str(HERE / "worker.py"), title],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            preexec_fn=restrict,
        )

    def ask(self, *command: Any) -> dict[str, Any]:
        """The answer to a command; one with ``failed`` if there is none."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        late = threading.Timer(PATIENCE, self._process.kill)
        late.start()
        try:
            stdin.write(json.dumps(command) + "\n")
            stdin.flush()
            line = stdout.readline()
        except OSError:
            line = ""
        finally:
            late.cancel()
        if not line:
            return {"failed": f"the process ended: {self.last_words()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def last_words(self) -> str:
        """The end of what it printed."""
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


@dataclass
class Result:
    """What one contestant showed on one problem."""

    missing: str = ""
    wrong: str = ""
    times: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)  # of steps beside a busy process

    def figure(self, which: str, beside: bool = False) -> float:
        """The median of all steps or the shortest, in microseconds."""
        times = self.beside if beside else self.times
        return 1e6 * (min(times) if which == "min" else statistics.median(times))

    def summary(self) -> dict[str, Any]:
        """For a file: microseconds."""
        if not self.times:
            return {"missing": self.missing, "wrong": self.wrong}
        low, high = np.percentile(self.times, [25, 75]) * 1e6
        return {
            "median": round(self.figure("median"), 2),
            "min": round(self.figure("min"), 2),
            "quarter": round(float(low), 2),
            "three_quarters": round(float(high), 2),
            "steps": len(self.times),
            "wrong": self.wrong,
        }


Results = dict[str, dict[str, Result]]  # by problem, then contestant


@contextlib.contextmanager
def busy_process() -> Iterator[None]:
    """Keep one processor busy with a foreign process, which ends with this one at the latest."""
    code = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def start(
    titles: list[str], pythons: list[str], threads: int | None, cores: int, platforms: str = "cpu"
) -> list[Player]:
    """A process for each contestant that an interpreter has; says which are left out."""
    players = []
    for title in titles:
        reasons = []
        for python in pythons:
            player = Player(title, python, threads, cores, platforms)
            answer = player.ask("hello")
            if not answer:
                players.append(player)
                break
            reasons.append(answer.get("missing") or answer.get("failed", ""))
            player.close()
        else:
            print(f"left out: {title}: {'; '.join(dict.fromkeys(reasons))}", flush=True)
    return players


def compared(found: dict[str, Any], right: dict[str, Any], made: Problem, near: float) -> str:
    """What is wrong with parameters; empty where nothing is.

    Where ``near`` is strict, how they have changed is compared too, as well as rounding allows.
    """
    strict = near <= NEAR
    for name, begin in made.start.items():
        size, apart = np.linalg.norm(right[name]), np.linalg.norm(found[name] - right[name])
        if not apart <= near * size:
            return f"{name} is {apart / size:.1e} off after the first steps"
        moved = np.linalg.norm(right[name] - begin)
        share = 1e-6 if made.dtype == "float64" else 1e-2
        rounding = 8 * np.finfo(made.dtype).eps * size
        if strict and not apart <= share * moved + rounding:
            return f"the change of {name} is {apart / moved:.1e} off"
        if not moved:
            return f"{name} does not change, which tells nothing"
    return ""


def check(players: list[Player], made: Problem, found: dict[str, Result]) -> None:
    """Compare losses and parameters of a few steps."""
    right: dict[str, Any] = {}
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for player in sorted(players, key=lambda p: p.title != REFERENCE):
            path = str(Path(folder) / "parameters.npz")
            answer = player.ask("check", path)
            if "failed" in answer:
                found[player.title].missing = answer["failed"]
                continue
            with np.load(path) as file:
                values = dict(file)
            right, losses = right or values, losses or answer["losses"]
            near = NEAR if CONTESTANTS[player.title].module in ("hand", "peers.fluid") else LIKE
            wrong = compared(values, right, made, near)
            if not np.allclose(answer["losses"], losses, near, 0):
                wrong = wrong or f"the losses are {answer['losses']}, expected {losses}"
            found[player.title].wrong = wrong


def measure(players: list[Player], name: str, args: argparse.Namespace) -> dict[str, Result]:
    """Check and time all contestants on one problem."""
    sizes = args.small, args.dtype, args.batches
    made = problem(name, *sizes)
    found = {player.title: Result() for player in players}
    for player in players:
        answer = player.ask("make", name, *sizes)
        found[player.title].missing = answer.get("missing") or answer.get("failed", "")
    able = [player for player in players if not found[player.title].missing]
    check(able, made, found)
    for title, result in found.items():
        if result.missing or result.wrong:
            print(f"{name}: {title}: {result.missing or result.wrong}", flush=True)
    able = [player for player in able if not found[player.title].missing]
    rounds = range(0 if args.check else args.rounds)
    take_turns(able, found, args, rounds)
    if getattr(args, "beside", None):  # others that measure steps have no such option
        with busy_process():
            take_turns(able, found, args, rounds, beside=True)
    for player in able:
        if failed := found[player.title].missing:
            print(f"{name}: {player.title}: {failed}", flush=True)
    return found


def take_turns(
    players: list[Player],
    found: dict[str, Result],
    args: argparse.Namespace,
    rounds: range,
    beside: bool = False,
) -> None:
    """Time contestants round by round; before the first, steps that warm up."""
    for number in rounds:
        # others come first in other rounds
        shift = number % max(1, len(players))
        for player in players[shift:] + players[:shift]:
            time.sleep(REST)
            warmup = 0 if number else args.warmup
            answer, result = (
                player.ask("run", args.seconds, args.steps, warmup),
                found[player.title],
            )
            if "failed" in answer:
                result.missing = answer["failed"]
            (result.beside if beside else result.times).extend(answer.get("times", []))


def table(results: Results, players: list[Player], which: str, markdown: bool) -> list[str]:
    """Microseconds and, beside them, how many times those of the hand-written NumPy they are; or
    how many times as long a step takes beside a busy process, where that was measured.
    """
    titles = [player.title for player in players]
    rows = [["step", *titles]]
    for name, found in results.items():
        hand = found.get(BY_HAND)
        cells = []
        for title in titles:
            result = found[title]
            if not result.times:
                cells.append("-" if not result.wrong else "wrong")
                continue
            figure = result.figure(which)
            shown = f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}"
            if result.beside:
                shown += f" ({result.figure(which, beside=True) / figure:.2f})"
            elif hand is not None and hand.times and title != BY_HAND:
                shown += f" ({figure / hand.figure(which):.2f})"
            cells.append(f"{shown} !" if result.wrong else shown)
        rows.append([name, *cells])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    if not markdown:
        return ["  ".join(c.rjust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "| --- |" + " ---: |" * len(titles), *lines[1:]]


def notes(
    args: argparse.Namespace,
    abouts: dict[str, dict[str, Any]],
    results: Results,
    loads: list[float],
    foreign: float,
) -> list[str]:
    """What the figures were measured on."""
    shown = "shortest" if args.figure == "min" else "median"
    lines = [
        f"Machine: {machine.description()}.",
        f"Shown: the {shown} step; {args.rounds} turns of {args.seconds:g} s, on "
        f"{args.cores or 'all'} of the cores.",
        f"Load average over a minute, before and after: {loads[0]:.1f} and {loads[1]:.1f}; a "
        "contestant alone brings at most the number of its threads.",
    ]
    if args.beside:
        lines.append("In brackets: how many times as long a step takes beside one busy process.")
    if foreign > BUSY:  # a load may be that of the benchmark before
        lines.append("The machine had other work to do, so the figures are preliminary.")
    for title, about in abouts.items():
        version = about.get("version") or f"NumPy {about['numpy']}"
        count = about.get("threads")
        threads = f", {count} {'thread' if count == 1 else 'threads'}" if count else ""
        kernels = f", {about['kernels']}" if about.get("kernels") else ""
        pools = "; ".join(about.get("blas", [])) or "no library that tells its threads"
        lines.append(f"{title}: {version}{threads}{kernels} ({pools}).")
    old = [t for t, a in abouts.items() if any("Haswell" in pool for pool in a.get("blas", []))]
    if old and "avx512f" in machine.flags():
        lines.append(
            f"The BLAS of {', '.join(old)} uses kernels older than this processor: see "
            "OPENBLAS_CORETYPE."
        )
    for name, found in results.items():
        for title, result in found.items():
            if result.missing or result.wrong:
                lines.append(f"{name} on {title}: {result.missing or result.wrong}.")
    return lines


def main() -> None:
    """Measure, print, and write what was asked for."""
    args = arguments()
    pythons = [sys.executable, *args.python]
    foreign, _ = machine.busiest_process(1.0)  # before there are processes of its own
    players = start(args.contestants, pythons, args.threads, args.cores)
    loads, results, abouts = [machine.load()], {}, {}
    try:
        for name in args.only:
            results[name] = measure(players, name, args)
            if not args.check:
                print(table({name: results[name]}, players, args.figure, False)[1], flush=True)
        for player in players:
            about = player.ask("about")
            if "failed" not in about:
                abouts[player.title] = about
    finally:
        for player in players:
            player.close()
    loads.append(machine.load())
    said = notes(args, abouts, results, loads, foreign)
    if not args.check:
        print("\n".join(["", *table(results, players, args.figure, False), "", *said]))
    report(args, results, players, said, abouts)
    wrong = [f"{n}: {t}" for n, found in results.items() for t, r in found.items() if r.wrong]
    if wrong:
        sys.exit(f"different results: {', '.join(wrong)}")


def report(
    args: argparse.Namespace,
    results: Results,
    players: list[Player],
    said: list[str],
    abouts: dict[str, dict[str, Any]],
) -> None:
    """Write the files that were asked for."""
    if args.json:
        kept = {
            "machine": machine.description(),
            "contestants": abouts,
            "microseconds": {
                name: {title: result.summary() for title, result in found.items()}
                for name, found in results.items()
            },
        }
        Path(args.json).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if args.write:
        lines = table(results, players, args.figure, True)
        text = "\n".join([*lines, "", *[f"- {line}" for line in said]])
        replace_part(Path(args.write), "steps beside" if args.beside else "steps", text)


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description=str(__doc__).partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=list(FULL), default=list(FULL), help="which steps")
    add("--contestants", nargs="+", choices=list(CONTESTANTS), help="all; with --beside four")
    add("--rounds", type=int, default=5, help="turns of each contestant")
    add("--seconds", type=float, default=0.5, help="how long a turn is")
    add("--warmup", type=float, default=1.5, help="seconds of steps before the first turn")
    add("--steps", type=int, default=300, help="how many steps a turn has at most")
    add("--threads", type=int, help="threads of each library; else they choose")
    add("--cores", type=int, default=0, help="processors to run on; 0 for all")
    add("--python", nargs="+", default=[], help="interpreters to look for further libraries in")
    add("--beside", action="store_true", help="measure also beside a busy process")
    add("--small", action="store_true", help="tiny sizes, to see that everything runs")
    add("--batches", type=int, default=1, help="how many times as large the batches are")
    add("--figure", choices=["median", "min"], default="median", help="what the table shows")
    add("--dtype", choices=["float32", "float64"], default="float32")
    add("--check", action="store_true", help="only compare results, time nothing")
    add("--json", metavar="FILE", help="write figures and versions")
    add("--write", metavar="PAGE", nargs="?", const=str(PAGE), help="write the table to a page")
    args = parser.parse_args()
    args.contestants = args.contestants or list(BESIDE if args.beside else CONTESTANTS)
    if args.rounds < 1 or args.steps < 1:
        parser.error("expected at least one round of one step")
    return args


if __name__ == "__main__":
    main()
