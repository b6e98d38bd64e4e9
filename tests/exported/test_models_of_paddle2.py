"""Models that paddle 2.6 saved, as ONNX models for any number of examples."""

import models_of_paddle2
import numpy as np
import pytest

import fluidlite as fluid

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")

NAMES = [
    "layer.Conv2D_reflect", "layer.Flatten", "layer.GRU_deep", "layer.GRU_lengths", "layer.Linear",
    "layer.LSTM_deep", "layer.MultiHeadAttention", "layer.NLLLoss", "layer.Pad2D_circular",
    "layer.PixelUnshuffle", "layer.SimpleRNN_relu", "layer.Upsample_bicubic",
    "layer.Upsample_linear",
]  # fmt: skip


def test_saved_models_compute_the_same_in_onnx(tmp_path):
    folder, file = models_of_paddle2.unpacked(tmp_path), str(tmp_path / "model.onnx")
    for name in NAMES:
        inputs, wanted = models_of_paddle2.known(str(folder / name))
        fluid.onnx.export(str(folder / name), file)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        feeds = {each.name: value for each, value in zip(session.get_inputs(), inputs)}
        for found, right in zip(session.run(None, feeds), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5, err_msg=name)
            assert found.shape == right.shape, name
