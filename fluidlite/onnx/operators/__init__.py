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
    image,
    matrix,
    norm,
    pool,
    quantize,
    recurrent,
    reduction,
    sequences,
    shape,
)

__all__ = [
    "activation",
    "control",
    "conv",
    "creation",
    "detection",
    "elementwise",
    "gathering",
    "image",
    "matrix",
    "norm",
    "pool",
    "quantize",
    "recurrent",
    "reduction",
    "sequences",
    "shape",
]
