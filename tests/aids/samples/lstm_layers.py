"""Samples of layers of long short-term memories."""

import numpy as np

from fluidlite.opdef.definition import lookup

from .form import Sample, samples


def layers(rng, steps, rows, width, **layout):
    """Inputs of layers of these attributes."""
    op = lookup("lstm_layers")(layout)
    first = [op.num_layers * op.directions, rows, op.hidden_size]
    return dict(
        Input=rng.normal(size=[steps, rows, width]),
        InitH=rng.normal(size=first),
        InitC=rng.normal(size=first),
        W=rng.normal(size=op.parts(width)[1]),
    )


FORMS = {
    "one": (3, 2, 4, dict(hidden_size=5)),
    "both_ways": (2, 3, 4, dict(hidden_size=1, is_bidirec=True)),
    "two": (3, 2, 1, dict(hidden_size=2, num_layers=2)),
    "two_both_ways": (2, 1, 3, dict(hidden_size=2, num_layers=2, is_bidirec=True)),
}


@samples("lstm_layers")
def lstm_layers(rng):
    for name, (steps, rows, width, layout) in FORMS.items():
        inputs = layers(rng, steps, rows, width, **layout)
        yield Sample(inputs, layout, name)
        if layout.get("num_layers") == 2:
            many = 2 if layout.get("is_bidirec") else 1
            shape = [1, steps, rows, layout["hidden_size"] * many]
            kept = rng.integers(0, 2, size=shape) * 2.0
            yield Sample({**inputs, "Kept": kept}, layout, f"{name}_kept")


@samples("cudnn_lstm")
def cudnn_lstm(rng):
    for name, (steps, rows, width, layout) in FORMS.items():
        inputs = layers(rng, steps, rows, width, **layout)
        yield Sample(inputs, dict(layout, input_size=width), name)
    layout = dict(hidden_size=2, num_layers=2)
    inputs = layers(rng, 3, 2, 1, **layout)
    tested = dict(layout, input_size=1, dropout_prob=0.25, is_test=True)
    yield Sample(inputs, tested, "tested")
    fixed = dict(layout, input_size=1, dropout_prob=0.25, seed=3)
    yield Sample({k: np.array(v) for k, v in inputs.items()}, fixed, "dropout")
