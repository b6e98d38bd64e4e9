"""Models as paddle 2.6 saves them, with what it computes with them: runs in paddle 2.6 itself.

    PADDLE26_PYTHON saved_by_paddle2.py FOLDER [PART ...]

For each case whose name begins with one of the parts: ``NAME.pdmodel`` and ``NAME.pdiparams``, and
``NAME.npz`` with the inputs (``in0``, ...) and the results (``out0``, ...).
"""

import os
import sys

import numpy as np
import paddle
from paddle import nn
from paddle.base.proto import framework_pb2
from paddle.vision import models

RANDOM = np.random.RandomState(0)


def floats(*shape):
    """Numbers around zero, of two digits, so that they are the same everywhere."""
    return np.round(RANDOM.randn(*shape), 2).astype("float32")


def shares(*shape):
    """Numbers from 0.05 to 0.95."""
    return np.round(RANDOM.rand(*shape) * 0.9 + 0.05, 2).astype("float32")


def integers(high, *shape):
    return RANDOM.randint(0, high, shape).astype("int64")


class Repooled(nn.Layer):
    """A pool, and back to the size before."""

    def __init__(self, rank):
        super().__init__()
        self.pool = getattr(nn, f"MaxPool{rank}D")(2, stride=2, return_mask=True)
        self.unpool = getattr(nn, f"MaxUnPool{rank}D")(2, stride=2)

    def forward(self, x):
        return self.unpool(*self.pool(x))


class OfLengths(nn.Layer):
    """A recurrent net on sequences of several lengths."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, lengths):
        return self.net(x, sequence_length=lengths)


SIGNS = lambda *shape: np.where(RANDOM.rand(*shape) < 0.5, -1.0, 1.0).astype("float32")

#: name -> what makes a layer, and its inputs
CASES = {}


def case(name, make, *inputs, fixed=False):
    """Note a case.

    Args:
        name: the file's.
        make: gives the layer.
        inputs: arrays.
        fixed: whether the number of examples is said in the model.
    """
    CASES[name] = (make, inputs, fixed)


VISION = """
    alexnet densenet121 densenet161 densenet169 densenet201 densenet264 googlenet inception_v3
    mobilenet_v1 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large resnet18 resnet34 resnet50
    resnet101 resnet152 resnext50_32x4d resnext50_64x4d resnext101_32x4d resnext101_64x4d
    resnext152_32x4d resnext152_64x4d shufflenet_v2_x0_25 shufflenet_v2_x0_33
    shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0
    shufflenet_v2_swish squeezenet1_0 squeezenet1_1 vgg11 vgg13 vgg16 vgg19 wide_resnet50_2
    wide_resnet101_2
"""
SIZES = {"inception_v3": 96, "googlenet": 224, "alexnet": 224}
for vision in VISION.split():
    size = SIZES.get(vision, 64)
    case("vision." + vision, getattr(models, vision), floats(1, 3, size, size))
case("vision.lenet", models.LeNet, floats(2, 1, 28, 28))

IMAGES, LINES, VOLUMES = floats(2, 4, 6, 8), floats(2, 4, 10), floats(2, 4, 4, 6, 6)
ROWS, TIMES = floats(3, 8), floats(2, 5, 8)

ACTIVATIONS = """
    CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish
    ReLU ReLU6 SELU Sigmoid Silu Softmax Softplus Softshrink Softsign Swish Tanh Tanhshrink
    ThresholdedReLU Identity GLU
