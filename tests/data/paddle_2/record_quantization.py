"""Writes quantization.json: what paddlepaddle 2.6.2 computes while and after a model is quantized.

Run it where that is installed: ``python record_quantization.py``.
"""

import json
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.quantization import PTQ, QAT, QuantConfig
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

RATE = 0.1


def net():
    return nn.Sequential(
        nn.Conv2D(1, 3, 3, padding=1, stride=2, padding_mode="reflect"),
        nn.BatchNorm2D(3),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(12, 5),
        nn.ReLU(),
        nn.Linear(5, 2),
        paddle.nn.quant.Stub(),
    )


def fill(model, seed):
    rng = np.random.RandomState(seed)
    for parameter in model.parameters():
        if not parameter.stop_gradient:  # statistics stay
            parameter.set_value(rng.uniform(-0.6, 0.6, parameter.shape).astype("float32"))


def inputs(seed):
    return np.random.RandomState(seed).randn(4, 1, 8, 8).astype("float32")


def listed(tensor):
    return np.asarray(tensor.numpy()).astype("float64").round(7).tolist()


def of_training(bits):
    """Losses of three steps, the outputs behind, and those of what it is converted to."""
    model = net()
    fill(model, 1)
    quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.8, bit_length=bits)
    qat = QAT(QuantConfig(activation=quanter, weight=quanter))
    model = qat.quantize(model)
    optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
    losses = []
    for step in range(3):
        loss = (model(paddle.to_tensor(inputs(step))) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(listed(loss))
    model.eval()
    x = paddle.to_tensor(inputs(9))
    scales = [listed(layer.scales()) for layer in model.sublayers() if hasattr(layer, "scales")]
    converted = qat.convert(model)
    return {
        "losses": losses,
        "scales": scales,
        "trained": listed(model(x)),
        "converted": listed(converted(x)),
        "weights": [listed(converted[0].weight), listed(converted[5].weight)],
        "state": {name: list(v.shape) for name, v in converted.state_dict().items()},
    }


def of_calibration(bits):
    """Outputs of a model that was run on two batches, and of what it is converted to."""
    model = net()
    fill(model, 2)
    model.eval()
    observer = AbsmaxObserver(quant_bits=bits)
    ptq = PTQ(QuantConfig(activation=observer, weight=observer))
    model = ptq.quantize(model)
    for step in range(2):
        model(paddle.to_tensor(inputs(step)))
    x = paddle.to_tensor(inputs(9))
    return {
        "observed": listed(model(x)),
        "converted": listed(ptq.convert(model)(x)),
        "kept": listed(ptq.convert(model, remain_weight=True)(x)),
    }


if __name__ == "__main__":
    found = {
        "training": {str(bits): of_training(bits) for bits in (8, 4)},
        "calibration": {str(bits): of_calibration(bits) for bits in (8, 4)},
    }
    path = Path(__file__).with_name("quantization.json")
    path.write_text(json.dumps(found, indent=1) + "\n")
