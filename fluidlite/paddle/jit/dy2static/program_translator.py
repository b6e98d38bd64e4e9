"""``paddle.jit.dy2static.program_translator`` of paddle 2.6."""

from __future__ import annotations

from ....dygraph.translate import ProgramTranslator
from ....ground.public_names import list_public_names
from ..static_function import ConcreteProgram, StaticFunction
from ..static_function import StaticFunction as ASTStaticFunction

__all__ = ["ASTStaticFunction", "ConcreteProgram", "ProgramTranslator", "StaticFunction"]

list_public_names(globals())
