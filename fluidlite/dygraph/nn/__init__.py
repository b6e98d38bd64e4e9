"""Layers of neural networks, by the names of fluid 1.8."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .conv import Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose, Pool2D
from .dense import NCE, BilinearTensorProduct, Dropout, Embedding, Linear, PRelu
from .losses import BCELoss, L1Loss, MSELoss, NLLLoss
from .norm import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, SpectralNorm
from .recurrent import GRUUnit
from .tree import TreeConv

__all__ = [
    "NCE", "BCELoss", "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose", "Conv3D",
    "Conv3DTranspose", "Dropout", "Embedding", "GRUUnit", "GroupNorm", "InstanceNorm", "L1Loss",
    "LayerNorm", "Linear", "MSELoss", "NLLLoss", "PRelu", "Pool2D", "SpectralNorm", "TreeConv",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
