"""Kernels of an LSTM's steps, held against NumPy's."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.backend import recurrence
from fluidlite.backend.native.lstm import KERNELS
from fluidlite.backend.numpy_ import xp
from fluidlite.opdef.definition import lookup

SIZES = [(5, 3, 4, 7), (1, 1, 2, 1), (3, 16, 8, 64)]


def _both_ways(sizes, is_reverse, dtype="float32"):
    """What an LSTM gives, and its gradients by input."""
    steps, rows, width, size = sizes
    rng = np.random.default_rng(5)
    shapes = [(steps, rows, width), (rows, size), (rows, size), (4 * size, width)]
    shapes += [(4 * size, size), (4 * size,), (4 * size,)]
    shapes += [(steps, rows, size), (rows, size), (rows, size)]
    *ins, d_out, d_h, d_c = (0.5 * rng.standard_normal(s).astype(dtype) for s in shapes)
    before = [each.copy() for each in ins]
    op = lookup("recurrent_layer")({"mode": "LSTM", "is_reverse": is_reverse})
    out, h, c, gates, memory = op.run_numpy(xp, *ins, None)
    slopes = op.grad_numpy(xp, *ins, None, out, gates, memory, d_out, d_h, d_c)
    assert all(np.array_equal(a, b) for a, b in zip(ins, before))  # nothing is written to
    return [out, h, c, gates, memory, *(slopes[name] for name in sorted(slopes))]


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_kernels_compute_what_numpy_does(compiler, monkeypatch, sizes, is_reverse):
    assert KERNELS.get().function("lstm_step") and KERNELS.get().function("lstm_slope")
    with_kernels = _both_ways(sizes, is_reverse)
    monkeypatch.setattr(recurrence, "_kernel", lambda name, *arrays: None)
    for made, expected in zip(with_kernels, _both_ways(sizes, is_reverse), strict=True):
        assert made.shape == expected.shape and made.dtype == expected.dtype
        np.testing.assert_allclose(made, expected, rtol=2e-5, atol=2e-6)


def test_numbers_of_double_precision_are_left_to_numpy(compiler):
    arrays = [np.zeros([2, 2])] * 4
    assert not recurrence.lstm_steps(range(2), *arrays, None, None)
    assert recurrence.lstm_slopes(range(2), *arrays, None, arrays[0], arrays[0]) is None


def test_layers_compute_the_same_before_and_after_kernels_are_there(compiler, monkeypatch):
    net = paddle.nn.LSTM(3, 4, num_layers=2, direction="bidirect")
    x = paddle.to_tensor(np.sin(np.arange(30.0, dtype="float32")).reshape(2, 5, 3))

    def slopes():
        out, (h, c) = net(x)
        (out.sum() + (h * c).sum()).backward()
        found = [p.grad.numpy() for p in net.parameters()]
        net.clear_gradients()
        return found

    with_kernels = slopes()
    monkeypatch.setattr(recurrence, "_kernel", lambda name, *arrays: None)
    for made, expected in zip(with_kernels, slopes(), strict=True):
        np.testing.assert_allclose(made, expected, rtol=2e-5, atol=2e-6)
