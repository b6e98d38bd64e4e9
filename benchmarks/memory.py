"""The memory of a training step: what its plan says, and what its process takes.

    python benchmarks/memory.py [--only lenet] [--small] [--beside torch] [--python P] [--write]

Prints two tables, in MiB.  ``--write`` puts them into docs/performance.md.  Counted is what lies in
memory (the resident set) at the moment when it is most, in a process of its own for each figure.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import machine
from page import PAGE, block, replace_part
from problems import FULL
from steps import LIMITS, Player

#: by the word for them: who runs on these kernels, and whether some are generated
PLANNED = {
    "numpy": ("fluidlite", False),
    "auto": ("fluidlite, oneDNN", False),
    "auto, C": ("fluidlite, oneDNN", True),
}
BESIDE = ("fluidlite", "fluidlite, oneDNN", "torch", "TensorFlow")
STEPS = 6
PATIENCE = 8  #: seconds of steps, until kernels are compiled
#: memory that is let go of goes back to the system at once, so that it is not counted twice; and no
#: kernels are generated but where that is asked for
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "FLUIDLITE_CC": "",
}


def asked(title: str, name: str, small: bool, pythons: list[str], before: int) -> dict[str, Any]:
    """What a contestant says of its memory; empty where it cannot take part."""
    for python in pythons:
        player = Player(title, python, None, 0)
        try:
            if player.ask("hello") or player.ask("make", name, small, "float32"):
                continue
            answer = player.ask("memory", before, STEPS)
            if "failed" not in answer:
                return answer
        finally:
            player.close()
    return {}


@contextmanager
def generating(title: str, name: str, small: bool) -> Iterator[None]:
    """Within this, the first plan of a process has generated kernels, from another process: plans
    that get them later stand beside those that they take the place of.
    """
    without = os.environ.pop("FLUIDLITE_CC")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLUIDLITE_CACHE"] = cache
        player = Player(title, sys.executable, None, 0)
        try:
            if not player.ask("hello"):
                player.ask("make", name, small, "float32")
                player.ask("run", 0.0, 1, 0 if small else PATIENCE)
            yield
        finally:
            player.close()
            del os.environ["FLUIDLITE_CACHE"]
            os.environ["FLUIDLITE_CC"] = without


def planned(names: list[str], small: bool) -> list[str]:
    """What plans say, and what six steps on them take beside what is there before."""
    lines = ["step            kernels     all kept   planned   measured   differs"]
    print(lines[0], flush=True)
    for name in names:
        for kernels, (title, generates) in PLANNED.items():
            with generating(title, name, small) if generates else nullcontext():
                found = asked(title, name, small, [sys.executable], before=2)
            if not found:  # the library is not installed
                continue
            everything, peak = found["planned"]
            lines.append(
                f"{name:<16}{kernels:<9}{everything / 2**20:11.2f}{peak / 2**20:10.2f}"
                f"{found['more'] / 2**20:11.2f}{peak / max(found['more'], 1) - 1:+10.1%}"
            )
            print(lines[-1], flush=True)
    return lines


def beside(names: list[str], titles: list[str], small: bool, pythons: list[str]) -> list[str]:
    """The processes of several libraries: as much as they ever take, and what of it came with the
    steps, the first among them.
    """
    lines = [f"{'step':<16}" + "".join(f"{title:>20}" for title in titles)]
    print(lines[0], flush=True)
    for name in names:
        line = f"{name:<16}"
        for title in titles:
            found = asked(title, name, small, pythons, before=0)
            cell = f"{found['most'] / 2**20:.0f} ({found['more'] / 2**20:.0f})" if found else "-"
            line += f"{cell:>20}"
        lines.append(line)
        print(line, flush=True)
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    steps = [name for name in FULL if name != "fit_a_line"]  # which has no arrays to speak of
    parser.add_argument("--only", nargs="*", default=steps, choices=list(FULL), metavar="STEP")
    parser.add_argument("--small", action="store_true", help="the smallest sizes")
    parser.add_argument("--beside", nargs="*", default=list(BESIDE), metavar="TITLE")
    parser.add_argument("--python", nargs="*", default=[], help="further interpreters to look in")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    # the code of primitives is made with the plan for one thread, and for two when these first run
    os.environ.update(dict.fromkeys(LIMITS, "1"))
    lines = [*planned(args.only, args.small), ""]
    for limit in LIMITS:
        del os.environ[limit]
    lines += beside(args.only, args.beside, args.small, [sys.executable, *args.python])
    if args.write:
        replace_part(Path(args.write), "memory", f"{machine.description()}\n\n{block(lines)}")


if __name__ == "__main__":
    main()
