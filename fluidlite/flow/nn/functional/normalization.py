"""Normalisations, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.engine import located
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions.arithmetic import add, multiply, subtract, true_divide
from ....functions.elementary import cast
from ....functions.reduction import counted, mean, var
from ....functions.shaping import numbers_in, reshape
from ....ground.spellings import parameters_of
from ....nn.functional import normalization
from ...spelling import ONEFLOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...spelling import Function
    from ...tensor import Tensor


normalize: Function = ONEFLOW(normalization.normalize)


def _are_of_one_type(input: Tensor, *values: Tensor | None) -> bool:
    """Whether a single operator may take these."""
    return all(v is None or v.array.dtype == input.array.dtype for v in values)


def _scaled(
    out: Tensor, weight: Tensor | None, bias: Tensor | None, sizes: Sequence[Any]
) -> Tensor:
    """A tensor times a weight plus a bias, which have to be in a shape for that."""
    out = out if weight is None else multiply(out, reshape(weight, sizes))
    return out if bias is None else add(out, reshape(bias, sizes))


def _of_channels(shape: Sequence[Any]) -> list[Any]:
    """The shape in which a number for each channel broadcasts to this one."""
    return [1, +shape[1]] + [1] * (len(shape) - 2)


@parameters_of(ONEFLOW(normalization.layer_norm))
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, *options: Any
) -> Tensor:
    """Normalisation over the last dimensions of each sample.

    Args:
        weight, bias: in that shape; the result has the wider element type.

    >>> fluid.flow.nn.functional.layer_norm(fluid.flow.tensor([[1.0, 3.0]]), 2).numpy().round(3)
    array([[-1.,  1.]], dtype=float32)
    """
    if _are_of_one_type(input, weight, bias):
        return normalization.layer_norm(input, normalized_shape, weight, bias, *options)
    out = normalization.layer_norm(input, normalized_shape, None, None, *options)
    return _scaled(out, weight, bias, numbers_in("normalized_shape", normalized_shape))


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
    if _are_of_one_type(input, weight, bias):
        return normalization.group_norm(input, num_groups, eps, weight, bias)
    out = normalization.group_norm(input, num_groups, eps)
    return _scaled(out, weight, bias, _of_channels(input.array.shape))


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
        training: use the statistics of the batch, not the running ones.  Those of one element say
            nothing about how it spreads: the result is the bias, the running variance no number.
        momentum: the share of the batch in the new running statistics.
        eps: keeps the square root away from 0.

    Raises:
        ArgumentError: there are no statistics to use.

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
    ones, zeros = np.ones(+shape[1], dtype), np.zeros(+shape[1], dtype)
    wide = np.dtype("float32") if dtype == "float16" else dtype
    weight, bias, old_mean, old_var = (
        v if v is None or v.array.dtype in (dtype, wide) else cast(v, wide)
        for v in (weight, bias, running_mean, running_var)
    )
    if training and isinstance(count, float) and count == 1:  # the operator would give the input
        outs: Any = {"MeanOut": reshape(input, [-1]), "VarianceOut": input.results(zeros)}
        outs["Y"] = _scaled(subtract(input, input), weight, bias, _of_channels(shape))
    else:
        outs = eager.batch_norm.all(
            input,
            ones if weight is None else weight,
            zeros if bias is None else bias,
            zeros if training else old_mean,
            ones if training else old_var,
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
    out = normalization.instance_norm(input, eps=eps)
    if running_mean is not None:
        _move(running_mean, mean(mean(input, inner), 0), momentum)
    if running_var is not None:
        _move(running_var, mean(var(input, inner), 0), momentum)
    return _scaled(out, weight, bias, _of_channels(shape))
