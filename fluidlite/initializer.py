"""First values of parameters: each appends an operator to the startup program.

Initialisers put their operator at the front of the block, so that a startup program lists the last parameter first.
"""

from __future__ import annotations

from .ir.block import Block
from .ir.operator import Operator
from .ir.variable import Variable


class Initializer:
    """The base of all initializers: called with a variable and the block that gives it its value."""

    def __call__(self, var: Variable, block: Block) -> Operator:
        """Prepend the operator that fills ``var`` to ``block``."""
        raise NotImplementedError
