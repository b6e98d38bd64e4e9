"""Mistakes in the gradient parts of random programs: whether certificates find them.

    python tests/tools/mutate_gradients.py --count 200

Each mistake is judged by runs, too: one that changes a gradient must be found, and one that changes
nothing must not.  Prints the mistakes for which that does not hold, and how many of each kind were.
"""

import argparse
import sys
import warnings
from collections import Counter

import paths  # noqa: F401  the tests' folders

EACH = 8  #: mistakes in each program


def main(arguments=None):
    """Try mistakes; the exit status is 1 where one is misjudged."""
    from gradient_mutations import tried
    from random_programs.program import build, recipe

    import fluidlite as fluid

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="how many mistakes")
    parser.add_argument("--first", type=int, default=0, help="the first program")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    counts, wrong = Counter(), 0
    for k in range(-(-given.count // EACH)):
        program = build(fluid, recipe(given.first + k)).main
        findings, more = tried(program, range(EACH))
        counts.update(more)
        wrong += len(findings)
        for each in findings:
            print(f"program {given.first + k}, {each}", flush=True)
    for (truth, verdict), count in sorted(counts.items()):
        print(f"{count} were {truth} and judged {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
