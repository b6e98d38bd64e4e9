"""Samples of products of matrices, scaling, sums, conversion of element types, and clipping."""

import numpy as np

from .form import Sample, samples
from .unary import apart

#: shape of X, shape of Y, attributes
MUL = {
    "matrices": ([2, 3], [3, 4], {}),
    "rows": ([2, 3, 4], [4, 5], dict(x_num_col_dims=2)),
    "columns": ([2, 3, 4], [12, 5], {}),
    "Y_flattened": ([5, 6], [2, 3, 4], dict(y_num_col_dims=2)),
    "both_flattened": ([5, 2, 3], [3, 2, 4], dict(y_num_col_dims=2)),
}
MATMUL = {
    "matrices": ([2, 3], [3, 4], {}),
    "alpha": ([2, 3], [3, 4], dict(alpha=0.5)),
    "X_transposed": ([3, 2], [3, 4], dict(transpose_X=True)),
    "Y_transposed": ([2, 3], [4, 3], dict(transpose_Y=True)),
    "both_transposed": ([3, 2], [4, 3], dict(transpose_X=True, transpose_Y=True, alpha=2.0)),
    "stacks": ([5, 2, 3], [5, 3, 4], {}),
    "stacks_transposed": ([5, 3, 2], [5, 4, 3], dict(transpose_X=True, transpose_Y=True)),
    "stack_and_matrix": ([5, 2, 3], [3, 4], {}),
    "matrix_and_stack": ([2, 3], [5, 3, 4], {}),
    "stack_transposed_and_matrix": ([5, 3, 2], [3, 4], dict(transpose_X=True)),
    "stretched": ([5, 1, 2, 3], [6, 3, 4], {}),
    "vectors": ([3], [3], {}),
    "outer": ([3], [4], dict(transpose_X=True, transpose_Y=True)),
    "vector_and_matrix": ([3], [3, 4], {}),
    "matrix_and_vector": ([2, 3], [3], {}),
    "vector_and_stack": ([3], [5, 3, 4], {}),
    "stack_and_vector": ([5, 2, 3], [3], {}),
}


@samples("mul")
def mul(rng):
    for name, (x, y, attrs) in MUL.items():
        yield Sample(dict(X=rng.normal(size=x), Y=rng.normal(size=y)), attrs, name=name, order=3)


@samples("matmul")
def matmul(rng):
    for name, (x, y, attrs) in MATMUL.items():
        order = 3 if name in ("both_transposed", "stretched", "outer") else 2
        ins = dict(X=rng.normal(size=x), Y=rng.normal(size=y))
        yield Sample(ins, attrs, name=name, order=order)


@samples("scale")
def scale(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(X=x), dict(scale=2.5, bias=0.75), name="after")
    yield Sample(dict(X=x), dict(scale=2.5, bias=0.75, bias_after_scale=False), name="before")
    yield Sample(dict(X=x), name="nothing")
    yield Sample(dict(X=x, ScaleTensor=np.array([1.5])), dict(bias=0.5), name="tensor")
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])), dict(scale=3.0, bias=2.0), name="integers")


@samples("increment")
def increment(rng):
    yield Sample(dict(X=rng.normal(size=[1])), dict(step=2.5))
    yield Sample(dict(X=rng.normal(size=[1, 1])), name="matrix")
    yield Sample(dict(X=np.array([3])), dict(step=-2.0), name="integer")


@samples("sum")
def total(rng):
    yield Sample(dict(X=[rng.normal(size=[2, 3])]), name="one")
    yield Sample(dict(X=[rng.normal(size=[2, 3, 4]) for _ in range(3)]), name="three")
    yield Sample(dict(X=[rng.integers(9, size=[2, 3]) for _ in range(2)]), name="integers")


@samples("cast")
def cast(rng):
    def between(given, out):
        return dict(in_dtype=given, out_dtype=out)

    x = apart(rng, [2, 3], *range(-3, 4))
    coarse = dict(order=0, why="float32 is too coarse for finite differences")
    yield Sample(dict(X=x), between("float64", "float32"), name="narrower", **coarse)
    yield Sample(dict(X=x.astype("float32")), between("float32", "float64"), name="wider", **coarse)
    truncated = dict(order=0, why="a cast to integers is flat, so nothing flows")
    yield Sample(dict(X=x), between("float64", "int32"), name="to_integers", **truncated)
    yield Sample(dict(X=x), between("float64", "bool"), name="to_bool", **truncated)
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])), between("int64", "float32"), "from_integers")
    yield Sample(dict(X=rng.random([2, 3]) < 0.5), between("bool", "float32"), name="from_bool")


@samples("clip")
def clip(rng):
    attrs = dict(min=-1.0, max=0.5)
    yield Sample(dict(X=apart(rng, [3, 4], -1.0, 0.5)), attrs)
    ins = dict(X=apart(rng, [2, 3, 4], -0.5, 2.0), Min=np.array([-0.5]), Max=np.array([2.0]))
    yield Sample(ins, dict(min=0.0, max=0.0), name="tensors")
    ins = dict(X=apart(rng, [2, 3], -1.0, 2.0), Max=np.array([2.0]))
    yield Sample(ins, attrs, name="tensor_and_number")


@samples("clip_by_norm")
def clip_by_norm(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(max_norm=0.5), name="over")
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(max_norm=50.0), name="under")
