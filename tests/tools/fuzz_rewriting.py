"""Rewrite random programs by laws that change nothing, and compare what they give.

python tests/tools/fuzz_rewriting.py --count 1000 [--first 0]
"""

import argparse
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "aids")]


def main():
    """Try programs; those that differ are printed."""
    from random_programs.test_rewriting import rewritten

    import fluidlite as fluid

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    begin, places, different = time.monotonic(), 0, 0
    for seed in range(args.first, args.first + args.count):
        fluid.reset_default_programs()
        try:
            places += rewritten(seed)
        except Exception as error:
            different += 1
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
    seconds = time.monotonic() - begin
    print(f"{args.count} programs, {places} places, {different} differ, {seconds:.0f} s")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
