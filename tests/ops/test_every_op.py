"""What must hold for every operator, on each of its samples.

These tests know nothing about an operator but its definition.  They cannot see whether it computes
the right thing: that is what the tests of its family are for.
"""

import functools
import importlib
import pkgutil
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.dtypes import DType, as_dtype
from fluidlite.ir.compare import differences
from fluidlite.opdef.definition import Op, is_defined, lookup, registered
from fluidlite.opdef.gradient import is_constant, is_differentiable
from fluidlite.opdef.spec import Spec

import samples
from gradcheck import check_gradients, evaluator, pull_back, random_like
from samples.form import GENERATORS, Sample, samples_of

for module in pkgutil.iter_modules(samples.__path__):
    importlib.import_module(f"samples.{module.name}")

#: operators on arrays of tensors: tests/ops/test_array.py
ON_ARRAYS = {
    *("write_to_array", "read_from_array", "array_without", "lod_array_length"),
    *("tensor_array_to_tensor", "tensor_to_array", "array_filled"),
}
#: control operators need blocks, and have tests of their own
DEFINITIONS = {
    op.type: op for op in registered() if op.execute is None and op.type not in ON_ARRAYS
}
#: what the executor does itself, so that it passes these operators over
PASSED_OVER = ("feed-", "fetch-")
#: slots that the formula in the first sentence may leave unnamed
PLAIN_SLOTS = {"X", "Y", "Input", "Output", "Out"}


@dataclass(frozen=True)
class Case:
    """An operator with the inputs and attributes of one of its samples."""

    op: Op
    sample: Sample

    @functools.cached_property
    def inputs(self):
        """Read-only copies of the sample's arrays by slot."""
        return {slot: each(read_only, value) for slot, value in self.sample.inputs.items()}

    @functools.cached_property
    def outputs(self):
        """What the kernel returns for them."""
        return evaluator().apply(self.op, self.inputs)

    @functools.cached_property
    def variable(self):
        """Slot and position of the input arrays that can be perturbed."""
        return [
            (slot, k)
            for slot, value in self.inputs.items()
            if not self.op.input_slots[slot].constant
            for k, array in enumerate(listed(value))
            if array is not None and is_float(array)
        ]

    @functools.cached_property
    def targets(self):
        """Slot and position of the output arrays to differentiate."""
        names = [slot.name for slot in self.op.outputs if not slot.constant]
        return [
            (slot, k)
            for slot in (self.sample.outputs or names)
            for k, array in enumerate(listed(self.outputs.get(slot)))
            if array is not None and is_float(array)
        ]

    @property
    def values(self):
        """The arrays at ``variable``."""
        return [listed(self.inputs[slot])[k] for slot, k in self.variable]

    def function(self, f, *values):
        """The operator as a function of the values at ``variable``, giving those at ``targets``."""
        outputs = f.apply(self.op, self.inputs_with(values))
        return [listed(outputs[slot])[k] for slot, k in self.targets]

    def composition(self, f, *values):
        """The same, in operators that are no compositions where that is known."""
        if not self.op.is_composite:
            return self.function(f, *values)
        outputs = self.op.outputs_for(f, self.inputs_with(values))
        return [listed(outputs[slot])[k] for slot, k in self.targets]

    def inputs_with(self, values):
        """The inputs with ``values`` at ``variable``."""
        ins = {slot: list(v) if isinstance(v, list) else v for slot, v in self.inputs.items()}
        for (slot, k), value in zip(self.variable, values, strict=True):
            if isinstance(ins[slot], list):
                ins[slot][k] = value
            else:
                ins[slot] = value
        return ins

    def in_single_precision(self):
        """The case with float32 inputs."""
        inputs = {slot: each(single, value) for slot, value in self.sample.inputs.items()}
        return Case(self.op, replace(self.sample, inputs=inputs))

    def gradient_inputs(self, cotangents):
        """The inputs of the gradient operator, by slot.

        Args:
            cotangents: by slot and position of an output.
        """
        ins = {}
        for read in lookup(self.op.grad_type).reads:
            if read.source == "in":
                ins[read.slot] = self.inputs.get(read.of)
            elif read.source == "out":
                ins[read.slot] = self.outputs.get(read.of)
            elif any(slot == read.of for slot, _ in cotangents):
                value = self.outputs[read.of]
                given = [
                    cotangents.get((read.of, k), np.zeros_like(v))
                    for k, v in enumerate(listed(value))
                ]
                ins[read.slot] = given if isinstance(value, list) else given[0]
            elif not read.optional:
                ins[read.slot] = each(np.zeros_like, self.outputs[read.of])
        return ins


