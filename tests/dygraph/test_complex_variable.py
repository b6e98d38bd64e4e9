"""Complex numbers as fluid 1.8 has them: two tensors, or two variables of a program."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.dygraph import complex_functions
from fluidlite.dygraph.complex_variable import complex_variable_exists, is_complex, is_real

RECORDER = pathlib.Path(__file__).parents[1] / "data/record_complex_of_fluid.py"
Z, W = np.array([1 + 2j, 3 - 1j]), np.array([0.5j, 2 + 1j])
OPERATORS = (
    "z + w",
    "z - w",
    "z * w",
    "z / w",
    "z @ w",
    "z + r",
    "r - z",
    "r * z",
    "r / z",
    "z @ r",
)
NUMBERS = ("z + 2", "2 - z", "1j * z", "z / 2j", "2.5 / z", "a + z", "z * a", "-z", "r @ z")


@pytest.fixture
def recorder():
    spec = importlib.util.spec_from_file_location("record_complex_of_fluid", RECORDER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(found, recorded):
    if "refused" in (found, recorded):
        return found == recorded
    alike = [found[0] == recorded[0], set(found[2]) == set(recorded[2])]
    pairs = [(found[1], recorded[1]), *((found[2][k], recorded[2][k]) for k in recorded[2])]
    return all(alike) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in pairs
    )


def test_functions_and_gradients_of_parts_are_those_of_1_8(recorder):
    recorded = json.loads(recorder.FILE.read_text())
    assert [*recorded] == recorder.EXPRESSIONS
    names = recorder.names_of(fluid, complex_functions)
    found = {each: recorder.found(fluid.dygraph, names, each) for each in recorded}
    assert [each for each in recorded if not same(found[each], recorded[each])] == []


@pytest.mark.parametrize("expression", OPERATORS + NUMBERS)
def test_operators_are_those_of_numpy(expression):
    values = {"z": Z, "w": W, "r": np.array([2.0, -4.0]), "a": np.array([1.5, -1])}
    with fluid.dygraph.guard():
        given = {name: fluid.dygraph.to_variable(value) for name, value in values.items()}
        found = eval(expression, given | {"a": values["a"]})
    assert isinstance(found, fluid.ComplexVariable)
    np.testing.assert_allclose(np.squeeze(found.numpy()), eval(expression, values))


def test_what_is_no_number_is_no_operand():
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(Z)
        for other in ("text", None, [1, 2]):
            with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
                z + other


def test_parts_have_names_and_variables_show_both():
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(Z.astype("complex64"), name="z")
        assert z.name == {"real": "z.real", "imag": "z.imag"}
        assert (z.dtype, z.shape) == ("complex64", [2])
        assert repr(z) == str(z) == f"REAL: {z.real}\nIMAG: {z.imag}\n"
        assert fluid.dygraph.to_variable(z) is z
        assert fluid.dygraph.to_variable(Z).name["imag"] == "_generated_var_0.imag"
        assert fluid.ComplexVariable(z.real, z.real).numpy().tolist() == [1 + 1j, 3 + 3j]


def test_infinite_parts_leave_the_others_as_they_are():
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(np.array([complex(2, np.inf)]))
        assert z.numpy()[0] == complex(2, np.inf)


@pytest.mark.parametrize("dtype, expected", [("float16", "complex64"), ("int64", "complex128")])
def test_parts_of_other_types_are_taken_too(dtype, expected):
    with fluid.dygraph.guard():
        part = fluid.dygraph.to_variable(np.array([1, 2], dtype))
        z = fluid.ComplexVariable(part, part)
        assert z.dtype == expected
        assert (z * z).numpy().tolist() == [2j, 8j]


def test_reshape_in_place_changes_both_parts():
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(Z)
        real = z.real
        assert complex_functions.reshape(z, [2, 1], inplace=True) is z
        assert z.shape == [2, 1] and z.numpy().tolist() == [[1 + 2j], [3 - 1j]]
        assert real.shape == [2]


def test_what_is_reshaped_in_place_has_gradients_in_the_new_shape():
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(Z)
        z.real.stop_gradient = z.imag.stop_gradient = False
        complex_functions.reshape(z, [2, 1], inplace=True)
        fluid.layers.reduce_sum(z.real * z.real + z.imag).backward()
        assert z.real.gradient().tolist() == [[2.0], [6.0]]
        assert z.imag.gradient().tolist() == [[1.0], [1.0]]


def test_programs_compute_with_complex_variables_and_differentiate_their_parts():
    parts = [fluid.data(name, [2], "float32") for name in ("real", "imag")]
    for part in parts:
        part.stop_gradient = False
    z = fluid.ComplexVariable(*parts)
    assert (z.dtype, z.shape, z.name) == ("complex64", (2,), {"real": "real", "imag": "imag"})
    product = 2.0 + parts[0] * complex_functions.elementwise_mul(z, z)
    loss = fluid.layers.reduce_sum(product.real) + fluid.layers.reduce_sum(product.imag)
    slopes = fluid.gradients(loss, parts)
    feed = {"real": Z.real.astype("float32"), "imag": Z.imag.astype("float32")}
    fetched = fluid.Executor().run(feed=feed, fetch_list=[product.real, product.imag, *slopes])
    expected = 2 + Z.real * Z * Z
    np.testing.assert_allclose(fetched[0] + 1j * fetched[1], expected)
    a, b = Z.real, Z.imag
    np.testing.assert_allclose(fetched[2], 3 * a**2 - b**2 + 4 * a * b)
    np.testing.assert_allclose(fetched[3], -2 * a * b + 2 * a**2)
    with pytest.raises(fluid.errors.ArgumentError, match="real has no value while a program is"):
        z.numpy()


def test_parts_that_do_not_fit_are_refused():
    errors = fluid.errors
    with fluid.dygraph.guard():
        one, two = (fluid.dygraph.to_variable(np.ones(n, "float32")) for n in (1, 2))
        double = fluid.dygraph.to_variable(np.ones(2))
        for error, parts, said in (
            (errors.ShapeError, (one, two), r"got real \[1\] and imag \[2\]"),
            (errors.DTypeError, (two, double), "got real .*32 and imag .*64"),
            (errors.ArgumentError, (one, 1.0), "expected imag to be a tensor or a variable"),
        ):
            with pytest.raises(error, match=said):
                fluid.ComplexVariable(*parts)
        with pytest.raises(errors.ArgumentError, match="paddle.complex.kron: expected a Complex"):
            complex_functions.kron(one, two)
        assert is_real(one) and not is_complex(one) and not is_real(1.0)
        with pytest.raises(errors.ArgumentError, match="got VarBase, int"):
            complex_variable_exists([one, 1], "matmul")


def test_paddle_2_keeps_its_complex_tensors():
    assert paddle.to_tensor(Z).dtype == paddle.complex128
    assert (paddle.to_tensor(Z) * 2).numpy().tolist() == [2 + 4j, 6 - 2j]
