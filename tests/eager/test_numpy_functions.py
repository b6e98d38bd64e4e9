"""NumPy's functions on tensors, sums of products, and products with Hessians."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.tensor_core import _UFUNCS
from fluidlite.errors import AttributeValueError, ShapeError

rng = np.random.RandomState(0)
X = rng.rand(2, 3).astype("float32") * 0.8 + 0.1
BINARY = {n for n in _UFUNCS if getattr(np, n).nin == 2}


@pytest.mark.parametrize("name", sorted(_UFUNCS))
def test_a_function_of_numpy_gives_a_tensor(name):
    function = getattr(np, name)
    more = [X.T if name == "matmul" else X[::-1]] * (name in BINARY)
    x = fluid.to_tensor(X, stop_gradient=False)
    found = function(x, *map(fluid.to_tensor, more))
    assert isinstance(found, fluid.Tensor)
    np.testing.assert_allclose(found.numpy(), function(X, *more), rtol=1e-5)
    if more:
        np.testing.assert_allclose(function(*more, x).numpy(), function(*more, X), rtol=1e-5)


def test_what_numpy_computes_is_recorded():
    x = fluid.to_tensor([0.5, 1.0], stop_gradient=False)
    np.sin(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([0.5, 1.0]), rtol=1e-6)


def test_an_array_in_front_of_a_tensor_stays_a_partner():
    x = fluid.to_tensor(X, stop_gradient=False)
    for found in (X + x, X * x, X @ x.t(), X - x, np.float32(2) * x, x > X):
        assert isinstance(found, fluid.Tensor)
    total = np.array(X)
    total += x
    assert isinstance(total, fluid.Tensor)


def test_what_cannot_be_recorded_is_refused():
    x = fluid.to_tensor(X)
    with pytest.raises(TypeError):
        np.add(x, x, out=np.zeros_like(X))
    with pytest.raises(TypeError):
        np.add.reduce(x)
    with pytest.raises(TypeError):
        np.heaviside(x, x)


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij->ji", (2, 3)),
    ("ij", (2, 3)),
    ("ij->", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("i,i", (3,), (3,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (5, 1, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ik->ijk", (2, 3), (2, 4)),
    ("ab,cd->", (2, 3), (4, 5)),
]


@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS])
def test_sums_of_products(equation, shapes):
    arrays = [rng.rand(*shape) for shape in shapes]
    tensors = [fluid.to_tensor(a, stop_gradient=False) for a in arrays]
    found = fluid.einsum(equation, *tensors)
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-10)
    assert fluid.gradcheck(lambda *t: fluid.einsum(equation, *t), tensors)


@pytest.mark.parametrize(
    "equation, shapes, said",
    [
        ("ij,jk->ik", [(2, 3)], "is for 2 operands"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "'j' has sizes 3 and 4"),
        ("ijk->i", [(2, 3)], "names 3 dimensions"),
        ("i->i", [(2, 3)], "names 1 dimensions"),
        ("ij->iz", [(2, 3)], "each once, in the result"),
        ("i1->i", [(2, 3)], "expected letters"),
    ],
)
def test_an_equation_that_does_not_fit_is_refused(equation, shapes, said):
    with pytest.raises((AttributeValueError, ShapeError), match=said):
        fluid.einsum(equation, *[fluid.ones(list(shape)) for shape in shapes])


def test_a_product_with_the_hessian_is_that_of_the_whole_one():
    def function(x, y):
        return (x * x * y).sum() + fluid.exp(y).sum()

    x, y = fluid.to_tensor(rng.rand(3)), fluid.to_tensor(rng.rand(3))
    v, w = rng.rand(3), rng.rand(3)
    _, products = fluid.autograd.hvp(function, [x, y], [fluid.to_tensor(v), fluid.to_tensor(w)])
    whole = fluid.autograd.hessian(function, [x, y])
    for row, found in zip(whole, products):
        np.testing.assert_allclose(found.numpy(), row[0].numpy() @ v + row[1].numpy() @ w)


def test_where_there_is_no_second_derivative_the_product_is_zero():
    _, product = fluid.autograd.hvp(lambda x: x.sum(), fluid.ones([3]))
    assert product.tolist() == [0.0] * 3
    with pytest.raises(ShapeError, match="expected one value"):
        fluid.autograd.hvp(lambda x: x * 2.0, fluid.ones([3]))
