"""Functions that write their result in place of their first argument."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import InplaceError
from fluidlite.paddle import inplace

#: name -> the further arguments; of others there are none
MORE = {
    "addmm_": ([[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [1.5, 2.0]]),
    "cast_": ("float64",),
    "floor_divide_": ([[0.25, 0.5], [0.1, 0.3]],),
    "index_add_": ([0], 0, [[1.0, 2.0]]),
    "index_fill_": ([0], 0, 7.0),
    "index_put_": (([0], [1]), 5.0),
    "masked_fill_": ([[True, False], [False, True]], 3.0),
    "gcd_": ([[4, 6], [9, 2]],),
    "lcm_": ([[4, 6], [9, 2]],),
    "multigammaln_": (1,),
    "polygamma_": (1,),
    "renorm_": (2.0, 0, 0.5),
    "reshape_": ([4],),
    "scatter_": ([1, 0], [[1.0, 2.0], [3.0, 4.0]]),
    "squeeze_": (),
    "transpose_": ([1, 0],),
    "unsqueeze_": (0,),
}
BINARY = (
    "divide_", "equal_", "ldexp_", "floor_mod_", "greater_equal_", "greater_than_", "hypot_",
    "less_equal_", "less_than_", "logical_and_", "logical_or_", "logical_xor_", "mod_", "multiply_",
    "not_equal_", "pow_", "remainder_",
)  # fmt: skip
MORE.update(dict.fromkeys(BINARY, ([[0.25, 0.5], [0.1, 0.3]],)))
MORE["cumprod_"] = (0,)
WHOLE = {"bitwise_and_", "bitwise_or_", "bitwise_xor_", "bitwise_not_", "gcd_", "lcm_"}
DRAWN = {"cauchy_", "geometric_", "normal_"}


def operands(name):
    whole = name in WHOLE
    x = paddle.to_tensor([[1, 2], [3, 4]] if whole else [[0.25, 0.75], [0.1, 0.9]])
    given = ([[1, 3], [2, 2]],) if whole and name != "bitwise_not_" else MORE.get(name, ())
    convert = lambda v: paddle.to_tensor(v) if isinstance(v, list) and name != "reshape_" else v
    if name in ("renorm_", "multigammaln_", "polygamma_"):
        return x, given
    if name == "index_put_":
        return x, (tuple(map(paddle.to_tensor, given[0])), paddle.to_tensor(given[1]))
    return x, tuple(v if name in ("transpose_",) else convert(v) for v in given)


@pytest.mark.parametrize("name", sorted({*inplace.__all__} - DRAWN - {"where_"}))
def test_a_function_writes_what_the_one_without_underscore_gives(name):
    x, more = operands(name)
    expected = getattr(paddle, name[:-1])(x, *more)
    version = x.inplace_version
    found = getattr(paddle, name)(x, *more)
    assert found is x
    assert x.inplace_version == version + 1
    assert x.dtype == expected.dtype
    np.testing.assert_array_equal(x.numpy(), expected.numpy())


@pytest.mark.parametrize("name", ["acos_", "erf_", "log2_", "t_", "tan_"])
def test_gradients_flow_through_what_is_written(name):
    start, again = (paddle.to_tensor([[0.5, 0.25]], stop_gradient=False) for _ in range(2))
    x = start * 1.0
    getattr(paddle, name)(x)
    paddle.sum(x * x).backward()
    y = getattr(paddle, name[:-1])(again * 1.0)
    paddle.sum(y * y).backward()
    np.testing.assert_array_equal(start.grad.numpy(), again.grad.numpy())


def test_a_leaf_that_wants_a_gradient_is_not_written():
    x = paddle.to_tensor([0.5], stop_gradient=False)
    with pytest.raises(InplaceError, match="is a leaf that wants a gradient"):
        paddle.acos_(x)
    assert x.tolist() == [0.5]


def test_on_a_variable_they_are_the_functions_without_underscore():
    paddle.enable_static()
    x = paddle.static.data("x", [2])
    y = paddle.tanh_(x)
    paddle.disable_static()
    assert y is not x
    assert paddle.static.default_main_program().global_block().ops[-1].type == "tanh"


def test_elements_of_a_variable_are_drawn_anew():
    paddle.enable_static()
    x = paddle.static.data("x", [2, 3]) * 1.0
    drawn = paddle.normal_(x, 5.0, 0.0)
    paddle.disable_static()
    feed = {"x": np.zeros([2, 3], "float32")}
    (value,) = paddle.static.Executor().run(feed=feed, fetch_list=[drawn])
    np.testing.assert_array_equal(value, np.full([2, 3], 5.0))


def test_where_writes_to_its_second_argument():
    condition = paddle.to_tensor([True, False])
    x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])
    assert paddle.where_(condition, x, y) is x
    assert x.tolist() == [1.0, 4.0]
    assert condition.where_(x, y * 2.0).tolist() == [1.0, 8.0]


def test_elements_are_drawn_in_place_from_the_distribution_that_is_named():
    x = paddle.zeros([20001])
    assert abs(np.median(paddle.cauchy_(x, 3.0, 2.0).numpy()) - 3.0) < 0.1
    low, high = np.quantile(x.numpy(), [0.25, 0.75])
    assert abs(high - low - 4.0) < 0.2
    assert abs(paddle.geometric_(x, 0.25).numpy().mean() - 1 / -np.log(0.75)) < 0.1
