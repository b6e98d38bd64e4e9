"""Normalisations, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.engine import located
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions.arithmetic import add, multiply, subtract, true_divide
from ....functions.reduction import counted, mean, var
from ....functions.shaping import reshape
from ....ground.spellings import parameters_of
from ....nn.functional import normalization
from ...spelling import ONEFLOW

if TYPE_CHECKING:
    from ...spelling import Function
    from ...tensor import Tensor


layer_norm: Function = ONEFLOW(normalization.layer_norm)
normalize: Function = ONEFLOW(normalization.normalize)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalisation of each group of channels of each sample; see :func:`batch_norm`.

    >>> fluid.flow.nn.functional.group_norm(fluid.flow.tensor([[1.0, 3.0]]), 1).numpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """
    channels = input.array.shape[1]
    if channels % num_groups:
        raise located(
            ShapeError, f"expected num_groups to divide {channels} channels, got {num_groups}"
        )
    return normalization.group_norm(input, num_groups, eps, weight, bias)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalisation of each channel over a batch.

    Args:
        input: [N, C, ...].
        running_mean, running_var: [C]; moved towards those of the batch in training.  None for
            none, in training.
        weight, bias: [C].
        training: use the statistics of the batch, not the running ones.
        momentum: the share of the batch in the new running statistics.
        eps: keeps the square root away from 0.

    Raises:
        ArgumentError: there are no statistics to use.
        ShapeError: a channel has one element, in training.

    >>> x = fluid.flow.tensor([[1.0], [3.0]])
    >>> y = fluid.flow.tensor([2.0])
    >>> fluid.flow.nn.functional.batch_norm(x, y, fluid.flow.tensor([1.0])).numpy().round(4)
    array([[-1.],
           [ 1.]], dtype=float32)
    """
    if not training and (running_mean is None or running_var is None):
        raise located(ArgumentError, "expected running_mean and running_var out of training")
    shape, dtype = input.array.shape, input.array.dtype
    count = counted(input, [d for d in range(len(shape)) if d != 1], False) if training else 0.0
    if training and isinstance(count, float) and count == 1:
        raise located(
            ShapeError, f"expected more than one element for each channel, got {list(shape)}"
        )
    ones, zeros = np.ones(+shape[1], dtype), np.zeros(+shape[1], dtype)
    outs = eager.batch_norm.all(
        input,
        ones if weight is None else weight,
        zeros if bias is None else bias,
        zeros if training else running_mean,
        ones if training else running_var,
        is_test=not training,
        momentum=0.0,  # so that the new statistics are those of the batch
        epsilon=eps,
    )
    if training:
        _move(running_mean, outs["MeanOut"], momentum)
        if running_var is not None:
            one_less = count - 1.0 if isinstance(count, float) else subtract(count, 1.0)
            unbiased = true_divide(multiply(outs["VarianceOut"], count), one_less)
            _move(running_var, unbiased, momentum)
    return outs["Y"]


def _move(kept: Tensor | None, new: Tensor, momentum: float) -> None:
    """Let running statistics take a share of new ones."""
    if kept is None:
        return
    if kept.appends is not None:
        kept.write(lambda old: add(multiply(old, 1 - momentum), multiply(new, momentum)))
    else:
        kept.set_value(kept.array * (1 - momentum) + new.array * momentum)


@parameters_of(
    ONEFLOW(normalization.instance_norm, fixed={"data_format": "NCHW"}, defaults={"momentum": 0.1})
)
def instance_norm(
    input: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, *options: Any
) -> Tensor:
    """Normalisation of each channel of each sample.

    Args:
        input: [N, C, ...].
        momentum: the share of the input in the new running statistics.

    >>> x = fluid.flow.tensor([[[1.0, 3.0]]])
    >>> fluid.flow.nn.functional.instance_norm(x).numpy().round(4)
    array([[[-1.,  1.]]], dtype=float32)
    """
    use_input_stats, momentum, eps = options
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    shape = input.array.shape
    inner = list(range(2, len(shape)))
    if all(n == 1 for n in shape[2:]):
        raise located(
            ShapeError, f"expected more than one element for each channel, got {list(shape)}"
        )
    out = normalization.instance_norm(input, eps=eps)
    if running_mean is not None:
        _move(running_mean, mean(mean(input, inner), 0), momentum)
    if running_var is not None:
        _move(running_var, mean(var(input, inner), 0), momentum)
    along = [1, +shape[1]] + [1] * (len(shape) - 2)
    out = out if weight is None else multiply(out, reshape(weight, along))
    return out if bias is None else add(out, reshape(bias, along))
