"""Gradients of programs: by rewriting them."""

from ..namespace import listing
from . import blocks
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]

__dir__ = listing(globals())
