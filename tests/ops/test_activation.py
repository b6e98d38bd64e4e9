"""Activations against formulas for one number, at their kinks and far from zero too."""

import math

import numpy as np
import pytest

from fluidlite.backend import numpy_
from fluidlite.errors import AttributeValueError, DTypeError, NoGradientError, ShapeError
from fluidlite.ground.dtypes import as_dtype
from fluidlite.kernels import registered  # noqa: F401
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.prepared import preparation_of
from fluidlite.opdef.spec import Spec

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.uniform(-4, 4, [3, 4, 5])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softplus(x):
    return math.log(1 + math.exp(x))


def between(low, x, high):
    return min(max(x, low), high)


#: type -> attributes and the same as a function of one number
FORMULAS = {
    "tanh": [({}, math.tanh)],
    "tanh_shrink": [({}, lambda x: x - math.tanh(x))],
    "stanh": [
        ({}, lambda x: 1.7159 * math.tanh(0.67 * x)),
        (dict(scale_a=0.5, scale_b=2.0), lambda x: 2 * math.tanh(x / 2)),
    ],
    "sigmoid": [({}, sigmoid)],
    "logsigmoid": [({}, lambda x: math.log(sigmoid(x)))],
    "softplus": [({}, softplus)],
    "soft_relu": [({}, softplus), (dict(threshold=1.0), lambda x: softplus(between(-1, x, 1)))],
    "softsign": [({}, lambda x: x / (1 + abs(x)))],
    "gelu": [
        ({}, lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
        (
            dict(approximate=True),
            lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        ),
    ],
    "swish": [({}, lambda x: x * sigmoid(x)), (dict(beta=0.5), lambda x: x * sigmoid(x / 2))],
    "mish": [
        ({}, lambda x: x * math.tanh(softplus(x))),
        (
            dict(threshold=1.0),
            lambda x: x * math.tanh(x if x > 1 else math.exp(x) if x < -1 else softplus(x)),
        ),
    ],
    "relu": [({}, lambda x: max(x, 0))],
    "relu6": [
        ({}, lambda x: between(0, x, 6)),
        (dict(threshold=1.5), lambda x: between(0, x, 1.5)),
    ],
    "brelu": [
        ({}, lambda x: between(0, x, 24)),
        (dict(t_min=-1.0, t_max=2.0), lambda x: between(-1, x, 2)),
    ],
    "leaky_relu": [
        (dict(alpha=0.25), lambda x: x if x > 0 else x / 4),
        ({}, lambda x: x if x > 0 else 0.02 * x),
    ],
    "thresholded_relu": [
        ({}, lambda x: x if x > 1 else 0),
        (dict(threshold=-0.5), lambda x: x if x > -0.5 else 0),
    ],
    "elu": [
        ({}, lambda x: x if x > 0 else math.exp(x) - 1),
        (dict(alpha=0.5), lambda x: x if x > 0 else (math.exp(x) - 1) / 2),
    ],
    "selu": [
        ({}, lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x))),
        (dict(scale=2.0, alpha=0.5), lambda x: 2 * x if x > 0 else math.expm1(x)),
    ],
    "hard_shrink": [
        ({}, lambda x: x if abs(x) > 0.5 else 0),
        (dict(threshold=2.0), lambda x: x if abs(x) > 2 else 0),
    ],
    "softshrink": [
        ({}, lambda x: x - 0.5 if x > 0.5 else x + 0.5 if x < -0.5 else 0),
        ({"lambda": 2.0}, lambda x: x - 2 if x > 2 else x + 2 if x < -2 else 0),
    ],
    "hard_sigmoid": [
        ({}, lambda x: between(0, 0.2 * x + 0.5, 1)),
        (dict(slope=0.5, offset=0.25), lambda x: between(0, x / 2 + 0.25, 1)),
    ],
    "hard_swish": [
        ({}, lambda x: x * between(0, x + 3, 6) / 6),
        (dict(threshold=4.0, scale=3.0, offset=1.0), lambda x: x * between(0, x + 1, 4) / 3),
    ],
}
CASES = [
    pytest.param(type, attrs, function, id=f"{type}-{k}")
    for type, ways in FORMULAS.items()
    for k, (attrs, function) in enumerate(ways)
]


