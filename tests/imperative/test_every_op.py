"""What must hold for every operator on eager tensors: its results and derivatives are those of the
tape, which are checked against finite differences elsewhere, and those of a program.
"""

import importlib
import pkgutil
from dataclasses import replace

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.imperative.engine import gradients_of
from fluidlite.imperative.prepared import generator
from fluidlite.imperative.recording import eager
from fluidlite.imperative.tensor import Tensor
from fluidlite.opdef.definition import lookup, registered
from fluidlite.opdef.gradient import is_differentiable
from fluidlite.values import LoDTensorArray, SelectedRows

import samples
from gradcheck import evaluator, gradient_of, pull_back, random_like
from samples.form import GENERATORS, samples_of

for module in pkgutil.iter_modules(samples.__path__):
    importlib.import_module(f"samples.{module.name}")

#: operators that the executor runs itself, that drive blocks, or that have no arrays
TYPES = sorted(
    op.type
    for op in registered()
    if op.execute is None and op.type in GENERATORS and op.type not in ("feed", "fetch")
)
UNLIKE = (LoDTensorArray, SelectedRows)


def cases():
    for type in TYPES:
        definition = lookup(type)
        for k, sample in enumerate(samples_of(type)):
            values = [v for slot in sample.inputs.values() for v in listed(slot)]
            if (
                definition.random
                or definition.updates
                or any(slot.ragged for slot in definition.inputs)
            ):
                continue
            if any(isinstance(v, UNLIKE) or v is None for v in values):
                continue
            yield pytest.param(definition, sample, id=f"{type}-{sample.name or k}")


def listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def is_float(value):
    return getattr(value, "dtype", np.dtype("bool")).kind == "f"


class Function:
    """An operator as a function of its float inputs that are not constant."""

    def __init__(self, definition, sample):
        self.op = definition(sample.attrs)
        self.inputs = sample.inputs
        self.places = [
            (slot, k)
            for slot, value in sample.inputs.items()
            if not definition.input_slots[slot].constant
            for k, array in enumerate(listed(value))
            if is_float(array)
        ]
        outs = evaluator().apply(self.op, self.with_values(self.values))
        wanted = sample.outputs or [s.name for s in definition.outputs if not s.constant]
        self.targets = [
            (slot, k)
            for slot in wanted
            for k, array in enumerate(listed(outs.get(slot)))
            if array is not None and is_float(array) and not isinstance(array, UNLIKE)
        ]

    @property
    def values(self):
        return [np.asarray(listed(self.inputs[slot])[k]) for slot, k in self.places]

    def with_values(self, values):
        ins = {s: list(v) if isinstance(v, (list, tuple)) else v for s, v in self.inputs.items()}
        for (slot, k), value in zip(self.places, values):
            if isinstance(ins[slot], list):
                ins[slot][k] = value
            else:
                ins[slot] = value
        return ins

    def __call__(self, f, *values):
        outs = f.apply(self.op, self.with_values(values))
        return [listed(outs[slot])[k] for slot, k in self.targets]


def watched(values):
    return [Tensor(np.array(v), None, False) for v in values]


def close(found, expected, tolerance=1e-9):
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            a = a.numpy() if isinstance(a, Tensor) else np.asarray(a)
            b = b.to_dense() if isinstance(b, SelectedRows) else b
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, tolerance, 1e-12)


