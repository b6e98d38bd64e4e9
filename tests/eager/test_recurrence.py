"""Recurrent networks compute the same in both spellings that have them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import errors, flow, paddle


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


def test_states_to_begin_with_are_zeros_whatever_the_inputs_hold():
    x = np.full([2, 2], np.nan, "float32")
    cell = fluid.nn.SimpleRNNCell(2, 3)
    assert [s.tolist() for s in cell.zeros(fluid.to_tensor(x))] == [[[0.0] * 3] * 2]


@pytest.mark.parametrize(
    "call, says",
    [
        (
            lambda: fluid.nn.LSTM(2, 3)(fluid.ones([1, 4, 2]), fluid.ones([1, 1, 3])),
            "LSTM: expected 2 initial states, got 1",
        ),
        (
            lambda: fluid.nn.GRU(2, 3)(fluid.ones([1, 4, 2]), fluid.ones([2, 1, 3])),
            r"expected a state of shape \[1, 1, 3\], got \[2, 1, 3\]",
        ),
        (
            lambda: flow.nn.LSTM(2, 3)(flow.ones(4, 1, 2), flow.ones(1, 1, 3)),
            "LSTM: expected 2 initial states, got 1",
        ),
    ],
)
def test_states_that_do_not_fit_are_refused(call, says):
    with pytest.raises(errors.FluidError, match=says):
        call()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_second_derivatives_of_recurrent_layers_are_those_of_differences(kind):
    net = getattr(paddle.nn, kind)(2, 3, direction="bidirect").astype("float64")
    x = paddle.to_tensor(np.random.default_rng(5).normal(size=[2, 4, 2]), stop_gradient=False)
    lengths = paddle.to_tensor(np.array([4, 2]))

    def slope(at):
        (found,) = paddle.grad([net(at, None, lengths)[0].square().sum()], [at], create_graph=True)
        return found

    (exact,) = paddle.grad([slope(x).square().sum()], [x])
    away = np.random.default_rng(6).normal(size=[2, 4, 2])
    sides = []
    for sign in (1, -1):
        moved = paddle.to_tensor(x.numpy() + sign * 1e-6 * away, stop_gradient=False)
        sides.append(float(slope(moved).square().sum()))
    np.testing.assert_allclose(np.sum(exact.numpy() * away), (sides[0] - sides[1]) / 2e-6, 1e-6)
