"""Random programs that are taken apart, put together and changed: they compute what they computed.

    python tests/aids/surgery_trials.py --count 1000 --first 500

prints the seeds of programs that do not, and what differs.
"""

import argparse
import collections
import contextlib
import random
import sys
import warnings
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from random_programs.program import batch, build, recipe
from random_programs.ways import TOLERANCE, apart

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import ArgumentError
from fluidlite.ground.dtypes import Kind
from fluidlite.ir.compare import differences
from fluidlite.transform import ValueAt

DTYPE = "float64"  # training makes rounding errors large


class Subject:
    """A random program, what it is fed, what is fetched, and what came out."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        built = build(fluid, recipe(seed), DTYPE)
        self.main, self.startup, self.loss = built.main, built.startup, built.loss
        for op in self.startup.global_block().ops:  # draws go by names
            if op.has_attr("seed"):
                op.set_attr("seed", 7)
        self.text = str(self.main)
        self.feeds = [batch(built, seed, run, DTYPE) for run in range(2)]
        wanted = [built.loss, *built.parameters[:3], *(n for _, ns in built.runs for n in ns)]
        self.fetch = [name for name in dict.fromkeys(wanted) if name not in self.feeds[0]]
        self.values = self.computed(self.main, self.startup)

    def computed(self, main, startup, name=str):
        """What a program computes in two runs: by the whole's names.

        Args:
            main: a program, or stages.
            startup: gives first values.
            name: gives the program's names.
        """
        with fluid.scope_guard(fluid.Scope()):
            executor = fluid.Executor()
            if startup.global_block().ops:
                executor.run(startup)
            rows = []
            for feed in self.feeds:
                named = {name(n): value for n, value in feed.items()}
                args = named, [name(n) for n in self.fetch if self.is_there(main, name(n))]
                if isinstance(main, list):
                    found = transform.run_stages(executor, main, *args, return_numpy=False)
                else:
                    found = executor.run(main, *args, return_numpy=False)
                rows.append(dict(zip(args[1], found)))
        return rows

    @staticmethod
    def is_there(main, name):
        return isinstance(main, list) or name in main.global_block().vars

    def check(self, rows, name=str):
        """Whether what was computed is what the whole computes; random numbers are left out."""
        assert str(self.main) == self.text
        for right, mine in zip(self.values, rows, strict=True):
            for key, value in right.items():
                other = mine.get(name(key))
                if value is None or isinstance(value, list) or other is None:
                    continue
                how = apart(other, value, TOLERANCE[DTYPE])
                assert not how, f"{key}: {how}"


def base(name):
    return name if "@GRAD" in name or "@SAVED" in name else f"r.{name}"


def back(name):
    return name.removeprefix("r.")


def is_random(program):
    return any(op.definition.random for block in program.blocks for op in block.ops)


def renamed(subject):
    """There and back; what draws by names computes something else in between."""
    main, startup = (transform.rename(p, base) for p in (subject.main, subject.startup))
    if not is_random(subject.main):
        new = {name: f"r.{name}" for name in (*subject.fetch, *subject.feeds[0])}
        subject.check(subject.computed(main, startup, new.get), new.get)
    again = transform.rename(main, lambda name: None if base(name) == name else back(name))
    assert not differences(subject.main, again)


def merged(subject):
    """With itself, on the same inputs: both halves do the same."""
    pair, inputs = (subject.main, subject.startup), list(subject.feeds[0])
    main, startup = transform.merge(pair, pair, shared=inputs)
    names = transform.names_in_merge(pair, pair, shared=inputs)
    subject.check(subject.computed(main, startup))
    if not is_random(subject.main):
        subject.check(
            subject.computed(main, startup, lambda n: names.get(n, n)), lambda n: names.get(n, n)
        )


def in_two(subject):
    """Cut at an operator, with all values that pass it; the loss is that of the whole."""
    block, rng = subject.main.global_block(), subject.rng
    inputs = list(subject.feeds[0])
    forward = [i for i, op in enumerate(block.ops) if not op.role]
    at = rng.choice(forward[1:])
    front = {n for op in block.ops[:at] for n in op.output_arg_names}
    names = [n for n in block.vars if n in front and not block.vars[n].persistable]
    values = [ValueAt(n, before=at) for n in names] + inputs
    if any(block.vars[name].kind is not Kind.LOD_TENSOR for name in names):
        return
    second = transform.cut(subject.main, values, [subject.loss])
    needed = {n for op in second.global_block().ops for n in op.input_arg_names}
    fed = [v.name for v in second.list_vars() if v.is_data and v.name in needed]
    passed = [n.partition("@VALUE_")[0] for n in fed if n not in inputs]
    if not passed:
        return  # the loss needs nothing that is computed before
    first = transform.cut(subject.main, inputs, [ValueAt(n, before=at) for n in passed])
    feed = subject.feeds[0]
    with fluid.scope_guard(fluid.Scope()):
        executor = fluid.Executor()
        executor.run(subject.startup)
        known = first.global_block().vars
        last = [max((m for m in known if m.partition("@VALUE_")[0] == n), key=len) for n in passed]
        middle = executor.run(first, feed, last, return_numpy=False) if last else []
        if any(value is None for value in middle):
            return  # of a branch that was not taken
        fed = dict(zip([n for n in fed if n not in inputs], middle))
        (loss,) = executor.run(second, {**feed, **fed}, [subject.loss])
    np.testing.assert_allclose(loss, np.asarray(subject.values[0][subject.loss]), rtol=1e-6)


def in_stages(subject):
    count = len(subject.main.global_block().ops)
    places = sorted(subject.rng.sample(range(1, count), 2))
    for at in (subject.rng.randrange(2, 6), places):
        with contextlib.suppress(ArgumentError):
            stages = transform.split(subject.main, at, subject.fetch)
            subject.check(subject.computed(stages, subject.startup))


def outlined(subject):
    """Neighbours become a block, and are operators again; in a block, random operators draw other
    numbers.
    """
    ops = subject.main.global_block().ops
    first = subject.rng.randrange(len(ops))
    neighbours = ops[first : first + 8]
    main = transform.outline(subject.main, neighbours)
    if not any(op.definition.random for op in neighbours):
        subject.check(subject.computed(main, subject.startup))
    mine = [o for o in main.global_block().ops if any("always" in n for n in o.input_arg_names)]
    again = transform.inline(main, mine[0])
    subject.check(subject.computed(again, subject.startup))


def frozen(subject):
    """The loss of constants is that of the parameters."""
    main = transform.cut(subject.main, list(subject.feeds[0]), [subject.loss])
    written = {n for block in main.blocks for op in block.ops for n in op.output_arg_names}
    names = [v for v in main.list_vars() if v.persistable and v.name not in written]
    with fluid.scope_guard(fluid.Scope()):
        executor = fluid.Executor()
        executor.run(subject.startup)
        constant = transform.freeze(main, names=names)
        (loss,) = executor.run(constant, subject.feeds[0], [subject.loss])
    np.testing.assert_allclose(loss, np.asarray(subject.values[0][subject.loss]), rtol=1e-6)
    if names:
        parameters = transform.unfreeze(constant)[0].global_block().vars
        assert all(parameters[v.name].persistable for v in names)


def chained(subject):
    """Three changes, one after the other: a block in a merged program, in stages."""
    pair = (subject.main, subject.startup)
    boxed = transform.outline(subject.main, range(3))
    main, startup = transform.merge((boxed, pair[1]), pair, shared=list(subject.feeds[0]))
    with contextlib.suppress(ArgumentError):
        stages = transform.split(main, 3, [n for n in subject.fetch if n in main.blocks[0].vars])
        rows = subject.computed(main, startup)
        subject.check(rows)
        there = [n for n in subject.fetch if n in main.blocks[0].vars]
        subject.fetch, subject.values = there, rows
        subject.check(subject.computed(stages, startup))


TRIALS = (renamed, merged, in_two, in_stages, outlined, frozen, chained)


def tried(seed, trials=TRIALS):
    """Try a program; gives what went wrong, by trial."""
    wrong = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in trials:
            try:
                trial(Subject(seed))
            except Exception as error:
                wrong[trial.__name__] = f"{type(error).__name__}: {error}"
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    trials = [t for t in TRIALS if not given.only or t.__name__ in given.only]
    counts = collections.Counter()
    for seed in range(given.first, given.first + given.count):
        for name, text in tried(seed, trials).items():
            counts[name] += 1
            print(f"{seed} {name}: {text[:400]}")
    print(f"{given.count} programs, {dict(counts) or 'all right'}")


if __name__ == "__main__":
    main()
