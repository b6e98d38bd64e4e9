"""Calls of layers append what the real system appends, and compute what it computes."""

import functools
import warnings

import numpy as np

import fluidlite as fluid
from oracle.golden import (
    GRADIENT,
    OUTPUT,
    arrays,
    by_id,
    close,
    every,
    gradients_of,
    holds,
    load,
    same_lengths,
    script,
)
from oracle.programs import as_data, assert_same_operators

CASES = by_id(load("layer_cases.json.gz"))
FLOATS = ("float32", "float64")


def flat(out):
    """The variables of nested lists and tuples."""
    if isinstance(out, fluid.framework.Variable):
        return [out]
    nested = out if isinstance(out, (list, tuple)) else []
    return [variable for one in nested for variable in flat(one)]


class Call:
    """What a call of a layer built, and the gradients of the sum of its float outputs."""

    def __init__(self, name):
        self.case = CASES[name]
        recorded = {
            key.removeprefix(f"{name}:"): value
            for key, value in arrays("layer_cases.npz").items()
            if key.startswith(f"{name}:")
        }
        self.fed = under(recorded, "in/")
        self.lengths = self.case["lod_in"]
        self.parameters = under(recorded, "param/")
        self.states = under(recorded, "state/")
        self.outputs = under(recorded, "out/")
        self.main, self.startup = fluid.Program(), fluid.Program()
        names = {"fluid": fluid, "layers": fluid.layers, "np": np}
        with fluid.unique_name.guard(), fluid.program_guard(self.main, self.startup):
            exec(compile(self.case["code"], name, "exec"), names)
            self.out = flat(names["out"])
            self.forward = as_data(self.main)
            self.gradients = self._differentiated(name)

    def _differentiated(self, name):
        """The gradient variable of each float input and trainable parameter, None for none."""
        if not gradients_of(name) and not self.case["grad_none"]:
            return {}
        targets = [
            variable
            for variable, golden in zip(self.out, self.case["outputs"])
            if golden["dtype"] in FLOATS and not golden["stop_gradient"]
        ]
        by = [key for key, value in self.fed.items() if value.dtype.kind == "f"]
        by += [p.name for p in self.main.all_parameters() if p.trainable]
        block = self.main.global_block()
        with warnings.catch_warnings():  # label_smooth stops gradients at its only input
            warnings.filterwarnings("ignore", "no gradient of", fluid.errors.FluidWarning)
            found = fluid.gradients(targets, [block.var(one) for one in by])
        return dict(zip(by, found)) if len(found) == len(by) else dict.fromkeys(by)

    @functools.cached_property
    def found(self):
        """States after the startup program, outputs, and gradients by name."""
        executor, scope = fluid.Executor(), fluid.Scope()
        wanted = [key for key in self.gradients if key in gradients_of(self.case["id"])]
        asked = [self.gradients[key] for key in wanted]
        with fluid.scope_guard(scope):
            if self.startup.global_block().ops:
                executor.run(self.startup)
            states = {key: np.array(scope.find_var(key).get_tensor()) for key in self.states}
            for key, value in self.parameters.items():
                scope.var(key).get_tensor().set(value, fluid.CPUPlace())
            feed = {
                key: fluid.create_lod_tensor(value, self.lengths[key])
                if key in self.lengths
                else value
                for key, value in self.fed.items()
            }
            values = executor.run(
                self.main, feed=feed, fetch_list=[*self.out, *asked], return_numpy=False
            )
        return states, values[: len(self.out)], dict(zip(wanted, values[len(self.out) :]))


def under(recorded, prefix):
    """The arrays whose keys begin with the prefix, by the rest of their keys."""
    return {k[len(prefix) :]: v for k, v in recorded.items() if k.startswith(prefix)}


@every("layers", "program")
def test_a_call_appends_the_operators_of_the_real_system_and_declares_what_it_declares(name):
    with holds("layers", name, "program"):
        call, case = Call(name), CASES[name]
        if case["main"] is None:
            golden, mine = case["main_program"], call.forward
            assert not script("_compare").differences(golden, mine)
        else:
            assert_same_operators(call.forward["blocks"][0]["ops"], case["main"])
        assert_same_operators(as_data(call.startup)["blocks"][0]["ops"], case["startup"])
        made = [[p.name, list(p.shape)] for p in call.main.all_parameters()]
        assert made == case["parameters"]
        assert len(call.out) == len(case["outputs"])
        for variable, golden in zip(call.out, case["outputs"]):
            assert variable.name == golden["name"]
            mine = (list(variable.shape), np.dtype(variable.dtype).name, variable.kind.name)
            assert mine == (golden["shape"], golden["dtype"], golden["type"]), variable.name
            assert variable.stop_gradient == golden["stop_gradient"], variable.name
            assert variable.lod_level == golden.get("lod_level", 0), variable.name


@every("layers", "value")
def test_a_call_computes_what_the_real_system_computes(name):
    with holds("layers", name, "value"):
        call = Call(name)
        states, values, _ = call.found
        for key, value in states.items():
            close(f"{key} after startup", value, call.states[key], OUTPUT)
        for key, golden in call.outputs.items():
            close(f"output {key}", values[int(key)], golden, OUTPUT)
            same_lengths(f"output {key}", values[int(key)], CASES[name]["lod_out"].get(key))


@every("layers", "grad")
def test_gradients_of_a_call_are_those_of_the_real_system(name):
    with holds("layers", name, "grad"):
        call = Call(name)
        for key in CASES[name]["grad_none"]:
            assert call.gradients[key] is None, key
        for key, golden in gradients_of(name).items():
            assert call.gradients[key] is not None, f"no gradient of {key}"
            close(f"gradient of {key}", call.found[2][key], golden, GRADIENT)
