"""What must hold for every operator, on each of its samples.

These tests know nothing about an operator but its definition.  They cannot see whether it computes
the right thing: that is what the tests of its family are for.
"""

import os
import re

import numpy as np
import pytest
from shares import shared, shared_of_each

import fluidlite as fluid
from fluidlite.ground.dtypes import DType, as_dtype
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.ir.compare import differences
from fluidlite.opdef.definition import Op, is_defined, lookup, registered
from fluidlite.opdef.gradient import is_constant, is_differentiable

from cases import Case, each, is_float, listed, parameters, spec_of
from gradcheck import check_gradients, evaluator, pull_back, random_like
from samples.form import GENERATORS, samples_of

#: the order up to which derivatives are checked, beside that of samples: CONTRIBUTING.md
HIGHEST_ORDER = int(os.environ.get("FLUIDLITE_TEST_ORDER", "2"))
#: operators on arrays of tensors: tests/ops/test_array.py
ON_ARRAYS = {
    *("write_to_array", "read_from_array", "array_without", "lod_array_length"),
    *("tensor_array_to_tensor", "tensor_to_array", "array_filled"),
    *("empty_array", "keep_statistic"),
    "beam_search_decode",  # tests/ops/test_beam_search.py
    # tests/ops/test_rank_table.py
    *("lod_rank_table", "max_sequence_len", "lod_tensor_to_array", "array_to_lod_tensor"),
    *("shrink_rnn_memory", "reorder_lod_tensor_by_rank", "reorder_lod_tensor_by_rank_grad"),
}
#: control operators need blocks, and have tests of their own
DEFINITIONS = {
    op.type: op for op in registered() if op.execute is None and op.type not in ON_ARRAYS
}
#: what the executor does itself, so that it passes these operators over
PASSED_OVER = ("feed-", "fetch-")
#: slots that the formula in the first sentence may leave unnamed
PLAIN_SLOTS = {"X", "Y", "Input", "Output", "Out"}

CASES = list(parameters(DEFINITIONS[type] for type in sorted(set(DEFINITIONS) & set(GENERATORS))))


@pytest.fixture
def case(request):
    if isinstance(request.param, Exception):
        raise request.param
    return request.param


def every_case(where=lambda case: True):
    """Runs a test for each sample of each operator, or for those that are like this."""
    chosen = [p for p in CASES if not isinstance(p.values[0], Case) or where(p.values[0])]
    return pytest.mark.parametrize("case", chosen, indirect=True)


def some_cases(where):
    """Runs a test for samples of each operator that are like this: all, or the first and others."""
    chosen = [p for p in CASES if not isinstance(p.values[0], Case) or where(p.values[0])]
    chosen = shared_of_each(chosen, lambda p: p.id.split("-")[0])
    return pytest.mark.parametrize("case", chosen, indirect=True)


RUNNING = [p for p in CASES if not p.id.startswith(PASSED_OVER)]


def same_spec(inferred, value, unknown=False):
    """Whether a spec is that of an array; with ``unknown`` it may be absent or have sizes of -1."""
    if inferred is None or value is None:
        return inferred is None and (unknown or value is None)
    value = bare(value)
    if inferred.dtype != as_dtype(value.dtype) or inferred.ndim != value.ndim:
        return False
    return all(
        size == n or (unknown and size == -1)
        for size, n in zip(inferred.shape, value.shape, strict=True)
    )


def check_specs(inferred, outputs, unknown=False):
    """Compare what was inferred with the arrays that there are."""
    for slot, value in outputs.items():
        specs, arrays = listed(inferred.get(slot)), listed(value)
        if unknown and specs == [None]:  # not even how many there are
            continue
        assert len(specs) == len(arrays), slot
        for one, array in zip(specs, arrays, strict=True):
            got = None if array is None else spec_of(array)
            assert same_spec(one, array, unknown), f"{slot}: inferred {one}, computed {got}"


def sizes_come_from_values(case):
    """Whether some sizes are not known before the values are: of indices, or of given shapes."""
    given = (slot for slot, value in case.inputs.items() if value is not None)
    slots = [case.op.input_slots[slot] for slot in given]
    counted = case.op.per_sequence and case.sample.lods
    return case.op.host or counted or any(slot.constant and slot.optional for slot in slots)


