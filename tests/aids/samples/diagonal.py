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
    if type == "trace":
        yield Sample({slot: x}, dict(axis1=0, axis2=1), "newer")
        yield Sample({slot: x[0]}, dict(zero_d=True), "number")


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


@samples("diagonal")
def diagonal(rng):
    x = rng.normal(size=[3, 4, 5])
    yield Sample(dict(Input=x))
    yield Sample(dict(Input=x), dict(offset=-1, axis1=-1, axis2=0), "below")
    yield Sample(dict(Input=x), dict(offset=2, axis1=1, axis2=2), "above")


@samples("diag_v2")
def diag_v2(rng):
    yield Sample(dict(X=rng.normal(size=[3])))
    yield Sample(dict(X=rng.normal(size=[3])), dict(offset=-1, padding_value=2.0), "padded")
    yield Sample(dict(X=rng.normal(size=[3, 4])), dict(offset=1), "taken")
    yield Sample(dict(X=rng.integers(0, 5, [2])), dict(offset=2, padding_value=3.0), "integers")


@samples("fill_diagonal")
def fill_diagonal(rng):
    yield Sample(dict(X=rng.normal(size=[3, 4])), dict(value=7.0))
    yield Sample(dict(X=rng.normal(size=[7, 3])), dict(value=7.0, wrap=True), "wrapped")
    yield Sample(dict(X=rng.normal(size=[7, 3])), dict(value=7.0), "high")
    yield Sample(dict(X=rng.normal(size=[3, 3, 3])), dict(value=7.0, wrap=True), "cube")
    yield Sample(dict(X=rng.normal(size=[4, 5])), dict(value=7.0, offset=2), "right")
    yield Sample(dict(X=rng.normal(size=[4, 5])), dict(value=7.0, offset=-1), "left")
    yield Sample(dict(X=rng.normal(size=[9, 3])), dict(value=7.0, offset=1, wrap=True), "both")


@samples("off_diagonal")
def off_diagonal(rng):
    yield Sample({}, dict(shape=[3, 4], offset=1))


@samples("fill_diagonal_tensor")
def fill_diagonal_tensor(rng):
    x = rng.normal(size=[3, 4, 5])
    yield Sample(dict(X=x, Y=rng.normal(size=[5, 3])))
    yield Sample(dict(X=x, Y=rng.normal(size=[3, 3])), dict(offset=2, dim1=1, dim2=2), "above")
    yield Sample(dict(X=x, Y=rng.normal(size=[4, 2])), dict(offset=-1, dim1=0, dim2=2), "below")


@samples("tril_indices", "triu_indices")
def triangle_indices(rng, type):
    rows, columns = ("rows", "cols") if type == "tril_indices" else ("row", "col")
    yield Sample({}, {rows: 3, columns: 4})
    yield Sample({}, {rows: 4, columns: 3, "offset": 1, "dtype": "int32"}, "right")
    yield Sample({}, {rows: 4, columns: 3, "offset": -2}, "down")
