"""Convolutions of one to three dimensions, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....eager.engine import located
from ....errors import ArgumentError, ShapeError
from ....functions.arguments import Integers
from ....functions.shaping import squeeze, unsqueeze
from ....ground.spellings import Spelling, parameters_of
from ....nn.functional import convolutions
from ....nn.functional.windows import of_rank
from ....opdef.windows import FORMATS, WindowArguments

if TYPE_CHECKING:
    from ...spelling import Function
    from ...tensor import Tensor


def each(what: str, given: Integers, count: int) -> tuple[int, ...]:
    """A number for each dimension.

    Args:
        what: the argument's name.
        given: a number for all, or one for each.
        count: how many dimensions there are.

    Raises:
        ArgumentError: there are more, or less, or no integers.
    """
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    listed = listed * count if len(listed) == 1 else listed
    if len(listed) != count or any(int(n) != n for n in listed):
        raise located(ArgumentError, f"expected {what} of {count} integers, got {given!r:.60}")
    return tuple(int(n) for n in listed)


def batched(x: Tensor, dims: int) -> tuple[Tensor, bool]:
    """A batch of images, and whether it was one image without the dimension of a batch.

    Raises:
        ShapeError: it has another number of dimensions.
    """
    if x.array.ndim == dims + 2:
        return x, False
    if x.array.ndim == dims + 1:
        return unsqueeze(x, 0), True
    raise located(
        ShapeError,
        f"expected {dims + 2} dimensions, [N, C, ...], or {dims + 1} without a batch, got "
        f"shape {list(x.array.shape)}",
    )


def _sides(
    padding: Integers | str,
    dims: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """The paddings before and after each dimension."""
    if isinstance(padding, str):
        if padding not in ("valid", "same"):
            raise located(
                ArgumentError, f"expected padding 'same', 'valid' or numbers, got {padding!r:.60}"
            )
        if padding == "valid":
            return (0, 0) * dims
        if any(n != 1 for n in stride):
            raise located(ArgumentError, f"padding 'same' needs a stride of 1, got {stride}")
        totals = [d * (k - 1) for d, k in zip(dilation, kernel)]
        return tuple(n for total in totals for n in (total // 2, total - total // 2))
    return tuple(n for number in each("padding", padding, dims) for n in (number, number))


#: how OneFlow calls what moves windows: images are those of paddle's usual layout
_WINDOWED = Spelling(
    {"x": "input"}, without=["data_format", "name", "output_size"], types={"Numbers": "Integers"}
)


@parameters_of(_WINDOWED(convolutions.convolution))
def _convolution(
    rank: int, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, *given: Any
) -> Tensor:
    """Images convolved with filters.

    Args:
        input: [N, C, H, W], or [C, H, W].
        weight: [filters, C / groups, *sizes].
        padding: zeros at both ends: a number, or two, or "same" or "valid".
    """
    dilation, groups = given
    x, alone = batched(input, rank)
    if weight.array.ndim != rank + 2:
        raise located(
            ShapeError, f"expected a weight of {rank + 2} dimensions, got {list(weight.shape)}"
        )
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    sizes = weight.array.shape[2:]
    sides = _sides(padding, rank, sizes, steps, spread)
    windows = WindowArguments(sizes, steps, sides, spread, FORMATS[rank][0])
    out = convolutions.convolved("conv{}d", x, weight, bias, windows, groups=groups)
    return squeeze(out, 0) if alone else out


@parameters_of(_WINDOWED(convolutions.transposed_convolution))
def _adjoint(
    rank: int, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, *given: Any
) -> Tensor:
    """The adjoint of a convolution: each element of an image spreads a filter.

    Args:
        input: [N, C, H, W], or [C, H, W].
        padding: zeros at both ends: a number, or two.
        output_padding: how much longer the result is than the shortest one that leads back.
    """
    output_padding, groups, dilation = given
    x, alone = batched(input, rank)
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    pads, extra = each("padding", padding, rank), each("output_padding", output_padding, rank)
    if any(more >= max(s, d) for more, s, d in zip(extra, steps, spread)):
        raise located(
            ArgumentError,
            f"expected output_padding below stride or dilation, got {extra} for {steps} and "
            f"{spread}",
        )
    windows = WindowArguments(weight.array.shape[2:], steps, pads, spread, FORMATS[rank][0])
    attrs = {"groups": groups, "output_size": windows.spread(x.array.shape, extra)}
    out = convolutions.convolved("conv{}d_transpose", x, weight, bias, windows, **attrs)
    return squeeze(out, 0) if alone else out


_SAME = """>>> x, w = fluid.flow.ones(1, 1{5}), fluid.flow.ones(2, 1{3})
>>> fluid.flow.nn.functional.{name}(x, w, padding="same").shape
oneflow.Size([1, 2{5}])"""

_SPREAD = """>>> x, w = fluid.flow.ones(1, 3{4}), fluid.flow.ones(3, 8{2})
>>> fluid.flow.nn.functional.{name}(x, w, stride=2).shape
oneflow.Size([1, 8{8}])"""

conv1d: Function = of_rank(1, _convolution, "conv1d", _SAME)
conv2d: Function = of_rank(2, _convolution, "conv2d", _SAME)
conv3d: Function = of_rank(3, _convolution, "conv3d", _SAME)
conv_transpose1d: Function = of_rank(1, _adjoint, "conv_transpose1d", _SPREAD)
conv_transpose2d: Function = of_rank(2, _adjoint, "conv_transpose2d", _SPREAD)
conv_transpose3d: Function = of_rank(3, _adjoint, "conv_transpose3d", _SPREAD)
