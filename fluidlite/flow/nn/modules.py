"""The modules of OneFlow that hold the classes of ``oneflow.nn``, each by its own file there."""

from __future__ import annotations

from ...ground.module_tables import hold_modules
from ...ground.public_names import list_given_names
from .module import Module as Module

_CLASSES = {
    "activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU "
    "LogSigmoid LogSoftmax Mish PReLU QuickGELU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softplus "
    "Softshrink Softsign Tanh Threshold",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d",
    "batchnorm_fused": "FusedBatchNorm1d FusedBatchNorm2d FusedBatchNorm3d",
    "container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "Dropout Dropout1d Dropout2d Dropout3d",
    "fake_quantization": "FakeQuantization",
    "flatten": "Flatten",
    "fold": "Fold Unfold",
    "fused_mlp": "FusedMLP",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "linear": "Identity Linear",
    "loss": "BCELoss BCEWithLogitsLoss CTCLoss CombinedMarginLoss CrossEntropyLoss KLDivLoss "
    "L1Loss MSELoss MarginRankingLoss NLLLoss SmoothL1Loss TripletMarginLoss",
    "min_max_observer": "MinMaxObserver",
    "module": "Module",
    "moving_average_min_max_observer": "MovingAverageMinMaxObserver",
    "normalization": "GroupNorm LayerNorm RMSLayerNorm RMSNorm",
    "padding": "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
    "ReplicationPad1d ReplicationPad2d ZeroPad2d",
    "pixelshuffle": "PixelShufflev2=PixelShuffle",
    "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
    "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d "
    "MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "quantization": "Quantization",
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNCell",
    "sparse": "Embedding",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}
hold_modules(globals(), {name: {"flow.nn": classes} for name, classes in _CLASSES.items()})
list_given_names(globals(), *_CLASSES)
