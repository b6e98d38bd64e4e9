"""One of two processes that train together; prints what it found, a line of JSON for each trial."""

import json
import sys

import numpy as np

import fluidlite as fluid
from fluidlite import distributed, layers
from fluidlite.errors import FluidError

SIZES = {"data": 4}


def network(seed=3):
    """A network with what is drawn, and the host's operators, in it."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = seed
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x, y = fluid.data("x", [None, 6], "float32"), fluid.data("y", [None, 1], "int64")
        h = layers.dropout(layers.batch_norm(layers.fc(x, 8)), 0.3)
        loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(h, 4), y))
        fluid.optimizer.Momentum(0.05, 0.9).minimize(loss)
        large = layers.reduce_sum(layers.cast(layers.where(x > 0.25), "float32"))
    return main, startup, loss, large


def batch(rows):
    rng = np.random.default_rng(rows)
    return {"x": rng.normal(size=[rows, 6]).astype("float32"), "y": rng.integers(0, 4, [rows, 1])}


class Trials:
    """Trials, each on what a process is fed: ``part`` gives its part of a batch."""

    def __init__(self, part, run=lambda: distributed.mesh(**SIZES)):
        self.part, self.mesh = part, run
        self.exe = fluid.Executor(backend="jax")

    def started(self, seed=3):
        self.scope = fluid.Scope()
        self.main, startup, loss, large = network(seed)
        fluid.Executor(backend="numpy").run(startup, scope=self.scope)
        return loss, large

    def run(self, feed, fetch_list, **how):
        with self.mesh():
            found = self.exe.run(self.main, feed, fetch_list, scope=self.scope, **how)
        return [np.ravel(value).tolist() for value in found]

    def weights(self):
        return [np.array(v.get_tensor()).sum().item() for v in self.scope if v.is_initialized]

    def batches_that_devices_do_not_divide(self):
        loss, _ = self.started()
        return [self.run(self.part(batch(rows)), [loss]) for rows in (8, 6, 2, 8)], self.weights()

    def what_is_fed_and_operators_of_the_host(self):
        loss, large = self.started()
        return [self.run(self.part(batch(8)), [loss, large, "y"]) for _ in range(2)]

    def a_parameter_that_is_split(self):
        loss, _ = self.started()
        distributed.shard(self.main.global_block().var("fc_0.w_0"), 1, "data")
        return [self.run(self.part(batch(8)), [loss, "fc_0.w_0"]) for _ in range(3)], self.weights()

    def a_parameter_that_is_set(self):
        loss, _ = self.started()
        found = [self.run(self.part(batch(8)), [loss]) for _ in range(2)]
        held = self.scope.find_var("fc_0.w_0").get_tensor()
        held.set(np.full([6, 8], 0.1, "float32"), fluid.CPUPlace())
        return found + [self.run(self.part(batch(8)), [loss]) for _ in range(2)], self.weights()

    def mistakes(self):
        loss, _ = self.started()
        self.run(self.part(batch(8)), [loss])
        wrong = [batch(8), batch(8)]
        wrong[0]["y"][6], wrong[1]["x"][7, 3] = 9, np.nan
        said = []
        for feed in wrong:
            try:
                self.run(self.part(feed), [loss], check_nan_inf=True)
            except FluidError as error:
                said.append(str(error).split("\n")[0])
        return said, self.run(self.part(batch(8)), [loss]), self.weights()


NAMES = [
    "batches_that_devices_do_not_divide",
    "what_is_fed_and_operators_of_the_host",
    "a_parameter_that_is_split",
    "a_parameter_that_is_set",
    "mistakes",
]


def refusals(trials, number):
    """What is not the same in both processes."""
    loss, _ = trials.started(seed=0)  # of its own, if process 0 did not say it
    found = [trials.run(trials.part(batch(8)), [loss]), trials.weights()]
    try:
        trials.run(batch(2 + number), [loss])
    except FluidError as error:
        found.append(str(error))
    layers.fill_constant([1], "float32", 1.0) if number else layers.assign(np.ones(1, "float32"))
    trials.main = fluid.default_main_program()
    try:
        trials.run({}, [])
    except FluidError as error:
        found.append(str(error))
    return found


def main(address, number):
    distributed.initialize(address, 2, number)

    def part(feed):
        half = len(feed["x"]) // 2
        return {name: value[half * number :][:half] for name, value in feed.items()}

    trials = Trials(part)
    for name in NAMES:
        print(json.dumps([name, getattr(trials, name)()]), flush=True)
    print(json.dumps(["refusals", refusals(trials, number)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
