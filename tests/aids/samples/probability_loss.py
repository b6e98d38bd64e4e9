"""Samples of the operators in fluidlite/ops/probability_loss.py."""

import numpy as np

from .form import Sample, samples
from .loss import probabilities


@samples("log_loss")
def log_loss(rng):
    inputs = dict(Predicted=rng.uniform(0.2, 0.8, [4, 1]), Labels=rng.uniform(size=[4, 1]))
    yield Sample(inputs, dict(epsilon=0.01))


@samples("bce_loss")
def bce_loss(rng):
    yield Sample(dict(X=rng.uniform(0.2, 0.8, [2, 3]), Label=rng.uniform(size=[2, 3])))


@samples("kldiv_loss")
def kldiv_loss(rng):
    x, target = np.log(probabilities(rng, [3, 4])), probabilities(rng, [3, 4])
    target[1, 2] = -0.5
    for reduction in ("none", "mean", "sum", "batchmean"):
        yield Sample(dict(X=x, Target=target), dict(reduction=reduction), reduction)


@samples("nll_loss")
def nll_loss(rng):
    x, label = rng.normal(size=[4, 3]), np.array([2, 0, 1, 0])
    weight = rng.uniform(0.5, 1.5, [3])
    for reduction in ("none", "mean", "sum"):
        yield Sample(dict(X=x, Label=label), dict(reduction=reduction), reduction)
        attrs = dict(reduction=reduction, ignore_index=1)
        yield Sample(dict(X=x, Label=label, Weight=weight), attrs, reduction + " weighted")
        places = dict(X=rng.normal(size=[2, 3, 4, 5]), Label=rng.integers(0, 3, [2, 4, 5]))
        attrs = dict(reduction=reduction)
        yield Sample(dict(places, Weight=weight), attrs, reduction + " places")
    attrs = dict(ignore_index=0)
    yield Sample(dict(X=x, Label=np.zeros(4, "int64")), attrs, "all ignored")


@samples("sigmoid_focal_loss")
def sigmoid_focal_loss(rng):
    label, count = np.array([[1], [0], [3], [-1]]), np.array([2])
    x = rng.normal(size=[4, 3])
    yield Sample(dict(X=x, Label=label, FgNum=count))
    narrow = dict(X=x, Label=label.astype("int32"), FgNum=np.array([0], "int32"))
    yield Sample(narrow, dict(gamma=1.5, alpha=0.4), "nothing")


@samples("teacher_student_sigmoid_loss")
def teacher_student_sigmoid_loss(rng):
    label = np.array([[-2.0], [-1.0], [-0.5], [0.0], [0.3], [1.0], [1.7]])
    x = rng.normal(size=[7, 1])
    yield Sample(dict(X=x, Label=label))
