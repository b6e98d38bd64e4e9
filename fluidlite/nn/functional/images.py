"""Convolution and pooling of images, and padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...imperative.arithmetic import add, multiply
from ...imperative.recording import eager
from ...imperative.shaping import moveaxis, numbers_in, reshape, squeeze, unsqueeze
from ...imperative.tensor import Tensor


def _pair(what: str, value: Any) -> tuple[int, ...]:
    numbers = numbers_in(what, value)
    return numbers * 2 if len(numbers) == 1 else numbers


def _padding(given: Any, data_format: str) -> tuple[tuple[int, ...], str]:
    """Paddings and the algorithm, from what users write: a number, pairs, or SAME and VALID."""
    if isinstance(given, str):
        return (0, 0), given.upper()
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple)):
        places = (1, 2) if data_format == "NHWC" else (2, 3)
        pairs = [given[i] for i in places] if len(given) == 4 else given
        return tuple(int(n) for pair in pairs for n in pair), "EXPLICIT"
    return _pair("padding", given), "EXPLICIT"


def _with_bias(out: Tensor, bias: Tensor | None, data_format: str) -> Tensor:
    if bias is None:
        return out
    return add(out, bias if data_format == "NHWC" else reshape(bias, [-1, 1, 1]))


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Images convolved with filters.

    Args:
        x: [N, C, H, W].
        weight: [filters, C / groups, height, width].
        bias: [filters].
        stride, dilation: steps of the window and of its elements: a number, or two.
        padding: zeros around the image: a number, two, four, or "SAME" or "VALID".
        groups: the channels are cut into so many groups, which do not mix.
        data_format: NCHW, or NHWC for images whose channels come last.

    >>> x, w = fluid.ones([1, 1, 3, 3]), fluid.ones([2, 1, 2, 2])
    >>> fluid.nn.functional.conv2d(x, w).shape
    [1, 2, 2, 2]
    """
    paddings, algorithm = _padding(padding, data_format)
    out = eager.conv2d(
        x,
        weight,
        strides=_pair("stride", stride),
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=_pair("dilation", dilation),
        groups=groups,
        data_format=data_format,
    )
    return _with_bias(out, bias, data_format)


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of an image spreads a filter.

    Args:
        x: [N, C, H, W].
        weight: [C, filters / groups, height, width].
        bias: [filters].
        stride, padding, dilation, groups, data_format: those of the convolution.
        output_padding: how many rows and columns are added; 0, or given by ``output_size``.
        output_size: rows and columns of the result.
    """
    extra = _pair("output_padding", output_padding)
    paddings, algorithm = _padding(padding, data_format)
    steps, spread = _pair("stride", stride), _pair("dilation", dilation)
    attrs: dict[str, Any] = {}
    if output_size is not None:
        attrs["output_size"] = _pair("output_size", output_size)
    elif any(extra):
        places = (1, 2) if data_format == "NHWC" else (2, 3)
        sides = paddings if len(paddings) == 4 else (paddings[0], paddings[0], *paddings[1:] * 2)
        attrs["output_size"] = tuple(
            (x.array.shape[d] - 1) * steps[i]
            + (weight.array.shape[2 + i] - 1) * spread[i]
            + 1
            + extra[i]
            - sides[2 * i]
            - sides[2 * i + 1]
            for i, d in enumerate(places)
        )
    out = eager.conv2d_transpose(
        x,
        weight,
        strides=steps,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=spread,
        groups=groups,
        data_format=data_format,
        **attrs,
    )
    return _with_bias(out, bias, data_format)


def _pool(x: Tensor, kind: str, kernel: Any, stride: Any, padding: Any, **attrs: Any) -> Tensor:
    paddings, algorithm = _padding(padding, attrs["data_format"])
    sizes = _pair("kernel_size", kernel)
    return eager.pool2d(
        x,
        pooling_type=kind,
        ksize=sizes,
        strides=sizes if stride is None else _pair("stride", stride),
        paddings=paddings,
        padding_algorithm=algorithm,
        **attrs,
    )


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The largest element under a window that moves over an image.

    Args:
        x: [N, C, H, W].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: around the image.
        return_mask: False.
        ceil_mode: also windows that reach beyond the image.
        data_format: NCHW or NHWC.
    """
    if return_mask:
        raise ArgumentError("max_pool2d: return_mask=True is not supported")
    attrs = dict(ceil_mode=ceil_mode, data_format=data_format)
    return _pool(x, "max", kernel_size, stride, padding, **attrs)


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves over an image.

    Args:
        x: [N, C, H, W].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: around the image.
        ceil_mode: also windows that reach beyond the image.
        exclusive: padding does not count.
        divisor_override: what sums are divided by, in the place of the number of elements.
        data_format: NCHW or NHWC.

    Raises:
        ArgumentError: ``divisor_override`` is 0.

    >>> x = fluid.ones([1, 1, 2, 2])
    >>> float(fluid.nn.functional.avg_pool2d(x, 2, divisor_override=5))
    0.8...
    """
    attrs = dict(ceil_mode=ceil_mode, data_format=data_format)
    if divisor_override is None:
        return _pool(x, "avg", kernel_size, stride, padding, exclusive=exclusive, **attrs)
    if not divisor_override:
        raise ArgumentError("avg_pool2d: expected divisor_override other than 0, or None, got 0")
    out = _pool(x, "avg", kernel_size, stride, padding, exclusive=True, **attrs)
    elements = _elements(x, out, kernel_size, stride, padding, data_format)
    return multiply(out, x.results((elements / divisor_override).astype(x.array.dtype)))


def _elements(
    x: Tensor, out: Tensor, kernel: Any, stride: Any, padding: Any, data_format: str
) -> Any:
    """How many elements of the image lie under each window."""
    paddings, algorithm = _padding(padding, data_format)
    sizes = _pair("kernel_size", kernel)
    steps = sizes if stride is None else _pair("stride", stride)
    places = (1, 2) if data_format == "NHWC" else (2, 3)
    found: Any = np.ones((), "int64")
    for i, d in enumerate(places):
        image, count = x.array.shape[d], out.array.shape[d]
        before = paddings[2 * i if len(paddings) == 4 else i]
        if algorithm == "SAME":
            before = max((count - 1) * steps[i] + sizes[i] - image, 0) // 2
        first = np.arange(count) * steps[i] - before
        inside = np.minimum(first + sizes[i], image) - np.maximum(first, 0)
        along = [1] * 4
        along[d] = -1
        found = found * inside.reshape(along)
    return found


def adaptive_avg_pool2d(
    x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Averages of as many parts of an image as are asked for."""
    sizes = _pair("output_size", output_size)
    return eager.pool2d(x, pooling_type="avg", ksize=sizes, adaptive=True, data_format=data_format)


