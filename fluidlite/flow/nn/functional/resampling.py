"""Images and volumes of other sizes, windows and grids, in OneFlow's spelling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ....eager.engine import located
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions.arguments import Integers
from ....functions.arithmetic import add, maximum, multiply, true_divide
from ....functions.elementary import cast, isinf
from ....functions.reduction import mean
from ....functions.reduction import sum as total
from ....functions.selection import chosen
from ....functions.shaping import fits, reshape
from ....nn.functional import grids, likelihoods, rearranging
from ....nn.functional.resizing import interpolate as of_unknown_sizes
from ....nn.functional.windows import of_rank
from ...arranging import scatter
from ...spelling import ONEFLOW
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .windows import each

if TYPE_CHECKING:
    from ...spelling import Function
    from ...tensor import Tensor

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_FIRST = {"data_format": "NCHW"}
_WINDOW = "kernel_size, dilation, padding, stride"
_OF_WINDOWS: dict[str, Any] = {
    "kernel_sizes": "kernel_size",
    "dilations": "dilation",
    "paddings": "padding",
    "strides": "stride",
}
_CUBIC = -0.75  # the free number of cubic convolution, as others have it


def interpolate(
    input: Tensor,
    size: Integers | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Lines, images or volumes of another size.

    Args:
        input: [N, C, ...], of one to three further dimensions.
        size: the new sizes: a number, or one for each dimension.
        scale_factor: how many times larger they are, in place of ``size``.
        mode: "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area".
        align_corners: the outermost elements stay where they are; of the linear and cubic modes.
        recompute_scale_factor: the factor is the quotient of the sizes, not the given one.

    Raises:
        ArgumentError: there is no such mode for so many dimensions; size or factor are not given
            once.

    >>> x = fluid.flow.tensor([[[1.0, 2.0]]])
    >>> fluid.flow.nn.functional.interpolate(x, scale_factor=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    dims = len(input.array.shape) - 2
    before = input.array.shape[2:]
    if (size is None) == (scale_factor is None):
        raise located(ArgumentError, "expected either size or scale_factor")
    allowed = ["nearest", "area", *[m for m, n in _LINEAR.items() if n == dims]]
    allowed += ["bicubic"] * (dims == 2)
    if mode not in allowed:
        raise located(
            ArgumentError,
            f"expected mode one of {', '.join(allowed)} for shape "
            f"{list(input.array.shape)}, got {mode!r:.60}",
        )
    if align_corners is not None and mode in ("nearest", "area"):
        raise located(ArgumentError, f"align_corners has no meaning for mode {mode!r}")
    if size is None and input.appends is not None and -1 in input.shape[2:] and mode != "area":
        return of_unknown_sizes(
            input, scale_factor=scale_factor, mode=mode, align_corners=bool(align_corners)
        )
    if size is not None:
        sizes = [int(n) for n in each("size", size, dims)]
        steps = [a / b for a, b in zip(before, sizes)]
    else:
        several = isinstance(scale_factor, (list, tuple))
        given: Any = scale_factor if several else [scale_factor] * dims
        sizes = [math.floor(n * float(f)) for n, f in zip(before, given)]
        steps = [1 / float(f) for f in given]
        if recompute_scale_factor:
            steps = [a / b for a, b in zip(before, sizes)]
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1](
            input, sizes
        )
    out = input
    for k, (old, new, step) in enumerate(zip(before, sizes, steps)):
        out = _resampled(out, k + 2, _taps(old, new, step, mode, bool(align_corners)))
    return out


upsample = interpolate

Tap = tuple[Any, Any]  #: places, and weights or None


def _taps(old: int, new: int, step: float, mode: str, corners: bool) -> list[Tap]:
    """For each new element places of old ones, and their weights."""
    numbers = np.arange(new)
    if mode == "nearest":
        return [(np.minimum((numbers * step).astype("int64"), old - 1), None)]
    if corners:
        at = numbers * ((old - 1) / (new - 1) if new > 1 else 0.0)
    else:
        at = (numbers + 0.5) * step - 0.5
    if mode != "bicubic":
        at = np.maximum(at, 0.0)
    low = np.floor(at).astype("int64")
    part = at - low
    if mode != "bicubic":
        low = np.minimum(low, old - 1)
        return [(low, 1 - part), (np.minimum(low + 1, old - 1), part)]
    near = [part + 1, part, 1 - part, 2 - part]
    inner, outer = _CUBIC + 2, _CUBIC + 3
    weights = [
        ((inner * t - outer) * t * t + 1) if k in (1, 2) else (((t - 5) * t + 8) * t - 4) * _CUBIC
        for k, t in enumerate(near)
    ]
    return [(np.clip(low + k - 1, 0, old - 1), w) for k, w in enumerate(weights)]


def _resampled(x: Tensor, dim: int, taps: list[Tap]) -> Tensor:
    """The sum of slices along a dimension, with weights."""
    parts = []
    for places, weights in taps:
        part = eager.index_select(x, places, dim=dim)
        if weights is not None:
            shape = [-1] + [1] * (len(x.array.shape) - dim - 1)
            part = multiply(part, part.results(weights.astype(x.array.dtype).reshape(shape)))
        parts.append(part)
    found = parts[0]
    for part in parts[1:]:
        found = add(found, part)
    return found


pixel_shuffle: Function = ONEFLOW(rearranging.pixel_shuffle, fixed=_FIRST)
pixel_unshuffle: Function = ONEFLOW(rearranging.pixel_unshuffle, fixed=_FIRST)
grid_sample: Function = ONEFLOW(grids.grid_sample, defaults={"align_corners": False})
affine_grid: Function = ONEFLOW(
    grids.affine_grid,
    defaults={"align_corners": False},
    out_shape="size",
    doc="""
    >>> x = fluid.flow.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> fluid.flow.nn.functional.affine_grid(x, [1, 1, 1, 2]).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """,
)
unfold: Function = ONEFLOW(rearranging.unfold, order=f"input, {_WINDOW}", **_OF_WINDOWS)
fold: Function = ONEFLOW(
    rearranging.fold,
    order=f"input, output_size, {_WINDOW}",
    output_sizes="output_size",
    **_OF_WINDOWS,
)


def _max_unpool(
    rank: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Integers,
    stride: Integers | None = None,
    padding: Integers = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, and the largest elements of windows over an image where they were.

    Args:
        input: what the pooling gave.
        indices: the places that it gave.
        kernel_size, stride, padding: as it was called with.
        output_size: the sizes before, where the windows leave that open.
    """
    window = each("kernel_size", kernel_size, rank)
    steps = window if stride is None else each("stride", stride, rank)
    around = each("padding", padding, rank)
    shape = input.array.shape
    lead, inner = [+n for n in shape[:-rank]], shape[-rank:]
    sizes = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(inner, steps, around, window)]
    if output_size is not None:
        sizes = [int(n) for n in list(output_size)[-rank:]]
    if not fits(indices.array.shape, shape):
        raise located(
            ShapeError, f"expected indices of shape {list(shape)}, got {list(indices.array.shape)}"
        )
    flat = [*lead, prod(inner)]
    zeros = input.results(np.zeros([*lead, prod(sizes)], input.array.dtype))
    found = scatter(zeros, -1, reshape(indices, flat), reshape(input, flat))
    return reshape(found, [*lead, *sizes])


