"""Derivatives of random programs, by forward mode and by backward, which have to be the same.

    python tests/aids/derivative_programs.py --first 0 --count 10000

For a random program the change of its loss along a direction of its parameters is the product of
its gradients with that direction, and what the gradients change by is what their own gradients say.
"""

import argparse
import warnings

import numpy as np
from random_programs import program as random_programs

import fluidlite as fluid
from fluidlite import transform
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.values import SelectedRows, bare
from fluidlite.ir.operator import OpRole

TOLERANCE = 1e-5  # attributes are single, and so are the numbers that they become in each operator


class Trial:
    """A random program without its optimizer, with values and a direction of its parameters."""

    def __init__(self, seed):
        built = random_programs.build(fluid, random_programs.recipe(seed), "float64")
        self.program, self.loss, self.startup = built.main.clone(), built.loss, built.startup
        block = self.program.global_block()
        block.set_ops([op for op in block.ops if not op.role & OpRole.OPTIMIZE])
        self.parameters = [p for p in built.parameters if p + "@GRAD" in block.vars]
        self.slopes = [
            p + "@GRAD"
            for p in self.parameters
            if block.var(p + "@GRAD").kind is not Kind.SELECTED_ROWS
        ]
        self.feed = random_programs.batch(built, seed, 0, "float64")
        self.scope = fluid.Scope()
        with fluid.scope_guard(self.scope):
            fluid.Executor().run(built.startup)
        self.start = {
            v.name: np.array(found.get_tensor())
            for v in built.main.list_vars()
            if v.persistable and (found := self.scope.find_var(v.name)) is not None
        }
        rng = np.random.default_rng(seed)
        self.direction = {p: rng.normal(size=self.start[p].shape) for p in self.parameters}

    def run(self, program, fetches, **fed):
        """What a program gives at the start."""
        for name, value in self.start.items():
            self.scope.find_var(name).get_tensor().set(value, fluid.CPUPlace())
        with fluid.scope_guard(self.scope):
            found = fluid.Executor().run(program, {**self.feed, **fed}, list(fetches))
        return [v.to_dense() if isinstance(v, SelectedRows) else bare(v) for v in found]

    def along(self, made):
        """What a transformed program gives along the direction."""
        fed = {v.name: self.direction[p] for v, p in zip(made.inputs, self.parameters, strict=True)}
        return self.run(made.program, made.outputs, **fed)

    def first(self):
        """The change of the loss, in forward mode and by gradients."""
        slopes = self.run(self.program, [p + "@GRAD" for p in self.parameters])
        parts = [np.sum(g * self.direction[p]) for g, p in zip(slopes, self.parameters)]
        (forward,) = self.along(transform.jvp(self.program, self.loss, self.parameters))
        return np.sum(forward), sum(parts), max(np.abs(part) for part in parts)

    def second(self):
        """The changes of gradients along the direction, weighted with random numbers: in forward
        mode, and by the gradients of the gradients.
        """
        forward = self.along(transform.jvp(self.program, self.slopes, self.parameters))
        weights = [np.random.default_rng(1).normal(size=v.shape) for v in forward]
        pulled = transform.vjp(self.program, self.slopes, self.parameters)
        fed = {v.name: w for v, w in zip(pulled.inputs, weights, strict=True)}
        backward = self.run(pulled.program, pulled.outputs, **fed)
        parts = [np.sum(g * self.direction[p]) for g, p in zip(backward, self.parameters)]
        found = sum(np.sum(v * w) for v, w in zip(forward, weights))
        return found, sum(parts), max(np.abs(part) for part in parts)


def check(seed, second=True):
    """Compare the derivatives of a random program.

    Raises:
        AssertionError: they differ.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = Trial(seed)
        if not trial.parameters:
            return
        orders = [trial.first]
        if second and trial.slopes:
            orders.append(trial.second)
        for compared in orders:
            forward, backward, size = compared()
            if np.isfinite(size):
                near = abs(forward - backward) <= TOLERANCE * max(1.0, size)
                assert near, (seed, compared.__name__, forward, backward)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    given = parser.parse_args()
    wrong = 0
    for seed in range(given.first, given.first + given.count):
        try:
            check(seed)
        except Exception as error:
            wrong += 1
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{given.count} programs, {wrong} wrong")


if __name__ == "__main__":
    main()
