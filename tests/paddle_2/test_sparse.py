"""Sparse tensors compute what dense ones do, with gradients of every order."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import AxisError, OutOfRangeError, ShapeError, UnsupportedError
from fluidlite.kernels import sparse as kernels

S, F = paddle.sparse, paddle.sparse.nn.functional
RANDOM = np.random.default_rng(5)


def sparse_array(*shape, share=0.4):
    return RANDOM.normal(size=shape) * (RANDOM.random(shape) < share)


def tensor(array, form="coo", stop=False):
    x = paddle.to_tensor(array)
    x = x.to_sparse_csr() if form == "csr" else x.to_sparse_coo(array.ndim)
    x.stop_gradient = stop
    return x


FORMS = [(form, shape) for form in ("coo", "csr") for shape in ((4, 5), (3, 4, 5))]


@pytest.mark.parametrize("form, shape", FORMS)
def test_products_are_those_of_dense_matrices(form, shape):
    array, other = sparse_array(*shape), sparse_array(*shape[:-2], 5, 3)
    x, y, dense = tensor(array, form), tensor(other, form), paddle.to_tensor(other)
    np.testing.assert_allclose(S.matmul(x, dense).numpy(), array @ other)
    np.testing.assert_allclose(S.matmul(x, y).to_dense().numpy(), array @ other, atol=1e-12)
    left = paddle.to_tensor(np.swapaxes(other, -1, -2))
    turned = S.transpose(x, [*range(array.ndim - 2), array.ndim - 1, array.ndim - 2])
    np.testing.assert_allclose(
        S.matmul(left, turned).numpy(), np.swapaxes(array @ other, -1, -2), atol=1e-12
    )
    mask = tensor(sparse_array(*(array @ other).shape), form)
    found = S.masked_matmul(paddle.to_tensor(array), dense, mask)
    there = mask.to_dense().numpy() != 0
    np.testing.assert_allclose(found.to_dense().numpy(), (array @ other) * there, atol=1e-12)
    assert found.is_sparse_csr() == (form == "csr")
    sums = S.matmul(x, y) * 2.0 + S.matmul(x, y)
    np.testing.assert_allclose(sums.numpy(), 3 * (array @ other), atol=1e-12)


@pytest.mark.parametrize("form", ["coo", "csr"])
def test_products_with_vectors_and_sums(form):
    array, vector = sparse_array(4, 5), RANDOM.normal(size=5)
    x, plus = tensor(array, form), sparse_array(4, 3)
    np.testing.assert_allclose(S.mv(x, paddle.to_tensor(vector)).numpy(), array @ vector)
    other = sparse_array(5, 3)
    found = S.addmm(paddle.to_tensor(plus), x, paddle.to_tensor(other), 2.0, 3.0)
    np.testing.assert_allclose(found.numpy(), 2 * plus + 3 * (array @ other), atol=1e-12)
    found = S.addmm(tensor(plus, form), x, tensor(other, form), 2.0, 3.0)
    np.testing.assert_allclose(found.numpy(), 2 * plus + 3 * (array @ other), atol=1e-12)
    assert S.pca_lowrank(x, 2)[1].shape == [2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
def test_scipy_and_numpy_compute_alike(dtype, monkeypatch):
    rows, cols = RANDOM.integers(0, 6, 20), RANDOM.integers(0, 4, 20)
    values, dense = RANDOM.integers(-4, 5, 20).astype(dtype), np.arange(12).reshape(4, 3)
    given = rows, cols, values, dense.astype(dtype), 6
    expected = np.zeros((6, 3), dtype)
    np.add.at(expected, rows, values[:, None] * dense.astype(dtype)[cols])
    for found in (kernels.sum_of_rows(*given), kernels.by_columns(*given)):
        assert found.dtype == dtype and (found == expected).all()
    monkeypatch.setattr(kernels, "_CHUNK", 7)
    inner = kernels.sampled(rows[:9] % 4, cols[:9], given[3], given[3])
    assert (inner == (dense[rows[:9] % 4] * dense[cols[:9]]).sum(1).astype(dtype)).all()


def slopes(function, *arrays, order):
    """A gradient of that order of a sum of squares, with respect to the first argument's values."""
    x, *others = arrays
    value = (function(x, *others) ** 2).sum()
    for _ in range(order):
        (slope,) = paddle.grad(value, x.values() if hasattr(x, "values") else x, create_graph=True)
        value = (slope**2).sum()
    return value


