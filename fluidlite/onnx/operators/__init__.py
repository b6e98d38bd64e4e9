"""How operators of ONNX are built; one file per family."""

from __future__ import annotations

from . import (
    activation,
    control,
    conv,
    creation,
    detection,
    elementwise,
    gathering,
    grouping,
    image,
    matrix,
    norm,
    pool,
    quantize,
    recurrent,
    reduction,
    sequences,
    shape,
    spectrum,
)

__all__ = [
    "activation", "control", "conv", "creation", "detection", "elementwise", "gathering",
    "grouping", "image", "matrix", "norm", "pool", "quantize", "recurrent", "reduction",
    "sequences", "shape", "spectrum",
]  # fmt: skip
