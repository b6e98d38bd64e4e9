"""What operators of the user's own compute is checked against what they say."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    DefinitionError,
    DTypeError,
    GradientShapeError,
    OpError,
    ShapeError,
)
from fluidlite.opdef.definition import _REGISTRY


@pytest.fixture(autouse=True)
def _forgotten():
    before = set(_REGISTRY)
    yield
    for name in set(_REGISTRY) - before:
        del _REGISTRY[name]


def user_op(name="user_checked", **body):
    return fluid.custom_op(
        type(name, (), {"signature": "X -> Out", "run": lambda self, xp, X: X, **body})
    )


ONES = np.ones(2, "float32")


def run_eagerly(op):
    x = fluid.to_tensor(ONES, stop_gradient=False)
    return op(x), x


def differentiate_eagerly(op):
    y, x = run_eagerly(op)
    y.sum().backward()
    return x.grad


def run_in_program(op, order=0):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [None], "float32")
        x.stop_gradient = False
        y = op(x)
        for _ in range(order):
            (y,) = fluid.gradients(y, x)
    return fluid.Executor().run(main, feed={"x": ONES}, fetch_list=[y])[0]


@pytest.mark.parametrize(
    "rule, kind, message",
    [
        (
            lambda self, f, X, dOut: dict(X=lambda: f.reduce_sum(dOut)),
            GradientShapeError,
            r"user_checked.grad: expected a gradient of shape \[2\] for X, got one of shape \[1\]",
        ),
        (
            lambda self, f, dOut: dict(X=lambda: f.reduce_sum(dOut)),
            GradientShapeError,
            r"expected a gradient of shape \[2\] for X, got one of shape \[1\]",
        ),
        (
            lambda self, f, X, dOut: dict(Y=lambda: dOut),
            DefinitionError,
            "user_checked.grad: expected gradients of the inputs X, got one of 'Y'",
        ),
        (
            lambda self, f, X, dOut: dOut * 2.0,
            DefinitionError,
            r"user_checked.grad: expected a dict, slot to function, as in dict\(X=lambda: ...\)",
        ),
    ],
)
def test_a_wrong_rule_is_refused(rule, kind, message):
    op = user_op(grad=rule)
    with pytest.raises(kind, match=message):
        differentiate_eagerly(op)
    with pytest.raises(kind, match=message):
        run_in_program(op, order=1)


def test_a_gradient_of_an_input_that_the_rule_does_not_take_is_checked():
    op = user_op(
        infer=lambda self, X: X, grad=lambda self, f, dOut: dict(X=lambda: f.reduce_sum(dOut))
    )
    with pytest.raises(GradientShapeError, match=r"shape \[2\] for X, got one of shape \[1\]"):
        differentiate_eagerly(op)


@pytest.mark.parametrize(
    "body, kind, message",
    [
        (
            {"signature": "X -> Out, Log"},
            OpError,
            r"expected a tuple of 2, one for each output \(Out, Log\), got one array of shape "
            r"\[2\]",
        ),
        ({"run": lambda self, xp, X: None}, OpError, "computed nothing for its output Out"),
        (
            {"run": lambda self, xp, X: X.astype("float64"), "infer": lambda self, X: X},
            DTypeError,
            "expected Out of type float32, as inferred, got float64; cast it, or correct infer",
        ),
        (
            {"run": lambda self, xp, X: xp.sum(X)},
            ShapeError,
            r"expected Out of shape \[2\], as inferred, got \[\]; user_checked has no infer, .*"
            r"write infer\(self, X\)",
        ),
    ],
)
def test_a_wrong_kernel_is_refused(body, kind, message):
    op = user_op(**body)
    with pytest.raises(kind, match=message):
        run_eagerly(op)
    with pytest.raises(kind, match=message):
        run_in_program(lambda x: op(x)[0] if "signature" in body else op(x))


def test_a_parameter_with_a_default_is_no_attribute():
    def run(self, xp, X, a=1.0):
        return X * a

    with pytest.raises(
        DefinitionError, match="annotated in the class, a: float = 1.0, and read as self.a"
    ):
        user_op(run=run)


def test_a_function_of_numpy_in_a_rule_names_the_operator_to_use():
    op = user_op(
        run=lambda self, xp, X: xp.sin(X), grad=lambda self, f, X, dOut: {"X": dOut * np.cos(X)}
    )
    assert np.allclose(run_in_program(op, order=1), np.cos(1))
    with pytest.raises(ArgumentError, match=r"user_checked_grad_grad: .*NumPy's cos; use f\.cos"):
        run_in_program(op, order=2)


def test_an_array_times_a_value_of_a_rule_is_an_operator():
    op = user_op(grad=lambda self, f, X, dOut: {"X": np.full(2, 2, "float32") * (X * dOut)})
    assert run_in_program(op, order=2).tolist() == [2.0, 2.0]
