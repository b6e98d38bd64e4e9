"""Fine-tune a model that came as ONNX: its first layers stay, its head learns other classes.

The model is made here, by ONNX's own helper, from a network that was trained on the digits 0 to 4.
It is loaded, its last layer is replaced by one for all ten digits, and trained further.  The new
program is drawn in fine_tune_onnx.svg.

    python examples/fine_tune_onnx.py
"""

import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import fluidlite as fluid
from fluidlite import layers
from fluidlite.dataset import digits

STEPS, BATCH = 60, 64


def first_network(images, labels):
    """Train a small network in NumPy: one hidden layer, and as many outputs as there are labels."""
    rng = np.random.default_rng(0)
    count = int(labels.max()) + 1
    w1 = rng.normal(0, 0.1, (images.shape[1], 32)).astype("float32")
    w2 = rng.normal(0, 0.1, (32, count)).astype("float32")
    for _ in range(200):
        hidden = np.maximum(images @ w1, 0)
        power = np.exp(hidden @ w2)
        wrong = power / power.sum(1, keepdims=True) - np.eye(count, dtype="float32")[labels]
        back = (wrong @ w2.T) * (hidden > 0)
        w2 -= 0.5 / len(images) * hidden.T @ wrong
        w1 -= 0.5 / len(images) * images.T @ back
    return w1, w2


def write_model(path, w1, w2):
    """The network as a file of ONNX."""
    nodes = [
        helper.make_node("MatMul", ["image", "hidden.weight"], ["sum"], name="hidden"),
        helper.make_node("Relu", ["sum"], ["features"], name="relu"),
        helper.make_node("MatMul", ["features", "head.weight"], ["scores"], name="head"),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", w1.shape[0]])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", w2.shape[1]])],
        [numpy_helper.from_array(w1, "hidden.weight"), numpy_helper.from_array(w2, "head.weight")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


def main():
    """Load, fine-tune, and write the new model as ONNX again."""
    train, test = (list(reader()) for reader in (digits.train(), digits.test()))
    images, labels = (np.array(part) for part in zip(*train))
    images, labels = images.reshape(len(images), -1).astype("float32"), labels.reshape(-1)
    known = labels < 5
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "five_digits.onnx")
        write_model(path, *first_network(images[known], labels[known]))
        model = fluid.onnx.load(path)
        print(f"loaded {model!r}")

        features = model.program.global_block().var("features")
        with fluid.program_guard(model.program, model.startup):
            label = fluid.data("label", [None, 1], "int64")
            scores = layers.fc(features, 10, act="softmax")
            loss = layers.mean(layers.cross_entropy(scores, label))
            right = layers.accuracy(scores, label)
            testing = model.program.clone(for_test=True)
            fluid.optimizer.Adam(0.01).minimize(loss)

        exe = fluid.Executor()
        exe.run(model.startup)
        rng = np.random.default_rng(1)
        for step in range(STEPS):
            chosen = rng.integers(len(images), size=BATCH)
            feed = {"image": images[chosen], "label": labels[chosen].reshape(-1, 1)}
            (value,) = exe.run(model.program, feed=feed, fetch_list=[loss])
            if step % 20 == 0:
                print(f"step {step}: loss {float(value.item()):.3f}")

        others, answers = (np.array(part) for part in zip(*test))
        feed = {
            "image": others.reshape(len(others), -1).astype("float32"),
            "label": answers.reshape(-1, 1),
        }
        (share,) = exe.run(testing, feed=feed, fetch_list=[right])
        print(f"all ten digits: {float(share.item()):.0%} are right")
        fluid.inspect.draw(testing, "fine_tune_onnx.svg")
        found = fluid.onnx.export(
            testing, os.path.join(folder, "ten_digits.onnx"), ["image"], [scores]
        )
        print(f"written: {', '.join(found.inputs)} -> {', '.join(found.outputs)}")
        return float(share.item())


if __name__ == "__main__":
    main()
