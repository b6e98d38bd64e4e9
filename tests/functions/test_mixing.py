"""Element types of mixed operands, as Paddle 2.6.2 (else 3.3.1) and OneFlow 0.9.0 had them."""

import json
import operator
import warnings
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow, paddle
from fluidlite.errors import FluidError, FluidWarning

RECORDED = json.loads((Path(__file__).parents[1] / "data/mixed_types.json").read_text())
NAMES = {"b": "bool", "u": "uint", "i": "int", "f": "float"}
OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
FACES = {"paddle": fluid, "oneflow": flow}


def made(face, text, value):
    """An operand: "array:int32", "0d:float64", or "n:2.5" for a Python number."""
    kind, _, what = text.partition(":")
    if kind == "n":
        return {"True": True, "2": 2, "2.5": 2.5}[what]
    array = np.array([value, value] if kind == "array" else value, what)
    return (fluid.to_tensor if face == "paddle" else flow.tensor)(array, dtype=what)


def result(face, function, x, y):
    module = FACES[face]
    if function == "where":
        return module.where(made(face, "array:bool", 1), x, y)
    if function == "concat":
        vectors = [each if each.array.ndim else each.reshape([1]) for each in (x, y)]
        return flow.cat(vectors) if face == "oneflow" else fluid.concat(vectors)
    if function == "maximum":
        return module.maximum(x, y)
    return OPERATORS[function](x, y)


def expected(face):
    """(function, left, right, type) of whatever the library computes."""
    first, second = "paddle 2.6.2", "paddle 3.3.1"
    if face == "oneflow":
        first = second = "oneflow 0.9.0"
    operands = RECORDED[first]["operands"]
    for function, rows in RECORDED[first]["results"].items():
        others = RECORDED[second]["results"][function]
        for left, row, other in zip(operands, rows, others):
            for right, one, two in zip(operands, row.split(), other.split()):
                code = two if one == "!" else one
                if code not in "-!":
                    yield function, left, right, NAMES[code[0]] + code[1:]


def is_a_fraction_of_truth_values(function, left, right):
    """OneFlow gives truth values or integers there, as 0 for True / 2."""
    operands = (left, right)
    return function in ("div", "pow") and any(":bool" in each for each in operands)


@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
@pytest.mark.parametrize("face", FACES)
def test_types_are_those_that_were_recorded(face):
    others = []
    for function, left, right, dtype in expected(face):
        found = result(face, function, made(face, left, 7), made(face, right, 3)).array.dtype.name
        if found != dtype:
            others.append((function, left, right, dtype, found))
    if face == "oneflow":
        assert all(is_a_fraction_of_truth_values(*each[:3]) for each in others), others
        assert {found for *_, found in others} == {"float32"}
    else:
        assert others == []


@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
@pytest.mark.parametrize("face", FACES)
def test_what_no_library_computes_is_computed_all_the_same(face):
    refused = set()
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "float32", "float64"):
        for other in ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"):
            for kind in ("array", "0d"):
                x, y = made(face, f"array:{dtype}", 7), made(face, f"{kind}:{other}", 1)
                for function in RECORDED["paddle 2.6.2"]["results"]:
                    try:
                        result(face, function, x, y)
                    except FluidError:
                        refused.add((function, dtype, other))
    assert refused == set()


@pytest.mark.parametrize(
    "face, left, right, said",
    [
        ("paddle", np.int32([1]), np.int64(2**40), "int64 beside int32 is computed in int32"),
        ("paddle", np.int64([1]), np.float32([2.5]), "computed in int64, where fractions are cut"),
        ("oneflow", np.int64([1]), np.float32(2.5), "computed in int64, where fractions are cut"),
        ("oneflow", np.int32([1]), np.int64(2), "int64 beside int32 is computed in int32"),
    ],
)
def test_an_integer_that_is_narrowed_is_warned_of_by_its_line(face, left, right, said):
    of = fluid.to_tensor if face == "paddle" else flow.tensor
    x, y = of(left, dtype=str(left.dtype)), of(right, dtype=str(right.dtype))
    with pytest.warns(FluidWarning, match=said) as caught:
        x + y
    assert caught[0].filename == __file__
    assert f"{Path(__file__).name}:" in str(caught[0].message)


def test_truth_values_by_an_integer_stay_truth_values_with_a_warning():
    mask = fluid.to_tensor([True, False])
    with pytest.warns(FluidWarning, match="what is not 0 becomes True"):
        assert (mask * 2).tolist() == [True, False]
    with pytest.warns(FluidWarning, match="float32 beside bool is computed in bool"):
        assert (mask * fluid.to_tensor([0.0, 2.0])).tolist() == [False, False]


