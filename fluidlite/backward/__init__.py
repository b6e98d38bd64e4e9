"""Gradients of programs: by rewriting them."""

from . import blocks  # noqa: F401  (says how operators that drive blocks are passed)
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]
