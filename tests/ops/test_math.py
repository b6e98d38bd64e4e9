"""Products, scaling, sums, conversion and clipping against loops and by hand."""

import math

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer
from one_operator import OneOperator

f = evaluator()
rng = np.random.default_rng(0)


def product(x, y):
    """The product of two matrices by loops."""
    out = np.zeros([x.shape[0], y.shape[1]])
    for i, j in np.ndindex(out.shape):
        out[i, j] = math.fsum(x[i, k] * y[k, j] for k in range(x.shape[1]))
    return out


def test_mul_flattens_both_sides_to_matrices():
    x, y = rng.normal(size=[2, 3, 4, 5]), rng.normal(size=[4, 5, 2, 3])
    expected = product(x.reshape(6, 20), y.reshape(20, 6)).reshape(2, 3, 2, 3)
    found = f.mul(x, y, x_num_col_dims=2, y_num_col_dims=2)
    np.testing.assert_allclose(found, expected)
    x, y = rng.normal(size=[2, 3]), rng.normal(size=[3, 4])
    np.testing.assert_allclose(f.mul(x, y), product(x, y))


def test_gradients_of_mul_are_products_with_the_other_side():
    x, y, g = rng.normal(size=[2, 3, 4]), rng.normal(size=[12, 5]), rng.normal(size=[2, 5])
    by_x, by_y = pull_back(f, lambda f, x, y: f.mul(x, y), [x, y], [g])
    np.testing.assert_allclose(by_x, product(g, y.T).reshape(x.shape))
    np.testing.assert_allclose(by_y, product(x.reshape(2, 12).T, g))


@pytest.mark.parametrize("y_turned", [False, True])
@pytest.mark.parametrize("x_turned", [False, True])
@pytest.mark.parametrize(
    "x_batch, y_batch",
    [([], []), ([5], [5]), ([5], []), ([], [5]), ([6, 1], [5]), ([5, 1], [1, 6])],
)
def test_matmul_of_each_pair_of_matrices(x_batch, y_batch, x_turned, y_turned):
    x, y = rng.normal(size=[*x_batch, 2, 3]), rng.normal(size=[*y_batch, 3, 4])
    batch = np.broadcast_shapes(x_batch, y_batch)
    xs, ys = np.broadcast_to(x, [*batch, 2, 3]), np.broadcast_to(y, [*batch, 3, 4])
    expected = np.empty([*batch, 2, 4])
    for index in np.ndindex(*batch):
        expected[index] = 0.5 * product(xs[index], ys[index])
    x = np.swapaxes(x, -1, -2).copy() if x_turned else x
    y = np.swapaxes(y, -1, -2).copy() if y_turned else y
    found = f.matmul(x, y, transpose_X=x_turned, transpose_Y=y_turned, alpha=0.5)
    np.testing.assert_allclose(found, expected, 1e-12, 1e-12)


def test_vectors_are_rows_on_the_left_and_columns_on_the_right():
    u, v, m = rng.normal(size=3), rng.normal(size=3), rng.normal(size=[3, 4])
    stack = rng.normal(size=[5, 3, 4])
    np.testing.assert_allclose(f.matmul(u, v), [sum(a * b for a, b in zip(u, v))])
    np.testing.assert_allclose(f.matmul(u, m), product(u[None], m)[0])
    np.testing.assert_allclose(f.matmul(m, v, transpose_X=True), product(m.T, v[:, None])[:, 0])
    np.testing.assert_allclose(f.matmul(u, stack), [product(u[None], m)[0] for m in stack])
    found = f.matmul(u, v, transpose_X=True, transpose_Y=True)
    np.testing.assert_allclose(found, [[a * b for b in v] for a in u])


def test_matmul_knows_unknown_sizes():
    out = lambda x, y, **attrs: infer("matmul", attrs, X=(x, "float32"), Y=(y, "float32"))["Out"]
    assert out([-1, 3], [3, 4]).shape == (-1, 4)
    assert out([-1, 2, 3], [-1, 3, 4]).shape == (-1, 2, 4)
    assert out([5, 2, -1], [3, 4]).shape == (5, 2, 4)
    assert out([-1, 3], [4, 3], transpose_Y=True).shape == (-1, 4)


