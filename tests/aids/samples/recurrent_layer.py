"""Samples of layers of recurrent cells."""

import numpy as np

from fluidlite.ops.recurrent_layer import GATES

from .form import Sample, samples


@samples("recurrent_layer")
def recurrent_layer(rng):
    for mode, gates in GATES.items():
        for is_reverse, steps, rows, width, size in ((False, 3, 2, 4, 3), (True, 2, 3, 1, 2)):
            inputs = dict(
                Input=rng.normal(size=[steps, rows, width]),
                InitH=rng.normal(size=[rows, size]),
                WeightIh=rng.normal(size=[gates * size, width]),
                WeightHh=rng.normal(size=[gates * size, size]),
                BiasIh=rng.normal(size=gates * size),
                BiasHh=rng.normal(size=gates * size),
            )
            if mode == "LSTM":
                inputs["InitC"] = rng.normal(size=[rows, size])
            attrs = dict(mode=mode, is_reverse=is_reverse)
            yield Sample(inputs, attrs, f"{mode}_{'back' if is_reverse else 'forth'}")
            plain = {name: v for name, v in inputs.items() if not name.startswith("Bias")}
            lengths = np.arange(rows)[::-1] % steps + 1
            more = {**plain, "Lengths": lengths}
            yield Sample(more, attrs, f"{mode}_{'back' if is_reverse else 'forth'}_lengths")
