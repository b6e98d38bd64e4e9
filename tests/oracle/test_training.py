"""Trainings from given start values on given data follow those of the real system."""

import functools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime.passes.pipeline import NEEDED, names
from oracle.golden import (
    FINAL,
    GRADIENT,
    LOSS,
    START,
    by_id,
    close,
    every,
    holds,
    load,
    same_lengths,
    script,
    under,
)
from oracle.programs import optimizer

# one of the networks clips in the old way
pytestmark = [
    pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way"),
    pytest.mark.filterwarnings("ignore:.* an earlier minimize of"),  # minimize_twice means it
]

CASES = by_id(load("training_goldens/index.json"))


def passes_of(case):
    """All passes but one, another one for each training."""
    optional = [name for name in names() if name not in NEEDED]
    return f"-{optional[list(CASES.values()).index(case) % len(optional)]}"


class Training:
    """A net trained as the recording was: what it started from, fetched and ended with."""

    def __init__(self, case):
        options = dict(case.get("kwargs", {}))
        if "optimizer" in case:
            options["make_opt"] = optimizer(case["optimizer"])
        self.case = case
        self.net = script(case["net"]).build(fluid, **options)
        self.gradients = {
            p.name: g.name for p, g in self.net.get("params_grads", ()) if g is not None
        }
        self.scope = fluid.Scope()
        self.executor = fluid.Executor(fluid.CPUPlace(), passes=passes_of(case))
        if self.net["startup"].global_block().ops:
            self.executor.run(self.net["startup"], scope=self.scope)
        begin = {**under(case, "init/"), **under(case, "state0/")}
        self.started = {name: self.value(name) for name in begin}
        for name, array in begin.items():
            self.scope.var(name).get_tensor().set(array, fluid.CPUPlace())
        self.series = {label: [] for label in case["fetch"]}
        self.first_gradients = {}
        for step in range(case["steps"]):
            self.step(step)

    def value(self, name):
        """A copy of what the scope holds under that name."""
        return np.array(self.scope.find_var(name).get_tensor())

    def run(self, program, batch, fetch):
        feed = under(self.case, f"feed/{batch}/")
        for name, lengths in under(self.case, f"lod/{batch}/").items():
            feed[name] = fluid.create_lod_tensor(feed[name], [lengths.tolist()])
        how = dict(scope=self.scope, return_numpy=False)
        return self.executor.run(program, feed=feed, fetch_list=fetch, **how)

    def step(self, step):
        labels = self.case["fetch"]
        differentiated = [] if step else sorted(under(self.case, "grad0/"))
        names = [*labels.values(), *(self.gradients[p] for p in differentiated)]
        values = iter(self.run(self.net["main"], step % self.case["batches"], names))
        for label in labels:
            self.series[label].append(next(values))
        self.first_gradients.update(zip(differentiated, values))


@functools.cache
def trained(name):
    return Training(CASES[name])


@every("training", "start")
def test_startup_program_makes_every_parameter_and_gives_states_their_values(name):
    with holds("training", name, "start"):
        started, parameters = trained(name).started, under(CASES[name], "init/")
        for parameter, golden in parameters.items():
            mine = started[parameter]
            assert (mine.shape, mine.dtype) == (golden.shape, golden.dtype), parameter
        for state, golden in under(CASES[name], "state0/").items():
            copied = [p for p, value in parameters.items() if np.array_equal(value, golden)]
            close(state, started[state], started[copied[0]] if copied else golden, START)


@every("training", "fetch")
def test_fetched_values_follow_the_real_system_step_by_step(name):
    with holds("training", name, "fetch"):
        series = trained(name).series
        for label, golden in under(CASES[name], "fetch/").items():
            for step, (mine, want) in enumerate(zip(series[label], golden, strict=True)):
                close(f"{label} at step {step}", mine, want, LOSS)
        for position, step in (("first", 0), ("last", -1)):
            for label, golden in under(CASES[name], f"fetch_{position}/").items():
                what, mine = f"{label} at the {position} step", series[label][step]
                close(what, mine, golden, LOSS)
                lengths = under(CASES[name], f"fetch_{position}_lod/").get(label)
                if position == "last":
                    same_lengths(what, mine, None if lengths is None else [lengths.tolist()])


@every("training", "grad0")
def test_gradients_of_the_first_step_are_those_of_the_real_system(name):
    with holds("training", name, "grad0"):
        for parameter, golden in under(CASES[name], "grad0/").items():
            mine = trained(name).first_gradients[parameter]
            close(f"gradient of {parameter}", mine, golden, GRADIENT)


@every("training", "params")
def test_parameters_end_where_those_of_the_real_system_do(name):
    with holds("training", name, "params"):
        for parameter, golden in under(CASES[name], "final/").items():
            close(parameter, trained(name).value(parameter), golden, FINAL)


@every("training", "states")
def test_optimizer_states_end_where_those_of_the_real_system_do(name):
    with holds("training", name, "states"):
        for state, golden in under(CASES[name], "final_state/").items():
            close(state, trained(name).value(state), golden, FINAL)


@every("training", "test")
def test_test_program_gives_what_that_of_the_real_system_gives(name):
    with holds("training", name, "test"):
        training = trained(name)
        for label, golden in under(CASES[name], "test_fetch/").items():
            (mine,) = training.run(training.net["test"], 0, [CASES[name]["fetch"][label]])
            close(label, mine, golden, LOSS)


@every("training", "average")
def test_averages_are_those_of_the_real_system_and_parameters_come_back(name):
    with holds("training", name, "average"):
        training, averages = trained(name), under(CASES[name], "applied/")
        before = {parameter: training.value(parameter) for parameter in averages}
        with fluid.scope_guard(training.scope), training.net["average"].apply(training.executor):
            for parameter, golden in averages.items():
                close(parameter, training.value(parameter), golden, FINAL)
        for parameter, value in before.items():
            close(parameter, training.value(parameter), value, START)
