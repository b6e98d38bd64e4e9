"""Samples of the operators in fluidlite/ops/attention_lstm.py."""

from .form import Sample, samples
from .lstm import LODS


@samples("attention_lstm")
def attention_lstm(rng):
    def inputs(states, m=3, size=2):
        return dict(
            X=rng.normal(size=[5, m]),
            C0=rng.normal(size=[states, size]),
            AttentionWeight=rng.normal(size=[m + size, 1]),
            LSTMWeight=rng.normal(size=[m + size, 4 * size]),
            LSTMBias=rng.normal(size=[1, 4 * size]),
        )

    def single(*slots):
        return {slot: rng.normal(size=[1, 1]) for slot in slots}

    yield Sample(inputs(2), name="plain", lods=dict(X=LODS[""]))
    ins = inputs(4) | single("AttentionBias", "AttentionScalar", "AttentionScalarBias")
    yield Sample(ins | dict(H0=rng.normal(size=[4, 2])), name="scaled", lods=dict(X=LODS["_empty"]))
    ins = inputs(3) | single("AttentionScalar")
    yield Sample(ins, dict(gate_activation="identity"), "levels", lods=dict(X=LODS["_levels"]))
