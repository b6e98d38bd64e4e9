"""Writes tests/data/layers_of_paddle2.json.gz: layers of Paddle 2 on inputs of our own, their
results and the gradients of the first input.

    python tests/data/record_layers_of_paddle2.py        where Paddle 2.6 is installed
"""

import gzip
import json
from pathlib import Path

import numpy as np
import paddle

random = np.random.RandomState(5)


def drawn(*shape):
    return random.uniform(-1, 1, shape).astype("float32").round(3)


SEQUENCES = drawn(2, 4, 7)
IMAGES = drawn(2, 4, 6, 5)
VOLUMES = drawn(1, 2, 4, 5, 3)
ROWS = drawn(3, 6)
OTHERS = drawn(3, 6)
THIRD = drawn(3, 6)
SIDES = np.sign(drawn(3, 6))
SIDE = np.sign(drawn(3))
SIDE[SIDE == 0] = 1
SIDES[SIDES == 0] = 1
CASES = [
    ["Conv1D", [4, 2, 3], {"stride": 2, "padding": 1}, [SEQUENCES]],
    ["Conv1D", [4, 4, 3], {"padding": 2, "padding_mode": "reflect", "groups": 2}, [SEQUENCES]],
    [
        "Conv1D",
        [4, 2, 2],
        {"data_format": "NLC", "dilation": 2},
        [SEQUENCES.transpose(0, 2, 1).copy()],
    ],
    ["Conv1DTranspose", [4, 2, 3], {"stride": 2, "padding": 1, "output_padding": 1}, [SEQUENCES]],
    ["Conv1DTranspose", [4, 4, 2], {"groups": 2, "dilation": 2}, [SEQUENCES]],
    ["Conv3D", [2, 4, 2], {"stride": [2, 1, 1], "padding": 1}, [VOLUMES]],
    [
        "Conv3D",
        [2, 2, 3],
        {"padding": 1, "padding_mode": "replicate", "bias_attr": False},
        [VOLUMES],
    ],
    [
        "Conv3D",
        [3, 2, 2],
        {"data_format": "NDHWC"},
        [VOLUMES.transpose(0, 2, 3, 4, 1)[..., [0, 1, 0]].copy()],
    ],
    [
        "Conv3DTranspose",
        [2, 3, 2],
        {"stride": 2, "padding": [0, 1, 0], "output_padding": [1, 0, 1]},
        [VOLUMES],
    ],
    ["MaxPool1D", [3], {"stride": 2, "padding": 1}, [SEQUENCES]],
    ["MaxPool1D", [2], {"ceil_mode": True}, [SEQUENCES]],
    ["AvgPool1D", [3], {"stride": 2, "padding": 1}, [SEQUENCES]],
    ["AvgPool1D", [3], {"padding": 1, "exclusive": False}, [SEQUENCES]],
    ["AdaptiveAvgPool1D", [3], {}, [SEQUENCES]],
    ["AdaptiveMaxPool1D", [3], {}, [SEQUENCES]],
    ["MaxPool3D", [2], {}, [VOLUMES]],
    ["MaxPool3D", [2], {"stride": 1, "padding": 1}, [VOLUMES]],
    ["AvgPool3D", [2], {"padding": 1}, [VOLUMES]],
    ["AvgPool3D", [[2, 2, 1]], {"exclusive": False, "padding": [1, 0, 0]}, [VOLUMES]],
    ["AvgPool3D", [2], {"divisor_override": 3}, [VOLUMES]],
    ["AdaptiveAvgPool3D", [[2, 3, 1]], {}, [VOLUMES]],
    ["AdaptiveMaxPool3D", [2], {}, [VOLUMES]],
    ["Pad1D", [[1, 2]], {"mode": "reflect"}, [SEQUENCES]],
    ["Pad1D", [[2, 1]], {"mode": "replicate", "data_format": "NLC"}, [SEQUENCES]],
    ["Pad1D", [1], {"value": 0.5}, [SEQUENCES]],
    ["Pad3D", [[1, 0, 2, 1, 0, 3]], {}, [VOLUMES]],
    ["Pad3D", [[1, 0, 2, 1, 0, 2]], {"mode": "reflect"}, [VOLUMES]],
    ["Pad3D", [[1, 2, 0, 1, 3, 1]], {"mode": "replicate"}, [VOLUMES]],
    ["Pad3D", [[1, 0, 2, 1, 0, 1]], {"value": 2.0, "data_format": "NDHWC"}, [VOLUMES]],
    ["ZeroPad2D", [[1, 2, 0, 3]], {}, [IMAGES]],
    ["Upsample", [], {"scale_factor": 2}, [IMAGES]],
    ["Upsample", [], {"size": [9, 4], "mode": "bilinear"}, [IMAGES]],
    ["Upsample", [], {"size": [9, 7], "mode": "bilinear", "align_corners": True}, [IMAGES]],
    ["Upsample", [], {"size": [12, 10], "mode": "bicubic"}, [IMAGES]],
    ["Upsample", [], {"size": [12, 10], "mode": "bilinear", "align_mode": 1}, [IMAGES]],
    ["Upsample", [], {"scale_factor": 2, "mode": "trilinear", "data_format": "NCDHW"}, [VOLUMES]],
    ["UpsamplingNearest2D", [[3, 8]], {}, [IMAGES]],
    ["UpsamplingBilinear2D", [], {"scale_factor": 2}, [IMAGES]],
    ["PixelShuffle", [2], {}, [IMAGES]],
    ["Unfold", [[2, 3]], {"paddings": 1, "strides": 2}, [IMAGES]],
    ["Unfold", [2], {"dilations": 2, "paddings": [1, 0, 2, 1]}, [IMAGES]],
    ["Unfold", [2], {"paddings": [1, 2]}, [IMAGES]],
    ["InstanceNorm1D", [4], {}, [SEQUENCES]],
    ["InstanceNorm3D", [2], {"epsilon": 0.01}, [VOLUMES]],
    ["SoftMarginLoss", [], {}, [ROWS, SIDES]],
    ["HingeEmbeddingLoss", [], {"margin": 0.5, "reduction": "sum"}, [ROWS, SIDES]],
    ["MarginRankingLoss", [], {"margin": 0.3}, [ROWS, OTHERS, SIDES]],
    ["CosineEmbeddingLoss", [], {"margin": 0.1}, [ROWS, OTHERS, SIDE]],
    ["TripletMarginLoss", [], {"reduction": "none"}, [ROWS, OTHERS, THIRD]],
    ["TripletMarginLoss", [], {"swap": True, "margin": 0.5, "p": 3.0}, [ROWS, OTHERS, THIRD]],
]


def recorded(name, args, options, inputs):
    layer = getattr(paddle.nn, name)(*args, **options)
    layer.eval()
    for p in layer.parameters():
        values = np.sin(np.arange(p.size) * 1.7 + p.ndim)
        p.set_value(values.reshape(p.shape).astype("float32"))
    tensors = [paddle.to_tensor(x, stop_gradient=False) for x in inputs]
    out = layer(*tensors)
    weights = np.cos(np.arange(out.size)).reshape(out.shape).astype("float32")
    (out * paddle.to_tensor(weights)).sum().backward()
    found = [out.numpy().round(4).tolist(), tensors[0].grad.numpy().round(4).tolist()]
    return [name, args, options, [x.tolist() for x in inputs], *found]


text = json.dumps([recorded(*case) for case in CASES], separators=(",", ":"))
path = Path(__file__).parent / "layers_of_paddle2.json.gz"
path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
