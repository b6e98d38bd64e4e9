"""Layers that run at once, by the names of fluid 1.8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import containers as container
from . import layer as layers
from . import mode as base
from . import tensor as backward_strategy
from .containers import LayerList, ParameterList, Sequential
from .layer import Layer
from .mode import (
    disable_dygraph,
    disable_imperative,
    enable_dygraph,
    enable_imperative,
    enabled,
    grad,
    guard,
    no_grad,
    to_variable,
)
from .tensor import BackwardStrategy, ParamBase, VarBase

if TYPE_CHECKING:
    from . import checkpoint, jit, learning_rate_scheduler, nn, parallel
    from . import translate as dygraph_to_static
    from .checkpoint import load_dygraph, save_dygraph
    from .jit import declarative, dygraph_to_static_func
    from .jit import declarative as to_static
    from .learning_rate_scheduler import (
        CosineDecay,
        ExponentialDecay,
        InverseTimeDecay,
        LambdaDecay,
        LinearLrWarmup,
        MultiStepDecay,
        NaturalExpDecay,
        NoamDecay,
        PiecewiseDecay,
        PolynomialDecay,
        ReduceLROnPlateau,
        StepDecay,
    )  # fmt: skip
    from .nn import (
        NCE,
        BatchNorm,
        BCELoss,
        BilinearTensorProduct,
        Conv2D,
        Conv2DTranspose,
        Conv3D,
        Conv3DTranspose,
        Dropout,
        Embedding,
        GroupNorm,
        GRUUnit,
        InstanceNorm,
        L1Loss,
        LayerNorm,
        Linear,
        MSELoss,
        NLLLoss,
        Pool2D,
        PRelu,
        SpectralNorm,
        TreeConv,
    )  # fmt: skip
    from .parallel import DataParallel, ParallelEnv, prepare_context
    from .traced import TracedLayer
    from .translate import ProgramTranslator

__all__ = [
    "guard", "enabled", "enable_dygraph", "disable_dygraph", "enable_imperative",
    "disable_imperative", "VarBase", "ParamBase", "to_variable", "grad", "no_grad",
    "BackwardStrategy", "Layer", "Sequential", "LayerList", "ParameterList", "Linear", "Conv2D",
    "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "Pool2D", "BatchNorm", "LayerNorm", "GroupNorm",
    "InstanceNorm", "SpectralNorm", "TreeConv", "Embedding", "Dropout", "PRelu", "GRUUnit",
    "BilinearTensorProduct", "NCE", "MSELoss", "L1Loss", "BCELoss", "NLLLoss", "NoamDecay",
    "PiecewiseDecay", "NaturalExpDecay", "ExponentialDecay", "InverseTimeDecay", "PolynomialDecay",
    "CosineDecay", "LinearLrWarmup", "StepDecay", "MultiStepDecay", "LambdaDecay",
    "ReduceLROnPlateau", "save_dygraph", "load_dygraph", "DataParallel", "ParallelEnv",
    "prepare_context", "declarative", "to_static", "dygraph_to_static_func", "TracedLayer",
    "ProgramTranslator",
    "backward_strategy", "base", "checkpoint", "container", "dygraph_to_static", "jit", "layers",
    "learning_rate_scheduler", "nn", "parallel",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals(), but=("ParamBase", "VarBase"))
answer(
    globals(),
    *("nn", "learning_rate_scheduler", "parallel", "checkpoint", "jit"),
    *("dygraph_to_static=translate", "to_static=declarative"),
)
