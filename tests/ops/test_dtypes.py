"""Element types that operators refuse, before they look at shapes."""

import pytest

from fluidlite.errors import AttributeValueError, DTypeError

from infer import infer

#: operators that compute with numbers -> their inputs
NUMBERS = {
    **dict.fromkeys(("square", "abs", "pow", "scale"), ("X",)),
    **dict.fromkeys(("minus", "elementwise_add", "elementwise_mul", "dot"), ("X", "Y")),
    "range": ("Start", "End", "Step"),
    "linspace": ("Start", "Stop"),
}


@pytest.mark.parametrize("type", NUMBERS)
def test_operators_that_compute_refuse_truth_values(type):
    inputs = {slot: ([2, 3], "bool") for slot in NUMBERS[type]}
    if type == "linspace":
        inputs["Num"] = ([1], "int32")
    with pytest.raises(DTypeError, match="numbers"):
        infer(type, {}, **inputs)


@pytest.mark.parametrize("type", ["sum", "partial_sum"])
def test_sums_of_truth_values_are_refused(type):
    with pytest.raises(DTypeError, match="expected X to hold numbers, got bool; cast it first"):
        infer(type, {}, X=[([2, 3], "bool"), ([2, 3], "bool")])


@pytest.mark.parametrize("type", ["minus", "elementwise_add", "mul", "matmul"])
def test_a_wrong_type_is_named_before_a_wrong_shape(type):
    with pytest.raises(TypeError):
        infer(type, {}, X=([2, 3], "float32"), Y=([2, 2], "float64"))
    with pytest.raises(TypeError):
        infer(type, {}, X=([2, 3], "bool"), Y=([2, 2], "bool"))


@pytest.mark.parametrize(
    "type, attrs",
    [("gaussian_random", {}), ("uniform_random", {}), ("randint", dict(low=0, high=3))],
)
def test_random_numbers_need_a_shape(type, attrs):
    with pytest.raises(AttributeValueError, match="a shape of at least one size"):
        infer(type, dict(attrs, shape=[]))