def test_products_that_do_not_fit_are_refused():
    x, y = ([2, 3], "float32"), ([4, 5], "float32")
    message = (
        r"as many columns in X as rows in Y, got 3 and 4: X of shape \[2, 3\], Y of shape \[4, 5"
    )
    with pytest.raises(ShapeError, match=message):
        infer("matmul", X=x, Y=y)
    with pytest.raises(ShapeError, match="got 2 and 5.* with transpose_X and transpose_Y"):
        infer("matmul", dict(transpose_X=True, transpose_Y=True), X=x, Y=y)
    with pytest.raises(ShapeError, match=r"got 3 and 4: X of shape \[2, 3\] with x_num_col_dims=1"):
        infer("mul", X=x, Y=y)
    with pytest.raises(
        ShapeError, match="expected Y to have more than y_num_col_dims=2 dimensions"
    ):
        infer("mul", dict(y_num_col_dims=2), X=x, Y=([3, 4], "float32"))
    with pytest.raises(
        ShapeError, match=r"expected X to have at least 1 dimension, got shape \[\]"
    ):
        infer("matmul", X=([], "float32"), Y=y)


@pytest.mark.parametrize("type", ["mul", "matmul"])
def test_products_are_of_floats_of_one_type(type):
    x = ([2, 3], "float32")
    with pytest.raises(DTypeError, match="expected Y to be float16, float32 or float64, got int64"):
        infer(type, X=x, Y=([3, 4], "int64"))
    with pytest.raises(DTypeError, match="expected one element type, got X float32, Y float64"):
        infer(type, X=x, Y=([3, 4], "float64"))


def test_scale_adds_the_bias_after_or_before():
    x = np.array([1.0, -2.0])
    np.testing.assert_array_equal(f.scale(x, scale=3.0, bias=0.5), [3.5, -5.5])
    found = f.scale(x, scale=3.0, bias=0.5, bias_after_scale=False)
    np.testing.assert_array_equal(found, [4.5, -4.5])
    found = f.scale(x, np.array([2.0], "float32"), scale=3.0, bias=0.5)
    np.testing.assert_array_equal(found, [2.5, -3.5])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers_are_scaled_by_integers(dtype):
    found = f.scale(np.array([3, 4], dtype), scale=2.5, bias=1.5)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, [7, 9])


def test_large_integers_are_scaled_exactly():
    np.testing.assert_array_equal(f.scale(np.array([2**53 + 1]), bias=1.0), [2**53 + 2])


def test_increment_adds_a_step_in_the_type_of_its_input():
    np.testing.assert_array_equal(f.increment(np.array([1.5]), step=2.0), [3.5])
    found = f.increment(np.array([3], "int32"), step=1.75)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [4])


def test_sum_of_several_tensors():
    xs = [rng.normal(size=[2, 3]) for _ in range(4)]
    expected = [[math.fsum(x[i, j] for x in xs) for j in range(3)] for i in range(2)]
    np.testing.assert_allclose(f.sum(xs), expected)
    np.testing.assert_array_equal(f.sum([np.array([1, 2]), np.array([3, 4])]), [4, 6])


def test_sum_is_of_tensors_of_one_shape():
    x = ([2, 3], "float32")
    with pytest.raises(ShapeError, match="expected at least one X, got none"):
        infer("sum", X=[])
    with pytest.raises(ShapeError, match=r"one shape, got X\[0\] \[2, 3\] and X\[2\] \[3\]"):
        infer("sum", X=[x, x, ([3], "float32")])
    with pytest.raises(DTypeError, match=r"got X\[0\] float32, X\[1\] int64"):
        infer("sum", X=[x, ([2, 3], "int64")])
    assert infer("sum", X=[([-1, 3], "float32"), x])["Out"].shape == (2, 3)


#: what is converted, to what, the result
CASTS = [
    ([1.7, -1.7, 0.2], "float32", "int32", [1, -1, 0]),
    ([0.0, 0.5, -2.0], "float32", "bool", [False, True, True]),
    ([-3, 2], "int64", "float32", [-3.0, 2.0]),
    ([False, True], "bool", "float64", [0.0, 1.0]),
    ([0.1], "float64", "float32", [0.1]),
]


