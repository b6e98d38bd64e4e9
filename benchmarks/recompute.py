"""Memory and time of a training step of a deep chain, with and without recomputing.

    python benchmarks/recompute.py [--layers 64] [--batch 512] [--width 256] [--runs 5] [--write]

Prints the peak of what a step allocates (parameters and feeds not counted) and the median time of
a step, plain and with a checkpoint every eighth layer.  ``--write`` puts it into
docs/performance.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, block, replace_part

import fluidlite as fluid


def step_of(layers: int, batch: int, width: int, every: int) -> tuple[Any, int]:
    """A function that runs one training step of a chain of layers, and the size of its parameters
    in bytes.
    """
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [batch, width], "float32")
        hidden, kept = x, []
        for k in range(layers):
            hidden = fluid.layers.fc(hidden, width, act="tanh")
            if every and k % every == every - 1:
                kept.append(hidden)
        loss = fluid.layers.mean(fluid.layers.square(hidden))
        optimizer: Any = fluid.optimizer.SGD(0.01)
        if every:
            optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
            optimizer.set_checkpoints(kept)
        optimizer.minimize(loss)
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(0).normal(size=[batch, width]).astype("float32")}
    size = sum(scope.value(parameter.name).nbytes for parameter in main.all_parameters())
    return lambda: exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0], size


def measure(step: Any, parameters: int, runs: int) -> tuple[float, float, float]:
    """Peak of allocated bytes in MiB, median seconds, and the last loss.

    Parameters do not count, of which there are two sets after some steps: those that the scope
    holds, and those that take their place when the next step has succeeded.
    """
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(4):  # interpreted, traced, on the finished source, and with its buffers there
        tracemalloc.reset_peak()
        step()
    peak = tracemalloc.get_traced_memory()[1] - before - 2 * parameters
    tracemalloc.stop()
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        loss = step()
        seconds.append(time.perf_counter() - begin)
    return peak / 2**20, statistics.median(seconds), float(loss[0])


def main() -> None:
    """Measure both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, default=64)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    sizes = (args.layers, args.batch, args.width)
    plain = measure(*step_of(*sizes, every=0), args.runs)
    again = measure(*step_of(*sizes, every=8), args.runs)
    lines = [
        f"{title:<10} peak {peak:7.1f} MiB  step {seconds * 1e3:7.1f} ms  loss {loss!r}"
        for title, (peak, seconds, loss) in (("plain", plain), ("recompute", again))
    ]
    less, more = 1 - again[0] / plain[0], again[1] / plain[1] - 1
    lines.append(f"recompute takes {less:.0%} less memory and {more:.0%} more time")
    print("\n".join(lines))
    if args.write:
        size = f"{args.layers} layers of width {args.width}, batch {args.batch}"
        text = f"{machine.description()}; {size}.\n\n{block(lines)}"
        replace_part(Path(args.write), "recompute", text)


if __name__ == "__main__":
    main()