CASES = {
    "matmul": (lambda x, y: S.matmul(x, y), (5, 3)),
    "of sparse": (lambda x, y: S.matmul(x, y.to_sparse_coo(2)).to_dense(), (5, 3)),
    "softmax": (lambda x, y: F.softmax(x).to_dense() + y, (4, 5)),
    "multiply": (lambda x, y: S.multiply(x, S.coalesce(x)).to_dense() * y, (4, 5)),
    "divide": (lambda x, y: S.divide(x, 2.0).to_dense() / (y * y + 1.0), (4, 5)),
    "masked": (lambda x, y: S.masked_matmul(S.square(x).to_dense(), y, x).values(), (5, 5)),
    "sum": (lambda x, y: S.sum(S.sin(x), 0).to_dense() * y, (5,)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_three_orders_are_differences(name):
    function, shape = CASES[name]
    array = np.zeros((4, 5))
    places = [0, 0, 1, 2, 3, 3], [1, 4, 2, 0, 1, 3]
    array[places] = [0.5, -0.3, 0.8, 0.4, -0.6, 0.7]
    if name == "masked":
        function = lambda x, y: CASES["masked"][0](x, y)
    other = paddle.to_tensor(RANDOM.normal(size=shape) * 0.5)

    def of(values):
        return S.sparse_coo_tensor(places, values, [4, 5], stop_gradient=False)

    start, step = array[places], 1e-5
    for order in range(3):
        x = of(paddle.to_tensor(start))
        slopes(function, x, other, order=order).backward()
        found = x.grad.values().numpy()
        for k in (0, 3, 5):
            shift = np.eye(6)[k] * step
            above, below = (
                float(slopes(function, of(paddle.to_tensor(start + s)), other, order=order))
                for s in (shift, -shift)
            )
            np.testing.assert_allclose(found[k], (above - below) / (2 * step), 2e-5, 1e-6)


ELEMENTS = "abs asin asinh atan atanh deg2rad expm1 log1p neg rad2deg sin sinh sqrt square tan tanh"
OF_ONE = {
    **{name: getattr(S, name) for name in ELEMENTS.split()},
    **{f.__name__: f for f in (F.relu, F.relu6, F.leaky_relu, F.softmax)},
    "pow": lambda x: S.pow(x, 0.5),
    "transpose": lambda x: S.transpose(x, [1, 0]),
    "reshape": lambda x: S.reshape(x, [2, 10]),
    "sum": lambda x: S.sum(x, -1, keepdim=True),
    "slice": lambda x: S.slice(x, [0, 1], [1, 0], [3, 3]),
    "add": lambda x: S.add(x, S.square(x)),
    "subtract": lambda x: S.subtract(S.sin(x), x),
    "matmul": lambda x: S.matmul(S.transpose(x, [1, 0]), x),
    "left": lambda x: S.matmul(paddle.ones([3, 4], "float64"), x),
    "mv": lambda x: S.mv(x, paddle.arange(5.0, dtype="float64")),
    "addmm": lambda x: S.addmm(x, S.matmul(x, S.transpose(x, [1, 0])), x, 2.0, 3.0),
}


@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("name", OF_ONE)
def test_gradients_of_both_forms_are_differences(name, form):
    rows, columns = [0, 0, 1, 2, 3, 3], [1, 4, 2, 0, 1, 3]
    start = np.array([0.5, 0.3, 0.8, 0.4, 0.6, 0.7])
    direction = np.array([0.3, -1.0, 0.7, 0.5, -0.2, 0.9])

    def of(values):
        if form == "coo":
            return S.sparse_coo_tensor([rows, columns], values, [4, 5], stop_gradient=False)
        return S.sparse_csr_tensor([0, 2, 3, 4, 6], columns, values, [4, 5], stop_gradient=False)

    def value(x):
        y = OF_ONE[name](x)
        return ((y if y.is_dense() else y.to_dense()) ** 2).sum()

    x = of(start)
    value(x).backward()
    above, below = (float(value(of(start + sign * direction * 1e-6))) for sign in (1, -1))
    found = x.grad.values().numpy() @ direction
    np.testing.assert_allclose(found, (above - below) / 2e-6, 1e-7)


@pytest.mark.parametrize("same_places", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"padding": 1},
        {"stride": 2, "padding": 1},
        {"dilation": 2, "padding": (1, 2)},
        {"padding": "SAME", "stride": 2},
    ],
)
def test_convolutions_are_those_of_dense_images(given, same_places):
    array = sparse_array(2, 6, 7, 1, share=0.3) * np.ones(3)
    x = paddle.to_tensor(array).to_sparse_coo(3)
    x.stop_gradient = False
    weight = paddle.to_tensor(RANDOM.normal(size=(3, 3, 3, 2)), stop_gradient=False)
    bias = paddle.to_tensor([0.5, -1.0], "float64")
    dense = paddle.to_tensor(array, stop_gradient=False)
    filters = paddle.to_tensor(weight.numpy(), stop_gradient=False)
    if same_places:
        given = {"dilation": given.get("dilation", 1)}
        expected = paddle.nn.functional.conv2d(
            dense, filters.transpose([3, 2, 0, 1]), bias, padding=given["dilation"],
            data_format="NHWC", **given,
        )  # fmt: skip
        y = F.subm_conv2d(x, weight, bias, **given)
        assert (y.indices().numpy() == x.indices().numpy()).all()
    else:
        expected = paddle.nn.functional.conv2d(
            dense, filters.transpose([3, 2, 0, 1]), bias, data_format="NHWC", **given
        )
        y = F.conv2d(x, weight, bias, **given)
    assert y.shape == expected.shape
    places = tuple(y.indices().numpy())
    np.testing.assert_allclose(y.values().numpy(), expected.numpy()[places], atol=1e-12)
    y.values().square().sum().backward()
    (paddle.gather_nd(expected, y.indices().t()) ** 2).sum().backward()
    np.testing.assert_allclose(weight.grad.numpy(), filters.grad.numpy(), atol=1e-10)
    at = tuple(x.indices().numpy())
    np.testing.assert_allclose(x.grad.values().numpy(), dense.grad.numpy()[at], atol=1e-10)


