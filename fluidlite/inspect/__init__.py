"""Looking into programs: are the gradients right, and where do they come from."""

from __future__ import annotations

from .explain import Explanation, explain_gradient
from .gradcheck import gradcheck
from .report import Report

__all__ = ["Explanation", "Report", "explain_gradient", "gradcheck"]
