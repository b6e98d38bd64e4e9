"""Products of vectors and matrices against loops over their elements."""

import itertools

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def product(x, y):
    """The product of two matrices, by loops."""
    rows, inner, columns = len(x), len(y), len(y[0])
    return [
        [sum(x[i][k] * y[k][j] for k in range(inner)) for j in range(columns)] for i in range(rows)
    ]


def test_bmm_multiplies_pairs_of_matrices():
    x, y = rng.normal(size=[2, 3, 4]), rng.normal(size=[2, 4, 5])
    expected = [product(a.tolist(), b.tolist()) for a, b in zip(x, y)]
    np.testing.assert_allclose(f.bmm(x, y), expected)


@pytest.mark.parametrize(
    "x, y, message",
    [
        ([2, 3, 4], [3, 4, 5], r"as many matrices in X as in Y, got shapes \[2, 3, 4\]"),
        ([2, 3, 4], [2, 5, 4], "as many columns in X as rows in Y, got 4 and 5"),
        ([3, 4], [4, 5], r"X to have 3 dimensions, got shape \[3, 4\]"),
    ],
)
def test_bmm_refuses_matrices_that_do_not_fit(x, y, message):
    with pytest.raises(ShapeError, match=message):
        infer("bmm", X=(x, "float32"), Y=(y, "float32"))


def test_dot_multiplies_rows():
    x, y = rng.normal(size=[3, 4]), rng.normal(size=[3, 4])
    expected = [[sum(a * b for a, b in zip(*rows))] for rows in zip(x, y)]
    np.testing.assert_allclose(f.dot(x, y), expected)
    np.testing.assert_allclose(f.dot(x[0], y[0]), expected[0])
    with pytest.raises(ShapeError, match=r"X and Y of the same shape, got \[4\], \[3\]"):
        infer("dot", X=([4], "float32"), Y=([3], "float32"))
    with pytest.raises(DTypeError, match="X to hold numbers, got bool"):
        infer("dot", X=([4], "bool"), Y=([4], "bool"))


def test_addmm_scales_product_and_summand():
    x, y, i = rng.normal(size=[3, 4]), rng.normal(size=[4, 2]), rng.normal(size=[1, 2])
    expected = 0.5 * np.array(product(x.tolist(), y.tolist())) - 2 * i
    np.testing.assert_allclose(f.addmm(i, x, y, Alpha=0.5, Beta=-2.0), expected)
    with pytest.raises(ShapeError, match=r"Input of shape \[3, 2\], or with sizes of 1"):
        infer("addmm", Input=([2, 2], "float32"), X=([3, 4], "float32"), Y=([4, 2], "float32"))


def test_cross_is_perpendicular_to_both():
    x, y = rng.normal(size=[2, 3, 4]), rng.normal(size=[2, 3, 4])
    found = f.cross(x, y)
    for i, j in itertools.product(range(2), range(4)):
        a, b = x[i, :, j], y[i, :, j]
        expected = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        np.testing.assert_allclose(found[i, :, j], expected)


def test_cross_needs_a_dimension_of_size_3():
    for attrs, message in (({}, "a dimension of size 3"), (dict(dim=1), r"size 3 along dim=1")):
        with pytest.raises(ShapeError, match=message):
            infer("cross", attrs, X=([2, 4], "float32"), Y=([2, 4], "float32"))


def test_kron_is_a_block_matrix():
    x, y = rng.normal(size=[2, 3]), rng.normal(size=[4, 5])
    found = f.kron(x, y)
    for i, j, k, l in np.ndindex(2, 3, 4, 5):
        assert found[i * 4 + k, j * 5 + l] == x[i, j] * y[k, l]
    np.testing.assert_array_equal(f.kron(x[0], y), f.kron(x[:1], y))


def test_bilinear_tensor_product_sums_over_both_inputs():
    x, y, w = rng.normal(size=[2, 3]), rng.normal(size=[2, 4]), rng.normal(size=[5, 3, 4])
    bias = rng.normal(size=[1, 5])
    found = f.bilinear_tensor_product(x, y, w, bias)
    for n, k in np.ndindex(2, 5):
        terms = (x[n, i] * w[k, i, j] * y[n, j] for i, j in np.ndindex(3, 4))
        np.testing.assert_allclose(found[n, k], sum(terms) + bias[0, k])


@pytest.mark.parametrize(
    "changed, message",
    [
        (dict(Y=[2, 5]), r"X \[n, i\], Y \[n, j\] and Weight \[k, i, j\]"),
        (dict(Bias=[5]), r"Bias of shape \[1, 5\], got \[5\]"),
        (dict(Weight=[5, 3]), r"Weight to have 3 dimensions"),
    ],
)
def test_bilinear_tensor_product_refuses_what_does_not_fit(changed, message):
    shapes = dict(X=[2, 3], Y=[2, 4], Weight=[5, 3, 4], Bias=[1, 5]) | changed
    with pytest.raises(ShapeError, match=message):
        infer("bilinear_tensor_product", **{k: (v, "float32") for k, v in shapes.items()})


def test_fsp_averages_products_of_channels():
    x, y = rng.normal(size=[2, 3, 4, 5]), rng.normal(size=[2, 1, 4, 5])
    found = f.fsp(x, y)
    for n, i, j in np.ndindex(2, 3, 1):
        terms = [x[n, i, h, w] * y[n, j, h, w] for h, w in np.ndindex(4, 5)]
        np.testing.assert_allclose(found[n, i, j], sum(terms) / 20)
    with pytest.raises(ShapeError, match="agree in all sizes but the channels"):
        infer("fsp", X=([2, 3, 4, 5], "float32"), Y=([2, 3, 5, 4], "float32"))


def test_fc_multiplies_adds_and_cuts_off():
    x, w, b = rng.normal(size=[2, 3, 4]), rng.normal(size=[12, 5]), rng.normal(size=[5])
    plain = np.array(product(x.reshape(2, 12).tolist(), w.tolist())) + b
    np.testing.assert_allclose(f.fc(x, w, b), plain)
    np.testing.assert_allclose(f.fc(x, w, b, activation_type="relu"), np.maximum(plain, 0))


def test_fc_leaves_the_padding_of_weights_out():
    x, w = rng.normal(size=[2, 3]), rng.normal(size=[7, 9])
    expected = product(x.tolist(), w[:3, :5].tolist())
    np.testing.assert_allclose(f.fc(x, w, padding_weights=True), expected)


def test_fc_refuses_other_activations_and_sizes():
    specs = dict(Input=([2, 3], "float32"), W=([3, 5], "float32"))
    with pytest.raises(AttributeValueError, match='activation_type "relu" or "", got \'tanh\''):
        infer("fc", dict(activation_type="tanh"), **specs)
    with pytest.raises(ShapeError, match="as many columns in Input as rows in W, got 3 and 4"):
        infer("fc", {}, Input=specs["Input"], W=([4, 5], "float32"))
    with pytest.raises(ShapeError, match="Bias of 5 numbers"):
        infer("fc", {}, **specs, Bias=([4], "float32"))
