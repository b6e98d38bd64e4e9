"""Samples of the operators in fluidlite/ops/matrix.py."""

import numpy as np

from .form import Sample, samples


@samples("bmm")
def bmm(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3, 4]), Y=rng.normal(size=[2, 4, 5])))


@samples("dot")
def dot(rng):
    yield Sample(dict(X=rng.normal(size=[4]), Y=rng.normal(size=[4])), name="vectors")
    yield Sample(dict(X=rng.normal(size=[3, 4]), Y=rng.normal(size=[3, 4])), name="rows")
    rows = dict(X=rng.normal(size=[3, 4]), Y=rng.normal(size=[3, 4]))
    yield Sample(rows, dict(drops=True), "drops")
    yield Sample(dict(X=np.array([2, 3]), Y=np.array([4, -1])), name="integers")


@samples("addmm")
def addmm(rng):
    x, y = rng.normal(size=[3, 4]), rng.normal(size=[4, 2])
    attrs = dict(Alpha=0.5, Beta=-2.0)
    for name, shape in (("whole", [3, 2]), ("row", [1, 2]), ("column", [3, 1]), ("one", [1, 1])):
        yield Sample(dict(Input=rng.normal(size=shape), X=x, Y=y), attrs, name)


@samples("cross")
def cross(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3, 4]), Y=rng.normal(size=[2, 3, 4])))
    yield Sample(dict(X=rng.normal(size=[3, 3]), Y=rng.normal(size=[3, 3])), dict(dim=-1), "last")
    yield Sample(dict(X=np.array([1, 2, 3]), Y=np.array([0, 2, -1])), name="integers")


@samples("kron")
def kron(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[4, 5])))
    yield Sample(dict(X=rng.normal(size=[3]), Y=rng.normal(size=[2, 4])), name="shorter")
    yield Sample(dict(X=np.array([[1, 2]]), Y=np.array([3, 4])), name="integers")


@samples("bilinear_tensor_product")
def bilinear_tensor_product(rng):
    inputs = dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[2, 4]))
    inputs["Weight"] = rng.normal(size=[5, 3, 4])
    yield Sample(inputs)
    yield Sample(dict(inputs, Bias=rng.normal(size=[1, 5])), name="bias")


@samples("fsp")
def fsp(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5]), Y=rng.normal(size=[2, 1, 4, 5])))


@samples("fc")
def fc(rng):
    x, w, b = rng.normal(size=[2, 3, 4]), rng.normal(size=[12, 5]), rng.normal(size=[5])
    yield Sample(dict(Input=x, W=w))
    attrs = dict(in_num_col_dims=2, activation_type="relu", padding_weights=True)
    yield Sample(dict(Input=x, W=rng.normal(size=[8, 9]), Bias=b[None]), attrs, "padded")


@samples("matmul_v2")
def matmul_v2(rng):
    x, y = rng.normal(size=[2, 3, 4]), rng.normal(size=[4, 5])
    yield Sample(dict(X=x, Y=y))
    swapped = dict(X=rng.normal(size=[5, 4, 3]), Y=rng.normal(size=[2, 1, 6, 4]))
    yield Sample(swapped, dict(trans_x=True, trans_y=True), "swapped")
    yield Sample(
        dict(X=rng.normal(size=[4]), Y=rng.normal(size=[4])), dict(trans_x=True), "vectors"
    )
    yield Sample(dict(X=rng.normal(size=[4]), Y=x[0].T), dict(trans_x=True), "row")
    yield Sample(dict(X=x, Y=rng.normal(size=[4])), dict(trans_y=True), "column")
    yield Sample(dict(X=np.array([[2, 3], [-1, 4]]), Y=np.array([[1], [2]])), name="integers")
