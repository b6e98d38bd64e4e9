"""Convolution and pooling of sequences: those of images that are one row high."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.shaping import numbers_in, squeeze, unsqueeze
from ...ground.docstrings import Family
from . import images

SEQUENCES = Family(
    {
        "x": "[N, C, L].",
        "stride": "the steps of the window; the size of a pooling's when None.",
        "padding": "zeros at both ends: a number, two, or SAME or VALID.",
        "dilation": "steps between elements of the window.",
        "groups": "the channels are cut into so many groups, which do not mix.",
        "output_padding": "how many elements are added; 0, or given by ``output_size``.",
        "output_size": "the length of the result.",
        "kernel_size": "the length of the window.",
        "return_mask": "also give the places of the elements.",
        "ceil_mode": "also windows that reach beyond the sequence.",
        "exclusive": "padding does not count.",
        "data_format": "NCL, or NLC for sequences whose channels come last.",
        "bias": "[filters].",
    },
    raises="ArgumentError: an option is of another form.",
)


def _one(what: str, given: Any) -> int:
    numbers = numbers_in(what, given)
    if len(numbers) != 1:
        raise ArgumentError(f"expected {what} to be a number, got {given!r}")
    return numbers[0]


def _ends(given: Any) -> Any:
    """Paddings of an image one row high."""
    if isinstance(given, str):
        return given
    numbers = numbers_in("padding", given)
    if len(numbers) not in (1, 2):
        raise ArgumentError(f"expected padding to be a number, or two, got {given!r}")
    return [0, 0, numbers[0], numbers[-1]]


def _height(data_format: str) -> tuple[int, str]:
    """Where the dimension of one row goes, and the format of the images."""
    formats = {"NCL": (2, "NCHW"), "NLC": (1, "NHWC")}
    if data_format not in formats:
        raise ArgumentError(f"expected data_format NCL or NLC, got {data_format!r}")
    return formats[data_format]


@SEQUENCES
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Sequences convolved with filters.

    Args:
        weight: [filters, C / groups, length].

    >>> x, w = fluid.ones([1, 1, 5]), fluid.ones([2, 1, 3])
    >>> fluid.nn.functional.conv1d(x, w).shape
    [1, 2, 3]
    """
    axis, form = _height(data_format)
    out = images.conv2d(
        unsqueeze(x, axis),
        unsqueeze(weight, 2),
        bias,
        stride=[1, _one("stride", stride)],
        padding=_ends(padding),
        dilation=[1, _one("dilation", dilation)],
        groups=groups,
        data_format=form,
    )
    return squeeze(out, axis)


@SEQUENCES
def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of a sequence spreads a filter.

    Args:
        weight: [C, filters / groups, length].

    >>> x, w = fluid.ones([1, 1, 3]), fluid.ones([1, 2, 2])
    >>> fluid.nn.functional.conv1d_transpose(x, w, stride=2).shape
    [1, 2, 6]
    """
    axis, form = _height(data_format)
    out = images.conv2d_transpose(
        unsqueeze(x, axis),
        unsqueeze(weight, 2),
        bias,
        stride=[1, _one("stride", stride)],
        padding=_ends(padding),
        output_padding=[0, _one("output_padding", output_padding)],
        groups=groups,
        dilation=[1, _one("dilation", dilation)],
        output_size=None if output_size is None else [1, _one("output_size", output_size)],
        data_format=form,
    )
    return squeeze(out, axis)


def _pool(pool: Any, x: Tensor, kernel: Any, stride: Any, padding: Any, **options: Any) -> Any:
    steps = kernel if stride is None else stride
    sizes = [1, _one("kernel_size", kernel)]
    out = pool(unsqueeze(x, 2), sizes, [1, _one("stride", steps)], _ends(padding), **options)
    return _rowless(out)


def _rowless(out: Any) -> Any:
    """Images that are one row high as sequences; of a pair, too."""
    return tuple(squeeze(each, 2) for each in out) if isinstance(out, tuple) else squeeze(out, 2)


@SEQUENCES
def max_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The largest element under a window that moves along a sequence.

    >>> x = fluid.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])
    >>> fluid.nn.functional.max_pool1d(x, 2).tolist()
    [[[3.0, 2.0]]]
    """
    options = dict(return_mask=return_mask, ceil_mode=ceil_mode)
    return _pool(images.max_pool2d, x, kernel_size, stride, padding, **options)


@SEQUENCES
def avg_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves along a sequence.

    >>> x = fluid.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])
    >>> fluid.nn.functional.avg_pool1d(x, 2).tolist()
    [[[2.0, 1.0]]]
    """
    options = dict(exclusive=exclusive, ceil_mode=ceil_mode)
    return _pool(images.avg_pool2d, x, kernel_size, stride, padding, **options)


@SEQUENCES
def adaptive_avg_pool1d(x: Tensor, output_size: Any, name: str | None = None) -> Tensor:
    """Averages of as many parts of a sequence as are asked for."""
    sizes = [1, _one("output_size", output_size)]
    return squeeze(images.adaptive_avg_pool2d(unsqueeze(x, 2), sizes), 2)


@SEQUENCES
def adaptive_max_pool1d(
    x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of as many parts of a sequence as are asked for."""
    sizes = [1, _one("output_size", output_size)]
    return _rowless(images.adaptive_max_pool2d(unsqueeze(x, 2), sizes, return_mask))
