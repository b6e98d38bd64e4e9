"""Convolution and pooling of volumes."""

from __future__ import annotations

from typing import Any

from ...docstrings import Family
from ...errors import ArgumentError
from ...imperative.arithmetic import add, multiply
from ...imperative.recording import eager
from ...imperative.shaping import numbers_in, reshape
from ...imperative.tensor import Tensor

VOLUMES = Family(
    {
        "x": "[N, C, D, H, W].",
        "stride": "the steps of the window: a number, or three; a pooling's sizes when None.",
        "padding": "zeros around: a number, three, six, or SAME or VALID.",
        "dilation": "steps between elements of the window: a number, or three.",
        "groups": "the channels are cut into so many groups, which do not mix.",
        "output_padding": "how many planes are added; 0, or given by ``output_size``.",
        "output_size": "the sizes of the result: a number, or three.",
        "kernel_size": "of the window: a number, or three.",
        "return_mask": "False.",
        "ceil_mode": "also windows that reach beyond the volume.",
        "exclusive": "padding does not count.",
        "divisor_override": "what sums are divided by, in the place of the number of elements.",
        "data_format": "NCDHW, or NDHWC for volumes whose channels come last.",
        "bias": "[filters].",
    },
    raises="ArgumentError: an option is of another form.",
)


def _three(what: str, given: Any) -> tuple[int, ...]:
    numbers = numbers_in(what, given)
    if len(numbers) not in (1, 3):
        raise ArgumentError(f"expected {what} to be a number, or three, got {given!r}")
    return numbers * 3 if len(numbers) == 1 else numbers


def _padding(given: Any) -> tuple[tuple[int, ...], str]:
    """Paddings and the algorithm, from what users write."""
    if isinstance(given, str):
        return (0, 0, 0), given.upper()
    numbers = numbers_in("padding", given)
    if len(numbers) not in (1, 3, 6):
        raise ArgumentError(f"expected padding to be a number, three or six, got {given!r}")
    return numbers * 3 if len(numbers) == 1 else numbers, "EXPLICIT"


def _checked(data_format: str) -> str:
    if data_format not in ("NCDHW", "NDHWC"):
        raise ArgumentError(f"expected data_format NCDHW or NDHWC, got {data_format!r}")
    return data_format


def _with_bias(out: Tensor, bias: Tensor | None, data_format: str) -> Tensor:
    if bias is None:
        return out
    return add(out, bias if data_format == "NDHWC" else reshape(bias, [-1, 1, 1, 1]))


@VOLUMES
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Volumes convolved with filters.

    Args:
        weight: [filters, C / groups, depth, height, width].

    >>> x, w = fluid.ones([1, 1, 3, 3, 3]), fluid.ones([2, 1, 2, 2, 2])
    >>> fluid.nn.functional.conv3d(x, w).shape
    [1, 2, 2, 2, 2]
    """
    paddings, algorithm = _padding(padding)
    out = eager.conv3d(
        x,
        weight,
        strides=_three("stride", stride),
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=_three("dilation", dilation),
        groups=groups,
        data_format=_checked(data_format),
    )
    return _with_bias(out, bias, data_format)


@VOLUMES
def conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of a volume spreads a filter.

    Args:
        weight: [C, filters / groups, depth, height, width].

    >>> x, w = fluid.ones([1, 1, 2, 2, 2]), fluid.ones([1, 2, 2, 2, 2])
    >>> fluid.nn.functional.conv3d_transpose(x, w, stride=2).shape
    [1, 2, 4, 4, 4]
    """
    extra = _three("output_padding", output_padding)
    paddings, algorithm = _padding(padding)
    steps, spread = _three("stride", stride), _three("dilation", dilation)
    attrs: dict[str, Any] = {}
    if output_size is not None:
        attrs["output_size"] = _three("output_size", output_size)
    elif any(extra):
        first = 1 if data_format == "NDHWC" else 2
        sides = paddings if len(paddings) == 6 else [n for n in paddings for _ in range(2)]
        attrs["output_size"] = tuple(
            (x.array.shape[first + i] - 1) * steps[i]
            + (weight.array.shape[2 + i] - 1) * spread[i]
            + 1
            + extra[i]
            - sides[2 * i]
            - sides[2 * i + 1]
            for i in range(3)
        )
    out = eager.conv3d_transpose(
        x,
        weight,
        strides=steps,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=spread,
        groups=groups,
        data_format=_checked(data_format),
        **attrs,
    )
    return _with_bias(out, bias, data_format)


def _pool(x: Tensor, kind: str, kernel: Any, stride: Any, padding: Any, **attrs: Any) -> Tensor:
    paddings, algorithm = _padding(padding)
    sizes = _three("kernel_size", kernel)
    return eager.pool3d(
        x,
        pooling_type=kind,
        ksize=sizes,
        strides=sizes if stride is None else _three("stride", stride),
        paddings=paddings,
        padding_algorithm=algorithm,
        **attrs,
    )


@VOLUMES
def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The largest element under a window that moves through a volume."""
    if return_mask:
        raise ArgumentError("max_pool3d: return_mask=True is not supported")
    attrs = dict(ceil_mode=ceil_mode, data_format=_checked(data_format))
    return _pool(x, "max", kernel_size, stride, padding, **attrs)


@VOLUMES
def avg_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves through a volume.

    >>> x = fluid.ones([1, 1, 2, 2, 2])
    >>> float(fluid.nn.functional.avg_pool3d(x, 2, divisor_override=4))
    2.0
    """
    attrs = dict(ceil_mode=ceil_mode, data_format=_checked(data_format))
    if divisor_override is None:
        return _pool(x, "avg", kernel_size, stride, padding, exclusive=exclusive, **attrs)
    if not divisor_override or ceil_mode:
        raise ArgumentError(
            "avg_pool3d: expected divisor_override other than 0, without ceil_mode, or None, got "
            f"{divisor_override!r}"
        )
    whole = 1
    for size in _three("kernel_size", kernel_size):
        whole *= size
    out = _pool(x, "avg", kernel_size, stride, padding, exclusive=False, **attrs)
    return multiply(out, whole / divisor_override)


@VOLUMES
def adaptive_avg_pool3d(
    x: Tensor, output_size: Any, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """Averages of as many parts of a volume as are asked for."""
    sizes = _three("output_size", output_size)
    form = _checked(data_format)
    return eager.pool3d(x, pooling_type="avg", ksize=sizes, adaptive=True, data_format=form)


@VOLUMES
def adaptive_max_pool3d(
    x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Tensor:
    """The largest elements of as many parts of a volume as are asked for."""
    if return_mask:
        raise ArgumentError("adaptive_max_pool3d: return_mask=True is not supported")
    sizes = _three("output_size", output_size)
    return eager.pool3d(x, pooling_type="max", ksize=sizes, adaptive=True)
