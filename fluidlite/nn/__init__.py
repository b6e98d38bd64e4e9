"""Neural networks on eager tensors and in programs, in the spelling of paddle 2.x."""

from __future__ import annotations

from ..absent import answer
from ..namespace import listing
from ..quiet import doors
from . import functional
from .activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Maxout,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    Silu,
    Softmax,
    Softplus,
    Softshrink,
    Softsign,
    Swish,
    Tanh,
    Tanhshrink,
    ThresholdedReLU,
)
from .containers import LayerDict, LayerList, ParameterList, Sequential
from .conv import Conv1D, Conv2D, Conv2DTranspose
from .dense import (
    Bilinear,
    CosineSimilarity,
    Dropout,
    Dropout2D,
    Embedding,
    Flatten,
    Identity,
    Linear,
    Pad2D,
)
from .layer import Layer
from .loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from .norm import BatchNorm1D, BatchNorm2D, BatchNorm3D, GroupNorm, InstanceNorm2D, LayerNorm
from .pooling import AdaptiveAvgPool2D, AdaptiveMaxPool2D, AvgPool2D, MaxPool2D

__all__ = [
    "functional",
    "AdaptiveAvgPool2D",
    "AdaptiveMaxPool2D",
    "AvgPool2D",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "Bilinear",
    "CELU",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2D",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "GLU",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "InstanceNorm2D",
    "KLDivLoss",
    "L1Loss",
    "Layer",
    "LayerDict",
    "LayerList",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2D",
    "Maxout",
    "Mish",
    "NLLLoss",
    "PReLU",
    "Pad2D",
    "ParameterList",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sequential",
    "Sigmoid",
    "Silu",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]

__dir__ = listing(globals())
doors(globals())
answer(globals())
