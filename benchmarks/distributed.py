"""Training in several processes: what it gains, and what the messages cost.

    python benchmarks/distributed.py                            measures and prints
    python benchmarks/distributed.py --only resnet --rounds 40  one step, longer
    python benchmarks/distributed.py --only resnet50 --jobs 1   a net of large.py
    python benchmarks/distributed.py --processes 2 4 8 16       on a machine of 16 cores
    python benchmarks/distributed.py --torch-python PYTHON      torch is installed there

fluidlite, and torch with DistributedDataParallel over gloo, are each run in one process and in
several, with one thread each, in turns; every process trains on a batch of the size of the problem.
Given are the fastest steps, and the least processor time of one: what it would take where nothing
else runs, with the number of times more samples that all processors make of it.  ``hidden`` is how
much of the time of a step's messages alone does not show in the time of the step.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine

HERE = Path(__file__).resolve().parent
PORT = "29517"
PATIENCE = 600  # seconds for one job
LIMITS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "FLUIDLITE")]


def job(library: str, python: str, name: str, count: int, rounds: int, steps: int) -> Any:
    """What the processes of a job measured; None where the library is not there."""
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or "mpiexec"
    environment = {
        **os.environ,
        **dict.fromkeys(LIMITS, "1"),
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)]),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": PORT,
        "PYTHONWARNINGS": "ignore",
    }
    worker = [python, str(HERE / "distributed_worker.py"), library, name, str(rounds), str(steps)]
    done = subprocess.run(
        [mpiexec, "-n", str(count), *worker],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if done.returncode:
        why = done.stderr.strip().splitlines() or ["it said nothing"]
        print(f"{library}, {count}: {why[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def merged(found: list[Any]) -> Any:
    """The fastest step of each way, of several jobs."""
    kept = [each for each in found if each is not None]
    if not kept:
        return None
    ways = kept[0]["seconds"]
    steps = {way: [step for each in kept for step in each["seconds"][way]] for way in ways}
    seconds = {way: min(step[0] for step in steps[way]) for way in ways}
    busy = {way: min(step[1] for step in steps[way]) for way in ways}
    return {**kept[0], "seconds": seconds, "busy": busy}


def report(library: str, one: Any, several: dict[int, Any]) -> None:
    """Print the lines of a library.

    Args:
        one: what one process measured.
        several: by their number, what more of them measured.
    """
    if one is None:
        return
    batch, alone, busy = one["batch"], one["seconds"]["apart"], one["busy"]["apart"]
    print(f"  {library}")
    print(
        f"    1 process                {alone * 1e3:9.3f} ms {batch / alone:9.1f} samples/s"
        f"{'processor':>23} {busy * 1e3:9.3f} ms"
    )
    for count, told in several.items():
        if told is None:
            continue
        seconds = told["seconds"]
        for way in ("apart", "one by one", "together"):
            if way in seconds:
                rate, own = count * batch / seconds[way], told["busy"][way]
                print(
                    f"    {count} processes, {way:<11} {seconds[way] * 1e3:9.3f} ms "
                    f"{rate:9.1f} samples/s {rate * alone / batch:6.2f} times, "
                    f"processor {own * 1e3:9.3f} ms {count * busy / own:6.2f} times"
                )
        sent, cost = told["sent"], seconds["together"] - seconds["apart"]
        hidden = 1 - max(0.0, cost) / seconds["messages"]
        print(
            f"    sent: {sent['bytes']} bytes in {sent['count']} messages; alone "
            f"{seconds['messages'] * 1e3:.3f} ms, in the step {cost * 1e3:.3f} ms, "
            f"hidden {max(0.0, hidden):.0%}",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=["resnet", "gpt_block", "mnist_mlp"])
    parser.add_argument("--jobs", type=int, default=3, help="how often each is started")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=5, help="in a round")
    parser.add_argument("--processes", nargs="+", type=int, default=[2], help="how many")
    parser.add_argument("--torch-python", default=sys.executable)
    given = parser.parse_args()
    pythons = {"fluidlite": sys.executable, "torch": given.torch_python}
    print(machine.description())
    print(f"load {machine.load():.1f}")
    for name in given.only:
        print(name)
        counts = [1, *given.processes]
        found: dict[Any, list[Any]] = {(each, n): [] for each in pythons for n in counts}
        for _ in range(given.jobs):
            for library, count in found:
                python = pythons[library]
                made = job(library, python, name, count, given.rounds, given.steps)
                found[library, count].append(made)
        for library in pythons:
            one, *several = (merged(found[library, n]) for n in counts)
            report(library, one, dict(zip(given.processes, several, strict=True)))


if __name__ == "__main__":
    main()
