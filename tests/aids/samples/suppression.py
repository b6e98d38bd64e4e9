"""Samples of what boxes suppress."""

import numpy as np

from .form import Sample, samples


def boxes(rng, *shape):
    """Boxes that overlap here and there."""
    corner = rng.uniform(0, 0.6, size=[*shape, 2])
    return np.concatenate([corner, corner + rng.uniform(0.1, 0.4, size=[*shape, 2])], axis=-1)


COUNTS = dict(score_threshold=0.1, nms_top_k=6, keep_top_k=5)


@samples("nms")
def nms(rng):
    yield Sample(dict(Boxes=boxes(rng, 9)), dict(iou_threshold=0.2))


@samples(
    "multiclass_nms", "multiclass_nms2", "multiclass_nms3", "matrix_nms", "locality_aware_nms"
)  # fmt: skip
def suppression(rng, type):
    scores = rng.uniform(size=[2, 3, 7])
    yield Sample(dict(BBoxes=boxes(rng, 2, 7), Scores=scores), COUNTS)
    polygons = rng.uniform(size=[2, 7, 8])
    yield Sample(dict(BBoxes=polygons, Scores=scores), dict(COUNTS, keep_top_k=-1), "polygons")
    if type.startswith("multiclass"):
        inputs = dict(BBoxes=boxes(rng, 7, 3), Scores=rng.uniform(size=[7, 3]))
        lods = dict(BBoxes=((0, 2, 2, 7),), Scores=((0, 2, 2, 7),))
        yield Sample(inputs, COUNTS, "sequences", lods=lods)
    if type == "multiclass_nms3":
        inputs = dict(inputs, RoisNum=np.array([2, 0, 5]))
        yield Sample(inputs, COUNTS, "counts")
    if type == "matrix_nms":
        attrs = dict(COUNTS, use_gaussian=True, background_label=-1)
        yield Sample(dict(BBoxes=boxes(rng, 2, 7), Scores=scores), attrs, "gaussian")


@samples("retinanet_detection_output")
def retinanet_detection_output(rng):
    inputs = dict(
        BBoxes=[rng.normal(0, 0.1, size=[2, n, 4]) for n in (5, 3)],
        Scores=[rng.uniform(size=[2, n, 6]) for n in (5, 3)],
        Anchors=[boxes(rng, n) * 40 for n in (5, 3)],
        ImInfo=np.array([[40.0, 50, 1], [44, 48, 2]]),
    )
    attrs = dict(COUNTS, nms_threshold=0.3, nms_eta=0.9)
    yield Sample(inputs, attrs)