def test_windows_without_elements_have_none():
    x = S.sparse_coo_tensor(np.zeros((4, 0), "int64"), np.zeros((0, 2), "float32"), [1, 4, 4, 4, 2])
    weight = paddle.ones([2, 2, 2, 2, 3])
    for y in (F.conv3d(x, weight), F.subm_conv3d(x, weight)):
        assert y.nnz() == 0 and y.values().shape == [0, 3] and y.shape[-1] == 3
    pooled = F.max_pool3d(x, 2)
    assert pooled.shape == [1, 2, 2, 2, 2] and pooled.nnz() == 0
    full = paddle.ones([1, 3, 3, 3, 1]).to_sparse_coo(4)
    assert F.max_pool3d(full, 2, ceil_mode=True).shape == [1, 2, 2, 2, 1]


def test_attention_looks_where_the_mask_says():
    q, k, v = (paddle.to_tensor(RANDOM.normal(size=(2, 3, 4, 5))) for _ in range(3))
    mask = RANDOM.random((6, 4, 4)) < 0.7
    mask[:, np.arange(4), np.arange(4)] = True
    padding, causal = np.ones((2, 4)), np.tri(4)
    padding[1, 2] = 0
    found = F.attention(
        q, k, v, paddle.to_tensor(mask.astype("float64")).to_sparse_csr(),
        paddle.to_tensor(padding), paddle.to_tensor(causal),
    )  # fmt: skip
    scores = q.numpy() @ np.swapaxes(k.numpy(), -1, -2) / np.sqrt(5)
    seen = mask.reshape(2, 3, 4, 4) & (padding[:, None, None] != 0) & (causal != 0)
    powers = np.exp(scores) * seen
    shares = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-30)
    np.testing.assert_allclose(found.numpy(), shares @ v.numpy(), atol=1e-12)


