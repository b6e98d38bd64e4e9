"""Samples of numbers of 8 bits."""

from .form import Sample, samples


@samples("quantize")
def quantize(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(Input=x), dict(Scale=20.0, is_negative_input=True), "signed")
    yield Sample(dict(Input=abs(x)), dict(Scale=200.0), "unsigned")


@samples("dequantize", "requantize")
def dequantize(rng, type):
    x = rng.integers(0, 100, size=[3, 4])
    attrs = dict(Scale=20.0) if type == "dequantize" else dict(Scale_in=20.0, Scale_out=30.0)
    yield Sample(dict(Input=x.astype("int8")), attrs, "signed")
    yield Sample(dict(Input=x.astype("uint8")), attrs, "unsigned")
