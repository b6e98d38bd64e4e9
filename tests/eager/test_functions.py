"""Functions of tensors against NumPy's, and their gradients against finite differences."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidWarning, ShapeError

rng = np.random.default_rng(0)
X = rng.uniform(0.2, 0.9, [3, 4])
Y = rng.uniform(0.2, 0.9, [3, 4])
V = rng.uniform(0.2, 0.9, [4])
I = np.array([2, 0, 2])

#: the function, and what NumPy has for it; of X, and Y where there are two parameters
SMOOTH = {
    "exp": (fluid.exp, np.exp),
    "expm1": (fluid.expm1, np.expm1),
    "log": (fluid.log, np.log),
    "log2": (fluid.log2, np.log2),
    "log10": (fluid.log10, np.log10),
    "log1p": (fluid.log1p, np.log1p),
    "sqrt": (fluid.sqrt, np.sqrt),
    "rsqrt": (fluid.rsqrt, lambda x: x**-0.5),
    "square": (fluid.square, np.square),
    "reciprocal": (fluid.reciprocal, lambda x: 1 / x),
    "sin": (fluid.sin, np.sin),
    "cos": (fluid.cos, np.cos),
    "tan": (fluid.tan, np.tan),
    "asin": (fluid.asin, np.arcsin),
    "acos": (fluid.acos, np.arccos),
    "atan": (fluid.atan, np.arctan),
    "sinh": (fluid.sinh, np.sinh),
    "cosh": (fluid.cosh, np.cosh),
    "tanh": (fluid.tanh, np.tanh),
    "abs": (fluid.abs, np.abs),
    "neg": (fluid.neg, np.negative),
    "clip": (lambda x: x.clip(0.4, 0.7), lambda x: np.clip(x, 0.4, 0.7)),
    "scale": (lambda x: fluid.scale(x, 2.0, 1.0, False), lambda x: 2 * (x + 1)),
    "pow": (lambda x: fluid.pow(x, 2.3), lambda x: x**2.3),
    "power": (fluid.pow, np.power),
    "add": (fluid.add, np.add),
    "subtract": (fluid.subtract, np.subtract),
    "multiply": (fluid.multiply, np.multiply),
    "divide": (fluid.divide, np.divide),
    "maximum": (fluid.maximum, np.maximum),
    "minimum": (fluid.minimum, np.minimum),
    "atan2": (fluid.atan2, np.arctan2),
    "lerp": (lambda x, y: fluid.lerp(x, y, 0.3), lambda x, y: x + 0.3 * (y - x)),
    "dot": (fluid.dot, lambda x, y: (x * y).sum(-1)),
    "outer": (fluid.outer, np.outer),
    "matmul": (lambda x, y: fluid.matmul(x, y, transpose_y=True), lambda x, y: x @ y.T),
    "matmul_x": (lambda x, y: fluid.matmul(x, y, transpose_x=True), lambda x, y: x.T @ y),
    **{
        f"matmul_vectors_{x_too}_{y_too}": (
            lambda x, x_too=x_too, y_too=y_too: fluid.matmul(x[1], x[0], x_too, y_too),
            lambda x: x[1] @ x[0],
        )
        for x_too in (False, True)
        for y_too in (False, True)
    },
    "matmul_vector_and_transposed": (
        lambda x: fluid.matmul(x[:, 0], x, transpose_x=True),
        lambda x: x[:, 0] @ x,
    ),
    "matmul_transposed_vector": (lambda x: fluid.matmul(x, x[0], False, True), lambda x: x @ x[0]),
    "matmul_vector": (lambda x: fluid.matmul(x, x[0]), lambda x: x @ x[0]),
    "matmul_vectors": (lambda x: fluid.matmul(x[1], x[0]), lambda x: x[1] @ x[0]),
    "sum": (fluid.sum, np.sum),
    "sum_axis": (lambda x: fluid.sum(x, -1), lambda x: x.sum(-1)),
    "sum_axes": (lambda x: fluid.sum(x, [0, 1], keepdim=True), lambda x: x.sum(keepdims=True)),
    "mean": (lambda x: fluid.mean(x, 0), lambda x: x.mean(0)),
    "max": (lambda x: fluid.max(x, 1), lambda x: x.max(1)),
    "min": (lambda x: fluid.min(x, 1, True), lambda x: x.min(1, keepdims=True)),
    "prod": (lambda x: fluid.prod(x, 1), lambda x: x.prod(1)),
    "var": (lambda x: fluid.var(x, 0), lambda x: x.var(0, ddof=1)),
    "std": (lambda x: fluid.std(x, unbiased=False), lambda x: x.std()),
    "logsumexp": (lambda x: fluid.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1))),
    "norm": (fluid.norm, np.linalg.norm),
    "norm_axis": (lambda x: fluid.norm(x, 3, 1), lambda x: (x**3).sum(1) ** (1 / 3)),
    "norm_1": (lambda x: fluid.norm(x, 1), lambda x: x.sum()),
    "dist": (fluid.dist, lambda x, y: np.linalg.norm(x - y)),
    "cumsum": (lambda x: fluid.cumsum(x, 1), lambda x: x.cumsum(1)),
    "cumsum_all": (fluid.cumsum, np.cumsum),
    "cumprod": (lambda x: fluid.cumprod(x, 1), lambda x: x.cumprod(1)),
    "median": (lambda x: fluid.median(x, 1), lambda x: np.median(x, 1)),
    "median_all": (fluid.median, np.median),
    "reshape": (lambda x: fluid.reshape(x, [2, -1]), lambda x: x.reshape(2, -1)),
    "flatten": (fluid.flatten, np.ravel),
    "squeeze": (lambda x: fluid.squeeze(fluid.unsqueeze(x, [0, 2])), lambda x: x),
    "unsqueeze": (lambda x: fluid.unsqueeze(x, -1), lambda x: x[..., None]),
    "transpose": (lambda x: fluid.transpose(x, [1, 0]), np.transpose),
    "t": (fluid.t, np.transpose),
    "moveaxis": (lambda x: fluid.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "swapaxes": (lambda x: fluid.swapaxes(x, 0, 1), np.transpose),
    "concat": (lambda x, y: fluid.concat([x, y, x], 1), lambda x, y: np.concatenate([x, y, x], 1)),
    "stack": (lambda x, y: fluid.stack([x, y], 1), lambda x, y: np.stack([x, y], 1)),
    "split": (lambda x: fluid.split(x, [1, -1], 1)[1], lambda x: x[:, 1:]),
    "chunk": (lambda x: fluid.chunk(x, 2, 1)[0], lambda x: x[:, :2]),
    "unstack": (lambda x: fluid.unstack(x, 1)[2], lambda x: x[:, 2]),
    "broadcast_to": (
        lambda x: fluid.broadcast_to(x[:, :1], [2, 3, 4]),
        lambda x: np.broadcast_to(x[:, :1], [2, 3, 4]),
    ),
    "tile": (lambda x: fluid.tile(x, [2, 1, 3]), lambda x: np.tile(x, [2, 1, 3])),
    "flip": (lambda x: fluid.flip(x, [0, -1]), lambda x: x[::-1, ::-1]),
    "roll": (lambda x: fluid.roll(x, 1, 0), lambda x: np.roll(x, 1, 0)),
    "roll_all": (lambda x: fluid.roll(x, 5), lambda x: np.roll(x, 5)),
    "tril": (fluid.tril, np.tril),
    "triu": (lambda x: fluid.triu(x, 1), lambda x: np.triu(x, 1)),
    "repeat": (lambda x: fluid.repeat_interleave(x, 2, 1), lambda x: x.repeat(2, 1)),
    "gather": (lambda x: fluid.gather(x, fluid.to_tensor(I), 1), lambda x: x[:, I]),
    "index_select": (lambda x: fluid.index_select(x, fluid.to_tensor(I)), lambda x: x[I]),
    "where": (lambda x, y: fluid.where(x > y, x, y), np.maximum),
    "where_number": (lambda x: fluid.where(x > 0.5, x, 0.0), lambda x: np.where(x > 0.5, x, 0)),
    "masked_select": (lambda x: fluid.masked_select(x, x > 0.5), lambda x: x[x > 0.5]),
    "masked_fill": (lambda x: fluid.masked_fill(x, x > 0.5, 2), lambda x: np.where(x > 0.5, 2, x)),
    "sort": (lambda x: fluid.sort(x, 0, True), lambda x: -np.sort(-x, 0)),
    "topk": (lambda x: fluid.topk(x, 2, largest=False)[0], lambda x: np.sort(x, 1)[:, :2]),
    "diag": (lambda x: fluid.diag(x[0], 1), lambda x: np.diag(x[0], 1)),
    "diagonal": (lambda x: fluid.diag(x, -1), lambda x: np.diag(x, -1)),
    "meshgrid": (lambda x: fluid.meshgrid(x[0], x[1])[1], lambda x: np.tile(x[1], [4, 1])),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_function_and_its_gradient(name):
    function, expected = SMOOTH[name]
    arrays = [X, Y][: expected.__code__.co_argcount if hasattr(expected, "__code__") else 2]
    if isinstance(expected, np.ufunc):
        arrays = [X, Y][: expected.nin]
    elif name in ("transpose", "t", "swapaxes", "flatten", "sum", "norm", "cumsum_all", "tril",
                  "median_all"):  # fmt: skip
        arrays = [X]
    elif name == "outer":
        arrays = [X, Y]
    tensors = [fluid.to_tensor(a, stop_gradient=False) for a in arrays]
    found = function(*tensors)
    np.testing.assert_allclose(found, expected(*arrays), 1e-12, 1e-14)
    weights = rng.normal(size=found.shape)
    found.backward(fluid.to_tensor(weights))
    directions = [rng.normal(size=a.shape) for a in arrays]
    h = 1e-6
    up, down = (
        np.sum(expected(*[a + s * h * d for a, d in zip(arrays, directions)]) * weights)
        for s in (1, -1)
    )
    slope = sum(
        np.sum(t.grad.numpy() * d) for t, d in zip(tensors, directions) if t.grad is not None
    )
    np.testing.assert_allclose(slope, (up - down) / (2 * h), 1e-6, 1e-8)


def test_questions():
    x = fluid.to_tensor([[1.0, np.nan], [np.inf, 0.0]])
    assert fluid.isnan(x).tolist() == [[False, True], [False, False]]
    assert fluid.isinf(x).tolist() == [[False, False], [True, False]]
    assert fluid.isfinite(x).tolist() == [[True, False], [False, True]]
    y = fluid.to_tensor([0, 2])
    assert bool(fluid.any(y)) and not bool(fluid.all(y))
    assert int(fluid.count_nonzero(y)) == 1
    assert fluid.logical_not(y).tolist() == [True, False]
    assert bool(fluid.equal_all(y, fluid.to_tensor([0, 2])))
    assert fluid.isclose(fluid.ones([1]), fluid.ones([1]) + 1e-7).tolist() == [True]


def test_places():
    x = fluid.to_tensor([[1.0, 3.0, 2.0], [9.0, 0.0, 9.0]])
    assert int(fluid.argmax(x)) == 3
    assert fluid.argmax(x, 1).tolist() == [1, 0]
    assert fluid.argmin(x, 0, keepdim=True).tolist() == [[0, 1, 0]]
    assert fluid.argsort(x, descending=True).tolist() == [[1, 2, 0], [0, 2, 1]]
    assert fluid.nonzero(x > 2.5).tolist() == [[0, 1], [1, 0], [1, 2]]
    values, inverse, counts = fluid.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [0, 1, 2, 3, 9]
    assert counts.tolist() == [1, 1, 1, 1, 2]
    assert inverse.tolist() == [1, 3, 2, 4, 0, 4]


def test_what_is_put_along_a_dimension():
    x = fluid.zeros([2, 3])
    places = fluid.to_tensor([[2], [0]])
    assert fluid.put_along_axis(x, places, 5.0, 1).tolist() == [[0, 0, 5], [5, 0, 0]]
    added = fluid.put_along_axis(x + 1.0, places, 5.0, 1, reduce="add")
    assert added.tolist() == [[1, 1, 6], [6, 1, 1]]
    assert fluid.take_along_axis(added, places, 1).tolist() == [[6], [6]]
    updates = fluid.ones([2, 3])
    found = fluid.scatter(x, fluid.to_tensor([1, 1]), updates, overwrite=False)
    assert found.tolist() == [[0, 0, 0], [2, 2, 2]]
    assert fluid.scatter_nd(fluid.to_tensor([[1], [1]]), fluid.ones([2]), [3]).tolist() == [0, 2, 0]


def test_sums_of_integers_and_truth_values_are_wide():
    assert str(fluid.sum(fluid.ones([3], "int32")).dtype) == "int64"
    assert int(fluid.sum(fluid.to_tensor([True, True]))) == 2
    with pytest.warns(FluidWarning, match="mean: that of int64 is int64"):
        assert str(fluid.mean(fluid.ones([3], "int64")).dtype) == "int64"


def test_creation():
    assert fluid.arange(5, 1, -2).tolist() == [5, 3]
    assert str(fluid.arange(3.0).dtype) == "float32"
    assert fluid.full([2], 7).tolist() == [7, 7]
    assert fluid.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    np.testing.assert_allclose(fluid.linspace(0, 1, 5), np.linspace(0, 1, 5))
    like = fluid.ones([2, 1], "float64")
    for made in (fluid.zeros_like(like), fluid.ones_like(like), fluid.full_like(like, 3)):
        assert (made.shape, str(made.dtype), made.stop_gradient) == ([2, 1], "float64", True)
    with pytest.raises(ShapeError, match="expected sizes of at least 0"):
        fluid.zeros([-1])


def test_random_numbers_begin_anew_with_a_seed():
    def drawn():
        fluid.seed(3)
        return [
            fluid.rand([3]),
            fluid.randn([2, 2]),
            fluid.uniform([4], min=2.0, max=3.0),
            fluid.normal(1.0, 2.0, [3]),
            fluid.randint(0, 5, [6]),
            fluid.randperm(7),
            fluid.bernoulli(fluid.full([5], 0.5)),
        ]

    first, second = drawn(), drawn()
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a, b)
    assert sorted(first[5].tolist()) == list(range(7))
    assert ((first[2].numpy() >= 2) & (first[2].numpy() < 3)).all()


@pytest.mark.parametrize("two", [2.0, 2.9, np.float32(2), np.array([2]), fluid.to_tensor(2.0)])
def test_fractions_of_a_single_number_are_cut_off(two):
    x = fluid.to_tensor([[[1.0, 3.0, 2.0]]])
    assert fluid.topk(x, two)[1].tolist() == [[[1, 2]]]
    assert fluid.concat([x, x], axis=two).shape == [1, 1, 6]
    assert fluid.gather(x, fluid.to_tensor([1]), axis=two).tolist() == [[[3.0]]]
    assert fluid.topk(x, True)[0].tolist() == [[[3.0]]]
    for wrong in ("2", None, float("nan")):
        with pytest.raises(ArgumentError, match="expected k to be integers"):
            fluid.topk(x, wrong)


def test_wrong_arguments_are_refused():
    x = fluid.ones([2, 3])
    with pytest.raises(ShapeError, match=r"expected axis in \[-2, 2\)"):
        fluid.sum(x, 2)
    with pytest.raises(ArgumentError, match="expected axis to be an integer"):
        fluid.sum(x, "rows")
    with pytest.raises(ArgumentError, match="expected shape to be integers"):
        fluid.reshape(x, [1.5])
    with pytest.raises(ArgumentError, match="expected x to be a list of tensors"):
        fluid.concat(x)
    with pytest.raises(ShapeError, match="cannot broadcast"):
        fluid.broadcast_to(x, [3, 3])
    with pytest.raises(ArgumentError, match="expected a tensor to reduce"):
        fluid.sum([1.0, 2.0])
    with pytest.raises(ArgumentError, match="expected at least one tensor"):
        fluid.maximum(1.0, 2.0)


def test_the_default_type_can_be_chosen():
    fluid.set_default_dtype("float64")
    assert fluid.get_default_dtype() == "float64"
    for made in (fluid.to_tensor(1.5), fluid.ones([1]), fluid.rand([1]), fluid.arange(2) / 2):
        assert str(made.dtype) == "float64"
    with pytest.raises(ArgumentError):
        fluid.set_default_dtype("int64")


def test_tanh_of_a_number_has_a_gradient():
    x = fluid.to_tensor(0.5, stop_gradient=False)
    fluid.tanh(x).backward()
    np.testing.assert_allclose(x.grad, 1 - np.tanh(0.5) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: fluid.unique_consecutive(fluid.to_tensor(3)), [3]),
        (lambda: fluid.unique_consecutive(fluid.zeros([0, 2], "int64")), []),
        (lambda: fluid.histogram(fluid.zeros([0]), 3), [0, 0, 0]),
        (lambda: fluid.nanmedian(fluid.to_tensor(2.0), axis=-1, keepdim=True), 2.0),
        (lambda: fluid.inner(fluid.to_tensor([2.0]), fluid.to_tensor([1.0, 3.0])), [2, 6]),
        (lambda: fluid.squeeze(fluid.to_tensor([[[1.0], [2.0]]]), []), [1, 2]),
        (lambda: fluid.masked_fill(fluid.to_tensor([1, 2]), np.array([True, False]), 7.5), [7, 2]),
        (lambda: fluid.view(fluid.to_tensor([1], "int32"), fluid.paddle.uint8), [1, 0, 0, 0]),
    ],
)
def test_functions_of_one_element_of_none_and_of_integers(call, expected):
    assert call().tolist() == expected


def test_integers_keep_their_type_where_no_fraction_is_made():
    whole = fluid.ones([2, 2], "int32")
    for made in (fluid.paddle.trace(whole), fluid.masked_fill(whole, whole > 0, 1.5)):
        assert made.array.dtype == "int32"


def test_a_mask_that_fits_nothing_is_refused():
    with pytest.raises(ShapeError):
        fluid.masked_select(fluid.ones([2, 4]), fluid.to_tensor([True, False, True]))
