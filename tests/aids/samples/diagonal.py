"""Samples of the operators in fluidlite/ops/diagonal.py."""

import numpy as np

from .form import Sample, samples

#: name, dim1, dim2, offset
PLACES = [
    ("main", 0, 1, 0),
    ("above", -2, -1, 2),
    ("below", 0, 2, -1),
    ("swapped", 2, 0, 1),
    ("outside", 0, 1, 7),
]


@samples("take_diagonal", "trace")
def taken(rng, type):
    x = rng.normal(size=[3, 4, 5])
    slot = "X" if type == "take_diagonal" else "Input"
    for name, dim1, dim2, offset in PLACES:
        yield Sample({slot: x}, dict(dim1=dim1, dim2=dim2, offset=offset), name)
    yield Sample({slot: np.arange(6).reshape([2, 3])}, dict(offset=1), "integers")


@samples("place_diagonal")
def place_diagonal(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(X=x), dict(num_rows=3, num_columns=5))
    attrs = dict(num_rows=5, num_columns=3, offset=-1, dim1=0, dim2=2)
    yield Sample(dict(X=x), attrs, "below")
    attrs = dict(num_rows=4, num_columns=3, offset=-1, dim1=2, dim2=0)
    yield Sample(dict(X=x), attrs, "swapped")


@samples("diag")
def diag(rng):
    yield Sample(dict(Diagonal=rng.normal(size=[3])))


@samples("diag_embed")
def diag_embed(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(Input=x))
    yield Sample(dict(Input=x), dict(offset=-2, dim1=0, dim2=2), "below")
    yield Sample(dict(Input=x), dict(offset=1, dim1=-1, dim2=0), "swapped")


@samples("tril_triu")
def tril_triu(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(lower=True))
    yield Sample(dict(X=x), dict(lower=False, diagonal=-1), "upper")