@pytest.mark.parametrize("values, given, wanted, expected", CASTS)
def test_conversion_of_element_types(values, given, wanted, expected):
    found = f.cast(np.array(values, given), in_dtype=given, out_dtype=wanted)
    assert found.dtype == np.dtype(wanted)
    np.testing.assert_array_equal(found, np.array(expected, wanted))


def test_gradient_of_a_conversion_is_converted_back():
    x, g = np.array([1.0, 2.0], "float32"), np.array([0.5, -3.0])
    wider = lambda f, x: f.cast(x, in_dtype="float32", out_dtype="float64")
    (found,) = pull_back(f, wider, [x], [g])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, g)
    whole = lambda f, x: f.cast(x, in_dtype="float32", out_dtype="int64")
    assert pull_back(f, whole, [x], [np.array([1, 2])]) == [None]


def test_clip_keeps_elements_between_two_numbers():
    x = np.array([-2.0, -1.0, 0.0, 0.5, 3.0, np.nan], "float32")
    expected = [-1, -1, 0, 0.5, 0.5, np.nan]
    found = f.clip(x, min=-1.0, max=0.5)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    bounds = np.array([-1.0], "float32"), np.array([0.5], "float32")
    np.testing.assert_array_equal(f.clip(x, *bounds, min=0.0, max=0.0), expected)
    np.testing.assert_array_equal(f.clip(x, Max=bounds[1], min=-1.0, max=9.0), expected)


def test_no_gradient_passes_the_bounds_of_clip():
    x, g = np.array([-2.0, -1.0, 0.0, 0.5, 3.0]), np.arange(1.0, 6.0)
    (found,) = pull_back(f, lambda f, x: f.clip(x, min=-1.0, max=0.5), [x], [g])
    np.testing.assert_array_equal(found, [0, 0, 3, 0, 0])


def test_bounds_of_clip_are_in_order_and_numbers_of_the_same_type():
    x = ([2, 3], "float32")
    for low, high in ((1.0, -1.0), (1.0, 1.0)):
        with pytest.raises(
            AttributeValueError, match=f"min to be less than max, got min={low} and"
        ):
            infer("clip", dict(min=low, max=high), X=x)
    attrs = dict(min=0.0, max=0.0)
    with pytest.raises(ShapeError, match=r"expected Min to hold one number, got shape \[2\]"):
        infer("clip", attrs, X=x, Min=([2], "float32"))
    with pytest.raises(DTypeError, match="got X float32, Max float64"):
        infer("clip", attrs, X=x, Max=([1], "float64"))
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        infer("clip", dict(min=0.0, max=1.0), X=([2], "int64"))


def test_clip_by_norm_shortens_what_is_too_long():
    x = np.array([[3.0, 0.0], [0.0, -4.0]])
    np.testing.assert_allclose(f.clip_by_norm(x, max_norm=1.0), x / 5)
    np.testing.assert_array_equal(f.clip_by_norm(x, max_norm=5.0), x)
    np.testing.assert_array_equal(f.clip_by_norm(x, max_norm=9.0), x)
    np.testing.assert_array_equal(f.clip_by_norm(np.zeros(3), max_norm=1.0), np.zeros(3))
    assert f.clip_by_norm(x.astype("float32"), max_norm=1.0).dtype == np.float32


def test_norms_are_positive_and_of_floats():
    for norm in (0.0, -1.0):
        with pytest.raises(AttributeValueError, match=f"expected max_norm above 0, got {norm}"):
            infer("clip_by_norm", dict(max_norm=norm), X=([2], "float32"))
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int32"):
        infer("clip_by_norm", dict(max_norm=1.0), X=([2], "int32"))


def test_numbers_that_are_tensors_hold_one():
    with pytest.raises(
        ShapeError, match=r"expected ScaleTensor to hold one number, got shape \[3\]"
    ):
        infer("scale", X=([2], "float32"), ScaleTensor=([3], "float32"))
    with pytest.raises(ShapeError, match=r"expected X to hold one number, got shape \[2\]"):
        infer("increment", X=([2], "float32"))
    with pytest.raises(DTypeError, match="expected X to hold numbers, got bool"):
        infer("increment", X=([1], "bool"))


