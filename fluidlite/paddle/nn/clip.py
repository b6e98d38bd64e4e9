"""``paddle.nn.clip`` of paddle 2.6: clips of gradients."""

from __future__ import annotations

from ...clip import (
    ErrorClipByValue,
    GradientClipBase,
    append_gradient_clip_ops,
    error_clip_callback,
    set_gradient_clip,
)  # fmt: skip
from ...ground.module_tables import give_names
from ...nn import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue

ClipGradBase = GradientClipBase
GradientClipByGlobalNorm = ClipGradByGlobalNorm
GradientClipByNorm = ClipGradByNorm
GradientClipByValue = ClipGradByValue

__all__ = [
    "ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue",
    "ErrorClipByValue", "GradientClipBase", "GradientClipByGlobalNorm", "GradientClipByNorm",
    "GradientClipByValue", "append_gradient_clip_ops", "error_clip_callback",
    "set_gradient_clip",
]  # fmt: skip
give_names(globals(), {"layers": "clip_by_norm get_tensor_from_selected_rows merge_selected_rows"})
