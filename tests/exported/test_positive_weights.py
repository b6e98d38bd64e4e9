"""A loss with weights of the positive class is exported with them."""

import importlib.util

import numpy as np
import pytest

import fluidlite as fluid

FEED = {
    "x": np.array([[1.5, -2.0, 0.5]], "float32"),
    "label": np.array([[1.0, 0.0, 0.25]], "float32"),
    "weight": np.array([[3.0, 2.0, 0.5]], "float32"),
}


@pytest.fixture(params=[False, True], ids=["of each", "normalized"])
def loss(request):
    inputs = {name: fluid.data(name, [1, 3], "float32") for name in FEED}
    block = fluid.default_main_program().global_block()
    out = block.create_var(name="loss", shape=[1, 3], dtype="float32")
    block.append_op(
        type="sigmoid_cross_entropy_with_logits",
        inputs={"X": inputs["x"], "Label": inputs["label"], "pos_weight": inputs["weight"]},
        outputs={"Out": out},
        attrs={"normalize": request.param},
    )
    return out


def test_in_numpy(loss, tmp_path):
    (expected,) = fluid.Executor().run(feed=FEED, fetch_list=[loss])
    path = tmp_path / "loss.py"
    written = fluid.export.numpy_source(fluid.default_main_program(), path, fetches=[loss])
    spec = importlib.util.spec_from_file_location("loss_of_this_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.predict(module.load(), *(FEED[name] for name in written.inputs))
    np.testing.assert_allclose(*found.values(), expected, rtol=1e-6)


def test_in_onnx(loss, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    (expected,) = fluid.Executor().run(feed=FEED, fetch_list=[loss])
    path = tmp_path / "loss.onnx"
    fluid.onnx.export(fluid.default_main_program(), path, fetches=[loss])
    (found,) = runtime.InferenceSession(str(path)).run(None, FEED)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