def written_rule(type, attrs, **inputs):
    """What backward writes for an operator: types, slots of variables, and listed attributes.

    Args:
        type: the operator's.
        attrs: its attributes.
        inputs: shape by slot, or a list of them; float32.
    """
    values = {k: [np.zeros(n, "float32") for n in shapes] for k, shapes in inputs.items()}
    one = OneOperator(type, values, {"Out": 1}, attrs)
    (out,), before = one.outputs["Out"], len(one.block.ops)
    one.gradients([("Out", 0)], [("X", k) for k in range(len(inputs["X"]))], [np.zeros(out.shape)])
    return [
        (op.type, dict(op.inputs), dict(op.outputs), {n: op.attr(n) for n in listed_attributes(op)})
        for op in one.block.ops[before:]
    ]


def listed_attributes(op):
    """The attributes that a written operator lists, without those that every operator has."""
    return [name for name in op.attr_names if name in op.definition.attributes]


def test_gradient_of_a_scale_is_a_scale():
    found = written_rule("scale", dict(scale=2.5, bias=0.5, bias_after_scale=False), X=[[2, 3]])
    attrs = dict(scale=2.5, bias=0.0, bias_after_scale=True)
    assert found == [("scale", {"X": ("Out@TG",)}, {"Out": ("X@GRAD",)}, attrs)]


def test_gradient_of_a_scale_by_a_tensor_reads_it_again():
    found = written_rule("scale", {}, X=[[2, 3]], ScaleTensor=[[1]])
    ins = {"X": ("Out@TG",), "ScaleTensor": ("ScaleTensor",)}
    attrs = dict(scale=1.0, bias=0.0, bias_after_scale=True)
    assert found == [("scale", ins, {"Out": ("X@GRAD",)}, attrs)]


def test_gradient_of_a_sum_is_a_scale_for_each_term():
    found = written_rule("sum", {}, X=[[2, 3], [2, 3]])
    assert found == [
        ("scale", {"X": ("Out@TG",)}, {"Out": (f"X{k}@GRAD",)}, dict(scale=1.0)) for k in range(2)
    ]


def test_gradient_of_a_cast_is_the_opposite_cast():
    found = written_rule("cast", dict(in_dtype="float32", out_dtype="float64"), X=[[2, 3]])
    attrs = dict(in_dtype=6, out_dtype=5)
    assert found == [("cast", {"X": ("Out@TG",)}, {"Out": ("X@GRAD",)}, attrs)]


def test_nothing_flows_through_a_cast_to_integers():
    assert written_rule("cast", dict(in_dtype="float32", out_dtype="int64"), X=[[2, 3]]) == []


def test_gradient_of_an_increment_is_passed_on():
    found = written_rule("increment", dict(step=2.0), X=[[1]])
    assert found == [("assign", {"X": ("Out@TG",)}, {"Out": ("X@GRAD",)}, {})]


@pytest.mark.parametrize("heads", [2, 3])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_heads_of_a_product_stand_side_by_side(heads, batch):
    x, y = rng.normal(size=[*batch, 4, 6]), rng.normal(size=[*batch, 6, 5])
    step = 6 // heads
    parts = [
        x[..., k * step : (k + 1) * step] @ y[..., k * step : (k + 1) * step, :]
        for k in range(heads)
    ]
    expected = 2 * np.concatenate(parts, axis=-1)
    turned = np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)
    np.testing.assert_allclose(f.matmul(x, y, head_number=heads, alpha=2.0), expected)
    found = f.matmul(*turned, transpose_X=True, transpose_Y=True, head_number=heads, alpha=2.0)
    np.testing.assert_allclose(found, expected)


def test_heads_that_do_not_divide_the_columns_are_refused():
    with pytest.raises(ShapeError, match="expected 6 columns of X to be parts of head_number=4"):
        infer("matmul", dict(head_number=4), X=((4, 6), "float32"), Y=((6, 5), "float32"))
