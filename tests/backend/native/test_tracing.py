import numpy as np
import pytest

from fluidlite.backend.native.symbols import XP, ArraySymbol, Expression, Untraceable
from fluidlite.backend.native.tracing import traced
from fluidlite.ground.dtypes import DType
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import Spec


def number(*shape):
    return Spec(shape, DType.FP32)


def trace(type, ins, outs, **attrs):
    return traced(lookup(type)(attrs), list(ins), list(ins.values()), outs)


def test_an_operator_is_what_its_kernel_does_with_each_element():
    found = trace("relu6", {"X": number(2, 3)}, {"Out": number(2, 3)})
    assert repr(found.results["Out"]) == (
        "minimum(stretch(number()), maximum(stretch(number()), input()))"
    )


def test_a_derived_gradient_is_traced_through_the_rule():
    one = number(2, 3)
    found = trace("tanh_grad", {"Out": one, "Out@GRAD": one}, {"X@GRAD": one})
    assert found.results["X@GRAD"].function == "multiply"


def test_a_product_of_matrices_has_no_expression():
    ins = {"X": number(2, 3), "Y": number(3, 4)}
    assert trace("matmul", ins, {"Out": number(2, 4)}) is None


@pytest.mark.parametrize(
    "x, y, turned", [((5, 7), (7, 1), ""), ((7, 5), (7, 1), "X"), ((1, 5), (3, 5), "Y")]
)
def test_a_small_matrix_times_a_vector_is_a_sum_of_products(x, y, turned):
    made = (1, 3) if turned == "Y" else (5, 1)
    how = {f"transpose_{turned}": True} if turned else {}
    found = trace("matmul", {"X": number(*x), "Y": number(*y)}, {"Out": number(*made)}, **how)
    total = found.results["Out"]
    while total.function == "view":
        (total,) = total.arguments
    assert (total.function, total.arguments[0].function) == ("sum", "multiply")


def test_a_column_times_a_row_is_a_product_of_elements():
    ins = {"X": number(200, 1), "Y": number(1, 300)}
    found = trace("matmul", ins, {"Out": number(200, 300)}).results["Out"]
    product, zero = found.arguments  # a sum begins with zero
    assert (found.function, product.function) == ("add", "multiply")
    while zero.arguments:
        (zero,) = zero.arguments
    assert zero.data == 0


def test_a_large_matrix_times_a_vector_is_left_to_a_library():
    ins = {"X": number(100, 50), "Y": number(50, 1)}
    assert trace("matmul", ins, {"Out": number(100, 1)}) is None


def test_half_precision_has_no_expression():
    half = Spec((2, 3), DType.FP16)
    assert trace("tanh", {"X": half}, {"Out": half}) is None


def test_a_decision_by_a_value_cannot_be_traced():
    with pytest.raises(Untraceable, match="decision"):
        bool(ArraySymbol(Expression("input", (), (2,), np.float32)) > 0)


def test_what_is_written_in_place_is_another_expression_from_then_on():
    x = ArraySymbol(Expression("input", (), (2,), np.float32))
    copy = ArraySymbol(x.node)
    XP.multiply(copy, 2.0, out=copy)
    assert (x.node.function, copy.node.function) == ("input", "multiply")


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "divide"])
def test_types_are_those_of_numpy(name):
    x = ArraySymbol(Expression("input", (), (2,), np.float32))
    y = ArraySymbol(Expression("input", (), (2,), np.int64))
    expected = getattr(np, name)(np.ones(1, "f"), np.ones(1, np.int64)).dtype
    assert getattr(XP, name)(x, y).dtype == expected
    assert getattr(XP, name)(x, 2.0).dtype == np.float32
