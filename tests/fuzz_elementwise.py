"""Random element-wise graphs: generated kernels, held against interpretation.

    python tests/fuzz_elementwise.py --count 10000 --first-seed 0

Prints the seeds of graphs of which the kernels compute something else, and by how much.
"""

import argparse
import os
import sys
import time

TOGETHER = 100  #: graphs whose kernels are compiled at once


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of their seeds")
    parser.add_argument("--level", default="-O3", help="what the compiler optimizes")
    args = parser.parse_args()
    os.environ["FLUIDLITE_KERNELS"] = "native"
    from elementwise_graphs import findings

    begin, bad, fused = time.monotonic(), 0, 0
    last = args.first_seed + args.count
    for first in range(args.first_seed, last, TOGETHER):
        wrong, count = findings(range(first, min(first + TOGETHER, last)), args.level)
        fused, bad = fused + count, bad + len(wrong)
        for seed, off in wrong:
            print(f"seed {seed}: differs by {off:.2g} of the largest element", flush=True)
    seconds = time.monotonic() - begin
    print(f"{args.count} graphs, {fused} with kernels, {bad} differ, {seconds:.0f} s")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
