"""Samples of layers of recurrent cells, one above the other."""

import numpy as np

from .form import Sample, samples

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def layers(rng, mode, num_layers, directions, steps=2, rows=2, width=3, size=2):
    """The inputs of layers of cells."""
    count, height = num_layers * directions, GATES[mode] * size
    weights = []
    for k in range(count):
        below = width if k < directions else size * directions
        weights += [rng.normal(size=[height, below]) / 2, rng.normal(size=[height, size]) / 2]
    weights += [rng.normal(size=[height]) / 2 for _ in range(2 * count)]
    return dict(
        Input=rng.normal(size=[steps, rows, width]),
        PreState=[rng.normal(size=[count, rows, size]) for _ in range(1 + (mode == "LSTM"))],
        WeightList=weights,
    )


@samples("rnn", "recurrent_layers")
def rnn(rng, type):
    sizes = dict(input_size=3, hidden_size=2)
    yield Sample(layers(rng, "GRU", 1, 1), dict(sizes, mode="GRU"))
    attrs = dict(sizes, mode="LSTM", num_layers=2, is_bidirec=True)
    lengths = dict(SequenceLength=np.array([2, 1]))
    yield Sample(layers(rng, "LSTM", 2, 2) | lengths, attrs, "deep", tolerance=1e-5)
    yield Sample(layers(rng, "RNN_TANH", 2, 1), dict(sizes, num_layers=2), "simple")
    if type == "recurrent_layers":
        inputs = layers(rng, "RNN_TANH", 2, 1)
        inputs["Kept"] = rng.integers(0, 2, size=[1, 2, 2, 2]) * 2.0
        yield Sample(inputs, dict(sizes, num_layers=2), "kept")
    else:
        drops = dict(sizes, num_layers=2, dropout_prob=0.5, seed=3)
        yield Sample(layers(rng, "RNN_TANH", 2, 1), drops, "dropout")
