"""Tensors without elements, and without dimensions, through functions and their gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ShapeError

F = fluid.nn.functional
SHAPES = [(0,), (2, 0), (0, 3), (0, 0), (2, 0, 3), (0, 1, 0)]
AXES = [{}, {"axis": 0}, {"axis": -1}, {"axis": 0, "keepdim": True}, {"axis": -1, "keepdim": True}]
REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "logsumexp": lambda x, **where: np.log(np.sum(np.exp(x), **where)),
    "norm": lambda x, **where: np.sqrt(np.sum(x * x, **where)),
}
ALIKE = {
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "sort": fluid.sort,
    "cumsum": fluid.cumsum,
    "flip": lambda x, axis=0: fluid.flip(x, axis),
    "tanh": lambda x, axis=0: fluid.tanh(x),
    "cumprod": lambda x, axis=0: fluid.cumprod(x, axis),
}


def leaf(shape):
    return fluid.to_tensor(np.ones(shape, "float64"), stop_gradient=False)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_no_elements_and_their_gradients(name, shape):
    for where in AXES:
        x = leaf(shape)
        out = getattr(fluid, name)(x, **where)
        theirs = {"keepdims" if k == "keepdim" else k: v for k, v in where.items()}
        np.testing.assert_array_equal(out.numpy(), REDUCTIONS[name](x.numpy(), **theirs))
        out.sum().backward()
        assert x.grad.shape == list(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ALIKE)
def test_functions_along_a_dimension_keep_a_shape_without_elements(name, shape):
    for axis in (0, -1):
        x = leaf(shape)
        out = ALIKE[name](x, axis=axis)
        out.sum().backward()
        assert out.shape == x.grad.shape == list(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_other_shapes_of_no_elements_and_their_gradients(shape):
    for change in (
        lambda x: fluid.unsqueeze(x, 0),
        lambda x: fluid.unsqueeze(x, [0, -1]),
        lambda x: fluid.squeeze(fluid.unsqueeze(x, 0)),
        lambda x: fluid.transpose(x, list(range(x.ndim))[::-1]),
        lambda x: fluid.concat([x, x]),
        lambda x: fluid.stack([x, x]),
        lambda x: fluid.flatten(x),
        lambda x: fluid.tile(x, [2] * x.ndim),
    ):
        x = leaf(shape)
        out = change(x)
        assert out.size == 0
        out.sum().backward()
        assert x.grad.shape == list(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_programs_differentiate_reductions_of_no_elements(shape):
    x = fluid.data("x", list(shape), "float64")
    x.stop_gradient = False
    out = fluid.sum(fluid.unsqueeze(fluid.sum(x, axis=0), 0) * 2.0)
    (dx,) = fluid.gradients(out, x)
    exe = fluid.Executor()
    for _ in range(3):  # interpreted, compiled, bound
        assert exe.run(feed={"x": np.ones(shape)}, fetch_list=[dx])[0].shape == shape


def test_nothing_of_a_dimension_of_one_is_a_gradient_of_zeros():
    x = leaf((1, 3))
    out = fluid.expand(x, [0, 3])
    assert out.shape == [0, 3]
    out.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0]]


def test_a_batch_without_samples_has_a_gradient():
    x = fluid.to_tensor(np.zeros((0, 3), "float32"), stop_gradient=False)
    norm = fluid.nn.BatchNorm1D(3)
    norm(x).sum().backward()
    assert x.grad.shape == [0, 3]
    assert norm._mean.tolist() == [0, 0, 0]
    assert norm.weight.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_taken_as_a_vector_of_one(axis):
    x = fluid.to_tensor(3.0, stop_gradient=False)
    for function in (fluid.sort, fluid.cumsum, fluid.cumprod, fluid.flip, fluid.squeeze, F.softmax):
        out = function(x, axis)
        assert out.shape == []
        assert out.item() == (1 if function is F.softmax else 3)
        x.clear_grad()
        out.backward()
        assert x.grad.item() == (0 if function is F.softmax else 1)
    for pair in (
        fluid.topk(x, 1, axis),
        fluid.kthvalue(x, 1, axis),
        fluid.cummax(x, axis),
        fluid.cummin(x, axis),
    ):
        assert [each.tolist() for each in pair] == [3, 0]
    assert fluid.argsort(x, axis).item() == fluid.argmax(x, axis).item() == 0
    assert F.log_softmax(x, axis).item() == 0
    assert fluid.median(x, axis).item() == fluid.logsumexp(x, axis).item() == 3
    with pytest.raises(ShapeError, match=r"axis in \[-1, 1\)"):
        fluid.sort(x, 1)


def test_one_row_is_scattered():
    x = fluid.zeros([3, 2])
    rows = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    out = fluid.scatter(x, fluid.to_tensor(1), rows)
    assert out.tolist() == [[0, 0], [1, 2], [0, 0]]
    out.sum().backward()
    assert rows.grad.tolist() == [1, 1]
