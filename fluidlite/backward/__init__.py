"""Gradients of programs: by rewriting them."""

from ..absent import answer
from ..quiet import doors
from . import blocks
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]

doors(globals())
answer(globals())
