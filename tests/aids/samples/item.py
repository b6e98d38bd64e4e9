"""Samples of what stands at an index, and what is put there."""

import numpy as np

from fluidlite.functions.items import encode

from .form import Sample, samples

#: an index of a tensor [3, 4, 5], and a word for it
INDICES = {
    "number": 1,
    "from_end": -1,
    "all_numbers": (1, 2, 3),
    "slice": slice(1, 3),
    "step": (slice(None), slice(None, None, 2)),
    "backwards": (Ellipsis, slice(None, None, -1)),
    "new": (None, slice(None), 0, None),
    "nothing": (),
    "list": np.array([2, 0, 0]),
    "table": np.array([[2, 0], [1, 1]]),
    "lists": (np.array([0, 2]), slice(1, 3), np.array([1, 4])),
    "neighbours": (slice(None), np.array([0, 3]), np.array([1, 4])),
    "number_and_list": (0, slice(None), np.array([1, -1])),
    "mask": np.arange(12).reshape(3, 4) % 3 == 0,
    "mask_of_rows": np.array([True, False, True]),
}
X = [3, 4, 5]


def places():
    for name, item in INDICES.items():
        codes, tensors = encode(item)
        yield name, item, dict(item=codes), {} if tensors is None else dict(Index=tensors)


def size_at(item):
    """The shape of what stands at an index: numbers take their place first."""
    if item is INDICES["number_and_list"]:
        return np.zeros(X)[item[0]][item[1:]].shape
    return np.zeros(X)[item].shape


@samples("take_item")
def take_item(rng):
    for name, _, attrs, index in places():
        yield Sample(dict(X=rng.normal(size=X), **index), attrs, name=name)


@samples("add_item")
def add_item(rng):
    for name, item, attrs, index in places():
        shape = size_at(item)
        ins = dict(G=rng.normal(size=shape), **index)
        yield Sample(ins, dict(**attrs, size=X), name=name)


@samples("put_item")
def put_item(rng):
    for name, item, attrs, index in places():
        shape = size_at(item)
        ins = dict(X=rng.normal(size=X), Value=rng.normal(size=shape), **index)
        yield Sample(ins, attrs, name=name)
    codes, _ = encode(slice(1, 3))
    ins = dict(X=rng.normal(size=X), Value=rng.normal(size=[4, 1]))
    yield Sample(ins, dict(item=codes), name="broadcast")
    ins = dict(X=rng.normal(size=X), Value=rng.normal(size=[1, 1, 2, 4, 5]))
    yield Sample(ins, dict(item=codes), name="spare_dimensions")


@samples("last_item")
def last_item(rng):
    for name, _, attrs, index in places():
        yield Sample(dict(X=rng.normal(size=X), **index), attrs, name=name)