def with_unknown_sizes(specs):
    """The specs without the first sizes, without all sizes, and without each size in turn."""
    dimensions = [
        (slot, k, axis)
        for slot, value in specs.items()
        for k, one in enumerate(listed(value))
        if one is not None
        for axis in range(one.ndim)
    ]
    first = [d for d in dimensions if d[2] == 0]
    for unknown in [first, dimensions, *([d] for d in dimensions)]:
        changed = {slot: list(v) if isinstance(v, list) else v for slot, v in specs.items()}
        for slot, k, axis in unknown:
            if isinstance(changed[slot], list):
                changed[slot][k] = changed[slot][k].with_dim(axis, -1)
            else:
                changed[slot] = changed[slot].with_dim(axis, -1)
        yield changed


@every_case()
def test_inferred_specs_are_those_of_the_results_or_unknown(case):
    """... and float32 results are inferred of float32 inputs."""
    specs = {slot: each(spec_of, value) for slot, value in case.inputs.items()}
    from_values = sizes_come_from_values(case)
    check_specs(case.op.infer_outputs(specs), case.outputs, unknown=from_values)
    for changed in with_unknown_sizes(specs):
        check_specs(case.op.infer_outputs(changed), case.outputs, unknown=True)
    case = case.in_single_precision()
    specs = {slot: each(spec_of, value) for slot, value in case.inputs.items()}
    inferred = case.op.infer_outputs(specs)
    check_specs(inferred, case.outputs, unknown=from_values)
    chosen = any(a.kind == "DType" for a in case.op.attributes.values())
    if not chosen and not case.sample.double:
        given = [one for value in inferred.values() for one in listed(value) if one is not None]
        assert all(one.dtype is not DType.FP64 for one in given)


def runs_of(one, gradients, times, program=None):
    """What a program gives that runs some times: all but the first two run compiled functions.

    What it is fed can be written to, and must not be.
    """
    one.feed = {name: writable(value) for name, value in one.feed.items()}
    before = {name: np.array(bare(value)) for name, value in one.feed.items()}
    fetched, executor = [*one.all_outputs, *gradients], fluid.Executor()
    found = [one.run(fetched, program, executor) for _ in range(times)]
    for name, value in before.items():
        np.testing.assert_array_equal(bare(one.feed[name]), value, err_msg=name)
    return found


