"""How operators are written in ONNX; one file per family, as in ``fluidlite/ops``."""

from __future__ import annotations

from . import (
    activation,
    aligned,
    conv,
    loss,
    math,
    norm,
    places,
    pool,
    quantize,
    recurrent,
    regions,
    resizing,
    rows,
    segments,
    shape,
    soft_labels,
    suppression,
    unknown_sizes,
)

__all__ = [
    "activation", "aligned", "conv", "loss", "math", "norm", "places", "pool", "quantize",
    "recurrent", "regions", "resizing", "rows", "segments", "shape", "soft_labels", "suppression",
    "unknown_sizes",
]  # fmt: skip
