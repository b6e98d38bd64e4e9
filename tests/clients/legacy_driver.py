"""Runs a program of ``examples/legacy`` where ``paddle`` is fluidlite, or the real 1.8.5.

What both systems draw differently is taken from NumPy, so that what the program prints can be
compared:

* A parameter that a startup program draws (``uniform_random``, ``gaussian_random``) gets numbers of
  the same distribution from ``RandomState(n)`` in the scope behind that run, n being its place
  among the drawn ones.  Both systems put the same operators into startup programs in the same
  order.  A parameter of an eager layer gets them where ``Layer.create_parameter`` gives it back,
  unless all its elements are equal.
* ``random`` and ``numpy.random`` begin with fixed seeds.
* ``paddle.dataset`` downloads in 1.8.5.  fluidlite's made samples, recorded while the program runs
  here, are served there.

``lstm_grad`` of 1.8.5 is wrong in float32 where the size of the state is a multiple of 8 (it
differs from difference quotients, and what it gives here does not), so the programs have others.

It is written for Python 3.7, which 1.8.5 needs: ``python legacy_driver.py SAMPLES PROGRAM ...`` is
a run there, with the samples in that file.
"""

import contextlib
import importlib
import io
import pickle
import random
import runpy
import sys

import numpy as np

SETS = {
    "cifar": ("train10", "test10"),
    "conll05": ("test", "get_dict"),
    "imdb": ("train", "test", "word_dict"),
    "imikolov": ("train", "test", "build_dict"),
    "mnist": ("train", "test"),
    "movielens": (
        *("train", "test", "max_user_id", "max_job_id", "max_movie_id", "get_movie_title_dict"),
        "movie_categories",
    ),
    "uci_housing": ("train", "test"),
    "wmt16": ("train", "test", "get_dict"),
}
READERS = {"train", "test", "train10", "test10"}
DRAWN = {"uniform_random", "gaussian_random", "truncated_gaussian_random"}


class StartValues:
    """Gives parameters their first values."""

    def __init__(self, fluid):
        self.fluid, self.count = fluid, 0
        self.run, self.create = fluid.Executor.run, fluid.dygraph.Layer.create_parameter

    def __enter__(self):
        outer = self

        def run(executor, program=None, *args, **kwargs):
            found = outer.run(executor, program, *args, **kwargs)
            fluid = outer.fluid
            program = fluid.default_main_program() if program is None else program
            if isinstance(program, fluid.Program):
                outer.draw(program, kwargs.get("scope") or fluid.global_scope())
            return found

        def create_parameter(layer, *args, **kwargs):
            parameter = outer.create(layer, *args, **kwargs)
            value = None if parameter is None else parameter.numpy()
            if value is not None and np.ptp(value):
                parameter.set_value(outer.random().uniform(-0.1, 0.1, value.shape).astype("f"))
            return parameter

        self.fluid.Executor.run = run
        self.fluid.dygraph.Layer.create_parameter = create_parameter
        return self

    def __exit__(self, *error):
        self.fluid.Executor.run = self.run
        self.fluid.dygraph.Layer.create_parameter = self.create

    def random(self):
        self.count += 1
        return np.random.RandomState(self.count)

    def draw(self, program, scope):
        block = program.global_block()
        for op in block.ops:
            if op.type not in DRAWN:
                continue
            (name,) = op.output("Out")
            if not block.var(name).persistable:
                continue
            shape = op.attr("shape")
            if op.type == "uniform_random":
                value = self.random().uniform(op.attr("min"), op.attr("max"), shape)
            else:
                value = self.random().normal(op.attr("mean"), op.attr("std"), shape)
            tensor = scope.find_var(name).get_tensor()
            tensor.set(value.astype("float32"), self.fluid.CPUPlace())


def sets():
    """The modules of data sets and what they can be called for."""
    for part, names in SETS.items():
        module = importlib.import_module("paddle.dataset." + part)
        for name in names:
            yield module, part, name, getattr(module, name)


def record():
    """Let readers remember what they give; returns where they do."""
    log = {}
    for module, part, name, function in sets():
        setattr(module, name, recorded(function, log, part, name))
    return log


def recorded(function, log, part, name):
    calls = []

    def call(*args, **kwargs):
        key = part, name, len(calls)
        calls.append(key)
        result = function(*args, **kwargs)
        if name not in READERS:
            log[key] = result
            return result
        samples = log.setdefault(key, [])

        def read():
            for number, sample in enumerate(result()):
                if number == len(samples):
                    samples.append(sample)
                yield sample

        return read

    return call


def replay(log):
    """Serve what was recorded."""
    for module, part, name, _ in sets():
        setattr(module, name, replayed(log, part, name))


def replayed(log, part, name):
    calls = []

    def call(*args, **kwargs):
        calls.append(name)
        result = log[part, name, len(calls) - 1]
        return (lambda: iter(result)) if name in READERS else result

    return call


class Unpickler(pickle.Unpickler):
    """Reads arrays that a newer NumPy has written."""

    def find_class(self, module, name):
        return super().find_class(module.replace("numpy._core", "numpy.core"), name)


def seed():
    """Fix what Python and NumPy draw."""
    random.seed(1)
    np.random.seed(1)


def run_here(program, words):
    """Run a program under the alias.

    Args:
        program: its path.
        words: its arguments.

    Returns:
        the samples that it read and the exit status; what it prints goes where it does.
    """
    from fluidlite import compat
    from fluidlite.__main__ import main

    before = sys.argv, list(sys.path), sys.modules["__main__"]
    compat.install(force=True, synthetic_data=True, dropped_names=True)
    try:
        log = record()
        seed()
        fluid = importlib.import_module("paddle.fluid")
        with contextlib.ExitStack() as own:
            own.enter_context(StartValues(fluid))
            own.enter_context(fluid.program_guard(fluid.Program(), fluid.Program()))
            own.enter_context(fluid.scope_guard(fluid.Scope()))
            own.enter_context(fluid.unique_name.guard())
            status = main(["run", "--synthetic-data", str(program), *words])
    finally:
        compat.uninstall()
        sys.argv, sys.path[:], sys.modules["__main__"] = before
    return log, status


def run_there(program, words, samples):
    """Run a program on the ``paddle`` that can be imported.

    Args:
        program: its path.
        words: its arguments.
        samples: the path of samples that :func:`run_here` gave.
    """
    with open(samples, "rb") as file:
        replay(Unpickler(file).load())
    seed()
    sys.argv = [program, *words]
    with StartValues(importlib.import_module("paddle.fluid")):
        runpy.run_path(program, run_name="__main__")


def printed(text):
    """The lines of what a program printed, as (text without its numbers, numbers)."""
    lines = []
    for line in text.splitlines():
        words = line.replace(",", " ").replace("[", " ").replace("]", " ").split()
        numbers, rest = [], []
        for word in words:
            try:
                numbers.append(float(word.rstrip("%")))
            except ValueError:
                rest.append(word)
        lines.append((" ".join(rest), numbers))
    return lines


def captured(program, words):
    """What :func:`run_here` gives, and what the program printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        log, status = run_here(program, words)
    return log, status, out.getvalue()


if __name__ == "__main__":
    run_there(sys.argv[2], sys.argv[3:], sys.argv[1])
