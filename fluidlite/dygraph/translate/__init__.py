"""Functions of eager tensors as programs, with branches, loops and lists as operators.

``source`` reads a function and makes another one of a tree; ``names`` says what statements assign
and read; ``jumps`` and ``rewrite`` write statements as calls; ``branches``, ``loops`` (over
``items``), ``lists`` and ``calls`` are what is called, on what ``cells`` hold and ``merging``
brings together; ``functions`` keeps what was translated. ``building`` makes programs, ``running``
runs them among tensors, and ``translator`` is the public face.
"""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from .merging import TranslationError
from .translator import ProgramTranslator, declarative, dygraph_to_static_func

__all__ = ["ProgramTranslator", "TranslationError", "declarative", "dygraph_to_static_func"]

list_public_names(globals())
answer(globals())