def adaptive_max_pool2d(
    x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Tensor:
    """The largest elements of as many parts of an image as are asked for."""
    if return_mask:
        raise ArgumentError("adaptive_max_pool2d: return_mask=True is not supported")
    return eager.pool2d(
        x, pooling_type="max", ksize=_pair("output_size", output_size), adaptive=True
    )


def pad(
    x: Tensor,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """x with further elements around it.

    Args:
        x: a tensor.
        pad: two numbers, before and after, for every dimension from the first one; or those of
            sequences, images or volumes, the last dimension first: left, right, top, bottom,
            front, back.
        mode: constant; of the latter also reflect, and replicate, which repeats the edge.
        value: what ``constant`` adds.
        data_format: ends in "C" where the channels come last.
    """
    amounts = numbers_in("pad", pad)
    rank = x.array.ndim - 2
    if len(amounts) == 2 * x.array.ndim and mode == "constant":
        return eager.pad(x, paddings=amounts, pad_value=float(value))
    if len(amounts) != 2 * rank or rank not in (1, 2, 3):
        raise ArgumentError(
            f"expected {2 * x.array.ndim} numbers, two for every dimension, or two, four or six "
            f"for sequences, images and volumes, got {list(amounts)}"
        )
    kind = {"replicate": "edge"}.get(mode, mode)
    attrs = dict(mode=kind, pad_value=float(value))
    if rank == 2:
        left, right, top, bottom = amounts
        given = (top, bottom, left, right)
        return eager.pad2d(x, paddings=given, data_format=data_format, **attrs)
    last = data_format[-1] == "C"
    x = moveaxis(x, -1, 1) if last else x
    if rank == 1:
        x = squeeze(eager.pad2d(unsqueeze(x, 2), paddings=(0, 0, *amounts), **attrs), 2)
        return moveaxis(x, 1, -1) if last else x
    left, right, top, bottom, front, back = amounts
    if kind == "constant":
        around = (0, 0, 0, 0, front, back, top, bottom, left, right)
        x = eager.pad(x, paddings=around, pad_value=float(value))
    else:  # planes first, then along the depth
        _, channels, _, height, width = x.array.shape
        x = eager.pad2d(
            reshape(x, [0, -1, height, width]), paddings=(top, bottom, left, right), **attrs
        )
        height, width = height + top + bottom, width + left + right
        x = reshape(x, [0, channels, -1, height * width])
        x = eager.pad2d(x, paddings=(front, back, 0, 0), **attrs)
        x = reshape(x, [0, channels, -1, height, width])
    return moveaxis(x, 1, -1) if last else x
