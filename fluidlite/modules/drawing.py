"""Parameters whose first values a startup program draws."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..eager.parameter import Undrawn
from ..initializer import NumpyArrayInitializer
from ..ir.block import Block
from ..ir.variable import Variable
from ..scope import global_scope


def array_of(tensor: Any) -> Any:
    """The value of a tensor; one of its shape and element type where it has not been drawn."""
    if isinstance(tensor, Undrawn):
        return np.broadcast_to(np.zeros((), tensor.dtype.dtype), tensor.shape)
    return tensor.array


def draws_in_startup(tensor: Any, variable: Variable, block: Block) -> bool:
    """Append what draws the value of a parameter, which from now on shows what it has drawn.

    Args:
        tensor: a parameter or another tensor.
        variable: that of the startup program.
        block: its block.

    Returns:
        whether there is such a parameter, whose value nobody has read.
    """
    if not isinstance(tensor, Undrawn):
        return False
    tensor.initializer(variable, block)
    tensor.read = partial(_value_drawn, tensor.blank, tensor.read, variable, block)
    return True


def _value_drawn(blank: Any, draw: Any, variable: Variable, block: Block) -> Any:
    """What a startup program has drawn for a variable, or, where it has not been run, draws from
    now on.
    """
    known = global_scope().find_var(variable.name)
    value = None if known is None else known.value
    if isinstance(value, np.ndarray) and value.shape == blank.shape:
        return value.copy()
    value = draw()
    for place, op in enumerate(block.ops):
        if variable.name in op.output_arg_names:
            block.remove_op(place)
            NumpyArrayInitializer(value)(variable, block)
            break
    return value
