"""Values less their mean, divided by their standard deviation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import add, matmul, maximum, multiply, true_divide
from ...functions.arithmetic import pow as power
from ...functions.elementary import square
from ...functions.reduction import norm
from ...functions.shaping import fits, moveaxis, reshape
from ...opdef.operand import Operand

if TYPE_CHECKING:
    from collections.abc import Sequence

_NORMALISED = ("Y",)  #: the output of a batch normalisation that has to be a tensor
_LAYOUTS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """Normalisation over the last dimensions of each sample.

    Args:
        x: [..., *normalized_shape].
        normalized_shape: an integer, or the sizes of the dimensions.
        weight, bias: in that shape.
        epsilon: keeps the square root away from 0.

    Raises:
        ShapeError: the last sizes of ``x`` are others.

    >>> x = fluid.to_tensor([[1.0, 3.0]])
    >>> fluid.nn.functional.layer_norm(x, 2).numpy().round(3)
    array([[-1.,  1.]], dtype=float32)
    """
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    shape = list(x.array.shape)
    begin = len(shape) - len(sizes)
    if begin < 0 or not fits(shape[begin:], sizes):
        raise ShapeError(f"expected x to end in the sizes {sizes}, got shape {shape}")
    if begin:
        one = [v if v is None or v.array.ndim == 1 else reshape(v, [-1]) for v in (weight, bias)]
        return eager.layer_norm(x, *one, epsilon=epsilon, begin_norm_axis=begin)
    flat = reshape(x, [prod(shape[:begin]) if begin else 1, prod(sizes)])
    one = [None if v is None else reshape(v, [-1]) for v in (weight, bias)]
    return reshape(eager.layer_norm(flat, *one, epsilon=epsilon, begin_norm_axis=1), shape)


def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Normalisation of each channel over a batch.

    Args:
        x: [N, C, ...], or [N, ..., C].
        running_mean, running_var: [C]; moved towards those of the batch in training.
        weight, bias: [C].
        training: use the statistics of the batch, not the running ones.
        momentum: the share of the old running statistics in the new ones.
        epsilon: keeps the square root away from 0.
        data_format: ends in "C" where the channels come last.
        use_global_stats: use the running statistics; in tests when None.

    >>> x = fluid.to_tensor([[1.0], [3.0]])
    >>> y = fluid.to_tensor([2.0])
    >>> fluid.nn.functional.batch_norm(x, y, fluid.to_tensor([1.0])).numpy().round(4).tolist()
    [[-1.0], [1.0]]
    """
    channels = +running_mean.array.shape[0]
    dtype = running_mean.array.dtype
    scale = np.ones(channels, dtype) if weight is None else weight
    shift = np.zeros(channels, dtype) if bias is None else bias
    if data_format not in _LAYOUTS:
        raise ArgumentError(
            f"expected data_format to be one of {', '.join(_LAYOUTS)}, got {data_format!r:.60}"
        )
    last = data_format[-1] == "C" and len(data_format) > 2
    outs = eager.batch_norm.asked(
        None,
        x,
        scale,
        shift,
        running_mean,
        running_var,
        shown=_NORMALISED,
        is_test=not training,
        momentum=momentum,
        epsilon=epsilon,
        data_layout="NHWC" if last else "NCHW",
        use_global_stats=bool(use_global_stats),
    )
    if training and not use_global_stats and x.appends is None:
        for running, moved in (running_mean, outs["MeanOut"]), (running_var, outs["VarianceOut"]):
            running.replace(moved.array if isinstance(moved, Operand) else moved)
    return outs["Y"]


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Normalisation of each channel of each sample.

    Args:
        x: [N, C, ...], or [N, ..., C].
        running_mean, running_var: [C]; moved towards the means of the samples' statistics.
        weight, bias: [C].
        use_input_stats: False: use the running statistics.
        momentum: the share of the old running statistics in the new ones.
        eps: keeps the square root away from 0.
        data_format: ends in "C" where the channels come last.

    Raises:
        ArgumentError: there are no running statistics to use.

    >>> fluid.nn.functional.instance_norm(fluid.to_tensor([[[1.0, 3.0]]])).numpy().round(4)
    array([[[-1.,  1.]]], dtype=float32)
    """
    last = data_format[-1] == "C" and len(data_format) > 2
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise ArgumentError("instance_norm: use_input_stats=False needs running statistics")
        return batch_norm(
            x, running_mean, running_var, weight, bias, epsilon=eps, data_format=data_format
        )
    x = moveaxis(x, -1, 1) if last else x
    others = tuple(range(2, x.array.ndim))
    for kept, statistic in ((running_mean, np.mean), (running_var, np.var)):
        if kept is not None:
            of_samples: Any = statistic(x.array, axis=others)
            kept.set_value(kept.array * momentum + of_samples.mean(0) * (1 - momentum))
    out = eager.instance_norm(x, weight, bias, epsilon=eps)
    return moveaxis(out, 1, -1) if last else out


def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Normalisation of each group of channels of each sample.

    Args:
        x: [N, C, ...], or [N, ..., C].
        num_groups: how many groups the channels are cut into.
        epsilon: keeps the square root away from 0.
        weight, bias: [C].
        data_format: ends in "C" where the channels come last.

    >>> fluid.nn.functional.group_norm(fluid.to_tensor([[1.0, 3.0]]), 1).numpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """
    layout = "NHWC" if data_format[-1] == "C" and len(data_format) > 2 else "NCHW"
    channels = +x.array.shape[-1 if layout == "NHWC" else 1]
    if channels % num_groups:
        raise ArgumentError(f"expected num_groups to divide {channels} channels, got {num_groups}")
    return eager.group_norm(x, weight, bias, groups=num_groups, epsilon=epsilon, data_layout=layout)


def normalize(
    x: Tensor, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None
) -> Tensor:
    """x divided by its p-norm along a dimension.

    >>> fluid.nn.functional.normalize(fluid.to_tensor([[3.0, 4.0]])).numpy().round(4)
    array([[0.6, 0.8]], dtype=float32)
    """
    return true_divide(x, maximum(norm(x, p, axis, True), epsilon))


def local_response_norm(
    x: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """x divided by a power of ``k`` plus ``alpha`` times the average square of some channels around
    (Krizhevsky, Sutskever and Hinton 2012, "ImageNet classification with deep convolutional neural
    networks").

    Args:
        x: [N, C, ...], or [N, ..., C].
        size: how many channels are averaged.
        alpha, k: see above.
        beta: the power.
        data_format: ends in C where the channels come last.

    >>> x = fluid.ones([1, 3, 1, 1])
    >>> fluid.nn.functional.local_response_norm(x, 3, alpha=3.0, beta=1.0).flatten().tolist()
    [0.3333333432674408, 0.25, 0.3333333432674408]
    """
    if x.array.ndim < 3:
        raise ShapeError(f"expected x of at least 3 dimensions, got shape {list(x.shape)}")
    last = data_format[-1] == "C"
    x = moveaxis(x, -1, 1) if last else x
    channels = +x.array.shape[1]
    near = np.arange(channels)[:, None] - np.arange(channels)[None]
    inside = (near <= size // 2) & (near >= -((size - 1) // 2))
    shares: Any = x.results((inside / size).astype(x.array.dtype))
    sizes = [+n for n in x.array.shape[2:]]
    squares = reshape(square(x), [-1, channels, prod(sizes)])
    around = reshape(matmul(shares, squares), [-1, channels, *sizes])
    out = true_divide(x, power(add(multiply(around, alpha), k), beta))
    return moveaxis(out, 1, -1) if last else out
