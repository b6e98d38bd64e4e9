"""First values of parameters: each appends an operator to the startup program.

Initialisers put their operator at the front of the block, so that a startup program lists the last
parameter first.
"""

from __future__ import annotations

import math
from typing import Any

from .ir.block import Block
from .ir.operator import Operator
from .ir.variable import Variable


class Initializer:
    """The base of all initializers: called with a variable and the block that fills it."""

    def __call__(self, var: Variable, block: Block) -> Operator:
        """Prepend the operator that fills ``var`` to ``block``."""
        raise NotImplementedError


class Constant(Initializer):
    """One number everywhere."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        self.value = value
        self.force_cpu = force_cpu

    def __call__(self, var: Variable, block: Block) -> Operator:
        attrs = {
            "shape": list(var.shape),
            "dtype": var.dtype,
            "value": float(self.value),
            "force_cpu": self.force_cpu,
        }
        return block.prepend_op(
            "fill_constant", outputs={"Out": var}, attrs=attrs, stop_gradient=True
        )


class Xavier(Initializer):
    """Xavier."""

    def __init__(
        self, uniform: bool = True, fan_in: Any = None, fan_out: Any = None, seed: int = 0
    ) -> None:
        self.seed = seed

    def __call__(self, var: Variable, block: Block) -> Operator:
        limit = math.sqrt(6.0 / sum(var.shape[:2]))
        attrs = {
            "shape": list(var.shape),
            "dtype": var.dtype,
            "min": -limit,
            "max": limit,
            "seed": self.seed,
        }
        return block.prepend_op(
            "uniform_random", outputs={"Out": var}, attrs=attrs, stop_gradient=True
        )
