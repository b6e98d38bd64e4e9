"""``paddle.nn.clip`` of paddle 2.6: clips of gradients."""

from __future__ import annotations

from ...clip import (
    ErrorClipByValue,
    GradientClipBase,
    append_gradient_clip_ops,
    error_clip_callback,
    set_gradient_clip,
)  # fmt: skip
from ...ground.public_names import list_public_names
from ...layers import clip_by_norm, get_tensor_from_selected_rows, merge_selected_rows
from ...nn import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue

ClipGradBase = GradientClipBase
GradientClipByGlobalNorm = ClipGradByGlobalNorm
GradientClipByNorm = ClipGradByNorm
GradientClipByValue = ClipGradByValue

__all__ = [
    "ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue",
    "ErrorClipByValue", "GradientClipBase", "GradientClipByGlobalNorm", "GradientClipByNorm",
    "GradientClipByValue", "append_gradient_clip_ops", "clip_by_norm", "error_clip_callback",
    "get_tensor_from_selected_rows", "merge_selected_rows", "set_gradient_clip",
]  # fmt: skip

list_public_names(globals())
