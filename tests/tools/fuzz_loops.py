"""Compares random networks with loops with the same ones without, in all orders of gradients.

python tests/tools/fuzz_loops.py --count 1000 --order 2 --backends numpy jax
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "aids"))
import looped_networks

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--first", type=int, default=0, help="the first seed")
parser.add_argument("--count", type=int, default=100, help="how many networks")
parser.add_argument("--order", type=int, default=2, help="the highest order of gradients")
parser.add_argument("--backends", nargs="+", default=["numpy"], help="numpy, jax")


def main(arguments):
    """Try networks; how many disagree."""
    options = parser.parse_args(arguments)
    wrong = 0
    for seed in range(options.first, options.first + options.count):
        try:
            looped_networks.check(seed, options.order, options.backends)
        except Exception as error:
            wrong += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{options.count} networks, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
