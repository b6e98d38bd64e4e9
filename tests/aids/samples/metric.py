"""Samples of the operators in fluidlite/ops/metric.py."""

import numpy as np

from .form import Sample, samples


@samples("top_k")
def top_k(rng):
    x = rng.permutation(30).astype(float).reshape([2, 3, 5])
    yield Sample(dict(X=x), dict(k=4))
    yield Sample(dict(X=x[0]), dict(k=1), "one")
    yield Sample(dict(X=x, K=np.array([2], np.int32)), name="tensor")


@samples("accuracy")
def accuracy(rng):
    label = np.array([[0], [0], [1], [2]])
    indices = np.array([[0, 1], [1, 2], [0, 1], [2, 1]])
    yield Sample(dict(Out=rng.normal(size=[4, 2]), Indices=indices, Label=label))


@samples("auc")
def auc(rng):
    double = "a ratio of counts, which fluid gives so"
    inputs = dict(Predict=rng.uniform(size=[5, 2]), Label=np.array([[1], [0], [0], [1], [1]]))
    stats = dict(StatPos=np.arange(5), StatNeg=np.arange(5)[::-1])
    yield Sample(dict(inputs, **stats), dict(num_thresholds=4, slide_steps=0), double=double)
    stats = dict(StatPos=np.zeros(16, "int64"), StatNeg=np.zeros(16, "int64"))
    yield Sample(
        dict(inputs, **stats), dict(num_thresholds=4, slide_steps=2), "slide", double=double
    )


@samples("mean_iou")
def mean_iou(rng):
    found, right = rng.integers(0, 3, size=[2, 4]), rng.integers(0, 3, size=[2, 4])
    yield Sample(dict(Predictions=found, Labels=right), dict(num_classes=4))
    more = dict(InWrongs=[np.arange(3, dtype="int32")] * 2, InCorrects=[np.ones(3, "int32")])
    more["InMeanIou"] = [np.array([0.5])]
    narrow = dict(Predictions=found.astype("int32"), Labels=right.astype("int32"))
    yield Sample(dict(narrow, **more), dict(num_classes=3), "added")


@samples("positive_negative_pair")
def positive_negative_pair(rng):
    inputs = dict(Score=rng.normal(size=[5, 2]), Label=rng.permutation(5).astype(float)[:, None])
    inputs["QueryID"] = np.array([[0], [1], [0], [1], [1]])
    yield Sample(inputs)
    more = dict(Weight=rng.uniform(size=[5, 1]))
    more.update(
        {f"Accumulate{kind}Pair": np.ones(1) for kind in ("Positive", "Negative", "Neutral")}
    )
    yield Sample(dict(inputs, **more), dict(column=-1), "weights")


@samples("top_k_v2")
def top_k_v2(rng):
    x = rng.permutation(30).astype(float).reshape([2, 3, 5])
    yield Sample(dict(X=x), dict(k=4))
    yield Sample(dict(X=x), dict(k=2, axis=1, largest=False), "smallest")
    yield Sample(dict(X=x, K=np.array([2], np.int32)), dict(axis=-2), "tensor")
    yield Sample(dict(X=np.float64(0.5)), name="number")
