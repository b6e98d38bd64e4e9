"""Times examples/recognize_digits.py as a whole process, and reads the accuracy that it reaches.

    python benchmarks/main_job.py [--runs 5] [--cores 1]

Prints the minimum, median and maximum of the wall time in seconds, without and with the picture of the
learning curve, and the accuracies.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "recognize_digits.py"


def run(cores, *options):
    """Seconds and accuracy in percent of one run in a fresh process."""

    def restrict():
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), *options],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            preexec_fn=restrict,
        )
        seconds = time.perf_counter() - start
    return seconds, float(re.search(r"test accuracy ([\d.]+)%", done.stdout)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=1, help="processors to run on; 0 for all")
    arguments = parser.parse_args()
    for title, options in (("no picture", ["--no-picture"]), ("picture", [])):
        found = [run(arguments.cores, *options) for _ in range(arguments.runs)]
        seconds = [s for s, _ in found]
        print(
            f"{title:11} min {min(seconds):.2f} s  median {statistics.median(seconds):.2f} s  "
            f"max {max(seconds):.2f} s  accuracy {min(a for _, a in found)} to {max(a for _, a in found)} %"
        )


if __name__ == "__main__":
    main()