@pytest.mark.parametrize("type, attrs, function", CASES)
def test_function_of_each_element(type, attrs, function):
    expected = np.reshape([function(v) for v in X.ravel().tolist()], X.shape)
    found = getattr(f, type)(X, **attrs)
    np.testing.assert_allclose(found, expected, 1e-6, 1e-12)  # attributes are float32
    found = getattr(f, type)(X.astype("float32"), **attrs)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("type", FORMULAS)
def test_large_numbers_give_finite_values_and_gradients(type):
    x = np.array([-1e4, -100, -50, 50, 100, 1e4], "float32")
    found = getattr(f, type)(x)
    assert np.isfinite(found).all()
    (gradient,) = pull_back(f, lambda f, x: getattr(f, type)(x), [x], [np.ones_like(x)])
    assert np.isfinite(gradient).all()
    assert gradient.dtype == np.float32


#: type, attributes, X, the gradient there
KINKS = [
    ("relu", {}, [-1, 0, 1], [0, 0, 1]),
    ("relu6", {}, [0, 3, 6], [0, 1, 0]),
    ("brelu", dict(t_min=-1.0, t_max=2.0), [-1, 0, 2], [0, 1, 0]),
    ("leaky_relu", dict(alpha=0.5), [-1, 0, 1], [0.5, 0.5, 1]),
    ("thresholded_relu", {}, [0.5, 1, 1.5], [0, 0, 1]),
    ("elu", dict(alpha=0.5), [0, 1], [0.5, 1]),
    ("hard_shrink", {}, [-0.5, 0, 0.5, 1], [0, 0, 0, 1]),
    ("softshrink", {}, [-0.5, 0, 0.5, 1], [0, 0, 0, 1]),
    ("soft_relu", dict(threshold=1.0), [-3, -1, 0, 1, 3], [0, 0, 0.5, 0, 0]),
    ("softsign", {}, [-1, 0, 1], [0.25, 1, 0.25]),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("type, attrs, x, slopes", KINKS)
def test_gradient_at_a_kink(type, attrs, x, slopes, dtype):
    function = lambda f, x: getattr(f, type)(x, **attrs)
    x = np.array(x, dtype)
    (found,) = pull_back(f, function, [x], [np.full_like(x, 2)])
    np.testing.assert_allclose(found, 2 * np.array(slopes), 1e-6)


def test_soft_rectifier_keeps_the_digits_of_a_small_slope():
    x = np.array([-30.0])
    (found,) = pull_back(f, lambda f, x: f.soft_relu(x), [x], [np.ones(1)])
    np.testing.assert_allclose(found, [math.exp(-30) / (1 + math.exp(-30))], 1e-12)


def test_sigmoid_keeps_the_digits_of_small_values():
    found = f.sigmoid(np.array([-700.0, -40.0, 40.0]))
    np.testing.assert_allclose(found, [math.exp(-700), math.exp(-40), 1], 1e-12)
    np.testing.assert_allclose(f.logsigmoid(np.array([-700.0, 40.0])), [-700, -math.exp(-40)])


def test_gradient_of_a_leaky_rectifier_needs_a_slope_that_keeps_signs():
    with pytest.raises(NoGradientError, match=r"needs alpha >= 0; got alpha=-0.5"):
        pull_back(f, lambda f, x: f.leaky_relu(x, alpha=-0.5), [X], [X])


def sloped(x, slope_at):
    """Negative elements times their slopes, which depend on the index."""
    out, by_x = x.copy(), np.ones_like(x)
    for index in np.ndindex(x.shape):
        if x[index] <= 0:
            by_x[index] = slope_at(*index)
            out[index] *= by_x[index]
    return out, by_x


PRELU = {
    "all": ([1], lambda alpha: lambda n, c, i: alpha[0]),
    "channel": ([1, 4, 1], lambda alpha: lambda n, c, i: alpha[0, c, 0]),
    "element": ([1, 4, 5], lambda alpha: lambda n, c, i: alpha[0, c, i]),
}


@pytest.mark.parametrize("mode", PRELU)
def test_learned_slopes_are_shared_as_the_mode_says(mode):
    shape, slopes = PRELU[mode]
    alpha, g = rng.uniform(0.1, 0.9, shape), rng.normal(size=X.shape)
    out, slope = sloped(X, slopes(alpha))
    np.testing.assert_allclose(f.prelu(X, alpha, mode=mode), out)
    prelu = lambda f, x, alpha: f.prelu(x, alpha, mode=mode)
    by_x, by_alpha = pull_back(f, prelu, [X, alpha], [g])
    np.testing.assert_allclose(by_x, g * slope)
    expected = np.zeros(shape)
    for n, c, i in np.ndindex(X.shape):
        if X[n, c, i] <= 0:
            at = tuple(0 if size == 1 else k for k, size in zip((n, c, i)[-len(shape) :], shape))
            expected[at] += g[n, c, i] * X[n, c, i]
    np.testing.assert_allclose(by_alpha, expected)


def test_slopes_fit_the_input():
    x = ([2, 3, 4], "float32")
    with pytest.raises(
        ShapeError, match=r"expected Alpha to hold 3 slopes for X of shape \[2, 3, 4"
    ):
        infer("prelu", dict(mode="channel"), X=x, Alpha=([4], "float32"))
    with pytest.raises(
        ShapeError, match=r"mode 'element' needs X of 2 or more dimensions, got \[5"
    ):
        infer("prelu", dict(mode="element"), X=([5], "float32"), Alpha=([1], "float32"))
    with pytest.raises(
        AttributeValueError, match="expected mode all, channel or element, got 'row'"
    ):
        infer("prelu", dict(mode="row"), X=x, Alpha=([1], "float32"))
    with pytest.raises(DTypeError, match="expected one element type, got X float32, Alpha float64"):
        infer("prelu", X=x, Alpha=([1], "float64"))


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_maxout_takes_the_largest_of_neighbouring_channels(axis):
    x, groups = rng.normal(size=[2, 6, 4, 8]), 2
    moved = np.moveaxis(x, axis, 0)
    expected = [np.maximum(moved[2 * k], moved[2 * k + 1]) for k in range(len(moved) // groups)]
    found = f.maxout(x, groups=groups, axis=axis)
    np.testing.assert_array_equal(found, np.moveaxis(np.stack(expected), 0, axis))


def test_equal_members_of_a_group_share_the_gradient():
    x = np.array([[1.0, 1.0, 0.0, 2.0]])
    maxout = lambda f, x: f.maxout(x, groups=2)
    (found,) = pull_back(f, maxout, [x], [np.array([[6.0, 5.0]])])
    np.testing.assert_array_equal(found, [[3, 3, 0, 5]])


def test_groups_divide_the_channels():
    with pytest.raises(ShapeError, match=r"channels divisible by groups=4, got X of shape \[2, 6"):
        infer("maxout", dict(groups=4), X=([2, 6, 3, 3], "float32"))
    with pytest.raises(ShapeError, match=r"expected axis in \[-4, 4\), got 4"):
        infer("maxout", dict(groups=2, axis=4), X=([2, 6, 3, 3], "float32"))
    assert infer("maxout", dict(groups=2), X=([2, -1, 3], "float32"))["Out"].shape == (2, -1, 3)


@pytest.mark.parametrize("type", [*FORMULAS, "prelu", "maxout"])
def test_activations_take_no_integers(type):
    more = dict(Alpha=([1], "float32")) if type == "prelu" else {}
    attrs = dict(groups=1) if type == "maxout" else {}
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        infer(type, attrs, X=([2, 3], "int64"), **more)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_gelu_of_plans_keeps_the_bits_and_works_in_its_result(kind):
    x = np.linspace(-6, 6, 4001).astype(kind).reshape(1, -1)
    op = lookup("gelu")()
    kernel = preparation_of("gelu")(op, Spec(x.shape, as_dtype(kind)))
    out = np.empty_like(x)
    made = kernel.function(x, out=out)
    assert made is out
    np.testing.assert_array_equal(made, kernel.function(x))
    wide = x.astype("float32") if kind == "float16" else x  # which are computed in single precision
    np.testing.assert_array_equal(made, op.run(numpy_.xp, wide).astype(kind))
    other = np.empty((2, x.size), kind).T[:, :1].T  # not one element behind the other
    np.testing.assert_array_equal(kernel.function(x, out=other), made)
