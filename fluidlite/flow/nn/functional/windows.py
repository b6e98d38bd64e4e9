"""Convolutions of one to three dimensions, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ....eager.engine import located
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions.arithmetic import add
from ....functions.shaping import reshape, squeeze, unsqueeze
from ....opdef.windows import WindowArguments


def each(what: str, given: Any, count: int) -> tuple[int, ...]:
    """A number for each dimension.

    Args:
        what: the argument's name.
        given: a number for all, or one for each.
        count: how many dimensions there are.

    Raises:
        ArgumentError: there are more, or less, or no integers.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    listed = listed * count if len(listed) == 1 else listed
    if len(listed) != count or any(int(n) != n for n in listed):
        raise located(ArgumentError(f"expected {what} of {count} integers, got {given!r:.60}"))
    return tuple(int(n) for n in listed)


def batched(x: Any, dims: int) -> tuple[Any, bool]:
    """A batch of images, and whether it was one image without the dimension of a batch.

    Raises:
        ShapeError: it has another number of dimensions.
    """
    if x.array.ndim == dims + 2:
        return x, False
    if x.array.ndim == dims + 1:
        return unsqueeze(x, 0), True
    raise located(
        ShapeError(
            f"expected {dims + 2} dimensions, [N, C, ...], or {dims + 1} without a batch, got "
            f"shape {list(x.array.shape)}"
        )
    )


def _sides(padding: Any, dims: int, kernel: tuple[int, ...], stride: Any, dilation: Any) -> Any:
    """The paddings before and after each dimension."""
    if isinstance(padding, str):
        if padding not in ("valid", "same"):
            raise located(
                ArgumentError(f"expected padding 'same', 'valid' or numbers, got {padding!r:.60}")
            )
        if padding == "valid":
            return (0, 0) * dims
        if any(n != 1 for n in stride):
            raise located(ArgumentError(f"padding 'same' needs a stride of 1, got {stride}"))
        totals = [d * (k - 1) for d, k in zip(dilation, kernel)]
        return tuple(n for total in totals for n in (total // 2, total - total // 2))
    return tuple(n for number in each("padding", padding, dims) for n in (number, number))


def _convolved(
    dims: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    x, alone = batched(x, dims)
    if weight.array.ndim != dims + 2:
        raise located(
            ShapeError(f"expected a weight of {dims + 2} dimensions, got {list(weight.shape)}")
        )
    steps, spread = each("stride", stride, dims), each("dilation", dilation, dims)
    sizes = weight.array.shape[2:]
    windows = WindowArguments(sizes, steps, _sides(padding, dims, sizes, steps, spread), spread)
    return _applied("conv{}d", x, weight, bias, windows, alone, groups=groups)


def _applied(
    name: str,
    x: Any,
    weight: Any,
    bias: Any,
    windows: WindowArguments,
    alone: bool,
    **attrs: Any,
) -> Any:
    """What an operator of windows gives, plus the bias."""
    dims = windows.rank
    if dims == 1:
        x, weight, windows = unsqueeze(x, 2), unsqueeze(weight, 2), windows.of_images()
    call = getattr(eager, name.format(windows.rank))
    moved = dict(strides=windows.steps, paddings=windows.padding, dilations=windows.dilation)
    out = call(x, weight, **moved, **attrs)
    if dims == 1:
        out = squeeze(out, 2)
    if bias is not None:
        out = add(out, reshape(bias, [-1] + [1] * dims))
    return squeeze(out, 0) if alone else out


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Sequences convolved with filters.

    Args:
        input: [N, C, L], or [C, L].
        weight: [filters, C / groups, size].
        bias: [filters].
        stride, dilation: steps of the window and of its elements.
        padding: zeros at both ends: a number, or "same" or "valid".
        groups: the channels are cut into so many groups, which do not mix.

    >>> x, w = fluid.flow.ones(1, 1, 5), fluid.flow.ones(2, 1, 3)
    >>> fluid.flow.nn.functional.conv1d(x, w, padding="same").shape
    [1, 2, 5]
    """
    return _convolved(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Images, [N, C, H, W], convolved with filters; see :func:`conv1d`."""
    return _convolved(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Volumes, [N, C, D, H, W], convolved with filters; see :func:`conv1d`."""
    return _convolved(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    dims: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    x, alone = batched(x, dims)
    steps, spread = each("stride", stride, dims), each("dilation", dilation, dims)
    pads, extra = each("padding", padding, dims), each("output_padding", output_padding, dims)
    if any(more >= max(s, d) for more, s, d in zip(extra, steps, spread)):
        raise located(
            ArgumentError(
                f"expected output_padding below stride or dilation, got {extra} for {steps} and "
                f"{spread}"
            )
        )
    windows = WindowArguments(weight.array.shape[2:], steps, pads, spread)
    size = windows.spread(x.array.shape, extra)
    attrs = dict(groups=groups, output_size=(1, *size) if dims == 1 else size)
    return _applied("conv{}d_transpose", x, weight, bias, windows, alone, **attrs)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of a convolution: each element spreads a filter.

    Args:
        input: [N, C, L], or [C, L].
        weight: [C, filters / groups, size].
        bias: [filters].
        stride, padding, groups, dilation: those of the convolution.
        output_padding: how much longer the result is than the shortest one that leads back.
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of a convolution of images; see :func:`conv_transpose1d`."""
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of a convolution of volumes; see :func:`conv_transpose1d`."""
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
