"""A long training: whether memory, files, threads and caches stay what they are.

    python tests/tools/soak.py --steps 200000

Trains a small net on batches of changing sizes, with changing fetch lists, and saves in four ways
every thousand steps.  Prints what the process has on the way; ends with 1 where resident memory
grows by 2 % or more between step 5,000 and the end, or anything else grows at all.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fluidlite as fluid

GROWTH = 0.02  #: of resident memory
ROWS = (1, 2, 5, 8)


def built():
    """A program that trains, the same for tests, its start-up program, and what is fetched."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x, y = fluid.data("x", [None, 8]), fluid.data("y", [None, 1])
        hidden = fluid.layers.batch_norm(fluid.layers.fc(x, 16, act="tanh"))
        predicted = fluid.layers.fc(fluid.layers.dropout(hidden, 0.2), 1)
        loss = fluid.layers.mean(fluid.layers.square_error_cost(predicted, y))
        test = main.clone(for_test=True)
        fluid.optimizer.Adam(fluid.layers.exponential_decay(0.01, 1000, 0.99)).minimize(loss)
    return main, test, startup, predicted, loss


def save(folder, exe, main, test, predicted, step):
    """Save in each way, over what was saved before."""
    fluid.save(main, str(folder / "saved"))
    fluid.io.save_persistables(exe, str(folder / "variables"), main)
    fluid.io.save_inference_model(str(folder / "model"), ["x"], [predicted], exe, test)
    fluid.checkpoint.save(folder / "checkpoints", main, step=step, executor=exe)


def files_in(folder):
    """How many files there are below a folder."""
    return sum(len(files) for _, _, files in os.walk(folder))


def measured(places):
    """What the process has.

    Args:
        places: folders by what they are for.
    """
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "resident KiB": pages * os.sysconf("SC_PAGE_SIZE") >> 10,
        "open files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        **{f"files in {name}": files_in(place) for name, place in places.items()},
    }


def soaked(steps, begin, every, places, report=lambda step, found: None):
    """Train; what the process had at a step, and at the end.

    Args:
        steps: how many there are.
        begin: the step from which on nothing is to grow.
        every: how often something is saved.
        places: folders by what they are for; in ``saves`` is saved.
        report: is told what the process has from time to time.
    """
    main, test, startup, predicted, loss = built()
    scope, exe, rng = fluid.Scope(), fluid.Executor(), np.random.default_rng(0)
    fetches = [[loss], [loss, predicted], [], ["fc_0.w_0"]]
    with fluid.scope_guard(scope):
        exe.run(startup)
        prepared = exe.prepare(main, ["x", "y"], [loss])
        for step in range(1, steps + 1):
            rows = int(rng.choice(ROWS))
            x = rng.normal(size=[rows, 8]).astype("float32")
            feed = {"x": x, "y": x.sum(axis=1, keepdims=True)}
            if step % 10:
                exe.run(main, feed, fetches[step % len(fetches)])
            else:
                prepared(feed)
            if step % 25 == 0:
                exe.run(test, feed, [loss])
            if step % every == 0:
                save(Path(places["saves"]), exe, main, test, predicted, step)
            if step == begin:
                first = measured(places)
                report(step, first)
            elif step % (every * 20) == 0:
                report(step, measured(places))
        last = measured(places)
    report(steps, last)
    return first, last


def grown(first, last):
    """What has grown, in words."""
    found = [
        f"{name}: {first[name]} -> {last[name]}"
        for name in first
        if name != "resident KiB" and last[name] > first[name]
    ]
    share = last["resident KiB"] / first["resident KiB"] - 1
    if share >= GROWTH:
        found.append(f"resident memory: {share:+.1%}")
    return found


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000)
    given = parser.parse_args()
    begun = time.monotonic()

    def report(step, found):
        words = ", ".join(f"{name} {value}" for name, value in found.items())
        print(f"{time.monotonic() - begun:7.1f} s  step {step:6}: {words}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        places = {name: os.path.join(folder, name) for name in ("saves", "cache", "tmp")}
        for place in places.values():
            os.mkdir(place, 0o700)
        os.environ["FLUIDLITE_CACHE"], os.environ["TMPDIR"] = places["cache"], places["tmp"]
        tempfile.tempdir = places["tmp"]
        first, last = soaked(given.steps, 5_000, 1_000, places, report)
        tempfile.tempdir = None
    found = grown(first, last)
    share = last["resident KiB"] / first["resident KiB"] - 1
    print("\n".join(found) or f"nothing grows; resident memory {share:+.2%}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
