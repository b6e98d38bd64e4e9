"""Samples of the operators in fluidlite/ops/counting.py."""

import numpy as np

from .form import Sample, samples


@samples("bincount")
def bincount(rng):
    x = np.array([1, 4, 1, 0])
    yield Sample(dict(X=x))
    yield Sample(dict(X=x.astype("int32")), dict(minlength=7), "longer")
    yield Sample(dict(X=x, Weights=rng.normal(size=4)), {}, "weights")
    yield Sample(dict(X=x, Weights=np.array([1, 2, 3, 4])), {}, "integers", double="of integers")


@samples("histogram")
def histogram(rng):
    yield Sample(dict(X=rng.normal(size=[3, 5])), dict(bins=4))
    yield Sample(dict(X=rng.integers(0, 10, [12])), dict(bins=5, min=2, max=8), "between")
    yield Sample(dict(X=np.full([4], 2.5)), dict(bins=3), "alike")


@samples("searchsorted")
def searchsorted(rng):
    rows = np.sort(rng.integers(0, 6, [2, 5]), axis=1)
    yield Sample(dict(SortedSequence=rows[0].astype(float), Values=rng.normal(size=[2, 3]) * 4))
    yield Sample(dict(SortedSequence=rows, Values=rng.integers(0, 6, [2, 3])), {}, "rows")
    attrs = dict(right=True, out_int32=True)
    yield Sample(dict(SortedSequence=rows, Values=rng.integers(0, 6, [2, 3])), attrs, "right")


@samples("unique_consecutive")
def unique_consecutive(rng):
    x = np.array([3, 3, 1, 1, 1, 3])
    yield Sample(dict(X=x), dict(dtype="int64"))
    attrs = dict(return_inverse=True, return_counts=True, dtype="int32")
    yield Sample(dict(X=x.reshape(2, 3).astype(float)), attrs, "places")
    rows = np.array([[1, 2], [1, 2], [0, 2]])
    both = dict(return_inverse=True, return_counts=True, dtype="int64")
    yield Sample(dict(X=rows), dict(axis=[0], **both), "rows")
    yield Sample(dict(X=rows), dict(axis=[-1], **both), "columns")


@samples("number_count")
def number_count(rng):
    yield Sample(dict(numbers=np.array([[1, 3], [1, 7], [-1, 0]])), dict(upper_range=5))


@samples("class_center_sample")
def class_center_sample(rng):
    label = np.array([7, 2, 7, 0])
    attrs = dict(num_classes=9, num_samples=5)
    yield Sample(dict(Label=label), attrs, values_matter=False)
    yield Sample(dict(Label=label), dict(num_classes=9, num_samples=2), "named")
