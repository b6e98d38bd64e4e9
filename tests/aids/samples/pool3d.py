"""Samples of pooling of volumes."""

from .form import Sample, samples
from .pool import distinct

#: attributes, shape of the volumes
WINDOWS = [
    (dict(ksize=[2, 3, 1]), (2, 3, 3, 4, 5)),
    (dict(ksize=[3, 2, 2], strides=[2, 1, 3], paddings=[1, 0, 1]), (1, 2, 5, 4, 6)),
    (dict(ksize=[1, 1, 1], global_pooling=True), (2, 3, 2, 4, 1)),
    (dict(ksize=[2, 3, 1], adaptive=True), (1, 2, 5, 7, 3)),
    (dict(ksize=[2, 2, 3], strides=[1, 2, 2], data_format="NDHWC"), (1, 3, 4, 5, 2)),
]


@samples("pool3d")
def pool3d(rng):
    for attrs, shape in WINDOWS:
        for pooling_type in ("max", "avg"):
            yield Sample(dict(X=distinct(rng, shape)), dict(attrs, pooling_type=pooling_type))


@samples("pool3d_adjoint")
def pool3d_adjoint(rng):
    for out, (attrs, shape) in [((2, 3, 2, 2, 5), WINDOWS[0]), ((1, 2, 2, 3, 1), WINDOWS[3])]:
        yield Sample(dict(G=rng.normal(size=out)), dict(attrs, size=list(shape)))


@samples("pool3d_positions")
def pool3d_positions(rng):
    for attrs, shape in WINDOWS:
        yield Sample(dict(X=distinct(rng, shape)), attrs)