def listed(value):
    """The arrays of a slot."""
    return list(value) if is_list(value) else [value]


def is_list(value):
    """Whether a slot's value is a list; a Spec is a tuple, but no list of values."""
    return isinstance(value, (list, tuple)) and not isinstance(value, Spec)


def each(change, value):
    """``value`` changed, or the list of its elements changed; what is absent stays so."""
    if is_list(value):
        return [each(change, item) for item in value]
    return None if value is None else change(value)


def is_float(array):
    return array.dtype.kind == "f"


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def single(array):
    array = np.asarray(array)
    return array.astype(np.float32) if is_float(array) else array


def spec_of(array):
    return Spec(array.shape, as_dtype(array.dtype))


def cases():
    """A parameter for each sample; the error in its place where they cannot be made."""
    for type in sorted(set(DEFINITIONS) & set(GENERATORS)):
        try:
            found = [Case(DEFINITIONS[type](sample.attrs), sample) for sample in samples_of(type)]
        except Exception as error:  # fails the tests of this operator, not the collection of all
            found = [error]
        for k, case in enumerate(found):
            name = case.sample.name if isinstance(case, Case) else case.__class__.__name__
            yield pytest.param(case, id=f"{type}-{name or k}")


def orders():
    """A parameter for each sample and each order of its derivatives that is checked."""
    for parameter in CASES:
        case = parameter.values[0]
        if isinstance(case, Case) and case.op.grad is not None and case.variable:
            for order in range(1, case.sample.order + 1):
                yield pytest.param(case, order, id=f"{parameter.id}-order{order}")


CASES = list(cases())
every_case = pytest.mark.parametrize("case", CASES, indirect=True)
every_case_that_runs = pytest.mark.parametrize(
    "case", [p for p in CASES if not p.id.startswith(PASSED_OVER)], indirect=True
)


@pytest.fixture
def case(request):
    if isinstance(request.param, Exception):
        raise request.param
    return request.param


every_order = pytest.mark.parametrize("case, order", list(orders()), indirect=["case"])
every_gradient = pytest.mark.parametrize(
    "case",
    [
        pytest.param(p.values[0], id=p.id.removesuffix("-order1"))
        for p in orders()
        if p.values[1] == 1
    ],
    indirect=True,
)


def same_spec(inferred, value, unknown=False):
    """Whether a spec is that of an array; with ``unknown`` it may be absent or have sizes of -1."""
    if inferred is None or value is None:
        return inferred is None and (unknown or value is None)
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
    return case.op.host or any(slot.constant and slot.optional for slot in slots)


@every_case
def test_inferred_spec_is_that_of_the_result(case):
    inferred = case.op.infer_outputs({slot: each(spec_of, v) for slot, v in case.inputs.items()})
    check_specs(inferred, case.outputs, unknown=sizes_come_from_values(case))


@every_case
def test_spec_inferred_from_unknown_sizes_is_that_of_the_result_or_unknown(case):
    specs = {slot: each(spec_of, value) for slot, value in case.inputs.items()}
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
        check_specs(case.op.infer_outputs(changed), case.outputs, unknown=True)


class OneOperator:
    """A program of an operator alone, whose inputs are fed."""

    def __init__(self, case):
        self.case, self.feed = case, {}
        self.program = fluid.Program()
        self.program.random_seed = 7
        self.block = self.program.global_block()
        self.inputs = {slot: self.fed(slot, value) for slot, value in case.inputs.items()}
        self.outputs = {
            slot: [
                self.block.create_var(f"{slot}.out{k}")
                for k, array in enumerate(listed(value))
                if array is not None
            ]
            for slot, value in case.outputs.items()
        }
        self.block.append_op(case.op.type, self.inputs, self.outputs, case.op.attr_values())

    def fed(self, slot, value):
        """Data variables for the arrays of a slot."""
        arrays = [array for array in listed(value) if array is not None]
        return [self.data(f"{slot}.in{k}", array, array.shape) for k, array in enumerate(arrays)]

    def data(self, name, array, shape):
        """A variable that is fed."""
        self.feed[name] = array
        return self.block.create_var(name, array.dtype, shape, is_data=True)

    def run(self, fetches, program=None):
        """The values of variables."""
        executor = fluid.Executor(fluid.CPUPlace())
        names = [variable.name for variable in fetches]
        return executor.run(program or self.program, self.feed, names, scope=fluid.Scope())

    def run_outputs(self, program=None):
        """The values of all outputs, in their order."""
        return self.run([v for some in self.outputs.values() for v in some], program)


