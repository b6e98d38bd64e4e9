"""Samples of several operators under one name."""

import numpy as np

from .form import Sample, samples


@samples("fused_elemwise_activation")
def fused_elemwise_activation(rng):
    for outer, inner in [
        ("elementwise_add", "relu"),
        ("tanh", "elementwise_mul"),
        ("elementwise_mul", "scale"),
    ]:
        attrs = dict(functor_list=[outer, inner], axis=1, scale=1.5, save_intermediate_out=True)
        inputs = dict(X=rng.normal(size=[2, 3, 4]), Y=rng.normal(size=[3]))
        yield Sample(inputs, attrs)
    yield Sample(inputs, dict(attrs, save_intermediate_out=False), name="alone")


@samples("fusion_squared_mat_sub")
def fusion_squared_mat_sub(rng):
    inputs = dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[3, 4]))
    yield Sample(inputs, dict(scalar=0.5))


@samples("fusion_repeated_fc_relu")
def fusion_repeated_fc_relu(rng):
    weights = [rng.normal(size=s) for s in ((4, 5), (5, 3), (3, 2))]
    biases = [rng.normal(size=n) for n in (5, 3, 2)]
    yield Sample(dict(X=rng.normal(size=[6, 4]), W=weights, Bias=biases))


@samples("coalesce_tensor")
def coalesce_tensor(rng):
    inputs = dict(Input=[np.float32(rng.normal(size=s)) for s in ((2, 3), (4,))])
    why = "programs of many processes use it after gradients"
    for attrs in (dict(copy_data=True), dict(set_constant=True, constant=2.5), dict()):
        yield Sample(inputs, dict(attrs, dtype="float32"), order=0, why=why)


@samples("tdm_child")
def tdm_child(rng):
    tree = np.array([[0, 0, 0, 1, 2], [0, 1, 0, 3, 4], [5, 1, 0, 0, 0], [1, 2, 1, 0, 0]])
    tree = np.concatenate([tree, [[2, 2, 1, 0, 0]]])
    yield Sample(dict(X=np.array([[1, 0, 2]]), TreeInfo=tree), dict(child_nums=2))


@samples("tdm_sampler")
def tdm_sampler(rng):
    inputs = dict(
        X=np.array([[0], [3], [4]]),
        Travel=np.array([[1, 3], [1, 4], [2, 5], [2, 6], [2, 0]]),
        Layer=np.arange(1, 7).reshape(6, 1),
    )
    attrs = dict(neg_samples_num_list=[1, 2], layer_offset_lod=[0, 2, 6])
    yield Sample(inputs, attrs, values_matter=False)
    yield Sample(inputs, dict(attrs, output_positive=False, seed=3), name="negative")
