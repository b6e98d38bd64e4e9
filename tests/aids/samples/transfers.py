"""Samples of the operators in fluidlite/ops/transfers.py."""

import numpy as np

from .form import Sample, samples


@samples("npu_identity")
def npu_identity(rng):
    yield Sample(dict(x=rng.normal(size=[2, 3])))


@samples("transfer_layout")
def transfer_layout(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(src_layout=0, dst_layout=1))


@samples("transfer_dtype")
def transfer_dtype(rng):
    attrs = dict(in_dtype="int32", out_dtype="float32", use_mkldnn=False)
    yield Sample(dict(X=rng.integers(0, 9, [2, 3]).astype("int32")), attrs)


@samples("depend")
def depend(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Dep=[np.ones(2), np.ones(3)]))


@samples("nop")
def nop(rng):
    yield Sample(dict(X=[rng.normal(size=[2, 3]), rng.normal(size=[4])]))


@samples("check_numerics")
def check_numerics(rng):
    yield Sample(dict(tensor=np.array([[1.0, 0.0], [-2.0, 5.0]])))


@samples("pow2_decay_with_linear_warmup")
def warmup(rng):
    attrs = dict(warmup_steps=4, total_steps=10, base_lr=0.5, end_lr=0.125)
    for step in (1, 7, 20):
        ins = dict(LearningRate=np.array([0.3]), Step=np.array([step]))
        yield Sample(ins, attrs, f"step{step}")


@samples("unzip")
def unzip(rng):
    yield Sample(dict(X=rng.normal(size=[6]), lod=np.array([0, 2, 2, 6])), dict(len=4))


@samples("places_in_rows")
def places_in_rows(rng):
    yield Sample(dict(X=np.array([0, 2, 2, 6])), dict(width=4, size=6))