@every_case_that_runs
def test_program_of_the_operator_alone_computes_the_same(case):
    one = OneOperator(case)
    expected = [v for value in case.outputs.values() for v in listed(value) if v is not None]
    for found, value in zip(one.run_outputs(), expected, strict=True):
        assert (found.shape, found.dtype) == (value.shape, value.dtype)
        if case.sample.values_matter:
            np.testing.assert_array_equal(found, value)


@every_gradient
def test_gradients_of_that_program_are_those_of_the_tape(case):
    one = OneOperator(case)
    targets = [one.outputs[slot][k] for slot, k in case.targets]
    sources = [one.inputs[slot][k] for slot, k in case.variable]
    weights = random_like(np.random.default_rng(0), case.function(evaluator(), *case.values))
    seeds = [one.data(f"{t.name}.seed", w, t.shape) for t, w in zip(targets, weights)]
    pulled = pull_back(evaluator(), case.function, case.values, weights)
    gradients = fluid.gradients(targets, sources, seeds)
    assert [g is None for g in gradients] == [g is None for g in pulled]
    found = one.run([g for g in gradients if g is not None])
    for value, expected in zip(found, [g for g in pulled if g is not None], strict=True):
        assert (value.shape, value.dtype) == (expected.shape, expected.dtype)
        if case.sample.values_matter:
            np.testing.assert_allclose(value, expected, 1e-12)


@every_case_that_runs
def test_program_of_the_operator_alone_survives_text(case):
    one = OneOperator(case)
    read = fluid.Program.parse(str(one.program))
    assert not differences(one.program, read)
    for before, after in zip(one.run_outputs(), one.run_outputs(read), strict=True):
        np.testing.assert_array_equal(before, after)


@every_order
def test_derivative_is_that_of_finite_differences(case, order):
    check_gradients(case.function, case.values, order, tolerance=case.sample.tolerance)


@every_gradient
def test_gradient_operator_gives_what_the_tape_gives(case):
    """... whether a kernel was registered for it or not, and specs of it are right, too."""
    rng = np.random.default_rng(0)
    weights = random_like(rng, case.function(evaluator(), *case.values))
    ins = case.gradient_inputs(dict(zip(case.targets, weights, strict=True)))
    gradient = lookup(case.op.grad_type)(case.op.attr_values())
    found = evaluator().apply(gradient, ins)
    derived = gradient.outputs_for(evaluator(), ins)
    pulled = pull_back(evaluator(), case.composition, case.values, weights)
    inferred = gradient.infer_outputs({slot: each(spec_of, value) for slot, value in ins.items()})
    for (slot, k), expected in zip(case.variable, pulled, strict=True):
        name = gradient.grad_slots[slot]
        for outputs in (found, derived):
            value = listed(outputs[name])[k] if outputs.get(name) is not None else None
            assert (value is None) == (expected is None), name
            if value is not None:
                np.testing.assert_allclose(value, expected, 1e-9, 1e-12, err_msg=name)
                one = listed(inferred[name])[k] if inferred.get(name) else None
                assert one is None or same_spec(one, value), f"{name}: {one}, {spec_of(value)}"


@every_case
def test_inputs_are_left_unchanged(case):
    """Inputs are read-only in all of these tests; here also those that are not."""
    inputs = {slot: each(np.array, value) for slot, value in case.sample.inputs.items()}
    evaluator().apply(case.op, inputs)
    for slot, value in inputs.items():
        for before, after in zip(listed(case.inputs[slot]), listed(value), strict=True):
            np.testing.assert_array_equal(before, after, err_msg=slot)


