"""paddle.autograd and paddle.incubate.autograd: the numbers are those of paddle 2.6.2."""

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import ArgumentError, GradientShapeError, OutOfRangeError, ShapeError


def leaf(*shape):
    """1/4, 2/4, 3/4, ... that wants a gradient."""
    values = np.arange(1, 1 + int(np.prod(shape)), dtype="float64").reshape(shape) / 4
    return paddle.to_tensor(values, stop_gradient=False)


class Doubled(paddle.autograd.PyLayer):
    """Writes what it is given, and gives it back."""

    @staticmethod
    def forward(ctx, x):
        x.scale_(2.0)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


class Saving(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, *saved):
        ctx.save_for_backward(*saved, x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensor()[-1]


def test_an_argument_that_is_written_and_given_back_is_the_result():
    x = leaf(2)
    y = x * 3
    out = Doubled.apply(y)
    assert out is y
    y.sum().backward()  # of the tensor itself: it goes through backward, too
    assert y.tolist() == [1.5, 3.0] and x.grad.tolist() == [15.0, 15.0]


def test_an_argument_marked_as_not_written_stays_apart():
    class Same(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_not_inplace(x)
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 5

    x = leaf(2)
    y = x * 3
    out = Same.apply(y)
    assert out is not y
    (out + y).sum().backward()
    assert x.grad.tolist() == [18.0, 18.0]


def test_a_layer_keeps_what_it_saved_last_and_what_is_no_tensor():
    class Twice(Saving):
        @staticmethod
        def forward(ctx, x):
            assert ctx.saved_tensor() is None
            ctx.save_for_backward(x, x)
            ctx.save_for_backward(3, None, x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            number, nothing, x = ctx.saved_tensor()
            assert (number, nothing) == (3, None)
            return gradient * x

    x = leaf(2)
    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [0.25, 0.5]


@pytest.mark.parametrize("stops, count, works", [(1, 1, True), (1, 2, True), (0, 1, False)])
def test_gradients_behind_the_last_one_that_is_wanted_may_be_left_out(stops, count, works):
    class Product(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            return (gradient, None)[:count]

    given = [leaf(2), leaf(2)]
    given[stops].stop_gradient = True
    out = Product.apply(*given).sum()
    if works:
        out.backward()
        assert given[0].grad.tolist() == [1.0, 1.0]
    else:
        with pytest.raises(ValueError, match="expected Product.backward to give 2 gradients"):
            out.backward()


def test_hooks_pack_what_a_layer_saves():
    seen = []

    def pack(tensor):
        seen.append(("pack", tensor.tolist()))
        return tensor.numpy()

    def unpack(array):
        seen.append(("unpack", array.tolist()))
        return paddle.to_tensor(array)

    x = leaf(2)
    with paddle.autograd.saved_tensors_hooks(pack, unpack):
        y = Saving.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [0.25, 0.5]
    assert seen == [("pack", [0.25, 0.5]), ("unpack", [0.25, 0.5])]


def test_hooks_see_whether_a_tensor_stops_gradients():
    seen = []

    def pack(tensor):
        seen.append(tensor.stop_gradient)
        return tensor

    x, y = leaf(2), paddle.ones([2], "float64")
    with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
        z = x * y
    z.sum().backward()
    assert seen == [True] and x.grad.tolist() == [1.0, 1.0]  # of y alone: x is not read
    with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
        x * x
    assert not any(seen[1:])


def test_grad_keeps_the_graph_whatever_it_is_told():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = paddle.sin(paddle.exp(x) * x)
    (first,) = paddle.grad(y, x, retain_graph=False)
    y.backward()
    assert x.grad.tolist() == first.tolist()


def test_grad_passes_no_tensor_that_is_blocked():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x * 2
    for blocked in (y, [y], {y}):
        assert paddle.grad(y * x, x, no_grad_vars=blocked)[0].tolist() == [2.0]


# -- jacobian and hessian --------------------------------------------------------------------------


def test_rows_of_a_jacobian_are_computed_when_they_are_asked_for():
    x = leaf(3)
    matrix = paddle.autograd.jacobian(x * x, x)
    assert matrix.shape == [3, 3]
    assert matrix[0].tolist() == [0.5, 0.0, 0.0]
    assert list(matrix._rows) == [0]
    assert matrix[0:2, 1:].tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert list(matrix._rows) == [0, 1]
    assert matrix[-1, -1].item() == 1.5 and matrix[::2].shape == [2, 3]
    assert matrix[:].stop_gradient is False


def test_a_jacobian_answers_as_a_tensor_of_all_rows():
    x = leaf(2)
    matrix = paddle.autograd.jacobian(x * x, x)
    assert (matrix + 1).tolist() == [[1.5, 1.0], [1.0, 2.0]]
    assert (matrix @ matrix).tolist() == [[0.25, 0.0], [0.0, 1.0]]
    assert (2 / (matrix + 1)).tolist() == [[2 / 1.5, 2.0], [2.0, 1.0]]
    assert (matrix > 0.5).tolist() == [[False, False], [False, True]]
    assert matrix.sum().item() == 1.5 and matrix.ndim == 2
    assert np.array(matrix).tolist() == matrix.numpy().tolist()
    assert [row.tolist() for row in matrix] == [[0.5, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "shape, reduce, axis, sizes, values",
    [
        ((3,), True, None, [3], [0.5, 1.0, 1.5]),
        ((1,), False, None, [1, 1], [[0.5]]),
        ((3,), False, 0, [3], [0.5, 1.0, 1.5]),
        ((2, 2), True, 0, [2, 2], [[[0.5, 1.0]], [[1.5, 2.0]]]),
        ((2, 2), False, 0, [2, 2, 2], [[[0.5, 0.0], [0.0, 1.0]], [[1.5, 0.0], [0.0, 2.0]]]),
    ],
)
def test_a_jacobian_has_the_dimensions_of_what_it_is_of(shape, reduce, axis, sizes, values):
    x = leaf(*shape)
    y = (x * x).sum(-1) if reduce else x * x
    matrix = paddle.autograd.jacobian(y, x, axis)
    assert matrix.shape == sizes and matrix[:].tolist() == values


def test_samples_are_indexed_without_the_dimension_of_their_only_row():
    x = leaf(2, 3)
    matrix = paddle.autograd.jacobian((x * x).sum(-1), x, 0)
    assert matrix[0, 0].item() == 0.5 and matrix[:, 0].tolist() == [0.5, 2.0]


def test_tuples_give_tuples_of_jacobians():
    x, y = leaf(2), leaf(3)
    first, second = x * x.sum(), x.sum() * y
    rows = paddle.autograd.jacobian((first, second), (x, y))
    assert [[m.shape for m in row] for row in rows] == [[[2, 2], [2, 3]], [[3, 2], [3, 3]]]
    assert rows[0][1][:].tolist() == [[0.0] * 3] * 2  # takes no part
    assert rows[1][0][1].tolist() == [0.5, 0.5]
    assert isinstance(paddle.autograd.jacobian(first, [x]), tuple)
    assert isinstance(paddle.autograd.jacobian([first], x), tuple)


def test_jacobians_can_be_differentiated():
    x = leaf(2)
    matrix = paddle.autograd.jacobian(x**3, x)
    assert paddle.grad(matrix[:].sum(), x)[0].tolist() == [1.5, 3.0]


def test_hessians_are_of_one_value():
    x, y = leaf(2), leaf(3)
    matrices = paddle.autograd.hessian(x.sum() * y.sum() * x.sum(), (x, y))
    assert [[m.shape for m in row] for row in matrices] == [[[2, 2], [2, 3]], [[3, 2], [3, 3]]]
    assert matrices[0][1][0].tolist() == [1.5] * 3
    rows = leaf(2, 3)
    batched = paddle.autograd.hessian((rows**3).sum(-1), rows, 0)
    assert batched[1].tolist() == np.diag([6.0, 7.5, 9.0]).tolist()
    with pytest.raises(ShapeError, match="one value to take second derivatives of"):
        paddle.autograd.hessian(x * x, x)


def test_derivatives_say_what_they_cannot_be_of():
    x, z = leaf(2, 2), leaf(3)
    with pytest.raises(ShapeError, match="expected ys to have 0 or 1 dimensions"):
        paddle.autograd.jacobian(x * x, x)
    with pytest.raises(ValueError, match="expected batch_axis to be None or 0, got 1"):
        paddle.autograd.jacobian(x * x, x, 1)
    with pytest.raises(AttributeError, match="expected ys to be a tensor or a tuple"):
        paddle.autograd.jacobian(lambda x: x, x)
    matrix = paddle.autograd.jacobian(z * z, z)
    for index in (5, Ellipsis, (0, 0, 0)):
        with pytest.raises(OutOfRangeError):
            matrix[index]
    for index in ([0, 1], None, 1.5, True):
        with pytest.raises(ArgumentError, match="an index of numbers and slices"):
            matrix[index]
    with pytest.raises(ValueError, match="takes none of the 3 rows"):
        matrix[0:2:-1]


# -- incubate.autograd -----------------------------------------------------------------------------


def run(build):
    """What ``build`` makes of a [2, 2] variable in a program, as lists."""
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        a = paddle.static.data("a", [2, 2], "float32")
        a.stop_gradient = False
        made = build(a)
        made = made if isinstance(made, (list, tuple)) else [made]
        feed = {"a": np.array([[1, 2], [3, 4]], "float32")}
        program = paddle.static.default_main_program()
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=list(made))
    return [each.tolist() for each in found]


def test_a_function_of_several_has_one_matrix():
    x, z = leaf(2, 2), leaf(3)
    matrix = paddle.incubate.autograd.Jacobian(lambda a, b: (a.sum() * b, a * a), [x, z])
    assert matrix.shape == (7, 7)
    assert matrix[0].tolist() == [0.25, 0.25, 0.25, 0.25, 2.5, 0.0, 0.0]
    assert matrix[:, 3].tolist() == [0.25, 0.5, 0.75, 0.0, 0.0, 0.0, 2.0]
    hessian = paddle.incubate.autograd.Hessian(lambda a, b: a.sum() * b.sum() * b.sum(), [x, z])
    assert hessian.shape == (7, 7) and hessian[0].tolist() == [0.0] * 4 + [3.0] * 3
    rows = leaf(2, 3)
    batched = paddle.incubate.autograd.Jacobian(lambda a: (a * a).sum(-1), rows, True)
    assert batched.shape == (2, 1, 3)
    assert batched[:].tolist() == [[[0.5, 1.0, 1.5]], [[2.0, 2.5, 3.0]]]
    with pytest.raises(RuntimeError, match="one value to take second derivatives of"):
        paddle.incubate.autograd.Hessian(lambda x: x * x, z)


def test_products_with_jacobians_have_the_form_of_what_they_are_of():
    x, z = leaf(2, 2), leaf(3)
    functions = paddle.incubate.autograd
    _, pulled = functions.vjp(lambda a, b: (a.sum() * b, b * 2), [x, z], [z, z])
    assert [each.tolist() for each in pulled] == [[[0.875] * 2] * 2, [1.125, 2.25, 3.375]]
    values, pushed = functions.jvp(lambda a, b: (a.sum() * b, b * 2), [x, z])
    assert [each.tolist() for each in pushed] == [[3.5, 4.5, 5.5], [2.0, 2.0, 2.0]]
    assert values[1].tolist() == [0.5, 1.0, 1.5]
    _, alone = functions.vjp(lambda a: a @ a, x)
    assert alone.tolist() == [[1.75, 2.75], [2.25, 3.25]]
    with pytest.raises(GradientShapeError, match="expected v of shapes"):
        functions.vjp(lambda a: a @ a, x, z)


def test_derivatives_of_programs_are_variables():
    functions = paddle.incubate.autograd
    assert run(lambda a: functions.vjp(lambda x: x @ x, a)[1]) == [[[7.0, 11.0], [9.0, 13.0]]]
    assert run(lambda a: functions.jvp(lambda x: x @ x, a)[1]) == [[[7.0, 9.0], [11.0, 13.0]]]
    assert run(lambda a: functions.Jacobian(lambda x: x @ x, a)[1]) == [[2.0, 5.0, 0.0, 2.0]]
    assert run(lambda a: functions.Hessian(lambda x: (x**3).sum(), a)[2]) == [[0.0, 0.0, 18.0, 0.0]]
    assert run(lambda a: paddle.autograd.jacobian(a * a, a, 0)[1]) == [[[6.0, 0.0], [0.0, 8.0]]]
    assert run(lambda a: functions.grad(functions.grad(a**3, a), a)) == [
        [[6.0, 12.0], [18.0, 24.0]]
    ]


def test_forward_gradients_want_primitive_operators():
    functions = paddle.incubate.autograd

    def build(a):
        with pytest.raises(RuntimeError, match="enable_prim"):
            functions.forward_grad(a @ a, a)
        functions.enable_prim()
        try:
            assert functions.prim_enabled()
            return functions.forward_grad([a @ a, a * a], [a], [a])
        finally:
            functions.disable_prim()

    assert run(build) == [[[14.0, 20.0], [30.0, 44.0]], [[2.0, 8.0], [18.0, 32.0]]]


def test_gradients_of_programs_are_refused_in_dynamic_mode():
    functions = paddle.incubate.autograd
    x = leaf(2)
    for call in (
        lambda: functions.forward_grad(x * x, x),
        lambda: functions.grad(x * x, x),
        functions.enable_prim,
        functions.prim_enabled,
    ):
        with pytest.raises(AssertionError, match="enable_static"):
            call()
