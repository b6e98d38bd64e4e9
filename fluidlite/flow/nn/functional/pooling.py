"""Pooling of one to three dimensions, in OneFlow's spelling."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....eager.engine import located
from ....eager.flat import kinked
from ....eager.recording import eager
from ....errors import ArgumentError
from ....functions.arithmetic import add, multiply
from ....functions.items import get_item
from ....functions.reduction import argmax
from ....functions.shaping import flatten, reshape, squeeze, unsqueeze
from ....opdef.windows import WindowArguments
from .windows import batched, each


@dataclass(frozen=True)
class _Windows(WindowArguments):
    """The windows that move over an image."""

    counts: tuple[int, ...] = ()  #: how many there are along each dimension

    def starts(self, d: int) -> Any:
        """Where they begin along a dimension."""
        return np.arange(self.counts[d]) * self.steps[d] - self.padding[d]


def _windows(
    shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> _Windows:
    dims = len(shape)
    size = each("kernel_size", kernel, dims)
    step = size if stride is None else each("stride", stride, dims)
    pad, spread = each("padding", padding, dims), each("dilation", dilation, dims)
    if any(2 * p > k for p, k in zip(pad, size)):
        raise located(
            ArgumentError(f"expected padding of at most half the window {size}, got {pad}")
        )
    counts = []
    for n, k, s, p, d in zip(shape, size, step, pad, spread):
        room = n + 2 * p - d * (k - 1) - 1
        count = -(-room // s) + 1 if ceil_mode else room // s + 1
        if ceil_mode and (count - 1) * s >= n + p:  # would begin in the padding at the end
            count -= 1
        if room < 0 or count < 1:
            raise located(
                ArgumentError(f"the window {size} does not fit an image of sizes {list(shape)}")
            )
        counts.append(count)
    return _Windows(size, step, pad, spread, counts=tuple(counts))


def _flat_pool(kind: str, x: Any, w: _Windows, **attrs: Any) -> Any:
    """The pool of an operator, padded at the end as far as the last window reaches."""
    dims = len(w.sizes)
    size, step = w.sizes, w.steps
    pads = []
    for d, n in enumerate(x.array.shape[2:]):
        pads += [w.padding[d], max((w.counts[d] - 1) * step[d] + size[d] - n - w.padding[d], 0)]
    if dims == 1:
        x, size, step, pads = unsqueeze(x, 2), (1, *size), (1, *step), [0, 0, *pads]
    call = eager.pool3d if dims == 3 else eager.pool2d
    out = call(x, pooling_type=kind, ksize=size, strides=step, paddings=pads, **attrs)
    return squeeze(out, 2) if dims == 1 else out


# -- maxima ----------------------------------------------------------------------------------------


def _max_pool(
    dims: int,
    x: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    return_indices: bool,
    ceil_mode: bool,
) -> Any:
    x, alone = batched(x, dims)
    w = _windows(x.array.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    if not return_indices and set(w.dilation) == {1}:
        out = _flat_pool("max", x, w)
        return squeeze(out, 0) if alone else out
    out, places = _max_and_places(kinked(x), w)
    if alone:
        out, places = squeeze(out, 0), squeeze(places, 0)
    return (out, places) if return_indices else out


def _max_and_places(x: Any, w: _Windows) -> tuple[Any, Any]:
    """The largest element of each window, and its number in the image, by rows."""
    sizes = tuple(+n for n in x.array.shape[2:])
    numbers, outside = [], []
    for offset in itertools.product(*map(range, w.sizes)):
        along = [w.starts(d) + o * w.dilation[d] for d, o in enumerate(offset)]
        at = np.meshgrid(*along, indexing="ij")
        fits = np.logical_and.reduce([(a >= 0) & (a < n) for a, n in zip(at, sizes)])
        numbers.append(np.ravel_multi_index(at, sizes, mode="clip").reshape(-1))
        outside.append(np.where(fits, 0.0, -np.inf).reshape(-1))
    count, places = len(numbers), np.arange(len(numbers[0]))
    rows = flatten(x, 2)
    values = eager.index_select(rows, np.concatenate(numbers), dim=2)
    values = reshape(values, [0, 0, count, len(places)])
    penalty: Any = x.results(np.stack(outside).astype(x.array.dtype))
    best = argmax(add(values.detach(), penalty), 2)
    table: Any = x.results(np.stack(numbers))
    number = get_item(table, (best, places))
    taken = eager.take_along(rows, number, axis=2)
    shape = [0, 0, *w.counts]
    return reshape(taken, shape), reshape(number, shape)


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element under a window that moves over a sequence.

    Args:
        input: [N, C, L], or [C, L].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: around the sequence; at most half the window.
        dilation: steps of its elements.
        return_indices: also give the places of these elements, counted by rows.
        ceil_mode: also a window that reaches beyond the end.

    >>> x = fluid.flow.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> out, places = fluid.flow.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> out.tolist(), places.tolist()
    ([[[3.0, 5.0]]], [[[1, 3]]])
    """
    options = stride, padding, dilation, return_indices, ceil_mode
    return _max_pool(1, input, kernel_size, *options)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element under a window that moves over an image; see :func:`max_pool1d`."""
    options = stride, padding, dilation, return_indices, ceil_mode
    return _max_pool(2, input, kernel_size, *options)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element under a window that moves over a volume; see :func:`max_pool1d`."""
    options = stride, padding, dilation, return_indices, ceil_mode
    return _max_pool(3, input, kernel_size, *options)


