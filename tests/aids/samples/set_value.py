"""Samples of a tensor with other values in a part of it."""

import numpy as np

from .form import Sample, samples


@samples("set_value")
def set_value(rng):
    x, part = rng.normal(size=[3, 4]), dict(axes=[1], starts=[0], ends=[2], steps=[1])
    yield Sample(dict(Input=x, ValueTensor=rng.normal(size=[3, 2])), part)
    yield Sample(dict(Input=x), dict(part, values=[5.5, 2.0], shape=[2]), "numbers")
    backwards = dict(axes=[0, 1], starts=[2**31 - 1, 1], ends=[-1, 2], steps=[-1, 1])
    inputs = dict(Input=x, ValueTensor=rng.normal(size=[3]))
    yield Sample(inputs, dict(backwards, decrease_axes=[1]), "backwards")
    wider = dict(axes=[0], starts=[0], ends=[1], steps=[1], decrease_axes=[0], none_axes=[0])
    yield Sample(dict(Input=x, ValueTensor=rng.normal(size=[1, 4])), wider, "wider")
    lists = dict(StartsTensorList=[np.array([1])], EndsTensorList=[np.array([-1])])
    inputs = dict(Input=x, ValueTensor=rng.normal(size=[1]), **lists)
    yield Sample(inputs, dict(axes=[1], steps=[1]), "tensors")
