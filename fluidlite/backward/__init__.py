"""Gradients of programs: by rewriting them."""

from ..absent import answer
from ..namespace import listing
from ..quiet import doors
from . import blocks
from .program import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]

__dir__ = listing(globals())
doors(globals())
answer(globals())