@pytest.mark.parametrize("definition, sample", list(cases()))
def test_results_and_gradients_are_those_of_the_tape(definition, sample):
    function = Function(definition, sample)
    tensors = watched(function.values)
    generator.get().restart(7)
    outs = function(eager, *tensors)
    expected = function(evaluator(), *function.values)
    if sample.values_matter:
        close(outs, expected)
    if not is_differentiable(definition) or not tensors or not outs or not sample.order:
        return
    rng = np.random.default_rng(0)
    weights = random_like(rng, expected)
    seeds = [Tensor(w) for w in weights]
    outs = [t if isinstance(t, Tensor) else Tensor(t) for t in outs]
    found = gradients_of(outs, tensors, seeds, retain_graph=True, create_graph=False)
    pulled = pull_back(evaluator(), function, function.values, weights)
    close(found, pulled, 1e-6)  # numbers of programs are single
    if sample.order < 2:
        return
    slope = gradient_of(function, len(tensors))
    again = pull_back(
        evaluator(),
        slope,
        function.values + weights,
        random_like(np.random.default_rng(1), slope(evaluator(), *function.values, *weights)),
    )
    seeds = watched(weights)
    recorded = gradients_of(outs, tensors, seeds, retain_graph=True, create_graph=True)
    recorded = [g for g in recorded if g is not None]
    more = [Tensor(w) for w in random_like(np.random.default_rng(1), [g.array for g in recorded])]
    second = gradients_of(recorded, tensors + seeds, more, retain_graph=True, create_graph=False)
    for a, b in zip(second, again, strict=True):
        zero = np.zeros_like(b) if b is not None else 0.0
        value = zero if a is None else a.numpy()
        wanted = np.zeros_like(value) if b is None else b
        np.testing.assert_allclose(value, wanted, 1e-6, 1e-8)  # numbers of programs are single


def programs():
    """All cases but those that update what they read from a scope; random operators with a seed of
    their own, which says what they draw.
    """
    for type in TYPES:
        definition = lookup(type)
        if definition.updates:
            continue
        for k, sample in enumerate(samples_of(type)):
            if definition.random and "seed" in definition.attributes:
                fixed = {"fix_seed": True} if "fix_seed" in definition.attributes else {}
                attrs = {**sample.attrs, **fixed, "seed": 5}
                sample = replace(sample, attrs=attrs, values_matter=True)
            yield pytest.param(definition, sample, id=f"{type}-{sample.name or k}")


class OneOperator:
    """A program of the operator alone, whose inputs are fed."""

    def __init__(self, function, sample):
        self.feed = {}
        self.program = fluid.Program()
        self.program.random_seed = 7
        self.block = self.program.global_block()
        ins = {
            slot: [self.data(f"{slot}.in{k}", v, v.shape) for k, v in enumerate(listed(value))]
            for slot, value in sample.inputs.items()
        }
        made = evaluator().apply(function.op, function.inputs)
        outs = {
            slot: [
                self.block.create_var(f"{slot}.out{k}")
                for k, v in enumerate(listed(value))
                if v is not None
            ]
            for slot, value in made.items()
        }
        self.block.append_op(function.op.type, ins, outs, function.op.attr_values())
        self.sources = [ins[slot][k] for slot, k in function.places]
        self.targets = [outs[slot][k] for slot, k in function.targets]

    def data(self, name, array, shape):
        self.feed[name] = array
        return self.block.create_var(name, array.dtype, shape, is_data=True)

    def run(self, fetches):
        names = [variable.name for variable in fetches]
        return fluid.Executor().run(self.program, self.feed, names, scope=fluid.Scope())


@pytest.mark.parametrize("definition, sample", list(programs()))
def test_a_program_gives_the_same(definition, sample):
    """... bit by bit going forward; gradients may be added up in another order."""
    function = Function(definition, sample)
    if not function.targets:
        return
    tensors = watched(function.values)
    generator.get().restart(7)
    outs = [t if isinstance(t, Tensor) else Tensor(t) for t in function(eager, *tensors)]
    one = OneOperator(function, sample)
    if sample.values_matter:
        for found, expected in zip(outs, one.run(one.targets), strict=True):
            assert (found.numpy().shape, found.numpy().dtype) == (expected.shape, expected.dtype)
            np.testing.assert_array_equal(found.numpy(), expected)
    if not is_differentiable(definition) or not tensors or not sample.order:
        return
    weights = random_like(np.random.default_rng(0), [t.array for t in outs])
    seeds = [one.data(f"{t.name}.seed", w, t.shape) for t, w in zip(one.targets, weights)]
    slopes = fluid.gradients(one.targets, one.sources, seeds)
    seeds = [Tensor(w) for w in weights]
    found = gradients_of(outs, tensors, seeds, retain_graph=False, create_graph=False)
    assert [g is None for g in found] == [g is None for g in slopes]
    expected = one.run([g for g in slopes if g is not None])
    if sample.values_matter:
        for a, b in zip([g.numpy() for g in found if g is not None], expected, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            # numbers of programs are single
            np.testing.assert_allclose(a, b, 1e-6, 1e-6 * np.abs(b).max(initial=1e-6))
