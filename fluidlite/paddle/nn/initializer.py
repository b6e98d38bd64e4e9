"""``paddle.nn.initializer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...initializer import (
    ConstantInitializer,
    Initializer,
    MSRAInitializer,
    NormalInitializer,
    NumpyArrayInitializer,
    TruncatedNormalInitializer,
    UniformInitializer,
    XavierInitializer,
)  # fmt: skip
from ...nn.initializer import (
    Assign,
    Bilinear,
    Constant,
    Dirac,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
    set_global_initializer,
)  # fmt: skip

__all__ = [
    "Assign", "Bilinear", "Constant", "ConstantInitializer", "Dirac", "Initializer",
    "KaimingNormal", "KaimingUniform", "MSRAInitializer", "Normal", "NormalInitializer",
    "NumpyArrayInitializer", "Orthogonal", "TruncatedNormal", "TruncatedNormalInitializer",
    "Uniform", "UniformInitializer", "XavierInitializer", "XavierNormal", "XavierUniform",
    "calculate_gain", "set_global_initializer",
]  # fmt: skip

list_public_names(globals())
