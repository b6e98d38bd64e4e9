"""Times examples/recognize_digits.py as a whole process, and reads the accuracy that it reaches.

    python benchmarks/main_job.py [--runs 5] [--cores 1] [--quick]

Prints the minimum, median and maximum of the wall time in seconds, without and with the picture of
the learning curve, and the accuracies.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "recognize_digits.py"


def run(cores: int, *options: str) -> tuple[float, float]:
    """Seconds and accuracy in percent of one run in a fresh process."""

    def restrict() -> None:
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": search},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=restrict,
        )
        seconds = time.perf_counter() - start
    found = re.search(r"test accuracy ([\d.]+)%", done.stdout)
    if done.returncode or found is None:
        raise SystemExit(f"{EXAMPLE.name} ended with {done.returncode}:\n{done.stderr}")
    return seconds, float(found[1])


def main() -> None:
    """Measure the example in its ways."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=1, help="processors to run on; 0 for all")
    parser.add_argument("--quick", action="store_true", help="one epoch, no picture")
    arguments = parser.parse_args()
    ways = [("no picture", ["--no-picture"]), ("picture", [])]
    for title, options in [("quick", ["--quick"])] if arguments.quick else ways:
        found = [run(arguments.cores, *options) for _ in range(arguments.runs)]
        seconds = [s for s, _ in found]
        accuracies = [a for _, a in found]
        print(
            f"{title:11} min {min(seconds):.2f} s  median {statistics.median(seconds):.2f} s  "
            f"max {max(seconds):.2f} s  accuracy {min(accuracies)} to {max(accuracies)} %"
        )


if __name__ == "__main__":
    main()
