"""Samples of boxes."""

import numpy as np

from .form import Sample, samples


def boxes(rng, *shape):
    """Boxes with an area."""
    first = rng.uniform(0, 4, size=(*shape, 2))
    return np.concatenate([first, first + rng.uniform(1, 5, size=(*shape, 2))], axis=-1)


@samples("iou_similarity")
def iou_similarity(rng):
    yield Sample(dict(X=boxes(rng, 3), Y=boxes(rng, 5)))
    yield Sample(dict(X=boxes(rng, 2), Y=boxes(rng, 3)), dict(box_normalized=False))


@samples("box_coder")
def box_coder(rng):
    priors, variance = boxes(rng, 3), rng.uniform(0.1, 1, size=[3, 4])
    encode, decode = dict(code_type="encode_center_size"), dict(code_type="decode_center_size")
    inputs = dict(PriorBox=priors, PriorBoxVar=variance)
    yield Sample(dict(inputs, TargetBox=boxes(rng, 2)), encode)
    yield Sample(dict(inputs, TargetBox=rng.normal(size=[2, 3, 4])), decode)
    yield Sample(dict(inputs, TargetBox=rng.normal(size=[3, 5, 4])), dict(decode, axis=1))
    inputs = dict(PriorBox=priors, TargetBox=rng.normal(size=[2, 3, 4]))
    attrs = dict(decode, box_normalized=False, variance=[0.1, 0.1, 0.2, 0.3])
    yield Sample(inputs, attrs, name="variance")
    yield Sample(inputs, decode, name="plain")


@samples("box_clip")
def box_clip(rng):
    info = np.array([[5.0, 7.0, 1.0], [6.0, 4.0, 2.0]])
    yield Sample(dict(Input=boxes(rng, 3), ImInfo=info[:1]))
    yield Sample(dict(Input=boxes(rng, 2, 3), ImInfo=info))


@samples("polygon_box_transform")
def polygon_box_transform(rng):
    yield Sample(dict(Input=rng.normal(size=[2, 8, 3, 4])))


@samples("box_decoder_and_assign")
def box_decoder_and_assign(rng):
    inputs = dict(PriorBox=boxes(rng, 3), TargetBox=rng.normal(size=[3, 8]))
    inputs.update(BoxScore=rng.uniform(size=[3, 2]))
    yield Sample(inputs, name="plain")
    yield Sample(dict(inputs, PriorBoxVar=np.array([0.1, 0.1, 0.2, 0.3])), dict(box_clip=0.1))
