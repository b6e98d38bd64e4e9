"""Samples of sequences reduced to rows, and normalised."""

from .form import Sample, samples

LODS = {
    "lengths": ((0, 3, 4, 6),),
    "empty": ((0, 0, 3, 3, 6),),
    "levels": ((0, 2, 2, 4), (0, 1, 3, 3, 6)),
}


@samples("sequence_pool")
def sequence_pool(rng):
    for kind in ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST"):
        for name, lod in LODS.items():
            x = rng.permutation(24).reshape(6, 4) * 0.1
            attrs = dict(pooltype=kind, pad_value=0.5)
            yield Sample(dict(X=x), attrs, f"{kind}_{name}", lods=dict(X=lod))
    x = rng.normal(size=[6, 2, 3])
    yield Sample(dict(X=x), dict(pooltype="MAX"), "matrices", lods=dict(X=((0, 1, 6),)))
    yield Sample(dict(X=x[:0]), dict(pooltype="SUM"), "no_rows", lods=dict(X=((0, 0, 0),)))


@samples("sequence_softmax")
def sequence_softmax(rng):
    for name, lod in LODS.items():
        yield Sample(dict(X=rng.normal(size=[6, 1])), name=name, lods=dict(X=lod))
    yield Sample(dict(X=rng.normal(size=[6])), name="vector", lods=dict(X=((0, 4, 6),)))
