"""Whether memory stays where it is while programs come and go.

    python benchmarks/endurance.py [--programs 1000]

Builds, runs and drops programs, with one executor and with many, in one scope and in many; prints
the resident memory on the way, and what is still alive at the end.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np

import fluidlite as fluid

ALLOWED = 5.0  # MB that resident memory may grow by after the first fifth


def resident() -> float:
    """Megabytes that the process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def one(exe: Any, scope: Any, number: int) -> list[Any]:
    """Build and train a small net; weak references to what was made."""
    main, startup = fluid.Program(), fluid.Program()
    rows = 3 + number % 7
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [rows, 2, 8, 8], "float32")
        hidden = fluid.layers.batch_norm(fluid.layers.conv2d(x, 4, 3, act="relu"))
        hidden = fluid.layers.dropout(fluid.layers.fc(hidden, 8, act="tanh"), 0.3)
        loss = fluid.layers.mean(hidden)
        fluid.optimizer.Adam(0.1).minimize(loss)
    exe.run(startup, scope=scope)
    for _ in range(4):
        exe.run(main, {"x": np.ones([rows, 2, 8, 8], "float32")}, [loss], scope=scope)
    plan = exe.plan(main, [loss])
    return [weakref.ref(each) for each in (main, startup, plan, plan.compiled)]


def endured(programs: int, many_executors: bool, many_scopes: bool) -> bool:
    """Run programs; whether memory stayed where it was, and nothing is left of them."""
    exe, scope, found = fluid.Executor(), fluid.Scope(), []
    early, marks = 0.0, []
    for number in range(programs):
        exe = fluid.Executor() if many_executors else exe
        scope = fluid.Scope() if many_scopes else scope
        found += one(exe, scope, number)
        if number + 1 == programs // 5:
            early = resident()
        if (number + 1) % max(1, programs // 5) == 0:
            marks.append(f"{resident():.1f}")
    grown = resident() - early
    gc.collect()
    alive = sum(each() is not None for each in found)
    what = f"{'many executors' if many_executors else 'one executor':14} "
    what += f"{'many scopes' if many_scopes else 'one scope':11}"
    print(
        f"{what}  {' '.join(marks)} MB, {grown:+.1f}; {alive} of {len(found)} alive; "
        f"{threading.active_count()} threads"
    )
    return grown < ALLOWED and not alive


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    args = parser.parse_args()
    both = list(itertools.product([False, True], repeat=2))
    kept = [endured(args.programs, *which) for which in both]
    sys.exit(not all(kept))


if __name__ == "__main__":
    main()
