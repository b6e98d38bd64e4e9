"""Beam searches with cells of fluid.nn; ``beams_of_paddle2.json`` has what paddle 2.6 finds."""

import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import nn

BEAMS = json.loads((Path(__file__).parents[1] / "data/beams_of_paddle2.json").read_text())


def parts_of(kind):
    parts = [nn.Embedding(6, 4), nn.Linear(5, 6), getattr(nn, kind)(4, 5)]
    for k, part in enumerate(parts):
        for j, p in enumerate(part.parameters()):
            count = int(np.prod(p.shape))
            value = 2 * np.sin(np.arange(count) * 1.7 + k + j)
            p.set_value(value.reshape(p.shape).astype("float32"))
    return parts


START = np.cos(np.arange(10)).reshape(2, 5).astype("float32")


@pytest.mark.parametrize("case", BEAMS, ids=lambda case: f"{case[0]} {len(case[1])}")
def test_a_beam_search_finds_what_it_does_in_paddle_2(case):
    kind, options, ids, log_probs, lengths = case
    words, scores, cell = parts_of(kind)
    start = fluid.to_tensor(START)
    states = (start, start * 0.5) if kind == "LSTMCell" else start
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, words, scores)
    found = nn.dynamic_decode(decoder, states, max_step_num=5, return_length=True, **options)
    assert found[0].tolist() == ids and found[2].tolist() == lengths
    np.testing.assert_allclose(found[1].log_probs.numpy(), log_probs, atol=2e-4)


def test_a_beam_search_is_the_same_in_a_program():
    words, scores, cell = parts_of("GRUCell")
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, words, scores)
    wanted = nn.dynamic_decode(decoder, fluid.to_tensor(START), max_step_num=5)[0].numpy()
    state = fluid.data("state", [None, 5], "float32")

    class Search(nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = nn.LayerList([words, scores, cell])

        def forward(self, state):
            return nn.dynamic_decode(decoder, state, max_step_num=5)[0]

    ids, exe = Search()(state), fluid.Executor()
    exe.run(fluid.default_startup_program())
    np.testing.assert_array_equal(exe.run(feed={"state": START}, fetch_list=[ids])[0], wanted)


def test_a_decoder_of_ones_own_runs_on_tensors():
    class Countdown(fluid.layers.Decoder):
        def initialize(self, inits):
            return inits, inits, inits < 0

        def step(self, time, inputs, states):
            left = states - 1
            return left, left, left, left < 1

    start = fluid.to_tensor([3, 1])
    found = nn.dynamic_decode(Countdown(), start, return_length=True)
    steps, last, lengths = found
    assert steps.tolist() == [[2, 1, 0], [0, -1, -2]]
    assert last.tolist() == [0, -2] and lengths.tolist() == [3, 1]
    assert nn.dynamic_decode(Countdown(), start, impute_finished=True)[1].tolist() == [0, 0]
