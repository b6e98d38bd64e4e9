"""Recurrent operators against loops over the rows of each sequence, and fast kernels against what
they are the fast kernels of.
"""

import itertools

import numpy as np
import pytest

from fluidlite.backend import numpy_
from fluidlite.errors import AttributeValueError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval
from fluidlite.opdef.spec import spec

from samples.form import samples_of

LOD = ((0, 2, 2, 7, 8),)
FAST = ("lstm", "lstmp", "gru", "linear_chain_crf", "warpctc")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(type, attrs=None, **ins):
    return Eval(numpy_).apply(lookup(type)(attrs), ins)


def rows_of(lod, is_reverse):
    for k, (a, b) in enumerate(itertools.pairwise(lod[0])):
        rows = range(a, b)
        yield k, reversed(rows) if is_reverse else rows


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_memory_is_the_loop_over_its_words(is_reverse):
    rng = np.random.default_rng(0)
    d = 3
    x, w, b = rng.normal(size=[8, 4 * d]), rng.normal(size=[d, 4 * d]), rng.normal(size=[7 * d])
    h0, c0 = rng.normal(size=[4, d]), rng.normal(size=[4, d])
    ins = dict(Input=LoDTensor(x, LOD), Weight=w, Bias=b[None], H0=h0, C0=c0)
    found = run("lstm", dict(is_reverse=is_reverse), **ins)
    hidden, cells = np.zeros([8, d]), np.zeros([8, d])
    for k, rows in rows_of(LOD, is_reverse):
        h, c = h0[k], c0[k]
        for row in rows:
            v, i, f, o = np.split(x[row] + b[: 4 * d] + h @ w, 4)
            to_i, to_f, to_o = np.split(b[4 * d :], 3)
            c = np.tanh(v) * sigmoid(i + c * to_i) + c * sigmoid(f + c * to_f)
            h = sigmoid(o + c * to_o) * np.tanh(c)
            hidden[row], cells[row] = h, c
    np.testing.assert_allclose(found["Hidden"].data, hidden, 1e-12)
    np.testing.assert_allclose(found["Cell"].data, cells, 1e-12)
    assert found["Hidden"].offsets == LOD


@pytest.mark.parametrize("origin_mode", [False, True])
def test_a_gated_unit_is_the_loop_over_its_words(origin_mode):
    rng = np.random.default_rng(1)
    d = 3
    x, b, h0 = rng.normal(size=[8, 3 * d]), rng.normal(size=[1, 3 * d]), rng.normal(size=[4, d])
    gates, candidate = rng.normal(size=[d, 2 * d]), rng.normal(size=[d, d])
    w = np.concatenate([gates.reshape(-1), candidate.reshape(-1)]).reshape(d, 3 * d)
    ins = dict(Input=LoDTensor(x, LOD), Weight=w, Bias=b, H0=h0)
    found = run("gru", dict(origin_mode=origin_mode, is_reverse=True), **ins)["Hidden"]
    right = np.zeros([8, d])
    for k, rows in rows_of(LOD, True):
        h = h0[k]
        for row in rows:
            u, r = np.split(sigmoid(x[row, : 2 * d] + b[0, : 2 * d] + h @ gates), 2)
            c = np.tanh(x[row, 2 * d :] + b[0, 2 * d :] + (r * h) @ candidate)
            h = u * h + (1 - u) * c if origin_mode else (1 - u) * h + u * c
            right[row] = h
    np.testing.assert_allclose(found.data, right, 1e-12)


class Composed(Eval):
    """Runs the operator of one type as the composition that it means."""

    def __init__(self, type):
        super().__init__(numpy_)
        self.type = type

    def apply(self, op, ins, want=None):
        return (
            op.outputs_for(self, ins, want)
            if op.type == self.type
            else super().apply(op, ins, want)
        )


def lod_tensors(sample):
    return {
        slot: LoDTensor(value, sample.lods[slot]) if slot in sample.lods else value
        for slot, value in sample.inputs.items()
    }


