"""Several operators in one compute what they compute one after the other."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
LOD = ((0, 2, 2, 5),)


def ragged(*shape):
    return LoDTensor(rng.normal(size=shape), LOD)


def test_embeddings_of_a_sequence_are_summed_but_for_the_padding():
    w, ids = rng.normal(size=[6, 3]), np.array([[1], [4], [1], [0], [1]])
    out = f.fused_embedding_seq_pool(w, LoDTensor(ids, LOD), padding_idx=0)
    np.testing.assert_allclose(out, [w[1] + w[4], np.zeros(3), 2 * w[1]])


def test_pooled_values_stand_side_by_side():
    x, y = ragged(5, 2), ragged(5, 2)
    for kind in ("SUM", "AVERAGE", "SQRT"):
        pooled = [f.sequence_pool(each, pooltype=kind) for each in (x, y)]
        found = f.fusion_seqpool_concat([x, y], pooltype=kind)
        np.testing.assert_allclose(found, np.concatenate(pooled, axis=1))


def test_counts_become_logarithms_when_pooled():
    x = LoDTensor(np.arange(10.0).reshape(5, 2), LOD)
    shows, clicks = np.array([2.0, 0.0, 18.0]), np.array([4.0, 0.0, 21.0])
    out = f.fusion_seqpool_cvm_concat([x], np.zeros([3, 2]))
    logs = np.log(shows + 1), np.log(clicks + 1) - np.log(shows + 1)
    np.testing.assert_allclose(out, np.stack(logs, axis=1))


def test_a_convolution_with_bias_is_cut_at_zero():
    x, w, b = ragged(5, 2), rng.normal(size=[6, 4]), rng.normal(size=[1, 4])
    attrs = dict(contextLength=3, contextStart=-1)
    found = f.fusion_seqconv_eltadd_relu(x, w, b, **attrs)
    np.testing.assert_allclose(found, np.maximum(f.sequence_conv(x, None, w, **attrs) + b, 0))


def test_rows_stand_beside_those_of_their_sequence():
    x, y, w = ragged(5, 2), rng.normal(size=[3, 3]), rng.normal(size=[5, 4])
    found = f.fusion_seqexpand_concat_fc([x, y], w, fc_activation="tanh")
    whole = np.concatenate([x.data, np.repeat(y, [2, 0, 3], axis=0)], axis=1)
    np.testing.assert_allclose(found, np.tanh(whole @ w))


def test_recurrent_networks_are_those_of_the_product():
    x, w = ragged(5, 3), rng.normal(size=[3, 8])
    h, b = rng.normal(size=[2, 8]), rng.normal(size=[1, 8])
    rows = LoDTensor(x.data @ w, LOD)
    plain = f.lstm(rows, None, None, h, b, use_peepholes=False)
    found = f.fusion_lstm(x, w, h, b, use_peepholes=False)
    for mine, right in zip(found, plain):
        np.testing.assert_allclose(mine, right.data if isinstance(right, LoDTensor) else right)
    table, ids = rng.normal(size=[4, 8]), np.array([[1], [3], [0], [1], [2]])
    ragged_ids = LoDTensor(ids, LOD)
    found = f.fused_embedding_fc_lstm(ragged_ids, table, h, b, use_peepholes=False)
    rows = LoDTensor(table[ids.ravel()], LOD)
    plain = f.lstm(rows, None, None, h, np.zeros([1, 8]), use_peepholes=False)
    np.testing.assert_allclose(found[0], getattr(plain[0], "data", plain[0]))


def test_integers_of_8_bits_stand_for_floats():
    x = np.array([0.25, -1.26, 0.35, 300.0, -300.0])
    signed = f.quantize(x, Scale=10.0, is_negative_input=True)
    assert (signed.dtype, signed.tolist()) == (np.int8, [2, -13, 4, 127, -128])
    assert f.quantize(abs(x), Scale=10.0).tolist() == [2, 13, 4, 255, 255]
    np.testing.assert_allclose(f.dequantize(signed, Scale=10.0)[:3], [0.2, -1.3, 0.4], 1e-6)
    assert f.requantize(signed, Scale_in=10.0, Scale_out=20.0).tolist() == [4, -26, 8, 127, -128]


def test_sequences_that_do_not_fit_are_refused():
    other = LoDTensor(rng.normal(size=[5, 2]), ((0, 5),))
    with pytest.raises(LoDError, match=r"equally many sequences, got \[3, 1\]"):
        f.fusion_seqpool_concat([ragged(5, 2), other])
    with pytest.raises(LoDError, match="the other X with 3 rows"):
        f.fusion_seqexpand_concat_fc([ragged(5, 2), other.data], rng.normal(size=[4, 2]))


FLOATS = ((4, 2), "float32")


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (AttributeValueError, "pooltype", "fusion_seqpool_concat", dict(pooltype="MAX"), [FLOATS]),
        (ShapeError, "one size", "fusion_seqpool_concat", {}, [FLOATS, ((4, 3), "float32")]),
    ],
)
def test_values_that_cannot_be_pooled_are_refused(error, message, type, attrs, inputs):
    with pytest.raises(error, match=message):
        infer(type, attrs, X=inputs)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            AttributeValueError,
            "combiner",
            "fused_embedding_seq_pool",
            dict(combiner="mean"),
            dict(W=FLOATS, Ids=((3, 1), "int64")),
        ),
        (
            AttributeValueError,
            "fc_activation",
            "fusion_seqexpand_concat_fc",
            dict(fc_activation="exp"),
            dict(X=[FLOATS, FLOATS], FCWeight=((4, 2), "float32")),
        ),
        (
            ShapeError,
            "Filter with 6 rows",
            "fusion_seqconv_eltadd_relu",
            dict(contextLength=3),
            dict(X=FLOATS, Filter=((5, 2), "float32"), Bias=((2,), "float32")),
        ),
        (
            ShapeError,
            "expected WeightX",
            "fusion_gru",
            {},
            dict(X=FLOATS, WeightX=((3, 6), "float32"), WeightH=((2, 6), "float32")),
        ),
        (DTypeError, "int8 or uint8", "dequantize", {}, dict(Input=FLOATS)),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error, match=message):
        infer(type, attrs, **inputs)
