"""Operators of the user's own."""

import gc
import weakref

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    GradientShapeError,
    InplaceError,
    OverwrittenError,
    ReleasedError,
)

PyLayer = fluid.autograd.PyLayer


def leaf(values):
    return fluid.to_tensor(np.array(values, "float32"), stop_gradient=False)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensor()
        return gradient * 3.0 * x * x


class Exponential(PyLayer):
    """Saves what it returns."""

    @staticmethod
    def forward(ctx, x):
        y = fluid.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensor()
        return gradient * y


@pytest.mark.parametrize("order, expected", [(1, 12.0), (2, 12.0), (3, 6.0)])
def test_derivatives_of_every_order_go_through_the_backward_function(order, expected):
    x = leaf(2.0)
    y = Cube.apply(x)
    for _ in range(order):
        (y,) = fluid.grad(y, x, create_graph=True)
    assert float(y) == expected


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_saved_result_is_differentiated_too(order):
    x = leaf(0.5)
    y = Exponential.apply(x)
    for _ in range(order):
        (y,) = fluid.grad(y, x, create_graph=True)
    np.testing.assert_allclose(float(y), np.exp(0.5), 1e-6)


def test_a_saved_result_makes_no_cycle():
    gc.disable()
    try:
        y = Exponential.apply(leaf(0.5))
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_other_arguments_need_no_gradient():
    class Power(PyLayer):
        @staticmethod
        def forward(ctx, x, factor, shift=0.0):
            ctx.factor = factor
            return x * factor + shift

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor

    x = leaf([1.0, 2.0])
    fluid.sum(Power.apply(x, 3.0, shift=1.0)).backward()
    np.testing.assert_array_equal(x.grad, [3, 3])


class Two(PyLayer):
    materialize = True

    @classmethod
    def forward(cls, ctx, x):
        ctx.set_materialize_grads(cls.materialize)
        return x * 2.0, x * 3.0

    @staticmethod
    def backward(ctx, first, second):
        seen.append(None if second is None else second.tolist())
        return first * 2.0


class TwoAsTheyAre(Two):
    materialize = False


seen: list = []


@pytest.mark.parametrize("kind, expected", [(Two, [0, 0]), (TwoAsTheyAre, None)])
def test_a_result_that_is_not_used_arrives_as_zeros_or_none(kind, expected):
    seen.clear()
    x = leaf([1.0, 2.0])
    a, _ = kind.apply(x)
    fluid.sum(a).backward()
    assert seen == [expected]


def test_results_may_be_marked_as_constant():
    class Marked(PyLayer):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2.0, x * 3.0
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, first, second):
            return first * 2.0

    x = leaf([1.0])
    a, b = Marked.apply(x)
    assert b.stop_gradient
    a.backward()
    np.testing.assert_array_equal(x.grad, [2])


@pytest.mark.parametrize(
    "answer, error, message",
    [
        (lambda g: (g, g), ArgumentError, "expected Wrong.backward to give 1 gradients"),
        (lambda g: 3.0, ArgumentError, "to give tensors or None"),
        (fluid.sum, GradientShapeError, r"a gradient of shape \[2\] for tensor 0, got \[\]"),
    ],
)
def test_what_the_backward_function_gives_is_checked(answer, error, message):
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, gradient):
            return answer(gradient)

    y = Wrong.apply(leaf([1.0, 2.0]))
    with pytest.raises(error, match=message):
        y.backward()


def test_the_forward_function_gives_tensors():
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return 3.0

    with pytest.raises(ArgumentError, match=r"expected Wrong.forward to return a tensor"):
        Wrong.apply(leaf([1.0]))


def test_functions_that_are_missing_say_so():
    with pytest.raises(NotImplementedError, match="static method forward"):
        PyLayer.apply(leaf([1.0]))
    with pytest.raises(NotImplementedError, match="static method backward"):
        PyLayer.backward(None)


def test_a_saved_tensor_must_not_be_overwritten():
    x = leaf([1.0, 2.0])
    m = x * 1.0
    y = Cube.apply(m)
    m[0] = 5.0
    with pytest.raises(OverwrittenError, match=r"saved for backward at version 0"):
        y.backward()


def test_a_released_function_says_so():
    x = leaf([1.0])
    y = Cube.apply(x)
    y.backward()
    with pytest.raises(ReleasedError, match="operator Cube"):
        y.backward()


def test_what_the_context_keeps_goes_with_the_release():
    class Big:
        pass

    kept = []

    class Keeping(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.big = Big()
            kept.append(weakref.ref(ctx.big))
            return x * 2.0

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2.0

    y = Keeping.apply(leaf([1.0]))
    y.backward(retain_graph=True)
    assert kept[0]() is not None
    y.backward()
    assert kept[0]() is None


class Weighted(PyLayer):
    """2 a + b + 7 c, of a list of a and b, and c."""

    @staticmethod
    def forward(ctx, pair, third):
        return pair[0] * 2.0 + pair[1] + third * 7.0

    @staticmethod
    def backward(ctx, gradient):
        return [gradient * 2.0, gradient], gradient * 7.0


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_tensors_gets_a_list_of_gradients(kind):
    a, b, c = leaf([1.0]), leaf([2.0]), leaf([3.0])
    Weighted.apply(kind([a, b]), third=c).backward()
    assert [each.grad.item() for each in (a, b, c)] == [2, 1, 7]


def test_one_gradient_for_a_list_of_tensors_is_refused():
    class Wrong(Weighted):
        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient

    result = Wrong.apply([leaf([1.0]), leaf([2.0])], leaf([3.0]))
    with pytest.raises(ArgumentError, match="expected a list of 2 gradients"):
        result.backward()


def test_a_leaf_that_wants_a_gradient_is_not_written_in_place():
    class Same(Cube):
        @staticmethod
        def forward(ctx, x):
            return x

    with pytest.raises(InplaceError, match="is a leaf that wants a gradient"):
        Same.apply(leaf([1.0]))
