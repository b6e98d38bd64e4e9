"""The second names of gradient clips."""

from __future__ import annotations

from ...clip import (
    ErrorClipByValue,
    GradientClipByGlobalNorm,
    GradientClipByNorm,
    GradientClipByValue,
)

BaseErrorClipAttr: type = ErrorClipByValue.__mro__[1]
ClipByGlobalNorm = GradientClipByGlobalNorm
ClipByNorm = GradientClipByNorm
ClipByValue = GradientClipByValue
