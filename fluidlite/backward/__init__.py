"""Gradients of programs: by rewriting them."""

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import blocks
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
