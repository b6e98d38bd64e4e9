"""Samples of the operators in fluidlite/ops/ranking_loss.py."""

import numpy as np

from .form import Sample, samples

SCORES = np.array([[0.2], [-3.0], [2.5], [-0.4], [0.7]])  # on both sides of every margin
CLASSES = np.array([[1.0], [0.0], [0.0], [1.0], [1.0]])


@samples("hinge_loss")
def hinge_loss(rng):
    yield Sample(dict(Logits=SCORES, Labels=CLASSES))


@samples("modified_huber_loss")
def modified_huber_loss(rng):
    yield Sample(dict(X=SCORES, Y=CLASSES))


@samples("rank_loss")
def rank_loss(rng):
    right = rng.normal(size=[5, 1])
    yield Sample(dict(Label=rng.uniform(size=[5, 1]), Left=SCORES, Right=right))


@samples("margin_rank_loss")
def margin_rank_loss(rng):
    label = 2 * CLASSES - 1
    yield Sample(dict(X1=SCORES, X2=SCORES[::-1] + 0.05, Label=label), dict(margin=0.3))


@samples("bpr_loss")
def bpr_loss(rng):
    yield Sample(dict(X=rng.normal(size=[4, 3]), Label=np.array([[2], [0], [1], [0]])))
    label = rng.integers(0, 4, size=[2, 3, 1])
    yield Sample(dict(X=rng.normal(size=[2, 3, 4]), Label=label), name="rank3")
