"""Parts of programs whose gradients are said by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import layers
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...ir.program import default_main_program
from ...ir.variable import Variable
from ...layers.structure import leaves, mapped_leaves


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[Variable],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """What a function makes of variables, with gradients that another function says.

    Args:
        forward_fn: takes the inputs, and gives a variable or several.
        inputs: the variables.
        backward_fn: takes the gradients of what the first function gives, as tensors, and gives
            those of the inputs; None: no gradient flows.
        name: accepted.

    Raises:
        ArgumentError: ``inputs`` is no list, or a function is none.
        ShapeError: there are other gradients than inputs.

    >>> from fluidlite import paddle
    >>> x = paddle.static.data("x", [2, 3])
    >>> paddle.static.nn.static_pylayer(paddle.exp, [x], lambda dy: dy * 2).shape
    (2, 3)
    """
    for what, function in dict(forward_fn=forward_fn, backward_fn=backward_fn).items():
        if not callable(function) and not (function is None and what == "backward_fn"):
            raise ArgumentError(f"expected {what} to be a function, got {function!r:.60}")
    if not isinstance(inputs, (list, tuple)):
        raise ArgumentError(f"expected inputs to be a list of variables, got {inputs!r:.60}")
    results = forward_fn(*inputs)
    values = leaves(results)
    for each in values:
        each.stop_gradient = True
    if backward_fn is None:
        return results
    block = default_main_program().current_block()
    outs = [block.create_var(dtype=v.dtype, shape=v.shape) for v in values]
    operands = [*inputs, *values]

    def taken(*arrays: Any) -> Any:
        kept = [np.array(each) for each in arrays[len(inputs) :]]
        return kept[0] if len(kept) == 1 else kept

    def gradients(*arrays: Any) -> Any:
        tensors = [Tensor(np.array(each)) for each in arrays]
        slopes = backward_fn(*tensors)
        listed = list(slopes) if isinstance(slopes, (list, tuple)) else [slopes]
        if len(listed) != len(inputs):
            raise ShapeError(
                f"expected backward_fn to give {len(inputs)} gradients, got {len(listed)}"
            )
        return [*(None if s is None else s.numpy() for s in listed), *[None] * len(values)]

    layers.py_func(taken, operands, outs, gradients, [*operands, *outs])
    named = iter(outs)
    return mapped_leaves(lambda value: next(named), results)
