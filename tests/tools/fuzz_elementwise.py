"""Random element-wise graphs: generated kernels, held against interpretation.

    python tests/tools/fuzz_elementwise.py --count 10000 --first-seed 0

Prints the seeds of graphs of which the kernels compute something else, and by how much; and those
where rounding explains it.
"""

import argparse
import os
import sys
import time

import paths  # noqa: F401  the tests' folders

TOGETHER = 100  #: graphs whose kernels are compiled at once


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of their seeds")
    parser.add_argument("--level", default="-O3", help="what the compiler optimizes")
    args = parser.parse_args()
    os.environ["FLUIDLITE_KERNELS"] = "native"
    from elementwise_graphs import findings

    begin, bad, fused, known = time.monotonic(), 0, 0, 0
    last = args.first_seed + args.count
    for first in range(args.first_seed, last, TOGETHER):
        batch = range(first, min(first + TOGETHER, last))
        wrong, count, rounded = findings(batch, args.level)
        fused, bad, known = fused + count, bad + len(wrong), known + len(rounded)
        for which, why in ((wrong, ""), (rounded, ", as rounding does")):
            for seed, off in which:
                print(f"seed {seed}: differs by {off:.2g} of the largest element{why}", flush=True)
        seconds = time.monotonic() - begin
        print(
            f"{batch.stop - args.first_seed} graphs, {fused} with kernels, {bad} differ, "
            f"{known} by rounding, {seconds:.0f} s",
            flush=True,
        )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
