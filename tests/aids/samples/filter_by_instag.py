"""Samples of samples that are chosen by their tags."""

import numpy as np

from .form import Sample, samples


@samples("filter_by_instag")
def filter_by_instag(rng):
    tags = np.array([[1, 2, 3, 4]]).T
    lod = ((0, 1, 3, 4),)
    ins = rng.normal(size=[5, 2])
    for name, wanted in (("sequences", [1, 4]), ("none", [9])):
        inputs = dict(Ins=ins, Ins_tag=tags, Filter_tag=np.array(wanted))
        lods = dict(Ins=((0, 1, 3, 5),), Ins_tag=lod)
        yield Sample(inputs, dict(is_lod=True, out_val_if_empty=5), name, lods=lods)
    inputs = dict(Ins=ins[:3], Ins_tag=tags, Filter_tag=np.array([3]))
    yield Sample(inputs, dict(is_lod=False), "rows", lods=dict(Ins_tag=lod))
    inputs = dict(Ins=ins, Ins_tag=tags, Filter_tag=np.array([2, 4]))
    lods = dict(Ins=((0, 2, 2, 5),), Ins_tag=lod)
    yield Sample(inputs, dict(is_lod=True), "empty", lods=lods)
