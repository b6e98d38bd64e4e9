"""How long ``import fluidlite`` takes beyond ``import numpy``: medians over fresh processes."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
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


def measure() -> tuple[float, float]:
    """Seconds for numpy, and for fluidlite after it, in a fresh interpreter."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    numpy, fluidlite = map(float, done.stdout.split())
    return numpy, fluidlite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11, help="fresh processes (default: 11)")
    runs = parser.parse_args().runs
    if runs < 1:
        parser.error(f"expected at least one run, got {runs}")
    measure()  # writes the byte code and warms the disk cache
    times = [measure() for _ in range(runs)]
    for name, column in zip(("numpy", "fluidlite beyond it"), zip(*times)):
        ms = [1e3 * seconds for seconds in column]
        print(
            f"{name:20s} {statistics.median(ms):7.1f} ms"
            f"   (median of {runs}; {min(ms):.1f} to {max(ms):.1f})"
        )


if __name__ == "__main__":
    main()
