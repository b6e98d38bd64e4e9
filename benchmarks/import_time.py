"""How long ``import fluidlite`` takes beyond ``import numpy``, and ``fluidlite run`` of a script
beyond a plain run of one that imports fluidlite: medians over fresh processes, which take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROBE = """
from time import perf_counter
start = perf_counter()
import numpy
middle = perf_counter()
import fluidlite
print(middle - start, perf_counter() - middle)
"""


#: a script, and how it imports what it uses in a plain run
SCRIPT = "import paddle.fluid as fluid\nfluid.layers.fc\n"
PLAIN = SCRIPT.replace("paddle.fluid", "fluidlite")


def python(*words: str) -> str:
    """What a fresh interpreter prints that knows this tree."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def measure() -> tuple[float, float]:
    """Seconds for numpy, and for fluidlite after it, in a fresh interpreter."""
    numpy, fluidlite = map(float, python("-c", PROBE).split())
    return numpy, fluidlite


def measure_runs(folder: Path) -> tuple[float, float]:
    """Seconds of a process: a plain run of a script, and ``fluidlite run`` of one."""
    found = []
    for words in ([str(folder / "plain.py")], ["-m", "fluidlite", "run", str(folder / "old.py")]):
        begin = time.perf_counter()
        python(*words)
        found.append(time.perf_counter() - begin)
    return found[0], found[1]


def report(name: str, seconds: Sequence[float]) -> None:
    """Print the median and the range of times."""
    ms = [1e3 * each for each in seconds]
    print(
        f"{name:28s} {statistics.median(ms):7.1f} ms"
        f"   (median of {len(ms)}; {min(ms):.1f} to {max(ms):.1f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11, help="fresh processes (default: 11)")
    runs = parser.parse_args().runs
    if runs < 1:
        parser.error(f"expected at least one run, got {runs}")
    measure()  # writes the byte code and warms the disk cache
    times = [measure() for _ in range(runs)]
    for name, column in zip(("numpy", "fluidlite beyond it"), zip(*times)):
        report(name, column)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plain.py").write_text(PLAIN)
        (folder / "old.py").write_text(SCRIPT)
        measure_runs(folder)
        both = [measure_runs(folder) for _ in range(runs)]
    report("a script, plainly", [plain for plain, _ in both])
    report("fluidlite run beyond it", [run - plain for plain, run in both])


if __name__ == "__main__":
    main()
