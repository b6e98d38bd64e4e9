"""Samples of convolutions along sequences."""

from .form import Sample, samples


@samples("sequence_conv")
def sequence_conv(rng):
    lods = {
        "lengths": ((0, 4, 5, 7),),
        "empty": ((0, 3, 3, 7),),
        "levels": ((0, 1, 3), (0, 2, 3, 7)),
    }
    x = rng.normal(size=[7, 2])
    for (name, lod), start in zip(lods.items(), (-1, 0, -2)):
        inputs = dict(X=x, Filter=rng.normal(size=[6, 4]))
        attrs = dict(contextLength=3, contextStart=start)
        yield Sample(inputs, attrs, name, lods=dict(X=lod))
        inputs["PaddingData"] = rng.normal(size=[2, 2])
        attrs["paddingTrainable"] = True
        yield Sample(inputs, attrs, "padded_" + name, lods=dict(X=lod))
    inputs = dict(X=x, Filter=rng.normal(size=[4, 3]))
    lod = dict(X=((0, 4, 5, 7),))
    yield Sample(inputs, dict(contextLength=2, contextStart=1), "ahead", lods=lod)
    yield Sample(inputs, dict(contextLength=2, contextStart=-3), "behind", lods=lod)
