"""What operators make of complex numbers: gradients against differences along random directions, in
the real and the imaginary parts at once, and refusals.
"""

import numpy as np
import pytest

from fluidlite.errors import DTypeError
from fluidlite.ground.dtypes import DType
from fluidlite.opdef.conjugation import OfComplex
from fluidlite.opdef.definition import registered

from cases import Case, listed, spec_of
from gradcheck import check_gradients, evaluator, pull_back
from samples.form import GENERATORS, complex_samples

WITH_SAMPLES = {op.type: op for op in registered() if op.type in GENERATORS}
TAKING = sorted(type for type, op in WITH_SAMPLES.items() if op.of_complex is not None)


def cases_of(type):
    return [Case(WITH_SAMPLES[type](sample.attrs), sample) for sample in complex_samples(type)]


@pytest.mark.parametrize("type", TAKING)
def test_derivatives_by_complex_numbers_are_those_of_differences(type):
    for case in cases_of(type):
        specs = case.op.infer_outputs({slot: each_spec(v) for slot, v in case.inputs.items()})
        for slot, value in case.outputs.items():
            for inferred, found in zip(listed(specs[slot]), listed(value)):
                assert found is None or inferred.dtype.dtype == found.dtype
        if case.differentiated and case.targets:
            tolerance = max(case.sample.tolerance, 1e-5)
            for order in range(1, case.sample.order + 1):
                check_gradients(case.function, case.values, order, tolerance=tolerance)


def each_spec(value):
    return [each_spec(v) for v in value] if isinstance(value, list) else spec_of(value)


def test_other_operators_refuse_complex_numbers_by_one_sentence():
    refused = 0
    taking = {*TAKING, *(t for t, op in WITH_SAMPLES.items() if op.reads_shapes)}
    for type in sorted(set(WITH_SAMPLES) - taking):
        for case in cases_of(type)[:1]:
            with pytest.raises(DTypeError, match=f"real numbers, got complex128: {type} takes no"):
                case.op.infer_outputs({slot: each_spec(v) for slot, v in case.inputs.items()})
            refused += 1
    assert refused > 150


def test_a_third_derivative_by_complex_numbers_is_that_of_differences():
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=[2, 3]) + 1j * rng.normal(size=[2, 3]) for _ in range(2))

    def function(f, x, y):
        product = f.matmul(x, f.exp(y * 0.3), transpose_Y=True)
        return f.abs(f.elementwise_div(product, product + 3.0)), f.angle(f.tanh(x * 0.5))

    check_gradients(function, [x, y], 3, tolerance=1e-5)


@pytest.mark.parametrize("type", ["elementwise_add", "elementwise_sub", "elementwise_mul",
                                  "elementwise_div", "matmul", "mul"])  # fmt: skip
def test_real_numbers_beside_complex_ones_get_real_gradients(type):
    rng = np.random.default_rng(1)
    real = rng.uniform(1, 2, size=[3, 3])
    complex = real + 1j * rng.normal(size=[3, 3])
    for values in ([real, complex], [complex, real]):
        for order in (1, 2):
            check_gradients(lambda f, x, y: getattr(f, type)(x, y), values, order, tolerance=1e-5)


def test_operands_of_different_precision_are_computed_in_the_wider_complex_type():
    f = evaluator()
    x, y = np.ones([2], "complex64"), np.ones([2], "float64")
    assert f.elementwise_mul(x, y).dtype == "complex128"
    assert (
        WITH_SAMPLES["matmul"]()
        .infer_outputs(
            {"X": spec_of(np.ones([2, 2], "complex64")), "Y": spec_of(np.ones([2, 2], "float64"))}
        )["Out"]
        .dtype
        is DType.COMPLEX128
    )


def test_rules_say_how_they_hold_of_complex_numbers_once():
    for op in registered():
        written = getattr(op.grad, "written", None)
        assert (written is not None) <= (op.of_complex is OfComplex.HOLOMORPHIC)
        assert not hasattr(written, "written")


def test_the_gradient_points_uphill():
    """dL/dRe + i dL/dIm of L = |z|^2 is 2 z."""
    f = evaluator()
    z = np.asarray([1 + 2j, 3 - 1j])
    (found,) = pull_back(f, lambda f, z: f.square(f.abs(z)), [z], [np.ones(2)])
    np.testing.assert_allclose(found, 2 * z)


def test_the_modulus_and_the_angle_have_no_slope_at_zero():
    f, zero = evaluator(), np.zeros(1, "complex128")
    for function in (lambda f, z: f.abs(z), lambda f, z: f.angle(z)):
        assert pull_back(f, function, [zero], [np.ones(1)])[0] == 0


def test_infinite_parts_stay_apart():
    found = evaluator().complex(np.asarray([np.inf, 1.0]), np.asarray([0.0, -np.inf]))
    assert found.real.tolist() == [np.inf, 1] and found.imag.tolist() == [0, -np.inf]
