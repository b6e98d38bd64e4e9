"""Gradients of programs: by rewriting them."""

from ..ground.missing_names import answer
from ..ground.public_names import listing
from ..ground.tracebacks import api_boundaries
from . import blocks
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]

__dir__ = listing(globals())
api_boundaries(globals())
answer(globals())
