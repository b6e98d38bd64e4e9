"""Samples of the operators in fluidlite/ops/sampling.py."""

import numpy as np

from .form import Sample, samples


def drawn(inputs, attrs, name=""):
    return Sample(inputs, attrs, name, values_matter=False)


@samples("uniform_random", "gaussian_random", "randint")
def in_shape(rng, type):
    bounds = dict(low=-3, high=4) if type == "randint" else {}
    yield drawn({}, dict(shape=[2, 3], **bounds), "shape")
    yield drawn({}, dict(shape=[3], seed=5, **bounds), "seed")
    tensors = dict(ShapeTensor=np.array([2, 3]))
    yield drawn(tensors, dict(shape=[-1, -1], **bounds), "shape_tensor")
    listed = dict(ShapeTensorList=[np.array([2]), np.array([3])])
    yield drawn(listed, dict(shape=[2, -1], **bounds), "shape_list")
    other = "int32" if type == "randint" else "float64"
    yield drawn({}, dict(shape=[4], dtype=other, **bounds), "other_dtype")
    if type == "uniform_random":
        yield drawn({}, dict(shape=[3, 4], diag_num=3, diag_step=4, diag_val=9.0), "diagonal")


@samples("uniform_random_batch_size_like", "gaussian_random_batch_size_like")
def like(rng, type):
    x = rng.normal(size=[4, 3])
    yield drawn(dict(Input=x), dict(shape=[-1, 2]))
    columns = dict(shape=[5, -1], input_dim_idx=1, output_dim_idx=1)
    yield drawn(dict(Input=x), columns, "columns")


@samples("truncated_gaussian_random")
def truncated(rng):
    yield drawn({}, dict(shape=[20, 30], mean=1.0, std=0.5))
    yield drawn({}, dict(shape=[3], dtype="float64"), "double")


@samples("randperm")
def randperm(rng):
    yield drawn({}, dict(n=7))
    yield drawn({}, dict(n=1, dtype="int32"), "one")


@samples("seed")
def seed(rng):
    yield Sample({}, values_matter=False)
    yield Sample({}, dict(seed=7), "given")


@samples("sampling_id")
def sampling_id(rng):
    shares = rng.uniform(size=[5, 3])
    why = dict(order=0, why="columns are integers", values_matter=False)
    yield Sample(dict(X=shares / shares.sum(1, keepdims=True)), **why)


@samples("multinomial")
def multinomial(rng):
    why = dict(order=0, why="places are integers", values_matter=False)
    weights = rng.uniform(size=[3, 5])
    yield Sample(dict(X=weights), dict(num_samples=4), "each_once", **why)
    yield Sample(dict(X=weights[0]), dict(num_samples=7, replacement=True), "again", **why)


@samples("rrelu")
def rrelu(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x), dict(lower=0.1, upper=0.4), values_matter=False)
    yield Sample(dict(X=x), dict(is_test=True), "test")