def test_layers_train():
    paddle.seed(1)
    nn = paddle.sparse.nn
    net = paddle.nn.Sequential(
        nn.SubmConv3D(1, 4, 3), nn.BatchNorm(4), nn.ReLU(), nn.Conv3D(4, 2, 2), nn.LeakyReLU(0.1),
        nn.MaxPool3D(2, 1), nn.ReLU6(), nn.Softmax(),
    )  # fmt: skip
    opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
    x = tensor(sparse_array(1, 5, 5, 5, share=0.3).astype("float32")[..., None])
    x = S.sparse_coo_tensor(x.indices()[:4], x.values().reshape([-1, 1]), x.shape)
    losses = []
    for _ in range(8):
        loss = net(x).values()[:, 0].mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0] - 0.05
    assert [*net.state_dict()][:4] == ["0.weight", "0.bias", "1.weight", "1.bias"]


def some_tensor(turn):
    """A sparse tensor with places that are stored twice, and the dense one."""
    random = np.random.default_rng(turn)
    sizes = [*random.integers(0 if turn % 7 == 0 else 1, 5, random.integers(1, 4))]
    within = [*random.integers(1, 4, turn % 2)]
    stored = int(random.integers(0, 9)) * (0 not in sizes)
    places = np.array([random.integers(0, max(size, 1), stored) for size in sizes], "int64")
    values = random.normal(size=(stored, *within))
    dense = np.zeros([*sizes, *within])
    np.add.at(dense, tuple(places), values)
    x = S.sparse_coo_tensor(places, values, dense.shape, stop_gradient=False)
    return random, x, dense


@pytest.mark.parametrize("turn", range(18))
def test_random_tensors_are_those_of_dense_ones(turn):
    random, x, dense = some_tensor(turn)
    _, y, other = some_tensor(turn)
    y, other = S.reshape(y * 2.0, y.shape), other * 2
    rank, split = dense.ndim, len(x.indices())

    def alike(found, expected):
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)

    alike(S.coalesce(x), dense)
    perm = [*random.permutation(split), *range(split, rank)]
    alike(S.transpose(x, perm), dense.transpose(perm))
    axes = [int(axis) for axis in random.permutation(rank)[: random.integers(1, rank + 1)]]
    keep = bool(turn % 3)
    total = dense.sum(tuple(axes), keepdims=keep)
    alike(S.sum(x, axes, keepdim=keep), total if keep or {*range(split)} - {*axes} else total[None])
    starts, ends = (random.integers(-5, 6, rank).tolist() for _ in "12")
    alike(S.slice(x, range(rank), starts, ends), dense[tuple(map(slice, starts, ends))])
    for function in (np.add, np.subtract, np.multiply, np.divide):
        with np.errstate(all="ignore"):
            alike(getattr(S, function.__name__)(x, y), function(dense, other))
    if split == rank > 1:
        rows = x.to_sparse_csr()
        alike(rows, dense)
        alike(rows.to_sparse_coo(), dense)
        alike(S.sum(rows, -1, keepdim=True), dense.sum(-1, keepdims=True))
        factor = random.normal(size=(*dense.shape[:-2], dense.shape[-1], 3))
        for each in (x, rows):
            alike(S.matmul(each, paddle.to_tensor(factor)), dense @ factor)
    (x.to_dense() ** 2).sum().backward()
    alike(S.coalesce(x).to_dense(), dense)
    np.testing.assert_allclose(x.grad.values().numpy(), 2 * dense[tuple(x.indices().numpy())])


# -- what they are ---------------------------------------------------------------------------------


