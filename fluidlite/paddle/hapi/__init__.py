"""``paddle.hapi`` of paddle 2.6: models with their loops, and tables of layers."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ..holders import hold
from . import callbacks, dynamic_flops, model, model_summary, progressbar, static_flops
from .dynamic_flops import flops
from .model import Model
from .model_summary import summary

__all__ = [
    "Model", "callbacks", "dynamic_flops", "flops", "model", "model_summary", "progressbar",
    "static_flops", "summary",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
hold(globals())