@pytest.mark.parametrize("type", FAST)
def test_fast_kernels_compute_what_the_composition_says(type):
    for sample in samples_of(type):
        op, ins = lookup(type)(sample.attrs), lod_tensors(sample)
        fast, slow = Eval(numpy_).apply(op, ins), Composed(type).apply(op, ins)
        for slot, value in fast.items():
            message = f"{sample.name}: {slot}"
            np.testing.assert_allclose(bare(value), bare(slow[slot]), 1e-9, 1e-12, err_msg=message)


@pytest.mark.parametrize("type", FAST)
def test_fast_gradients_are_those_of_the_composition(type):
    rng = np.random.default_rng(5)
    for sample in samples_of(type):
        op, ins = lookup(type)(sample.attrs), lod_tensors(sample)
        outs = Eval(numpy_).apply(op, ins)
        gradient = lookup(op.grad_type)
        given = {}
        for read in gradient.reads:
            if read.source == "cotangent":
                if op.output_slots[read.of].hidden:
                    continue
                value = rng.normal(size=bare(outs[read.of]).shape)
            else:
                value = (ins if read.source == "in" else outs).get(read.of)
            given[read.slot] = value
        made = gradient(sample.attrs)
        fast, slow = Eval(numpy_).apply(made, given), Composed(gradient.type).apply(made, given)
        for slot, value in fast.items():
            message = f"{sample.name}: {slot}"
            np.testing.assert_allclose(bare(value), bare(slow[slot]), 1e-8, 1e-11, err_msg=message)


@pytest.mark.parametrize("type", ["lstm", "gru"])
def test_single_precision_stays_so(type):
    sample = samples_of(type)[0]
    ins = {
        slot: LoDTensor(bare(v).astype("float32"), v.offsets)
        if isinstance(v, LoDTensor)
        else v.astype("float32")
        for slot, v in lod_tensors(sample).items()
    }
    outs = Eval(numpy_).apply(lookup(type)(sample.attrs), ins)
    assert {bare(v).dtype for v in outs.values()} == {np.dtype("float32")}


def test_what_does_not_fit_is_named():
    x, w, b = np.zeros([8, 12]), np.zeros([3, 12]), np.zeros([1, 21])
    ins = dict(Input=LoDTensor(x, LOD), Weight=w, Bias=b)
    states = dict(H0=np.zeros([3, 3]), C0=np.zeros([3, 3]))
    with pytest.raises(ShapeError, match="expected H0 with 4 rows, one for each sequence"):
        run("lstm", **ins, **states)
    with pytest.raises(LoDError, match="expected Input with sequences, got no LoD"):
        run("gru", Input=np.zeros([8, 9]), Weight=np.zeros([3, 9]))

    def inferred(type, attrs=None, **shapes):
        lookup(type)(attrs).infer_outputs({k: spec(v, "float32") for k, v in shapes.items()})

    right = dict(Input=[8, 12], Weight=[3, 12], Bias=[1, 21])
    with pytest.raises(ShapeError, match="expected Input with 12 columns"):
        inferred("lstm", **{**right, "Input": [8, 11]})
    with pytest.raises(ShapeError, match=r"expected Bias \[1, 12\] without peepholes"):
        inferred("lstm", dict(use_peepholes=False), **right)
    with pytest.raises(ShapeError, match="both of H0 and C0, or none, got H0 only"):
        inferred("lstm", **right, H0=[4, 3])
    with pytest.raises(AttributeValueError, match="gate_activation identity, sigmoid, tanh"):
        inferred("lstm", dict(gate_activation="softplus"), **right)
    with pytest.raises(ShapeError, match=r"expected Weight \[3, 9\]"):
        inferred("gru", Input=[8, 9], Weight=[3, 8])
    with pytest.raises(ShapeError, match=r"expected ProjWeight \[3, projected size\]"):
        inferred("lstmp", **{**right, "Weight": [2, 12]}, ProjWeight=[4, 2])
