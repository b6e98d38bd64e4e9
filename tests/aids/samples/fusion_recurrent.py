"""Samples of recurrent networks together with the product of their input."""

from .form import Sample, samples

LODS = {"lengths": ((0, 3, 4, 6),), "empty": ((0, 2, 2, 6),), "one": ((0, 6),)}


def weights(rng, lod, size, gates, states):
    """WeightH, Bias and the first states."""
    inputs = dict(WeightH=rng.normal(size=[size, gates * size]))
    inputs["Bias"] = rng.normal(size=[1, gates * size])
    return inputs | {name: rng.normal(size=[len(lod[0]) - 1, size]) for name in states}


@samples("fusion_lstm", "fused_embedding_fc_lstm")
def fusion_lstm(rng, type):
    for name, lod in LODS.items():
        inputs = weights(rng, lod, 2, 4, ("H0", "C0") if name != "one" else ())
        if name == "empty":
            inputs["Bias"] = rng.normal(size=[1, 14])
        attrs = dict(use_peepholes=name == "empty", is_reverse=name == "one")
        if type == "fusion_lstm":
            inputs |= dict(X=rng.normal(size=[6, 3]), WeightX=rng.normal(size=[3, 8]))
        else:
            inputs |= dict(Ids=rng.integers(5, size=[6, 1]), Embeddings=rng.normal(size=[5, 8]))
        slot = "X" if type == "fusion_lstm" else "Ids"
        outputs = ("Hidden", "Cell")
        yield Sample(inputs, attrs, name, lods={slot: lod}, outputs=outputs)


@samples("fusion_gru")
def fusion_gru(rng):
    for name, lod in LODS.items():
        inputs = weights(rng, lod, 2, 3, ("H0",) if name != "one" else ())
        inputs |= dict(X=rng.normal(size=[6, 4]), WeightX=rng.normal(size=[4, 6]))
        attrs = dict(is_reverse=name == "one", origin_mode=name == "empty")
        yield Sample(inputs, attrs, name, lods=dict(X=lod), outputs=("Hidden",))
    del inputs["Bias"]
    yield Sample(inputs, name="bare", lods=dict(X=lod), outputs=("Hidden",))
