"""Samples of roundings to few bits."""

import numpy as np

from .form import Sample, samples

STRAIGHT = dict(order=0, why="gradients pass straight through: they are no derivatives")


@samples("fake_quantize_abs_max", "fake_channel_wise_quantize_abs_max")
def by_largest(rng, type):
    yield Sample(dict(X=rng.normal(size=[3, 4, 2])), **STRAIGHT)
    yield Sample(dict(X=rng.normal(size=[2, 5])), dict(bit_length=4), **STRAIGHT)
    x = rng.normal(size=[2, 5])
    yield Sample(dict(X=x), dict(round_type=0, bit_length=3), "even", **STRAIGHT)
    if "channel" in type:
        yield Sample(dict(X=x), dict(quant_axis=1), "second", **STRAIGHT)


@samples("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max")
def by_average(rng, type):
    inputs = dict(X=rng.normal(size=[3, 4]), InScale=np.array([0.5]))
    sums = dict(InAccum=np.array([1.5]), InState=np.array([2.0]))
    yield Sample({**inputs, **sums}, dict(moving_rate=0.8), **STRAIGHT)
    yield Sample({**inputs, **sums}, dict(is_test=True), name="test", **STRAIGHT)
    yield Sample(inputs, name="alone", **STRAIGHT)


@samples("moving_average_abs_max_scale")
def moving_average_abs_max_scale(rng):
    sums = dict(InAccum=np.array([1.5]), InState=np.array([2.0]))
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x, **sums), **STRAIGHT)
    yield Sample(dict(X=x), dict(is_test=True), name="test", **STRAIGHT)


@samples("fake_quantize_range_abs_max")
def fake_quantize_range_abs_max(rng):
    inputs = dict(X=rng.normal(size=[3, 4]), InScale=np.array([0.5]))
    yield Sample(dict(inputs, Iter=np.array([4])), dict(window_size=3), **STRAIGHT)
    yield Sample(inputs, dict(is_test=True), name="test", **STRAIGHT)


@samples("fake_dequantize_max_abs", "dequantize_abs_max")
def by_scale(rng, type):
    whole = rng.integers(-127, 128, size=[3, 4])
    x = whole.astype("int8") if type == "dequantize_abs_max" else whole.astype("float64")
    yield Sample(dict(X=x, Scale=np.array([0.8])), dict(max_range=127.0), **STRAIGHT)


@samples("fake_channel_wise_dequantize_max_abs")
def by_channel(rng):
    x, scales = rng.normal(size=[2, 3, 4]), rng.uniform(size=[3])
    yield Sample(dict(X=x, Scales=[scales[:2]]), **STRAIGHT)
    attrs = dict(quant_bits=[8, 4])
    yield Sample(dict(X=x, Scales=[scales, np.array([0.5])]), attrs, name="two", **STRAIGHT)
    yield Sample(dict(X=x, Scales=[scales]), dict(quant_axis=1), "second", **STRAIGHT)
    attrs, scales = dict(attrs, x_num_col_dims=2), rng.uniform(size=[4])
    yield Sample(dict(X=x, Scales=[scales, np.array([0.5])]), attrs, name="last", **STRAIGHT)


@samples("dequantize_log")
def dequantize_log(rng):
    x = rng.integers(-128, 128, size=[3, 4]).astype("int8")
    yield Sample(dict(X=x, Dict=rng.uniform(size=[128])))


@samples("fake_quantize_dequantize_abs_max")
def rounded_back(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x), order=0, why="steps have no slope")
    yield Sample(dict(X=x), dict(bit_length=4), "few", order=0, why="steps have no slope")


@samples("fake_channel_wise_quantize_dequantize_abs_max")
def channels_rounded_back(rng):
    x = rng.normal(size=[3, 4, 2])
    yield Sample(dict(X=x), order=0, why="steps have no slope")
    attrs = dict(bit_length=4, quant_axis=1)
    yield Sample(dict(X=x), attrs, "second", order=0, why="steps have no slope")


@samples("quantize_linear", "dequantize_linear")
def linear(rng, type):
    flat = dict(order=0, why="steps have no slope")
    x = rng.normal(size=[3, 4]) if type == "quantize_linear" else rng.integers(-9, 9, [3, 4]) * 1.0
    ins = dict(X=x, Scale=np.array([1.5]), ZeroPoint=np.zeros(1))
    each = dict(ins, Scale=rng.uniform(0.5, 2, [4]), ZeroPoint=np.zeros(4))
    yield Sample(ins, dict(quant_axis=-1), **flat)
    yield Sample(each, dict(quant_axis=1, bit_length=4), "channels", **flat)
    if type == "quantize_linear":
        yield Sample(ins, dict(quant_axis=-1, round_type=1, bit_length=3), "away", **flat)
        moving = dict(ins, InAccum=np.array([2.0]), InState=np.array([1.5]))
        yield Sample(moving, dict(quant_axis=-1, is_test=False), "moving", **flat)
        attrs = dict(quant_axis=-1, is_test=False, only_observer=True)
        yield Sample(moving, attrs, "observed", **flat)
        yield Sample(each, dict(quant_axis=1, is_test=False), "trained", **flat)