def writable(value):
    if isinstance(value, LoDTensor):
        return LoDTensor(np.array(value.data), value.offsets)
    return np.array(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("case", shared(RUNNING), indirect=True)
def test_a_program_read_from_text_computes_what_operator_and_tape_compute(case):
    """Interpreted, it gives the same bits and gradients; compiled, the same but for rounding."""
    one = case.program()
    gradients, expected = [], list(case.results)
    if case.differentiated:
        gradients = one.gradients(case.targets, case.variable, case.cotangents)
        pulled = pull_back(evaluator(), case.function, case.values, case.cotangents)
        assert [g is None for g in gradients] == [g is None for g in pulled]
        expected += [g for g in pulled if g is not None]
    read = fluid.Program.parse(str(one.program))
    assert not differences(one.program, read)
    interpreted, _, *compiled = runs_of(one, [g for g in gradients if g is not None], 4, read)
    for k, (found, value) in enumerate(zip(interpreted, expected, strict=True)):
        assert (found.shape, found.dtype) == (value.shape, value.dtype)
        if not case.sample.values_matter:
            continue
        if k < len(case.results):
            np.testing.assert_array_equal(found, value)
        else:
            np.testing.assert_allclose(found, value, 1e-12)
    if case.sample.values_matter:
        for found in compiled:
            assert_near(found, interpreted, 1e-12)


@pytest.mark.parametrize("case", shared(RUNNING), indirect=True)
def test_a_compiled_program_in_single_precision_computes_what_the_interpreted_one_does(
    case, monkeypatch
):
    """Its last runs are checked ones, which compare every value that there is on the way."""
    case = case.in_single_precision()
    one = case.program()
    gradients = []
    if case.differentiated:
        gradients = [g for g in one.gradients(case.targets, case.variable) if g is not None]
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")
    first, *later = runs_of(one, gradients, 3)
    assert {g.dtype.name for g in first[len(one.all_outputs) :]} <= {"float32", "complex64"}
    if case.sample.values_matter:
        for found in later:
            assert_near(found, first, 1e-5)


def assert_near(found, right, tolerance):
    """Arrays agree, floats relative to the largest element of each."""
    for mine, want in zip(found, right, strict=True):
        assert (mine.shape, mine.dtype) == (want.shape, want.dtype)
        if is_float(want):
            scale = np.abs(want[np.isfinite(want)]).max(initial=1.0)
            np.testing.assert_allclose(mine, want, rtol=tolerance, atol=tolerance * scale)
        else:
            np.testing.assert_array_equal(mine, want)


@some_cases(lambda case: case.differentiated)
def test_derivatives_are_those_of_finite_differences(case):
    # differences of a third derivative err by the fifth: they are near, not as near
    least = HIGHEST_ORDER if case.sample.order >= 2 else 0
    for order in range(1, max(case.sample.order, least) + 1):
        tolerance = case.sample.tolerance * (1 if order <= case.sample.order else 10)
        check_gradients(case.function, case.values, order, tolerance=tolerance)


@some_cases(lambda case: case.differentiated)
def test_gradient_operator_gives_what_the_tape_gives(case):
    """... whether a kernel was registered for it or not, and specs of it are right, too."""
    ins = case.gradient_inputs(dict(zip(case.targets, case.cotangents, strict=True)))
    gradient = lookup(case.op.grad_type)(case.op.attr_values())
    found = evaluator().apply(gradient, ins)
    derived = gradient.outputs_for(evaluator(), ins)
    pulled = pull_back(evaluator(), case.composition, case.values, case.cotangents)
    inferred = gradient.infer_outputs({slot: each(spec_of, value) for slot, value in ins.items()})
    for (slot, k), expected in zip(case.variable, pulled, strict=True):
        name = gradient.grad_slots[slot]
        for outputs in (found, derived):
            value = listed(outputs[name])[k] if outputs.get(name) is not None else None
            assert (value is None) == (expected is None), name
            if value is not None:
                value = bare(value)
                np.testing.assert_allclose(value, expected, 1e-9, 1e-12, err_msg=name)
                one = listed(inferred[name])[k] if inferred.get(name) else None
                assert one is None or same_spec(one, value), f"{name}: {one}, {spec_of(value)}"


def constant_floats(case):
    """The outputs marked constant that hold numbers."""
    return [
        slot.name
        for slot in case.op.outputs
        if slot.constant
        and any(v is not None and is_float(v) for v in listed(case.outputs.get(slot.name)))
    ]


@every_case(lambda case: case.variable and any(slot.constant for slot in case.op.outputs))
def test_constant_outputs_do_not_change_with_the_inputs(case):
    """Through an output marked constant nothing flows: a small step leaves it alone."""
    directions = random_like(np.random.default_rng(0), case.values)
    moved = [x + 1e-6 * d for x, d in zip(case.values, directions, strict=True)]
    outputs = evaluator().apply(case.op, case.inputs_with(moved))
    for slot in constant_floats(case):
        for before, after in zip(listed(case.outputs[slot]), listed(outputs[slot]), strict=True):
            np.testing.assert_array_equal(bare(before), bare(after), err_msg=slot)


def undocumented(definition):
    """What the docstring does not have: a first sentence, and a word for each slot and attribute
    with a meaning.
    """
    own = vars(definition).get("__doc__") or ""
    bases = [base for base in definition.__mro__ if issubclass(base, Op) and base is not Op]
    text = "\n".join(vars(base).get("__doc__") or "" for base in bases)
    slots = {slot.name for slot in (*definition.inputs, *definition.outputs)} - PLAIN_SLOTS
    attributes = {a.name for a in definition.attributes.values() if not a.inert}
    missing = [n for n in sorted(slots | attributes) if not re.search(rf"\b{re.escape(n)}\b", text)]
    ends = own.strip().split("\n\n")[0].endswith(".")
    return missing if ends else ["a first paragraph that is a sentence", *missing]


def test_operators_are_documented():
    found = {type: undocumented(definition) for type, definition in DEFINITIONS.items()}
    assert not {type: missing for type, missing in found.items() if missing}


def test_all_operators_have_samples_and_all_samples_an_operator():
    assert not [type for type in DEFINITIONS if type not in GENERATORS or not samples_of(type)]
    assert not [type for type in GENERATORS if not is_defined(type)]


def test_operators_without_gradient_rule_have_samples_that_say_why():
    assert not [
        p.id
        for p in CASES
        if isinstance(p.values[0], Case)
        and p.values[0].sample.order > 0
        and not is_constant(type(p.values[0].op))
        and not is_differentiable(type(p.values[0].op))
    ]