"""
for each in [
    "CELU",
    "ELU",
    "GELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
    "Identity",
    "GLU",
]:
    case("layer." + each, getattr(nn, each), ROWS)
case("layer.GELU_approximate", lambda: nn.GELU(approximate=True), ROWS)
case("layer.Softmax2D", nn.Softmax2D, IMAGES)
case("layer.Maxout", lambda: nn.Maxout(2), IMAGES)
case("layer.PReLU", lambda: nn.PReLU(4), IMAGES)
case("layer.PReLU_all", lambda: nn.PReLU(1), IMAGES)
case("layer.LogSoftmax_axis", lambda: nn.LogSoftmax(0), ROWS)

# products and embeddings
case("layer.Linear", lambda: nn.Linear(8, 3), ROWS)
case("layer.Linear_times", lambda: nn.Linear(8, 3), TIMES)
case("layer.Linear_no_bias", lambda: nn.Linear(8, 3, bias_attr=False), TIMES)
case("layer.Bilinear", lambda: nn.Bilinear(8, 8, 3), ROWS, floats(3, 8))
case("layer.Embedding", lambda: nn.Embedding(10, 4, padding_idx=0), integers(10, 2, 5))
case("layer.Dropout", nn.Dropout, ROWS)
case("layer.Dropout_downscaled", lambda: nn.Dropout(0.3, mode="downscale_in_infer"), ROWS)
case("layer.Dropout2D", nn.Dropout2D, IMAGES)
case("layer.Dropout3D", nn.Dropout3D, VOLUMES)
case("layer.AlphaDropout", nn.AlphaDropout, ROWS)

# convolutions
case("layer.Conv1D", lambda: nn.Conv1D(4, 6, 3, padding=1), LINES)
case("layer.Conv1D_circular", lambda: nn.Conv1D(4, 6, 3, padding=1, padding_mode="circular"), LINES)
case("layer.Conv2D", lambda: nn.Conv2D(4, 6, 3, stride=2, padding=1, dilation=1), IMAGES)
case("layer.Conv2D_groups", lambda: nn.Conv2D(4, 6, 3, padding="SAME", groups=2), IMAGES)
case("layer.Conv2D_depthwise", lambda: nn.Conv2D(4, 4, 3, padding=1, groups=4), IMAGES)
case("layer.Conv2D_reflect", lambda: nn.Conv2D(4, 6, 3, padding=1, padding_mode="reflect"), IMAGES)
case("layer.Conv2D_nhwc", lambda: nn.Conv2D(8, 6, 3, data_format="NHWC"), IMAGES)
case("layer.Conv3D", lambda: nn.Conv3D(4, 6, 3, padding=1), VOLUMES)
case(
    "layer.Conv1DTranspose", lambda: nn.Conv1DTranspose(4, 6, 3, stride=2, output_padding=1), LINES
)
case("layer.Conv2DTranspose", lambda: nn.Conv2DTranspose(4, 6, 3, stride=2, padding=1), IMAGES)
case(
    "layer.Conv2DTranspose_out",
    lambda: nn.Conv2DTranspose(4, 6, 3, stride=2, output_padding=1),
    IMAGES,
)
case("layer.Conv2DTranspose_depthwise", lambda: nn.Conv2DTranspose(4, 4, 3, groups=4), IMAGES)
case("layer.Conv3DTranspose", lambda: nn.Conv3DTranspose(4, 6, 3, stride=2), VOLUMES)
case("layer.Fold", lambda: nn.Fold([4, 5], 2), floats(2, 12, 12))
case("layer.Unfold", lambda: nn.Unfold(3, strides=2, paddings=1), IMAGES)

# pools
for rank, data in ((1, LINES), (2, IMAGES), (3, VOLUMES)):
    for kind in ("AvgPool", "MaxPool"):
        made = getattr(nn, f"{kind}{rank}D")
        case(f"layer.{kind}{rank}D", lambda made=made: made(2, stride=2), data)
        case(
            f"layer.{kind}{rank}D_ceil",
            lambda made=made: made(3, stride=2, padding=1, ceil_mode=True),
            data,
        )
    adaptive = getattr(nn, f"AdaptiveAvgPool{rank}D")
    case(f"layer.AdaptiveAvgPool{rank}D", lambda made=adaptive: made(3), data)
    adaptive = getattr(nn, f"AdaptiveMaxPool{rank}D")
    case(f"layer.AdaptiveMaxPool{rank}D", lambda made=adaptive: made(2), data)
    case(
        f"layer.AdaptiveMaxPool{rank}D_mask", lambda made=adaptive: made(2, return_mask=True), data
    )
    pool, unpool = getattr(nn, f"MaxPool{rank}D"), getattr(nn, f"MaxUnPool{rank}D")
    case(f"layer.MaxUnPool{rank}D", lambda rank=rank: Repooled(rank), data, fixed=True)

# normalizations
case("layer.BatchNorm", lambda: nn.BatchNorm(4), IMAGES)
case("layer.BatchNorm1D", lambda: nn.BatchNorm1D(4), LINES)
case("layer.BatchNorm2D", lambda: nn.BatchNorm2D(4), IMAGES)
case("layer.BatchNorm3D", lambda: nn.BatchNorm3D(4), VOLUMES)
case("layer.GroupNorm", lambda: nn.GroupNorm(2, 4), IMAGES)
case("layer.LayerNorm", lambda: nn.LayerNorm([6, 8]), IMAGES)
case("layer.InstanceNorm1D", lambda: nn.InstanceNorm1D(4), LINES)
case("layer.InstanceNorm2D", lambda: nn.InstanceNorm2D(4), IMAGES)
case("layer.InstanceNorm3D", lambda: nn.InstanceNorm3D(4), VOLUMES)
case("layer.LocalResponseNorm", lambda: nn.LocalResponseNorm(3), IMAGES)
case("layer.SpectralNorm", lambda: nn.SpectralNorm([4, 6], power_iters=2), floats(4, 6), fixed=True)

# shapes
case("layer.Flatten", nn.Flatten, IMAGES)
case("layer.Flatten_middle", lambda: nn.Flatten(1, 2), IMAGES)
case("layer.Unflatten", lambda: nn.Unflatten(1, [2, -1]), IMAGES, fixed=True)
case("layer.PixelShuffle", lambda: nn.PixelShuffle(2), IMAGES)
case("layer.PixelUnshuffle", lambda: nn.PixelUnshuffle(2), IMAGES)
case("layer.ChannelShuffle", lambda: nn.ChannelShuffle(2), IMAGES)
case("layer.Pad1D", lambda: nn.Pad1D([1, 2], mode="replicate"), LINES)
case("layer.Pad2D", lambda: nn.Pad2D([1, 2, 3, 1], value=0.5), IMAGES)
case("layer.Pad2D_circular", lambda: nn.Pad2D(1, mode="circular"), IMAGES)
case("layer.Pad3D", lambda: nn.Pad3D(1, mode="reflect"), VOLUMES)
case("layer.ZeroPad2D", lambda: nn.ZeroPad2D([1, 0, 2, 1]), IMAGES)
for mode in ("nearest", "bilinear", "bicubic"):
    case(f"layer.Upsample_{mode}", lambda mode=mode: nn.Upsample(scale_factor=2, mode=mode), IMAGES)
    case(
        f"layer.Upsample_{mode}_size",
        lambda mode=mode: nn.Upsample(size=[9, 11], mode=mode),
        IMAGES,
    )
case(
    "layer.Upsample_linear",
    lambda: nn.Upsample(scale_factor=[2], mode="linear", data_format="NCW"),
    LINES,
)
case(
    "layer.Upsample_trilinear",
    lambda: nn.Upsample(size=[3, 5, 7], mode="trilinear", data_format="NCDHW"),
    VOLUMES,
)
case(
    "layer.Upsample_nearest_3d",
    lambda: nn.Upsample(size=[3, 5, 7], mode="nearest", data_format="NCDHW"),
    VOLUMES,
)
case(
    "layer.Upsample_bilinear_corners",
    lambda: nn.Upsample([9, 5], mode="bilinear", align_corners=True),
    IMAGES,
)
case("layer.Upsample_area", lambda: nn.Upsample([3, 5], mode="area"), IMAGES)
case("layer.UpsamplingNearest2D", lambda: nn.UpsamplingNearest2D(scale_factor=2), IMAGES)
case("layer.UpsamplingBilinear2D", lambda: nn.UpsamplingBilinear2D([9, 5]), IMAGES)

# distances and losses
case("layer.CosineSimilarity", nn.CosineSimilarity, ROWS, floats(3, 8))
case("layer.PairwiseDistance", nn.PairwiseDistance, ROWS, floats(3, 8))
LABELS = integers(8, 3)
for each in ("MSELoss", "L1Loss", "SmoothL1Loss"):
    case("layer." + each, getattr(nn, each), ROWS, floats(3, 8))
case("layer.BCELoss", nn.BCELoss, shares(3, 8), shares(3, 8))
case("layer.BCEWithLogitsLoss", nn.BCEWithLogitsLoss, ROWS, shares(3, 8))
case("layer.CrossEntropyLoss", nn.CrossEntropyLoss, ROWS, LABELS)
case(
    "layer.CrossEntropyLoss_soft", lambda: nn.CrossEntropyLoss(soft_label=True), ROWS, shares(3, 8)
)
case(
    "layer.CrossEntropyLoss_smooth", lambda: nn.CrossEntropyLoss(label_smoothing=0.1), ROWS, LABELS
)
case(
    "layer.CrossEntropyLoss_weight",
    lambda: nn.CrossEntropyLoss(paddle.to_tensor(shares(8))),
    ROWS,
    LABELS,
)
case("layer.KLDivLoss", nn.KLDivLoss, ROWS, shares(3, 8))
case("layer.NLLLoss", nn.NLLLoss, ROWS, LABELS)
case("layer.NLLLoss_2d", nn.NLLLoss, IMAGES, integers(4, 2, 6, 8))
case("layer.PoissonNLLLoss", nn.PoissonNLLLoss, ROWS, shares(3, 8))
case("layer.GaussianNLLLoss", nn.GaussianNLLLoss, ROWS, floats(3, 8), shares(3, 8))
case("layer.MarginRankingLoss", nn.MarginRankingLoss, ROWS, floats(3, 8), SIGNS(3, 8))
case("layer.HingeEmbeddingLoss", nn.HingeEmbeddingLoss, ROWS, SIGNS(3, 8))
case("layer.CosineEmbeddingLoss", nn.CosineEmbeddingLoss, ROWS, floats(3, 8), SIGNS(3))
case("layer.SoftMarginLoss", nn.SoftMarginLoss, ROWS, SIGNS(3, 8))
case("layer.MultiLabelSoftMarginLoss", nn.MultiLabelSoftMarginLoss, ROWS, SIGNS(3, 8))
case("layer.MultiMarginLoss", nn.MultiMarginLoss, ROWS, LABELS)
case("layer.TripletMarginLoss", nn.TripletMarginLoss, ROWS, floats(3, 8), floats(3, 8))
case(
    "layer.TripletMarginWithDistanceLoss",
    nn.TripletMarginWithDistanceLoss,
    ROWS,
    floats(3, 8),
    floats(3, 8),
)
case("layer.HSigmoidLoss", lambda: nn.HSigmoidLoss(8, 6), ROWS, integers(6, 3, 1))
case(
    "layer.CTCLoss",
    nn.CTCLoss,
    floats(6, 2, 5),
    RANDOM.randint(1, 5, (2, 3)).astype("int32"),
    np.array([6, 5], "int64"),
    np.array([3, 2], "int64"),
    fixed=True,
)
case(
    "layer.RNNTLoss",
    nn.RNNTLoss,
    floats(2, 4, 4, 5),
    RANDOM.randint(1, 5, (2, 3)).astype("int32"),
    np.array([4, 4], "int32"),
    np.array([3, 3], "int32"),
    fixed=True,
)

# recurrent nets
for kind in ("SimpleRNN", "LSTM", "GRU"):
    made = getattr(nn, kind)
    case(f"layer.{kind}", lambda made=made: made(8, 4), TIMES)
    case(f"layer.{kind}_deep", lambda made=made: made(8, 4, 2, direction="bidirect"), TIMES)
    case(f"layer.{kind}_time_major", lambda made=made: made(8, 4, time_major=True), TIMES)
    case(
        f"layer.{kind}_lengths",
        lambda made=made: OfLengths(made(8, 4, direction="bidirect")),
        TIMES,
        np.array([5, 3], "int64"),
    )
    cell = getattr(nn, kind + "Cell")
    case(f"layer.RNN_{kind}", lambda cell=cell: nn.RNN(cell(8, 4)), TIMES, fixed=True)
    case(
        f"layer.BiRNN_{kind}", lambda cell=cell: nn.BiRNN(cell(8, 4), cell(8, 4)), TIMES, fixed=True
    )
case("layer.SimpleRNN_relu", lambda: nn.SimpleRNN(8, 4, activation="relu"), TIMES)

# transformers
case("layer.MultiHeadAttention", lambda: nn.MultiHeadAttention(8, 2), TIMES)
case(
    "layer.TransformerEncoderLayer",
    lambda: nn.TransformerEncoderLayer(8, 2, 16, activation="gelu"),
    TIMES,
)
case(
    "layer.TransformerEncoder",
    lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
    TIMES,
)
case(
    "layer.TransformerDecoderLayer",
    lambda: nn.TransformerDecoderLayer(8, 2, 16),
    TIMES,
    floats(2, 4, 8),
)
case(
    "layer.TransformerDecoder",
    lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2),
    TIMES,
    floats(2, 4, 8),
)
case("layer.Transformer", lambda: nn.Transformer(8, 2, 1, 1, 16), TIMES, floats(2, 4, 8))
case("net.gelu_mlp", lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3)), ROWS)


def without_call_stacks(data):
    """The bytes of a program without the lines that made its operators."""
    program = framework_pb2.ProgramDesc.FromString(data)
    for block in program.blocks:
        for op in block.ops:
            kept = [attr for attr in op.attrs if attr.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return program.SerializeToString()


def save(folder, name):
    """Write the files of a case."""
    make, inputs, fixed = CASES[name]
    paddle.seed(1)
    layer = make()
    layer.eval()
    path = os.path.join(folder, name)
    specs = [
        paddle.static.InputSpec(
            list(x.shape) if fixed else [None, *x.shape[1:]], str(x.dtype), f"in{i}"
        )
        for i, x in enumerate(inputs)
    ]
    paddle.jit.save(layer, path, input_spec=specs)
    with open(path + ".pdmodel", "r+b") as file:
        data = without_call_stacks(file.read())
        file.seek(0)
        file.truncate()
        file.write(data)
    results = paddle.jit.load(path)(*[paddle.to_tensor(x) for x in inputs])
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    flat = results if isinstance(results, (list, tuple)) else [results]
    np.savez(path + ".npz", **arrays, **{f"out{i}": r.numpy() for i, r in enumerate(flat)})


def mlp(x, label):
    hidden = paddle.nn.functional.gelu(nn.Linear(8, 16)(x))
    return nn.functional.cross_entropy(nn.Linear(16, 4)(nn.LayerNorm(16)(hidden)), label)


def convolutional(x, label):
    images = paddle.reshape(x, [-1, 1, 2, 4])
    maps = nn.functional.silu(nn.BatchNorm2D(3)(nn.Conv2D(1, 3, 3, padding=1)(images)))
    pooled = nn.functional.max_pool2d(nn.functional.pad(maps, [1, 1, 1, 1]), 2)
    return nn.functional.cross_entropy(nn.Linear(18, 4)(paddle.flatten(pooled, 1)), label)


def recurrent(kind):
    def loss(x, label):
        states, _ = getattr(nn, kind)(4, 6, direction="bidirect")(paddle.reshape(x, [-1, 2, 4]))
        return nn.functional.cross_entropy(nn.Linear(12, 4)(states[:, -1]), label)

    return loss


def attending(x, label):
    tokens = paddle.reshape(x, [-1, 2, 4])
    out = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)(tokens)
    return nn.functional.cross_entropy(nn.Linear(8, 4)(paddle.flatten(out, 1)), label)


def indexed(x, label):
    """Functions of indices, with gradients."""
    weight = paddle.create_parameter([8, 4], "float32")
    y = paddle.matmul(x, weight, transpose_x=False)
    top, where = paddle.topk(y, 2, axis=1)
    along = paddle.take_along_axis(y, where, 1)
    put = paddle.put_along_axis(y, where, top * 2, 1, reduce="add")
    tiled = paddle.tile(paddle.unsqueeze(y, 1), [1, 2, 1]) + paddle.expand(weight[0:1], [2, 4])
    y = paddle.static.setitem(y, (slice(None), slice(0, 2)), along)
    y = y + tiled.sum(1) + nn.functional.celu(put) + paddle.roll(y, 1, 1) + paddle.flip(y, [1])
    up = nn.functional.interpolate(paddle.reshape(y, [-1, 1, 2, 2]), [3, 3], mode="bilinear")
    y = y + up.mean([1, 2, 3], keepdim=False).unsqueeze(1)
    return -paddle.take_along_axis(nn.functional.log_softmax(y), label, 1).mean()


optimizers = paddle.optimizer
#: name -> the loss, the optimizer
TRAININGS = {
    "sgd": (mlp, lambda: optimizers.SGD(0.1)),
    "momentum": (mlp, lambda: optimizers.Momentum(0.1, use_nesterov=True, weight_decay=1e-2)),
    "merged_momentum": (
        mlp,
        lambda: optimizers.Momentum(0.1, use_multi_tensor=True, weight_decay=0.01),
    ),
    "adam": (mlp, lambda: optimizers.Adam(0.01, grad_clip=nn.ClipGradByGlobalNorm(0.5))),
    "merged_adam": (mlp, lambda: optimizers.Adam(0.01, use_multi_tensor=True)),
    "adamw": (mlp, lambda: optimizers.AdamW(0.01, weight_decay=0.1)),
    "adamw_partly": (
        mlp,
        lambda: optimizers.AdamW(
            0.01, weight_decay=0.1, apply_decay_param_fun=lambda n: "w_0" in n
        ),
    ),
    "adamax": (mlp, lambda: optimizers.Adamax(0.01)),
    "adagrad": (mlp, lambda: optimizers.Adagrad(0.05)),
    "adadelta": (mlp, lambda: optimizers.Adadelta(1.0)),
    "rmsprop": (mlp, lambda: optimizers.RMSProp(0.01, centered=True, momentum=0.9)),
    "lamb": (mlp, lambda: optimizers.Lamb(0.01)),
    "schedule": (mlp, lambda: optimizers.SGD(optimizers.lr.NoamDecay(16, 10))),
    "clip_norm": (mlp, lambda: optimizers.SGD(0.1, grad_clip=nn.ClipGradByNorm(0.1))),
    "clip_value": (mlp, lambda: optimizers.SGD(0.1, grad_clip=nn.ClipGradByValue(0.01))),
    "conv": (convolutional, lambda: optimizers.Momentum(0.1)),
    "lstm": (recurrent("LSTM"), lambda: optimizers.AdamW(0.01)),
    "gru": (recurrent("GRU"), lambda: optimizers.Adam(0.01)),
    "rnn": (recurrent("SimpleRNN"), lambda: optimizers.Adam(0.01)),
    "transformer": (attending, lambda: optimizers.Momentum(0.1)),
    "indexed": (indexed, lambda: optimizers.SGD(0.1)),
    "scaled": (
        mlp,
        lambda: paddle.static.amp.decorate(
            optimizers.SGD(0.1),
            init_loss_scaling=8.0,
            incr_every_n_steps=2,
            use_dynamic_loss_scaling=True,
            amp_lists=paddle.static.amp.AutoMixedPrecisionLists(
                custom_black_list=["matmul_v2", "elementwise_add", "gelu", "layer_norm"]
            ),
        ),
    ),
}


def train(folder, name):
    """Write the programs of a training, the values before, and what becomes of them."""
    paddle.enable_static()
    build, make = TRAININGS[name.split(".")[1]]
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = paddle.static.Scope()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(scope):
        paddle.seed(1)
        x = paddle.static.data("x", [None, 8])
        label = paddle.static.data("label", [None, 1], "int64")
        loss = build(x, label)
        make().minimize(loss)
        executor = paddle.static.Executor()
        executor.run(startup)
        for part, program in (("main", main), ("startup", startup)):
            with open(os.path.join(folder, f"{name}.{part}.pdmodel"), "wb") as file:
                file.write(without_call_stacks(program.desc.serialize_to_string()))
        kept = [v.name for v in main.list_vars() if v.persistable and v.type not in (9, 10)]
        kept = [
            k
            for k in kept
            if scope.find_var(k) and scope.find_var(k).get_tensor()._is_initialized()
        ]
        value = lambda name: np.array(scope.find_var(name).get_tensor())
        arrays = {"before/" + k: value(k) for k in kept}
        feed = {"x": floats(4, 8), "label": integers(4, 4, 1)}
        losses = [executor.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(4)]
        arrays.update({"after/" + k: value(k) for k in kept})
        arrays.update(x=feed["x"], label=feed["label"], losses=np.array(losses), loss=loss.name)
        np.savez(os.path.join(folder, name + ".training.npz"), **arrays)
    paddle.disable_static()


def main(folder, *parts):
    failed = []
    for name in [*CASES, *("training." + each for each in TRAININGS)]:
        if not parts or name.startswith(parts):
            try:
                (train if name.startswith("training.") else save)(folder, name)
            except Exception as error:  # says which, and goes on
                failed.append(name)
                print(f"{name}: {type(error).__name__}: {str(error).strip()[-300:]}", flush=True)
    print(f"{len(failed)} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
