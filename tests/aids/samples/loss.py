"""Samples of softmax, and of what compares predictions with labels."""

import numpy as np

from .form import Sample, samples


def probabilities(rng, shape, axis=-1):
    """Positive numbers that add up to 1 along a dimension."""
    x = rng.uniform(0.5, 1.5, size=shape)
    return x / x.sum(axis, keepdims=True)


@samples("softmax", "log_softmax")
def softmax(rng, type):
    yield Sample(dict(X=rng.normal(size=[3, 5])))
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=1))
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=-3))


@samples("pick_label")
def pick_label(rng):
    yield Sample(dict(X=rng.normal(size=[4, 5]), Label=rng.integers(0, 5, size=[4, 1])))
    label = np.array([[[1, 3, 0, 2]], [[2, 2, 3, 1]]])
    attrs = dict(axis=1, ignore_index=3, ignored=1.5)
    yield Sample(dict(X=rng.normal(size=[2, 3, 4]), Label=label), attrs)


@samples("place_label")
def place_label(rng):
    yield Sample(
        dict(X=rng.normal(size=[4, 1]), Label=rng.integers(0, 5, size=[4, 1])), dict(size=5)
    )
    label = np.array([[[1, 3, 0, 2]], [[2, 2, 3, 1]]])
    attrs = dict(axis=1, size=3, ignore_index=3)
    yield Sample(dict(X=rng.normal(size=[2, 1, 4]), Label=label), attrs)


@samples("cross_entropy", "cross_entropy2")
def cross_entropy(rng, type):
    x = probabilities(rng, [4, 5])
    yield Sample(dict(X=x, Label=rng.integers(0, 5, size=[4, 1])))
    yield Sample(dict(X=x, Label=np.array([[0], [2], [4], [2]])), dict(ignore_index=2))
    yield Sample(dict(X=probabilities(rng, [2, 3, 4]), Label=rng.integers(0, 4, size=[2, 3, 1])))
    label = rng.integers(0, 4, size=[2, 3])
    yield Sample(dict(X=probabilities(rng, [2, 3, 4]), Label=label), name="labels without 1")
    if type == "cross_entropy":
        label = probabilities(rng, [4, 5])
        yield Sample(dict(X=x, Label=label), dict(soft_label=True), name="soft")


@samples("softmax_with_cross_entropy")
def softmax_with_cross_entropy(rng):
    x = rng.normal(size=[4, 5])
    yield Sample(dict(Logits=x, Label=rng.integers(0, 5, size=[4, 1])))
    yield Sample(dict(Logits=x, Label=np.array([[0], [2], [4], [2]])), dict(ignore_index=2))
    label = rng.uniform(size=[4, 5])  # not even a distribution
    yield Sample(dict(Logits=x, Label=label), dict(soft_label=True), name="soft")
    x = rng.normal(size=[2, 3, 4])
    label = rng.integers(0, 3, size=[2, 1, 4])
    yield Sample(dict(Logits=x, Label=label), dict(axis=1), name="axis")
    label = probabilities(rng, [2, 3, 4], axis=-2)
    yield Sample(dict(Logits=x, Label=label), dict(axis=-2, soft_label=True), name="soft axis")
