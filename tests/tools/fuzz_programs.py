"""Random whole programs: what plans compute, held against what the programs mean.

    python tests/tools/fuzz_programs.py --count 20000 --jobs 2 --kernels numpy,onednn,native

A library's name with ``/large`` behind it treats all values as large ones: they lie in buffers, and
work on them is cut into parts; with ``/recorded`` at its end plans have run before, so that command
buffers are recorded.

Prints each disagreement with its seed, the operator that differs first and the program, made as
small as it can be.  With ``--real``, the programs run in the real fluid 1.8.5, too, in the Python
that ``FLUIDLITE_PADDLE18`` names.
"""

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from multiprocessing import get_context

import paths  # noqa: F401  the tests' folders

TOGETHER = 25  #: programs that go to a process at a time


def tried(task):
    """What is found out about some programs: how many differ by rounding only, and findings."""
    seeds, libraries, dtype, shrinks = task
    from random_programs.program import build, recipe
    from random_programs.shrinking import shrunk
    from random_programs.ways import compared, compile_kernels

    import fluidlite as fluid

    warnings.simplefilter("ignore")
    rounded, said = 0, []
    for library in libraries:
        if library.startswith(("native", "auto")):
            compile_kernels(map(recipe, seeds), library, dtype)
    for seed in seeds:
        try:
            found, near = compared(recipe(seed), libraries, dtype)
        except Exception as error:
            said.append((seed, f"{type(error).__name__}: {error}", ""))
            continue
        rounded += near
        for finding in found:
            small = recipe(seed)
            if shrinks:

                def is_wrong(given, way=finding.way):
                    try:
                        return bool(compared(given, [way], dtype)[0])
                    except Exception:
                        return False

                small = shrunk(small, is_wrong)
            again = (compared(small, [finding.way], dtype)[0] or [finding])[0]
            text = "{}: {}: {}\nfirst: {}\npieces: {}".format(
                *(again.way, *again.difference, again.operator), [name for name, _ in small.pieces]
            )
            said.append((seed, text, str(build(fluid, small, dtype).main)))
    return len(seeds), rounded, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kernels", default="numpy,onednn")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--real", action="store_true", help="hold them against the real fluid")
    parser.add_argument("--whole", action="store_true", help="do not make programs smaller")
    parser.add_argument("--brief", action="store_true", help="do not print programs")
    given = parser.parse_args()
    os.environ.setdefault("FLUIDLITE_NUM_THREADS", "1")
    begin = time.perf_counter()
    seeds = range(given.first_seed, given.first_seed + given.count)
    parts = [seeds[k : k + TOGETHER] for k in range(0, len(seeds), TOGETHER)]
    if given.real:
        from random_programs.real import tried_in_real

        work = tried_in_real
        tasks = [list(part) for part in parts]
    else:
        work = tried
        tasks = [(list(p), given.kernels.split(","), given.dtype, not given.whole) for p in parts]
    done, counts, differ = 0, Counter(), 0
    with get_context("spawn").Pool(given.jobs) as pool:
        for count, near, said in pool.imap_unordered(work, tasks):
            done += count
            counts.update(near if isinstance(near, Counter) else {"rounding": near})
            differ += len(said)
            for seed, text, program in said:
                print(f"-- seed {seed}: {text}", flush=True)
                if not given.brief:
                    print(program, flush=True)
            if done % 500 < count:
                seconds = time.perf_counter() - begin
                print(f"{done} programs, {seconds:.0f} s", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begin
    print(f"{done} programs, {differ} disagreements, {dict(counts)}, {seconds:.0f} s")
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
