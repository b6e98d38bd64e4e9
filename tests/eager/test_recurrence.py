"""Recurrent networks compute the same in both spellings that have them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow


@pytest.mark.parametrize(
    "kind, direction, more",
    [
        ("LSTM", "forward", {}),
        ("LSTM", "bidirect", {}),
        ("GRU", "bidirect", {}),
        ("SimpleRNN", "forward", {"activation": "relu"}),
    ],
)
def test_layers_of_both_spellings_give_the_same_with_the_same_weights(kind, direction, more):
    first = getattr(fluid.nn, kind)(3, 4, num_layers=2, direction=direction, **more)
    named = {"nonlinearity": more["activation"]} if more else {}
    other = getattr(flow.nn, kind.replace("Simple", ""))(
        3, 4, num_layers=2, batch_first=True, bidirectional=direction == "bidirect", **named
    )
    state = {n: flow.tensor(p.numpy()) for n, p in first.named_parameters()}
    other.load_state_dict(state)
    values = np.sin(np.arange(2 * 5 * 3, dtype="float32")).reshape(2, 5, 3)
    shown, last = first(fluid.to_tensor(values))
    theirs, their_last = other(flow.tensor(values))
    np.testing.assert_allclose(shown.numpy(), theirs.detach().numpy(), rtol=1e-6)
    pairs = zip(last, their_last) if kind == "LSTM" else [(last, their_last)]
    for a, b in pairs:
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-6)


def test_steps_behind_the_end_of_a_row_give_zeros_and_keep_its_state():
    net = fluid.nn.GRU(2, 3)
    x = fluid.to_tensor(np.ones([2, 4, 2], "float32"))
    shown, last = net(x, sequence_length=fluid.to_tensor([4, 2]))
    assert not shown.numpy()[1, 2:].any() and shown.numpy()[0].all()
    np.testing.assert_allclose(last.numpy()[0, 1], shown.numpy()[1, 1])