@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
def test_narrowed_values_are_those_of_the_real_systems():
    whole = fluid.to_tensor(np.int32([3, 7]), dtype="int32")
    fractions = fluid.to_tensor(np.float32([3.5, 2.5]))
    assert (whole + fractions).tolist() == [6, 9]
    assert (whole * fractions).tolist() == [9, 14]
    assert (whole // fractions).tolist() == [1, 3]
    x, one = flow.tensor([7, 9], dtype=flow.int32), flow.tensor(2.5)
    assert (x + one).tolist() == (one + x).tolist() == [9, 11]
    assert (x % one).tolist() == [1, 1]


def test_comparisons_and_quotients_lose_nothing_and_say_nothing():
    """Paddle 2.6.2 holds 3 == 3.5 for true, and has 1.0 for 3 / 3.5."""
    x = fluid.to_tensor(np.int32([3]), dtype="int32")
    assert (x == fluid.to_tensor([3.5])).tolist() == [False]
    assert (x == fluid.to_tensor(np.int64([2**32 + 3]))).tolist() == [False]
    assert np.allclose((x / fluid.to_tensor([3.5])).numpy(), 3 / 3.5)
    y = flow.tensor([7, 9], dtype=flow.int32) / flow.tensor(2.5)
    assert np.allclose(y.numpy(), [2.8, 3.6])


def test_numbers_in_where_are_wide_in_both_spellings_but_in_no_function_of_ours():
    x = fluid.to_tensor([-1.0, 2.0])
    assert fluid.where(x > 0, x, 0.0).array.dtype == np.float64
    assert flow.where(flow.tensor([True, False]), flow.ones(2), 0.5).array.dtype == np.float64
    assert fluid.where(x > 0, 1, 0).array.dtype == np.int64
    assert x.masked_fill(x > 0, 3.0).array.dtype == np.float32
    assert fluid.nansum(x).array.dtype == np.float32


def test_gradients_have_the_types_of_their_tensors():
    x = fluid.to_tensor(np.float32([2.0]), stop_gradient=False)
    y = fluid.to_tensor(np.float64([3.0]), stop_gradient=False)
    z = x * y
    z.backward()
    assert (z.array.dtype, x.grad.array.dtype, y.grad.array.dtype) == ("f8", "f4", "f8")
    assert (x.grad.tolist(), y.grad.tolist()) == ([3.0], [2.0])
    a = flow.tensor([1.0, 2.0], requires_grad=True)
    b = flow.tensor(3.0, dtype=flow.float64, requires_grad=True)
    c = a * b
    c.sum().backward()
    assert (c.array.dtype, a.grad.array.dtype, b.grad.array.dtype) == ("f4", "f4", "f8")
    assert (a.grad.tolist(), float(b.grad)) == ([3.0, 3.0], 3.0)


def test_a_program_has_the_types_that_tensors_have():
    class Sum(fluid.nn.Layer):
        def forward(self, x, y):
            return x * y, x % y, y + x

    class Product(flow.nn.Module):
        def forward(self, x, y):
            return x * y, x**y, y + x

    values = [np.float32([7.5]), np.float64([2.0])]
    for layer, of in ((Sum(), fluid.to_tensor), (Product(), flow.tensor)):
        at_once = layer(*(of(each, dtype=str(each.dtype)) for each in values))
        program = fluid.Program()
        with fluid.program_guard(program, fluid.Program()):
            given = [fluid.data(n, [1], str(v.dtype)) for n, v in zip("xy", values)]
            built = layer(*given)
        found = fluid.Executor().run(program, feed=dict(zip("xy", values)), fetch_list=list(built))
        for one, other in zip(at_once, found):
            assert one.array.dtype == other.dtype
            assert np.array_equal(one.numpy(), other)


def test_fluids_own_tensors_take_the_wider_type_as_before():
    with fluid.dygraph.guard(), warnings.catch_warnings():
        warnings.simplefilter("error")
        x = fluid.dygraph.to_variable(np.int32([1]))
        y = fluid.dygraph.to_variable(np.int64([2**40]))
        assert (x + y).numpy().tolist() == [2**40 + 1]


def test_an_array_on_the_left_counts_as_one_on_the_right():
    half, whole = np.array([1.5, 2.5]), np.array([1, 2])
    fractions = paddle.to_tensor([0.5, 0.5])
    for found in (whole + fractions, whole * fractions, np.array([2, 2]) - fractions):
        assert found.dtype == paddle.float32
    assert (whole + fractions).tolist() == [1.5, 2.5]
    with pytest.warns(FluidWarning, match="add: float64 beside int32 is computed in int32"):
        assert (half + paddle.to_tensor([1, 2], "int32")).tolist() == [2, 4]
