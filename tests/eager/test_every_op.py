"""What must hold for every operator on eager tensors: its results and derivatives are those of the
tape, which are checked against finite differences elsewhere, and so those of a program.
"""

from dataclasses import replace

import numpy as np
import pytest
from shares import shared

from fluidlite.eager.engine import gradients_of
from fluidlite.eager.prepared import generator
from fluidlite.eager.pullback import OFTEN
from fluidlite.eager.recording import eager
from fluidlite.eager.tensor import Tensor
from fluidlite.ground.values import LoDTensorArray, SelectedRows
from fluidlite.opdef.definition import registered
from fluidlite.opdef.gradient import is_differentiable

from cases import Case, listed, parameters
from gradcheck import evaluator, gradient_of, pull_back, random_like
from samples.form import GENERATORS

#: operators that the executor runs itself, that drive blocks, or that have no arrays
DEFINITIONS = [
    op
    for op in sorted(registered(), key=lambda op: op.type)
    if op.execute is None and op.type in GENERATORS and op.type not in ("feed", "fetch")
]
UNLIKE = (LoDTensorArray, SelectedRows)


def told_otherwise(definition):
    """Whether results need more than arrays: numbers that are drawn, or sequences."""
    return definition.random or any(slot.ragged for slot in definition.inputs)


def on_arrays(definition, case):
    """Whether an operator takes arrays alone, and keeps nothing."""
    values = [v for slot in case.sample.inputs.values() for v in listed(slot)]
    alike = not any(isinstance(v, UNLIKE) or v is None for v in values)
    return alike and not definition.fluid.updates and not case.sample.lods


def watched(values):
    return [Tensor(np.array(v), None, False) for v in values]


def dense(value):
    return value.to_dense() if isinstance(value, SelectedRows) else np.asarray(value)


def close(found, expected, tolerance):
    """Tensors agree with arrays; None only if there is none."""
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            a, b = a.numpy(), dense(b)
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, tolerance, 1e-12)


def results(case, tensors):
    """What an operator gives on tensors, as tensors: all outputs, and those to differentiate."""
    generator.get().restart(7)
    found = eager.apply(case.op, case.inputs_with(tensors, eager))
    outs = {
        (slot, k): value if isinstance(value, Tensor) else Tensor(value)
        for slot in case.outputs
        for k, value in enumerate(listed(found.get(slot)))
        if value is not None
    }
    return list(outs.values()), [outs[place] for place in case.targets]


def assert_same(tensors, arrays, op, values_matter):
    """Shapes and dtypes are the same, and bit by bit all numbers where they matter.

    A composition that has a kernel of its own beside it may add up its products otherwise, and so
    may the kernels that batches are normalised with.
    """
    two_ways = (op.expand is not None and hasattr(op, "run_numpy")) or op.type == "batch_norm"
    for found, value in zip(tensors, arrays, strict=True):
        found, value = found.numpy(), np.asarray(value)
        assert (found.shape, found.dtype) == (value.shape, value.dtype)
        if values_matter and two_ways and value.dtype.kind == "f":
            few = 64 * np.finfo(value.dtype).eps
            np.testing.assert_allclose(
                found, value, few, few * np.abs(value[np.isfinite(value)]).max(initial=0.0)
            )
        elif values_matter:
            np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(
    "case",
    shared(
        p
        for d in DEFINITIONS
        if not told_otherwise(d)
        for p in parameters([d])
        if on_arrays(d, p.values[0])
    ),
)
def test_results_and_gradients_are_those_of_the_tape(case):
    """... bit by bit going forward."""
    tensors = watched(case.values)
    made, outs = results(case, tensors)
    assert_same(made, case.results, type(case.op), case.sample.values_matter)
    if not is_differentiable(type(case.op)) or not tensors or not outs or not case.sample.order:
        return
    weights = case.cotangents
    seeds = watched(weights)
    found = gradients_of(outs, tensors, seeds, retain_graph=True, create_graph=False)
    pulled = pull_back(evaluator(), case.function, case.values, weights)
    close(found, pulled, 1e-6)  # numbers of programs are single
    for _ in range(OFTEN):  # then by rules that are written out, and by kernels for shapes
        made, outs = results(case, tensors)
        found = gradients_of(outs, tensors, seeds, retain_graph=False, create_graph=False)
    assert_same(made, case.results, type(case.op), case.sample.values_matter)
    close(found, pulled, 1e-6)
    made, outs = results(case, tensors)
    if case.sample.order < 2:
        return
    slope = gradient_of(case.function, len(tensors))
    places = case.values + weights
    slopes = [g for g in pulled if g is not None]
    more = random_like(np.random.default_rng(1), [dense(g) for g in slopes])
    again = pull_back(evaluator(), slope, places, more)
    recorded = gradients_of(outs, tensors, seeds, retain_graph=True, create_graph=True)
    recorded = [g for g in recorded if g is not None]
    second = gradients_of(
        recorded, tensors + seeds, watched(more), retain_graph=True, create_graph=False
    )
    for a, b in zip(second, again, strict=True):
        zero = np.zeros_like(b) if b is not None else 0.0
        value = zero if a is None else a.numpy()
        wanted = np.zeros_like(value) if b is None else b
        np.testing.assert_allclose(value, wanted, 1e-6, 1e-8)  # numbers of programs are single


def seeded(definition, case):
    """The case with a seed of its own, which says what is drawn."""
    if not definition.random or "seed" not in definition.attributes:
        return case
    fixed = {"fix_seed": True} if "fix_seed" in definition.attributes else {}
    attrs = {**case.sample.attrs, **fixed, "seed": 5}
    return Case(definition(attrs), replace(case.sample, attrs=attrs, values_matter=True))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(seeded(d, p.values[0]), id=p.id)
        for d in DEFINITIONS
        if told_otherwise(d)
        for p in parameters([d])
        if not d.fluid.updates and not p.values[0].sample.lods  # which tensors do not have
    ],
)
def test_what_draws_numbers_or_has_sequences_gives_what_a_program_gives(case):
    tensors = watched(case.values)
    made, outs = results(case, tensors)
    one = case.program()
    assert_same(made, one.run(one.all_outputs), type(case.op), case.sample.values_matter)
    if not is_differentiable(type(case.op)) or not tensors or not case.sample.order:
        return
    weights = case.cotangents
    slopes = one.gradients(case.targets, case.variable, weights)
    seeds = watched(weights)
    found = gradients_of(outs, tensors, seeds, retain_graph=False, create_graph=False)
    assert [g is None for g in found] == [g is None for g in slopes]
    expected = one.run([g for g in slopes if g is not None])
    if case.sample.values_matter:
        for a, b in zip([g.numpy() for g in found if g is not None], expected, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            # numbers of programs are single
            np.testing.assert_allclose(a, b, 1e-6, 1e-6 * np.abs(b).max(initial=1e-6))
