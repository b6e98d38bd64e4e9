"""First values of parameters, and what paddle.nn.utils does with parameters."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError

first = paddle.nn.initializer


def made(initializer, shape, dtype="float32"):
    return paddle.create_parameter(shape, dtype, default_initializer=initializer).numpy()


@pytest.mark.parametrize("value", [[1.1, 2.2], (1.1, 2.2), np.array([1.1, 2.2])])
def test_given_values_keep_their_digits_in_double_precision(value):
    assert made(first.Assign(value), [2], "float64").tolist() == [1.1, 2.2]
    assert made(first.Assign(value), [2]).dtype == np.float32


@pytest.mark.parametrize("value", ["abc", 3.0, None])
def test_given_values_are_an_array_a_tensor_or_a_list(value):
    with pytest.raises(AssertionError, match="expected value to be an array"):
        first.Assign(value)


def test_computed_values_are_made_in_double_precision():
    for dtype, digits in (("float32", 6), ("float64", 14)):
        w = made(first.Orthogonal(2.0), [3, 5], dtype)
        assert w.dtype == dtype
        np.testing.assert_allclose(w @ w.T, 4 * np.eye(3), atol=10.0**-digits * 10)
    assert made(first.Dirac(), [2, 2, 3], "float64").sum() == 2


def test_programs_begin_with_such_values_too():
    paddle.enable_static()
    try:
        main, start = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, start):
            made = [
                paddle.create_parameter([2, 2, 3], dtype, default_initializer=first.Dirac())
                for dtype in ("float16", "float32", "float64")
            ]
    finally:
        paddle.disable_static()
    exe = paddle.static.Executor()
    exe.run(start)
    found = exe.run(main, fetch_list=made)
    assert [each.dtype.name for each in found] == ["float16", "float32", "float64"]
    assert all(each[0].tolist() == [[0, 1, 0], [0, 0, 0]] for each in found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_initializer_gives_a_tensor_other_elements(dtype):
    w = paddle.create_parameter([2, 3], dtype)
    assert first.Constant(4.0)(w) is None
    assert w.numpy().tolist() == [[4.0] * 3] * 2
    first.XavierUniform().forward(w)
    assert (abs(w.numpy()) < 1.1).all() and w.numpy().std() > 0
    assert w.dtype == getattr(paddle, dtype)


class _Called(first.Initializer):
    def __call__(self, param, block=None):
        param.set_value(paddle.full(param.shape, 3.0))
        return param


class _Forward(first.Initializer):
    def forward(self, param, block=None):
        param.set_value(np.full(param.shape, 3.0, "float32"))


class _Corrected(first.Normal):
    def __call__(self, param, block=None):
        super().__call__(param, block)
        assert param.numpy().any()
        param.set_value(param * 0 + 3)


class _PassedOn(first.Initializer):
    def __init__(self, value):
        self.value = value

    def __call__(self, param, block=None):
        first.Constant(self.value)(param, block)


@pytest.mark.parametrize("kind", [_Called, _Forward, _Corrected, lambda: _PassedOn(3.0)])
def test_a_class_of_yours_is_called_with_the_parameter(kind):
    layer = paddle.nn.Linear(
        2, 2, weight_attr=kind(), bias_attr=paddle.ParamAttr(initializer=kind())
    )
    assert layer.weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert layer.bias.tolist() == [3.0, 3.0]
    assert not layer.weight.stop_gradient


def test_gains_are_the_numbers_of_2_6():
    gains = {"sigmoid": 1, "linear": 1, "conv2d": 1, "conv3d_transpose": 1, "selu": 0.75}
    for name, gain in gains.items():
        assert first.calculate_gain(name) == gain
    assert first.calculate_gain("leaky_relu", True) == 1.0
    assert first.calculate_gain("leaky_relu", 0.5) == pytest.approx(1.6**0.5)
    with pytest.raises(AssertionError, match="param"):
        first.calculate_gain("leaky_relu", "steep")


def linear():
    weight = np.arange(6).reshape(2, 3).astype("float32") + 1
    layer = paddle.nn.Linear(2, 3, weight_attr=first.Assign(weight))
    layer(paddle.to_tensor([[1.0, 2.0]])).sum().backward()
    return layer


@pytest.mark.parametrize("order, norm", [(2.0, 18**0.5), (1, 12.0), (0, 2.0), (float("inf"), 2.0)])
def test_gradients_are_scaled_by_their_norm(order, norm):
    layer = linear()
    found = paddle.nn.utils.clip_grad_norm_(layer.parameters(), 1.0, order)
    assert float(found) == pytest.approx(norm)
    np.testing.assert_allclose(layer.bias.grad.numpy(), [1 / norm] * 3, rtol=1e-5)


def test_norms_that_are_not_finite_are_refused_where_that_is_said():
    w = paddle.create_parameter([2], "float32")
    (w * float("inf")).sum().backward()
    with pytest.raises(RuntimeError, match="finite norm, got inf"):
        paddle.nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    with pytest.raises(ValueError, match="at least 0"):
        paddle.nn.utils.clip_grad_value_([w], -1.0)


def test_a_vector_of_parameters_is_apart_from_them():
    layer = linear()
    vector = paddle.nn.utils.parameters_to_vector(layer.parameters())
    vector.sum().backward()
    assert not vector.stop_gradient
    assert layer.weight.grad.tolist() == [[1.0] * 3, [2.0] * 3]


@pytest.mark.parametrize(
    "name, dim, sizes", [("weight", -2, [2]), ("weight", 1, [3]), ("bias", 0, [3])]
)
def test_lengths_are_along_a_dimension(name, dim, sizes):
    layer = paddle.nn.utils.weight_norm(linear(), name, dim)
    assert getattr(layer, f"{name}_g").shape == sizes
    with pytest.raises(ArgumentError, match="a dimension of 'weight'"):
        paddle.nn.utils.weight_norm(linear(), dim=5)


@pytest.mark.parametrize("options", [{"n_power_iterations": 0}, {"dim": 4}])
def test_spectral_norms_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match="expected"):
        paddle.nn.utils.spectral_norm(linear(), **options)
