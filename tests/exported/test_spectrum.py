"""Fourier transforms in models of ONNX are NumPy's, and have gradients."""

import numpy as np
import pytest
from exported.graphs_of_nodes import model, node, run

import fluidlite as fluid
from fluidlite import layers

X = np.random.default_rng(0).normal(size=(2, 6, 2)).astype("float32")
COMPLEX = X[..., 0] + 1j * X[..., 1]


@pytest.fixture(autouse=True)
def fresh():
    with fluid.scope_guard(fluid.Scope()):
        yield


def transform(**attrs):
    made = model([node("DFT", "x", "y", axis=1, **attrs)], "x:float32[n,6,2]", "y", opset=17)
    return fluid.onnx.load(made)


@pytest.mark.parametrize("inverse, right", [(0, np.fft.fft), (1, np.fft.ifft)])
def test_a_transform_and_its_inverse_are_those_of_numpy(inverse, right):
    (found,) = run(transform(inverse=inverse), x=X)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], right(COMPLEX), atol=1e-6)


def test_a_transform_of_real_numbers_is_undone_from_one_side():
    real = X[..., :1]
    ends = [node("DFT", "x", "f", axis=1, onesided=1)]
    ends += [node("DFT", "f", "y", axis=1, onesided=1, inverse=1)]
    found = run(fluid.onnx.load(model(ends, "x:float32[n,6,1]", "f y", opset=17)), x=real)
    np.testing.assert_allclose(found[0][..., 0], np.fft.rfft(real[..., 0]).real, atol=1e-6)
    np.testing.assert_allclose(found[1], real, atol=1e-6)


def test_gradients_pass_through_a_transform():
    loaded = transform()
    with fluid.program_guard(loaded.program, loaded.startup):
        x = loaded.program.global_block().var("x")
        x.stop_gradient = False
        loss = layers.reduce_sum(layers.square(loaded.fetches[0]))
        (dx,) = fluid.gradients(loss, x)
        found = fluid.Executor().run(loaded.program, {"x": X}, [dx])[0]
    np.testing.assert_allclose(found, 2 * 6 * X, rtol=1e-5)  # Parseval's theorem


def test_frames_are_weighted_and_transformed():
    signal = np.arange(10, dtype="float32")[None, :, None]
    window = np.hanning(4).astype("float32")
    arrays = dict(step=np.array(3), window=window)
    made = model([node("STFT", "x step window", "y")], "x:float32[n,10,1]", "y", **arrays)
    (found,) = run(fluid.onnx.load(made), x=signal)
    frames = np.stack([signal[0, k : k + 4, 0] * window for k in (0, 3, 6)])
    right = np.fft.rfft(frames)
    np.testing.assert_allclose(found[0, ..., 0] + 1j * found[0, ..., 1], right, atol=1e-5)
