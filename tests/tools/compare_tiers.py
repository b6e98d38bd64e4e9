"""Samples of all operators with extreme values: every engine held against interpretation.

python tests/tools/compare_tiers.py --jobs 2
python tests/tools/compare_tiers.py --engines numpy,jax --types pool2d,gelu
"""

import argparse
import os
import sys
import time
from collections import Counter
from multiprocessing import get_context

import paths  # noqa: F401  the tests' folders

TOGETHER = 2  #: types that go to a process at a time


def tried(task):
    """The findings of operators of some types, and how many trials there were."""
    types, engines, runs, level = task
    import tiers

    given = list(tiers.trials(types))
    tiers.compile_kernels(given, engines, level)
    found = [each for trial in given for each in tiers.compared(trial, engines, runs)]
    feeds = sum(len(list(trial.feeds())) for trial in given)
    return types, len(given), feeds, [tuple(each) for each in found]


def main():
    import tiers

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default=",".join(tiers.engines()))
    parser.add_argument("--types", default="")
    parser.add_argument("--runs", type=int, default=tiers.RUNS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--level", default="-O3", help="at which kernels are optimized")
    given = parser.parse_args()
    os.environ.setdefault("FLUIDLITE_NUM_THREADS", "1")
    begin, engines = time.perf_counter(), given.engines.split(",")
    types = given.types.split(",") if given.types else tiers.TYPES
    parts = [types[k : k + TOGETHER] for k in range(0, len(types), TOGETHER)]
    tasks = [(part, engines, given.runs, given.level) for part in parts]
    samples, fed, counts = 0, 0, Counter()
    with get_context("spawn").Pool(given.jobs, maxtasksperchild=4) as pool:
        for part, count, feeds, found in pool.imap_unordered(tried, tasks):
            samples, fed = samples + count, fed + feeds
            for sample, engine, feed, result, how in found:
                counts[engine] += 1
                print(f"{engine}: {sample}: {feed}: {result}: {how}", flush=True)
            print(
                f"{samples} samples, {time.perf_counter() - begin:.0f} s, {part}", file=sys.stderr
            )
    print(
        f"{samples} samples, {fed} feeds, {len(engines)} engines, {given.runs} runs each: "
        f"{sum(counts.values())} disagreements {dict(counts)}, {time.perf_counter() - begin:.0f} s"
    )
    return bool(counts)


if __name__ == "__main__":
    sys.exit(main())