@every_case
def test_single_precision_is_kept(case):
    case = case.in_single_precision()
    specs = {slot: each(spec_of, value) for slot, value in case.inputs.items()}
    inferred = case.op.infer_outputs(specs)
    check_specs(inferred, case.outputs, unknown=sizes_come_from_values(case))
    chosen = any(a.kind == "DType" for a in case.op.attributes.values())
    if not chosen and not case.sample.double:
        given = [one for value in inferred.values() for one in listed(value) if one is not None]
        assert all(one.dtype is not DType.FP64 for one in given)
    if case.op.grad is not None and case.variable and case.sample.order > 0:
        weights = random_like(
            np.random.default_rng(0), [listed(case.outputs[s])[k] for s, k in case.targets]
        )
        pulled = pull_back(evaluator(), case.function, case.values, weights)
        assert {g.dtype.name for g in pulled if g is not None} <= {"float32"}


def runs_of(case, times):
    """What a program of the operator and its gradient gives, run several times."""
    one = OneOperator(case)
    fetched = [v for some in one.outputs.values() for v in some]
    targets = [one.outputs[slot][k] for slot, k in case.targets] if case.variable else []
    if targets and case.op.grad is not None and case.sample.order:
        inputs = [one.inputs[slot][k] for slot, k in case.variable]
        fetched += [g for g in fluid.gradients(targets, inputs) if g is not None]
    executor, scope = fluid.Executor(), fluid.Scope()
    return [executor.run(one.program, one.feed, fetched, scope=scope) for _ in range(times)]


@every_case_that_runs
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_specialised_program_computes_what_the_interpreted_one_does(case, precision):
    """The first run is interpreted, the third and fourth run the function that was written."""
    if precision == "float32":
        case = case.in_single_precision()
    interpreted, _, *specialised = runs_of(case, 4)
    if not case.sample.values_matter:
        return
    tolerance = 1e-5 if precision == "float32" else 1e-12
    for found in specialised:
        for mine, want in zip(found, interpreted, strict=True):
            assert (mine.shape, mine.dtype) == (want.shape, want.dtype)
            if is_float(want):
                scale = np.abs(want[np.isfinite(want)]).max(initial=1.0)
                np.testing.assert_allclose(mine, want, rtol=tolerance, atol=tolerance * scale)
            else:
                np.testing.assert_array_equal(mine, want)


@every_case_that_runs
def test_a_checked_run_finds_no_difference(case, monkeypatch):
    """Interpreted and specialised at once, from the same values and random numbers."""
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")
    runs_of(case.in_single_precision(), 3)


@every_case
def test_constant_outputs_do_not_change_with_the_inputs(case):
    """Through an output marked constant nothing flows: a small step leaves it alone."""
    constant = [slot.name for slot in case.op.outputs if slot.constant]
    directions = random_like(np.random.default_rng(0), case.values)
    moved = [x + 1e-6 * d for x, d in zip(case.values, directions, strict=True)]
    outputs = evaluator().apply(case.op, case.inputs_with(moved)) if constant else {}
    for slot in constant:
        for before, after in zip(
            listed(case.outputs.get(slot)), listed(outputs.get(slot)), strict=True
        ):
            if before is not None and is_float(before):
                np.testing.assert_array_equal(before, after, err_msg=slot)


@pytest.mark.parametrize("definition", [pytest.param(d, id=t) for t, d in DEFINITIONS.items()])
def test_operator_is_documented(definition):
    """The docstring has a first sentence, and a word for each slot and attribute with a meaning."""
    own = vars(definition).get("__doc__") or ""
    first = own.strip().split("\n\n")[0]
    assert first.endswith("."), "the first paragraph of the docstring is a sentence"
    bases = [base for base in definition.__mro__ if issubclass(base, Op) and base is not Op]
    text = "\n".join(vars(base).get("__doc__") or "" for base in bases)
    slots = {slot.name for slot in (*definition.inputs, *definition.outputs)} - PLAIN_SLOTS
    attributes = {a.name for a in definition.attributes.values() if not a.inert}
    missing = [n for n in sorted(slots | attributes) if not re.search(rf"\b{re.escape(n)}\b", text)]
    assert not missing, f"the docstring does not mention {', '.join(missing)}"


@pytest.mark.parametrize("type", DEFINITIONS)
def test_operator_has_samples(type):
    assert type in GENERATORS
    assert samples_of(type)


@pytest.mark.parametrize("type", sorted(GENERATORS))
def test_samples_are_of_an_operator_that_is_defined(type):
    assert is_defined(type)


@every_case
def test_operator_without_gradient_rule_has_samples_that_say_why(case):
    assert is_constant(type(case.op)) or is_differentiable(type(case.op)) or case.sample.order == 0