max_unpool1d: Final = of_rank(
    1,
    _max_unpool,
    "max_unpool1d",
    example="""
    >>> x = fluid.flow.tensor([[[1.0, 3.0, 4.0, 2.0]]])
    >>> values, indices = fluid.flow.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> fluid.flow.nn.functional.max_unpool1d(values, indices, 2).tolist()
    [[[0.0, 3.0, 4.0, 0.0]]]
    """,
)
max_unpool2d: Final = of_rank(
    2,
    _max_unpool,
    "max_unpool2d",
    example="""
    >>> x = fluid.flow.tensor([[[[1.0, 3.0], [4.0, 2.0]]]])
    >>> values, indices = fluid.flow.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> fluid.flow.nn.functional.max_unpool2d(values, indices, 2).tolist()
    [[[[0.0, 0.0], [4.0, 0.0]]]]
    """,
)
max_unpool3d: Final = of_rank(
    3,
    _max_unpool,
    "max_unpool3d",
    example="""
    >>> x = fluid.flow.ones(1, 1, 2, 2, 2)
    >>> values, indices = fluid.flow.nn.functional.max_pool3d(x, 2, return_indices=True)
    >>> fluid.flow.nn.functional.max_unpool3d(values, indices, 2).shape
    oneflow.Size([1, 1, 2, 2, 2])
    """,
)


def ctc_greedy_decoder(
    log_probs: Tensor, input_lengths: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor]:
    """The labels of the most probable class of each step, without blanks, the class 0.

    Args:
        log_probs: [T, N, C].
        input_lengths: [N], how many steps count.
        merge_repeated: labels that repeat the one before are left out, too.

    Returns:
        the labels, [N, T], 0 behind the last one; and the sums of the largest elements with their
        sign changed, [N, 1].

    >>> steps = fluid.flow.tensor([[[0.1, 0.7]], [[0.2, 0.5]], [[0.9, 0.3]]])
    >>> fluid.flow.nn.functional.ctc_greedy_decoder(steps, fluid.flow.tensor([3]))[0].tolist()
    [[1, 0, 0]]
    """
    steps, lengths = np.asarray(log_probs.array), np.asarray(input_lengths.array)
    labels = np.zeros((steps.shape[1], steps.shape[0]), "int64")
    scores = np.zeros((steps.shape[1], 1), steps.dtype)
    for n, length in enumerate(lengths):
        best = steps[:length, n].argmax(-1)
        scores[n] = -steps[:length, n].max(-1).sum()
        shown = best != 0
        if merge_repeated:
            shown[1:] &= best[1:] != best[:-1]
        labels[n, : shown.sum()] = best[shown]
    return log_probs.results(labels), log_probs.results(scores)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """How unlikely labels are, whatever their alignment to steps.

    Args:
        log_probs: [T, N, C], logarithms of probabilities.
        targets: [N, S], labels.
        input_lengths, target_lengths: [N], how many steps and labels count.
        blank: the label for none.
        reduction: "mean" of losses divided by lengths, "sum" or "none".
        zero_infinity: losses of labels that do not fit become 0.

    Raises:
        ArgumentError: there is no such reduction.

    >>> logits = fluid.flow.zeros(2, 1, 3).log_softmax(2)
    >>> x = fluid.flow.tensor([[1]])
    >>> y = fluid.flow.tensor([2])
    >>> z = fluid.flow.tensor([1])
    >>> loss = fluid.flow.nn.functional.ctc_loss(logits, x, y, z, reduction="sum")
    >>> round(loss.item(), 4)
    1.0986
    """
    if reduction not in ("mean", "sum", "none"):
        raise located(ArgumentError, f"expected 'mean', 'sum' or 'none', got {reduction!r:.60}")
    loss = likelihoods.ctc_loss(
        log_probs, cast(targets, "int32"), input_lengths, target_lengths, blank, "none"
    )
    loss = reshape(loss, [-1])
    if zero_infinity:
        loss = chosen(isinf(loss), 0.0, loss)
    if reduction == "mean":
        return mean(true_divide(loss, maximum(cast(target_lengths, loss.dtype), 1)))
    return total(loss) if reduction == "sum" else loss
