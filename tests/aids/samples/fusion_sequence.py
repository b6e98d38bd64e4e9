"""Samples of several operators on sequences in one."""

import numpy as np

from .form import Sample, samples

LODS = {"lengths": ((0, 2, 3, 5),), "empty": ((0, 3, 3, 5),), "one": ((0, 5),)}


@samples("fused_embedding_seq_pool")
def fused_embedding_seq_pool(rng):
    ids = np.array([[1, 3, 1, 0, 5]]).T
    for (name, lod), padding in zip(LODS.items(), (-1, 0, 1)):
        inputs = dict(W=rng.normal(size=[7, 3]), Ids=ids)
        yield Sample(inputs, dict(padding_idx=padding), name, lods=dict(Ids=lod))
    inputs = dict(W=rng.normal(size=[7, 3]), Ids=ids)
    attrs = dict(is_sparse=True, padding_idx=3)
    yield Sample(inputs, attrs, "sparse", lods=dict(Ids=LODS["empty"]))


@samples("fusion_seqpool_concat", "fusion_seqpool_cvm_concat")
def fusion_seqpool_concat(rng, type):
    for (name, lod), kind in zip(LODS.items(), ("SUM", "AVERAGE", "SQRT")):
        inputs = dict(X=[rng.uniform(1, 2, size=[5, 3]), rng.uniform(1, 2, size=[5, 3])])
        if type == "fusion_seqpool_cvm_concat":
            inputs["CVM"] = rng.normal(size=[len(lod[0]) - 1, 2])
        yield Sample(inputs, dict(pooltype=kind), name, lods=dict(X=[lod, lod]))


@samples("fusion_seqconv_eltadd_relu")
def fusion_seqconv_eltadd_relu(rng):
    for (name, lod), start in zip(LODS.items(), (-1, 0, -2)):
        inputs = dict(X=rng.normal(size=[5, 2]), Filter=rng.normal(size=[6, 4]))
        inputs["Bias"] = rng.normal(size=[1, 4])
        attrs = dict(contextLength=3, contextStart=start)
        yield Sample(inputs, attrs, name, lods=dict(X=lod))


@samples("fusion_seqexpand_concat_fc")
def fusion_seqexpand_concat_fc(rng):
    for (name, lod), act in zip(LODS.items(), ("relu", "tanh", "identity")):
        count = len(lod[0]) - 1
        inputs = dict(X=[rng.normal(size=[5, 3]), rng.normal(size=[count, 2])])
        inputs |= dict(FCWeight=rng.normal(size=[5, 4]), FCBias=rng.normal(size=[1, 4]))
        yield Sample(inputs, dict(fc_activation=act), name, lods=dict(X=[lod, ()]))
    del inputs["FCBias"]
    yield Sample(inputs, dict(fc_activation="sigmoid"), "bare", lods=dict(X=[lod, ()]))
