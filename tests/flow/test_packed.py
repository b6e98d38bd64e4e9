"""Packed sequences: modules go through each as if it were alone."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import ArgumentError
from fluidlite.flow import nn
from fluidlite.flow.nn.utils import rnn


def sequences():
    rng = np.random.default_rng(3)
    return [flow.tensor(rng.normal(size=[n, 2]), requires_grad=True) for n in (2, 4, 1)]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("given", [False, True])
def test_packed_sequences_give_what_each_gives_alone(kind, given):
    flow.set_default_dtype(flow.float64)
    flow.manual_seed(1)
    net, rows = kind(2, 3, num_layers=2, bidirectional=True), sequences()
    begin = flow.tensor(np.arange(36.0).reshape(4, 3, 3) / 36)
    begins = (begin, begin * 2) if kind is nn.LSTM else begin
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    out, states = net(packed, begins) if given else net(packed)
    parts = rnn.unpack_sequence(out)
    listed = states if kind is nn.LSTM else (states,)
    for k, row in enumerate(rows):
        mine = [s[:, k] for s in (begins if kind is nn.LSTM else (begins,))] if given else None
        alone, last = net(row, mine[0] if mine and kind is not nn.LSTM else mine)
        np.testing.assert_allclose(parts[k].numpy(), alone.numpy(), atol=1e-12)
        for whole, one in zip(listed, last if kind is nn.LSTM else (last,)):
            np.testing.assert_allclose(whole[:, k].numpy(), one.numpy(), atol=1e-12)
    grads = flow.autograd.grad((out.data**2).sum(), rows)
    for row, grad in zip(rows, grads):
        if not given:
            (right,) = flow.autograd.grad((net(row)[0] ** 2).sum(), row)
            np.testing.assert_allclose(grad.numpy(), right.numpy(), atol=1e-12)


def test_packed_sequences_come_back_padded_in_their_order():
    padded = rnn.pad_sequence(sequences(), batch_first=True)
    packed = rnn.pack_padded_sequence(padded, [2, 4, 1], batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    again, lengths = rnn.pad_packed_sequence(packed, batch_first=True)
    assert lengths.tolist() == [2, 4, 1] and again.tolist() == padded.tolist()
    longer, _ = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=6)
    assert longer.shape == (6, 3, 2) and longer[5].tolist() == [[-1.0] * 2] * 3


@pytest.mark.parametrize(
    "lengths, message",
    [
        ([2, 4, 1], "none is above the one before"),
        ([4, 2], "lengths of 3 sequences"),
        ([5, 2, 1], "from 1 to 4"),
        ([4, 2, 0], "from 1 to 4"),
        ([4.0, 2.0, 1.0], "lengths of 3 sequences"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths, message):
    with pytest.raises(ArgumentError, match=message):
        rnn.pack_padded_sequence(rnn.pad_sequence(sequences()), lengths)


def test_fewer_steps_than_there_are_are_refused():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    with pytest.raises(ArgumentError, match="total_length of at least 4, got 3"):
        rnn.pad_packed_sequence(packed, total_length=3)


def test_packed_sequences_go_through_programs_too():
    net = nn.LSTM(2, 3, bidirectional=True)
    rows = np.random.default_rng(0).normal(size=[4, 3, 2]).astype("float32")

    def sums(rows):
        packed = rnn.pack_padded_sequence(rows, [2, 4, 1], enforce_sorted=False)
        out, (last, _) = net(packed)
        return rnn.pad_packed_sequence(out)[0].sum(0) + last.sum(0).sum(-1, keepdim=True)

    with fluid.program_guard(fluid.Program(), fluid.Program()):
        found = sums(fluid.data("rows", [4, 3, 2], "float32"))
        executor = fluid.Executor()
        executor.run(fluid.default_startup_program())
        (found,) = executor.run(feed={"rows": rows}, fetch_list=[found])
    np.testing.assert_allclose(found, sums(flow.tensor(rows)).detach().numpy(), atol=1e-6)