# -- means -----------------------------------------------------------------------------------------


def _avg_pool(
    dims: int,
    x: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    if divisor_override is not None and not divisor_override:
        raise located(ArgumentError("expected a divisor_override other than 0, or None"))
    x, alone = batched(x, dims)
    shape = x.array.shape[2:]
    w = _windows(shape, kernel, stride, padding, 1, ceil_mode)
    out = _flat_pool("avg", kinked(x), w, exclusive=True)
    inside = divisor = np.ones((), "int64")
    for d, n in enumerate(shape):
        first = w.starts(d)
        last = np.minimum(first + w.sizes[d], n + w.padding[d])
        along = [-1 if i == d else 1 for i in range(dims)]
        inside = inside * (np.minimum(last, n) - np.maximum(first, 0)).reshape(along)
        divisor = divisor * (last - first).reshape(along)
    if divisor_override is not None:
        divisor = np.asarray(divisor_override)
    elif not count_include_pad:
        divisor = inside
    share = inside / divisor
    if (share != 1).any():
        factors: Any = out.results(share.astype(x.array.dtype))
        out = multiply(out, factors)
    return squeeze(out, 0) if alone else out


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean under a window that moves over a sequence.

    Args:
        input: [N, C, L], or [C, L].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: zeros around the sequence; at most half the window.
        ceil_mode: also a window that reaches beyond the end.
        count_include_pad: whether these zeros count.
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean under a window that moves over an image; see :func:`avg_pool1d`.

    Args:
        input: [N, C, H, W], or [C, H, W].
        kernel_size, stride, padding, ceil_mode, count_include_pad: as there.
        divisor_override: what sums are divided by, in the place of the number of elements.
    """
    options = stride, padding, ceil_mode, count_include_pad, divisor_override
    return _avg_pool(2, input, kernel_size, *options)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean under a window that moves over a volume; see :func:`avg_pool2d`."""
    options = stride, padding, ceil_mode, count_include_pad, divisor_override
    return _avg_pool(3, input, kernel_size, *options)


# -- as many parts as are asked for ----------------------------------------------------------------


def _parts(dims: int, x: Any, output_size: Any) -> tuple[Any, bool, tuple[int, ...]]:
    x, alone = batched(x, dims)
    listed = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * dims
    shape = x.array.shape[2:]
    sizes = [n if given is None else given for given, n in zip(listed, shape)]
    return x, alone, each("output_size", sizes, dims)


def _adaptive_avg(dims: int, input: Any, output_size: Any) -> Any:
    x, alone, sizes = _parts(dims, input, output_size)
    x = kinked(x)
    if dims == 1:
        x, sizes = unsqueeze(x, 2), (1, *sizes)
    call = eager.pool3d if dims == 3 else eager.pool2d
    out = call(x, pooling_type="avg", ksize=sizes, adaptive=True)
    out = squeeze(out, 2) if dims == 1 else out
    return squeeze(out, 0) if alone else out


def _adaptive_max(dims: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    x, alone, sizes = _parts(dims, input, output_size)
    x = kinked(x)
    if dims == 1:
        x, sizes = unsqueeze(x, 2), (1, *sizes)
    call = eager.max_pool3d_with_index if dims == 3 else eager.max_pool2d_with_index
    outs = call.all(x, ksize=sizes, adaptive=True)
    found = [outs["Out"], eager.cast(outs["Mask"], in_dtype="int32", out_dtype="int64")]
    found = [squeeze(each, 2) for each in found] if dims == 1 else found
    out, places = [squeeze(each, 0) for each in found] if alone else found
    return (out, places) if return_indices else out


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Means of as many parts of a sequence as are asked for."""
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Means of as many parts of an image as are asked for; None keeps a size."""
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Means of as many parts of a volume as are asked for; None keeps a size."""
    return _adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many parts of a sequence as are asked for, and their places."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many parts of an image as are asked for, and their places."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many parts of a volume as are asked for, and their places."""
    return _adaptive_max(3, input, output_size, return_indices)
