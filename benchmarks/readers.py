"""What readers keep of the speed of training, and what processes add to that of reading.

    python benchmarks/readers.py [--steps 10] [--rounds 20] [--small]

First lenet's training steps: with the batches in memory, from a loader that reads ahead in a
thread, and from a reader that is part of the program.  Then a data set whose samples take long to
compute (a millisecond each, 1,024 of them), read by one process and by four, their start included;
the goals are 95 % of the speed in memory, and 1.7 times one process on two cores.  Where others use
the cores, too, the second line tells more: what four processes do in a second of one processor,
beside what one does.  The third is the bound of the machine: the same samples computed by processes
that hand nothing over; two cores that share a processor's units give less than 1.7 times one.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from problems import problem as problem_of
from programs import build

import fluidlite as fluid
from fluidlite import io


class Computed(io.Dataset):
    """Samples that take Python some time."""

    def __init__(self, count: int, work: int) -> None:
        self.count, self.work = count, work

    def __getitem__(self, number: int) -> Any:
        total = 0
        for k in range(self.work):
            total += k * number
        return np.full([3, 32, 32], total % 7, "float32"), number

    def __len__(self) -> int:
        return self.count


def ways(small: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each way of training, and a function that makes a step."""
    problem = problem_of("lenet", small=small)
    batches = problem.feeds

    def generator() -> Iterator[Any]:
        for k in itertools.count():
            yield [batches[k % len(batches)][name] for name in ("x", "y")]

    for way in ("in memory", "by a thread", "in the program"):
        loaders: list[Any] = []

        def begin(fed: dict[str, Any], way: str = way, loaders: list[Any] = loaders) -> None:
            if way != "in memory":
                variables, iterable = [fed["x"], fed["y"]], way == "by a thread"
                loaders.append(io.DataLoader.from_generator(variables, 4, iterable=iterable))
                loaders[0].set_batch_generator(generator)

        main, startup, loss = build(fluid, problem, begin)
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(startup, scope=scope)
        if way == "in the program":
            loaders[0].start()
            feeds: Any = itertools.repeat(None)
        elif way == "by a thread":
            feeds = iter(loaders[0])
        else:
            feeds = itertools.cycle(map(dict, batches))
        yield (
            way,
            lambda exe=exe, main=main, feeds=feeds, loss=loss, scope=scope: exe.run(
                main, next(feeds), [loss], scope=scope
            ),
        )


def training(steps: int, rounds: int, small: bool) -> dict[str, list[float]]:
    """Seconds of steps of lenet in each way; these take turns, so that others on the machine slow
    them alike.
    """
    steppers = dict(ways(small))
    found: dict[str, list[float]] = {way: [] for way in steppers}
    for step in steppers.values():
        for _ in range(5):  # which compile
            step()
    for _ in range(rounds):
        for way, step in steppers.items():
            for _ in range(steps):
                begin = time.perf_counter()
                step()
                found[way].append(time.perf_counter() - begin)
    return found


def reading(workers: int, samples: int, work: int) -> tuple[float, float]:
    """Batches of a data set that computes: how many in a second, and in a second of processors."""
    loader = io.DataLoader(
        Computed(samples, work), return_list=True, batch_size=8, num_workers=workers
    )
    begin, used = time.perf_counter(), processor_time()
    count = sum(1 for _ in loader)
    return count / (time.perf_counter() - begin), count / (processor_time() - used)


def bare(workers: int, samples: int, work: int) -> float:
    """Samples a second of processes that compute them and hand nothing over."""
    data = Computed(samples, work)

    def share() -> None:
        for number in range(samples // workers):
            data[number]

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=share) for _ in range(workers)]
    begin = time.perf_counter()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return samples / (time.perf_counter() - begin)


def processor_time() -> float:
    """Seconds that this process and those that it started have computed."""
    taken = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    times = training(args.steps, args.rounds, args.small)
    base = statistics.median(times["in memory"])
    for way, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"lenet {way:<15} {middle * 1e3:7.3f} ms a step, {base / middle:6.1%} of the speed")
    samples, work = (64, 2000) if args.small else (1024, 30_000)
    rates, bounds = [], []
    for _ in range(5):
        rates.append((reading(1, samples, work), reading(4, samples, work)))
        bounds.append((bare(1, samples, work), bare(4, samples, work)))
    for k, clock in enumerate(("on the clock", "of the processors")):
        one, four = (statistics.median(rate[n][k] for rate in rates) for n in (0, 1))
        print(
            f"batches in a second {clock}: one process {one:.1f}, four {four:.1f}, "
            f"{four / one:.2f} times"
        )
    alone, together = map(statistics.median, zip(*bounds, strict=True))
    print(
        f"samples in a second, nothing handed over: one process {alone:.0f}, "
        f"four {together:.0f}, {together / alone:.2f} times"
    )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
