"""Writes tests/data/layers_of_paddle2.json.gz: layers of Paddle 2, and functions, whose names begin
with ``F.``, on inputs of our own, their first results and the gradients of the first input.

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
CLASSES = random.randint(0, 6, [3])
PRESENT = (OTHERS > 0).astype("float32")
CHANCES = (np.abs(OTHERS) * 0.9 + 0.05).astype("float32")
COUNTS = random.randint(0, 5, [3, 6]).astype("float32")
COLUMNS = drawn(2, 12, 6)
STEPS = drawn(5, 2, 4)
TEXTS = random.randint(1, 4, [2, 3]).astype("int32")
POINTS = (drawn(2, 3, 4, 2) * 1.3).round(3)
MAPS = drawn(2, 2, 3)
HEADS = drawn(2, 5, 2, 3)
OTHER_HEADS = drawn(2, 4, 2, 3)
SENTENCES = drawn(2, 5, 6)
MEMORY = drawn(2, 4, 6)


def largest(rank, x):
    pool = getattr(paddle.nn.functional, f"max_pool{rank}d")
    return [t.numpy() for t in pool(paddle.to_tensor(x), 2, return_mask=True)]


LARGEST, PLACES = largest(2, IMAGES)
ROW, ROW_PLACES = largest(1, SEQUENCES[:, :, :6].copy())
CUBE, CUBE_PLACES = largest(3, VOLUMES)
LENGTHS = np.array([5, 4]), np.array([3, 2])
CASES += [
    ["GaussianNLLLoss", [], {}, [ROWS, OTHERS, CHANCES]],
    [
        "GaussianNLLLoss",
        [],
        {"full": True, "epsilon": 0.3, "reduction": "sum"},
        [ROWS, OTHERS, CHANCES],
    ],
    [
        "F.gaussian_nll_loss",
        [],
        {},
        [CHANCES[:, 0].copy(), ROWS[:, 0].copy(), CHANCES[:, 1].copy()],
    ],
    ["PoissonNLLLoss", [], {}, [ROWS, COUNTS]],
    ["PoissonNLLLoss", [], {"full": True, "reduction": "none"}, [ROWS, COUNTS]],
    ["PoissonNLLLoss", [], {"log_input": False, "full": True}, [CHANCES, COUNTS]],
    ["MultiMarginLoss", [], {}, [ROWS, CLASSES]],
    ["MultiMarginLoss", [2, 0.5], {"reduction": "none"}, [ROWS, CLASSES]],
    ["MultiLabelSoftMarginLoss", [], {}, [ROWS, PRESENT]],
    ["MultiLabelSoftMarginLoss", [], {"reduction": "none"}, [ROWS, PRESENT]],
    ["TripletMarginWithDistanceLoss", [], {"swap": True}, [ROWS, OTHERS, THIRD]],
    ["PairwiseDistance", [], {}, [ROWS, OTHERS]],
    ["PairwiseDistance", [3.0], {"keepdim": True}, [ROWS, OTHERS]],
    ["PairwiseDistance", [1.0, 0.0], {}, [ROWS, OTHERS]],
    ["F.dice_loss", [], {}, [CHANCES.reshape(3, 2, 3), CLASSES[:, None, None].repeat(2, 1) // 2]],
    ["F.npair_loss", [], {"l2_reg": 0.1}, [ROWS, OTHERS, np.array([0, 1, 0])]],
    ["F.sigmoid_focal_loss", [], {}, [ROWS, PRESENT]],
    [
        "F.sigmoid_focal_loss",
        [],
        {"alpha": 0.6, "gamma": 1.5, "reduction": "mean"},
        [ROWS, PRESENT],
    ],
    ["CTCLoss", [], {}, [STEPS, TEXTS, *LENGTHS]],
    ["CTCLoss", [], {"reduction": "none"}, [STEPS, TEXTS, *LENGTHS]],
    ["F.ctc_loss", [], {"blank": 0, "reduction": "sum"}, [STEPS, TEXTS, *LENGTHS]],
    ["HSigmoidLoss", [6, 8], {}, [ROWS, CLASSES]],
    ["HSigmoidLoss", [6, 6], {"bias_attr": False}, [ROWS, CLASSES]],
    ["Fold", [[4, 5], [3, 2]], {"paddings": 1, "strides": 2}, [COLUMNS[:, :, :6].copy()]],
    ["F.fold", [4, 2], {"strides": [1, 2]}, [COLUMNS]],
    ["LocalResponseNorm", [3], {"alpha": 0.5}, [IMAGES]],
    ["LocalResponseNorm", [2], {"alpha": 0.5, "k": 2.0, "beta": 0.6}, [SEQUENCES]],
    ["LocalResponseNorm", [3], {"alpha": 0.5, "data_format": "NHWC"}, [IMAGES]],
    ["PixelUnshuffle", [2], {}, [IMAGES[..., :4].copy()]],
    ["PixelUnshuffle", [2], {"data_format": "NHWC"}, [IMAGES[:, :, :4].copy()]],
    ["ChannelShuffle", [2], {}, [IMAGES]],
    ["ChannelShuffle", [5], {"data_format": "NHWC"}, [IMAGES]],
    ["F.temporal_shift", [2, 0.25], {}, [IMAGES]],
    ["MaxUnPool2D", [2], {"output_size": [2, 4, 6, 5]}, [LARGEST, PLACES]],
    ["MaxUnPool1D", [2], {}, [ROW, ROW_PLACES]],
    ["MaxUnPool3D", [2], {"output_size": [4, 5, 3]}, [CUBE, CUBE_PLACES]],
    ["MaxPool2D", [2], {"return_mask": True, "stride": 1}, [IMAGES]],
    ["Softmax2D", [], {}, [IMAGES]],
    ["RReLU", [0.1, 0.3], {}, [ROWS]],
    ["SpectralNorm", [[4, 6], 0, 2], {}, [ROWS[[0, 1, 2, 0]] + OTHERS[[0, 0, 1, 2]]]],
    ["Unflatten", [1, [2, -1]], {}, [ROWS]],
    ["F.affine_grid", [[2, 3, 4, 5]], {}, [MAPS]],
    ["F.affine_grid", [[2, 3, 4, 5]], {"align_corners": False}, [MAPS]],
    ["F.affine_grid", [[1, 2, 3, 2, 4]], {}, [MAPS.reshape(1, 3, 4)]],
    ["F.sequence_mask", [5], {"dtype": "float32"}, [np.array([[1, 3], [0, 5]])]],
    ["F.scaled_dot_product_attention", [], {}, [HEADS, OTHER_HEADS, OTHER_HEADS]],
    ["F.bilinear", [], {}, [ROWS, OTHERS, drawn(2, 6, 6)]],
    ["F.relu_", [], {}, [ROWS]],
    ["F.softmax_", [0], {}, [ROWS]],
    ["MultiHeadAttention", [6, 2], {}, [SENTENCES]],
    ["TransformerEncoderLayer", [6, 2, 8], {"activation": "gelu"}, [SENTENCES]],
    ["Transformer", [6, 2, 1, 1, 8], {}, [SENTENCES, MEMORY]],
    ["Transformer", [6, 3, 1, 2, 8], {"normalize_before": True}, [SENTENCES, MEMORY]],
    *(
        ["F.grid_sample", [mode, padding, corners], {}, [IMAGES, POINTS]]
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False)
    ),
    *(
        [name, [6, 4], options, [SENTENCES]]
        for name in ("LSTM", "GRU", "SimpleRNN")
        for options in ({}, {"direction": "bidirect", "num_layers": 2})
    ),
    *(
        [f"{kind} {cell}", [6, 4], options, [SENTENCES]]
        for cell in ("LSTMCell", "GRUCell", "SimpleRNNCell")
        for kind, options in (("RNN", {"is_reverse": True}), ("BiRNN", {}))
    ),
]


def made(nn, name, args, options):
    """What is called with the inputs: a layer, or a function with its arguments."""
    if name.startswith("F."):
        return lambda *inputs: getattr(nn.functional, name[2:])(*inputs, *args, **options)
    kind, _, cell = name.partition(" ")
    if cell:
        args = [getattr(nn, cell)(*args) for _ in range(1 + (kind == "BiRNN"))]
    return getattr(nn, kind)(*args, **options)


def first(out):
    return first(out[0]) if isinstance(out, (list, tuple)) else out


def recorded(name, args, options, inputs):
    layer = made(paddle.nn, name, args, options)
    if isinstance(layer, paddle.nn.Layer):
        if name not in ("LSTM", "GRU", "SimpleRNN"):  # which have no gradients in tests
            layer.eval()
        for p in layer.parameters():
            values = np.sin(np.arange(p.size) * 1.7 + p.ndim)
            p.set_value(values.reshape(p.shape).astype("float32"))
    tensors = [paddle.to_tensor(x, stop_gradient=x.dtype.kind != "f") for x in inputs]
    given = [t * 1.0 if name.endswith("_") else t for t in tensors]
    out = first(layer(*given))
    found = [out.numpy().round(4).tolist(), None]
    # SpectralNorm's gradient is that of its result neither with nor without the iterations
    if not out.stop_gradient and name != "SpectralNorm":
        weights = np.cos(np.arange(out.size)).reshape(out.shape).astype("float32")
        (out * paddle.to_tensor(weights)).sum().backward()
        found[1] = tensors[0].grad.numpy().round(4).tolist()
    return [name, args, options, [x.tolist() for x in inputs], *found]


text = json.dumps([recorded(*case) for case in CASES], separators=(",", ":"))
path = Path(__file__).parent / "layers_of_paddle2.json.gz"
path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