def test_values_are_what_gradients_flow_through():
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = S.sparse_coo_tensor([[0, 2]], values * 2.0, [3], stop_gradient=False)
    assert not x.is_leaf
    x.retain_grads()
    S.square(x).to_dense().sum().backward()
    assert values.grad.tolist() == [8.0, 16.0] and x.grad.to_dense().tolist() == [4.0, 0.0, 8.0]
    stopped = S.sparse_coo_tensor([[0, 2]], values, [3])
    assert stopped.stop_gradient and not values.stop_gradient
    assert x.detach().stop_gradient and copy.deepcopy(x).is_leaf
    y = S.sin(tensor(np.array([0.5, 0.0])))
    y.backward(y)
    x = tensor(np.array([0.5, 0.0]))
    S.square(x).backward()
    assert x.grad.values().tolist() == [1.0]
    x.clear_grad()
    assert x.grad.values().tolist() == [0.0]
    (x.clone().cpu().values() * 3.0).sum().backward()
    assert np.asarray(x.grad).tolist() == [3.0, 0.0]
    assert pickle.loads(pickle.dumps(x)).tolist() == copy.copy(x).tolist() == [0.5, 0.0]
    x.clear_gradient(False)
    assert x.grad is None


def test_gradients_of_sparse_tables_tell_their_rows():
    table = paddle.nn.Embedding(5, 2, sparse=True)
    table(paddle.to_tensor([1, 3, 1])).sum().backward()
    gradient = table.weight.grad
    assert gradient.is_selected_rows() and not gradient.is_dense()
    assert gradient.rows() == [1, 3, 1] and gradient.get_selected_rows().height() == 5
    assert gradient.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]
    with paddle.no_grad():
        gradient.add_(gradient)
    assert not gradient.is_selected_rows() and gradient.is_dense()


def test_sparse_tensors_have_sparse_gradients_of_gradients():
    x, y = tensor(np.array([2.0, 0.0, 3.0])), paddle.to_tensor(5.0, "float64", stop_gradient=False)
    value = (S.pow(x, 3).to_dense() * y).sum()
    slope, of_y = paddle.grad(value, [x, y], create_graph=True)
    assert slope.is_sparse_coo() and slope.to_dense().tolist() == [60, 0, 135]
    assert float(of_y) == 35 and paddle.is_tensor(slope)
    (second,) = paddle.grad(slope, x)
    assert second.values().tolist() == [60, 90] and x.grad is None
    assert paddle.grad(S.sin(y.reshape([1]).to_sparse_coo(1)), x, allow_unused=True) == [None]
    paddle.autograd.backward([S.square(x)])
    assert x.grad.to_dense().tolist() == [4, 0, 6]


