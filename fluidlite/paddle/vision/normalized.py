"""A convolution, a normalization and an activation in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ground.tracebacks import api_boundaries
from ...nn import BatchNorm2D, Conv2D, Layer, ReLU, Sequential

__all__: list[str] = []


class ConvNormActivation(Sequential):
    """A convolution, a normalization and an activation in a row.

    Args:
        in_channels, out_channels: of the convolution.
        kernel_size, stride, groups, dilation: of the convolution.
        padding: of the convolution; it keeps height and width at stride 1 when None.
        norm_layer: makes the normalization from the number of channels; none when None.
        activation_layer: makes the activation; none when None.
        bias: whether the convolution has biases; it does without a normalization when None.

    >>> from fluidlite.paddle.vision.normalized import ConvNormActivation
    >>> ConvNormActivation(3, 8)(fluid.ones([1, 3, 4, 4])).shape
    [1, 8, 4, 4]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int] = 3,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | None = None,
        groups: int = 1,
        norm_layer: Callable[[int], Layer] | None = BatchNorm2D,
        activation_layer: Callable[[], Layer] | None = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = _kept(kernel_size, dilation)
        biased = norm_layer is None if bias is None else bias
        layers: list[Layer] = [
            Conv2D(
                in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                bias_attr=None if biased else False,
            )
        ]  # fmt: skip
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


def _kept(size: int | Sequence[int], dilation: int) -> int | list[int]:
    if isinstance(size, int):
        return (size - 1) // 2 * dilation
    return [(each - 1) // 2 * dilation for each in size]


def divisible(width: float, divisor: int = 8, min_value: int | None = None) -> int:
    """The multiple of a number that is nearest to a width, and at most a tenth below it.

    Args:
        width: the width.
        divisor: the number.
        min_value: the least result; the number itself when None.

    >>> divisible(30.0), divisible(11.0)
    (32, 16)
    """
    least = divisor if min_value is None else min_value
    nearest = max(least, int(width + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * width else nearest


api_boundaries(globals())