def test_forms_tell_what_they_are():
    x = tensor(np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert (x.ndim, x.dim(), x.size, int(x.numel()), len(x), x.nnz()) == (2, 2, 4, 4, 2, 2)
    assert x.is_sparse() and x.is_sparse_coo() and not x.is_sparse_csr() and not x.is_dense()
    assert x.to_sparse_csr().is_sparse_csr() and x.astype("float32").dtype == paddle.float32
    assert (-x).tolist() == [[0, -1], [-2, 0]] and abs(-x).tolist() == x.tolist()
    assert (x - x).tolist() == [[0, 0], [0, 0]] and (2 * x**2 / 2).tolist() == [[0, 1], [4, 0]]
    assert (x @ paddle.ones([2, 1], "float64")).tolist() == [[1], [2]]
    assert (paddle.ones([1, 2], "float64") @ x).tolist() == [[2, 1]]
    dense = paddle.ones([2])
    assert dense.is_same_shape(dense) and dense.get_selected_rows() is None
    assert not dense.is_sparse() and dense.is_dense()
    for name in ("nnz", "indices", "values", "crows", "cols", "to_dense", "coalesce", "rows"):
        with pytest.raises(NotImplementedError, match="has no"):
            getattr(dense, name)()
    for name in ("crows", "cols", "rows"):
        with pytest.raises(UnsupportedError, match="COO form has no"):
            getattr(x, name)()


def static_values():
    with paddle.static.program_guard(paddle.static.Program()):
        paddle.enable_static()
        try:
            return S.sparse_coo_tensor([[0]], paddle.static.data("v", [1]), [3])
        finally:
            paddle.disable_static()


WRONG = [
    (ValueError, "a matrix", lambda: S.sparse_coo_tensor([0, 1], [1.0, 2], [3])),
    (ValueError, "whole numbers", lambda: S.sparse_coo_tensor([[0.5]], [1.0], [3])),
    (ValueError, "a value for each of 3", lambda: S.sparse_coo_tensor([[0, 1, 2]], [1.0, 2], [3])),
    (OutOfRangeError, r"\[0, 3\), got 5", lambda: S.sparse_coo_tensor([[0, 5]], [1.0, 2], [3])),
    (OutOfRangeError, "got -1", lambda: S.sparse_coo_tensor([[0, -1]], [1.0, 2], [3])),
    (ShapeError, "2 sizes", lambda: S.sparse_coo_tensor([[0], [1]], [1.0], [3])),
    (ValueError, "3 crows", lambda: S.sparse_csr_tensor([0, 1], [0], [1.0], [2, 2])),
    (ValueError, "to be 0", lambda: S.sparse_csr_tensor([1, 1], [0], [1.0], [1, 2])),
    (ValueError, "ascending", lambda: S.sparse_csr_tensor([0, 2], [0], [1.0], [1, 2])),
    (OutOfRangeError, "got 5", lambda: S.sparse_csr_tensor([0, 1], [5], [1.0], [1, 2])),
    (ShapeError, "two or three", lambda: S.sparse_csr_tensor([0, 1], [0], [1.0], [2])),
    (AxisError, "from 1 to 1", lambda: paddle.ones([2]).to_sparse_coo(2)),
    (ShapeError, "2 or 3", lambda: paddle.ones([2]).to_sparse_csr()),
    (ValueError, "sparse tensor", lambda: S.sin(paddle.ones([2]))),
    (ValueError, "sparse tensor", lambda: S.add(tensor(np.eye(2)), paddle.ones([2, 2]))),
    (UnsupportedError, "one form", lambda: S.add(tensor(np.eye(2)), tensor(np.eye(2), "csr"))),
    (ShapeError, "equal shapes", lambda: S.add(tensor(np.eye(2)), tensor(np.eye(3)))),
    (AxisError, "order 2", lambda: S.transpose(tensor(np.eye(2)), [0, 0])),
    (ShapeError, "elements", lambda: S.reshape(tensor(np.eye(2)), [3])),
    (ValueError, "a start and an end", lambda: S.slice(tensor(np.eye(2)), [0, 0], [0, 0], [1, 1])),
    (ShapeError, "as many columns", lambda: S.matmul(tensor(np.eye(2)), paddle.ones([3, 1]))),
    (ShapeError, "a mask of shape", lambda: S.masked_matmul(
        paddle.ones([2, 2]), paddle.ones([2, 3]), tensor(np.eye(2)))),
    (ValueError, "both", lambda: S.addmm(
        paddle.ones([2, 2], "float64"), tensor(np.eye(2)), tensor(np.eye(2)))),
    (AssertionError, "groups of 1", lambda: paddle.sparse.nn.Conv3D(2, 2, 3, groups=2)),
    (ValueError, "NDHWC", lambda: F.conv3d(tensor(np.ones((1, 2, 2, 2, 1))), paddle.ones(
        [1, 1, 1, 1, 1]), data_format="NCDHW")),
    (ValueError, "all but the channels", lambda: F.conv3d(
        tensor(np.ones((1, 2, 2, 2, 1))), paddle.ones([1, 1, 1, 1, 1]))),
    (UnsupportedError, "programs have no sparse", lambda: static_values()),
    (UnsupportedError, "neither true nor false", lambda: bool(tensor(np.eye(2)))),
    (UnsupportedError, "sparse_dim 2", lambda: tensor(np.eye(2)).to_sparse_coo(1)),
]  # fmt: skip


@pytest.mark.parametrize("kind, message, call", WRONG)
def test_what_means_nothing_is_refused(kind, message, call):
    with pytest.raises(kind, match=message):
        call()
