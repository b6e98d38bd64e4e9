"""Convolutions of images, their adjoints, and convolutions of sequences."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError
from ..imperative.shaping import numbers_in, squeeze, unsqueeze
from ..initializer import Normal
from . import functional as F
from .layer import TensorLayer, checked


class _Conv(TensorLayer):
    """What convolutions have in common."""

    _dims = 2
    _transposed = False

    def _make(
        self, channels: tuple[int, int], kernel_size: Any, groups: int, weight: Any, bias: Any
    ) -> None:
        sizes = _each("kernel_size", kernel_size, self._dims)
        given, made = channels
        if given % groups or made % groups:
            raise ArgumentError(
                f"expected groups to divide {given} and {made} channels, got {groups}"
            )
        first = [given, made // groups] if self._transposed else [made, given // groups]
        std = sqrt(2.0 / (given * prod(sizes)))
        default = None if self._transposed else Normal(0.0, std)
        self.weight = self.create_parameter([*first, *sizes], weight, default_initializer=default)
        self.bias = self.create_parameter([made], bias, is_bias=True)

    def extra_repr(self) -> str:
        return f"weight {list(self.weight.shape)}"


class Conv2D(_Conv):
    """Images convolved with learned filters: :func:`~fluidlite.nn.functional.conv2d`.

    Args:
        in_channels, out_channels: of the images, and of what comes out.
        kernel_size: of the filters: a number, or two.
        stride, padding, dilation, groups: as of the function.
        padding_mode: zeros; or reflect or replicate, where ``padding`` is a number, or two.
        weight_attr: of the filters, [out_channels, in_channels / groups, height, width].
        bias_attr: of the bias; False for none.
        data_format: NCHW or NHWC.

    Raises:
        ArgumentError: an argument is out of range.

    >>> fluid.nn.Conv2D(1, 4, 3, padding=1)(fluid.ones([2, 1, 8, 8])).shape
    [2, 4, 8, 8]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        checked("data_format", data_format, "NCHW", "NHWC")
        checked("padding_mode", padding_mode, "zeros", "reflect", "replicate")
        self._around: list[int] | None = None
        if padding_mode != "zeros":
            high, wide = _each("padding", padding, 2)
            self._around, padding = [wide, wide, high, high], 0
        self._padding_mode = padding_mode
        self._options = {
            "stride": stride,
            "padding": padding,
            "dilation": dilation,
            "groups": groups,
            "data_format": data_format,
        }
        self._make((in_channels, out_channels), kernel_size, groups, weight_attr, bias_attr)

    def forward(self, x: Any) -> Any:
        """The convolved images."""
        if self._around is not None:
            form = self._options["data_format"]
            x = F.pad(x, self._around, self._padding_mode, data_format=str(form))
        return F.conv2d(x, self.weight, self.bias, **self._options)


class Conv2DTranspose(_Conv):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv2d_transpose`.

    Args:
        in_channels, out_channels: of the images, and of what comes out.
        kernel_size: of the filters: a number, or two.
        stride, padding, output_padding, dilation, groups: as of the function.
        weight_attr: of the filters, [in_channels, out_channels / groups, height, width].
        bias_attr: of the bias; False for none.
        data_format: NCHW or NHWC.

    >>> fluid.nn.Conv2DTranspose(4, 1, 2, stride=2)(fluid.ones([2, 4, 3, 3])).shape
    [2, 1, 6, 6]
    """

    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        checked("data_format", data_format, "NCHW", "NHWC")
        self._options = {
            "stride": stride,
            "padding": padding,
            "output_padding": output_padding,
            "dilation": dilation,
            "groups": groups,
            "data_format": data_format,
        }
        self._make((in_channels, out_channels), kernel_size, groups, weight_attr, bias_attr)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The images that come out, of that size where it is given."""
        return F.conv2d_transpose(
            x, self.weight, self.bias, output_size=output_size, **self._options
        )


class Conv1D(_Conv):
    """Sequences convolved with learned filters.

    Args:
        in_channels, out_channels: of the sequences, and of what comes out.
        kernel_size, stride, padding, dilation: numbers.
        groups: the channels are cut into so many groups, which do not mix.
        padding_mode: zeros.
        weight_attr: of the filters, [out_channels, in_channels / groups, length].
        bias_attr: of the bias; False for none.
        data_format: NCL or NLC.

    >>> fluid.nn.Conv1D(2, 4, 3)(fluid.ones([1, 2, 8])).shape
    [1, 4, 6]
    """

    _dims = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__()
        self._last = checked("data_format", data_format, "NCL", "NLC") == "NLC"
        checked("padding_mode", padding_mode, "zeros")
        given = {"stride": (stride, 1), "padding": (padding, 0), "dilation": (dilation, 1)}
        self._options: dict[str, Any] = {
            what: [along, *_each(what, value, 1)] for what, (value, along) in given.items()
        }
        self._groups = groups
        self._make((in_channels, out_channels), kernel_size, groups, weight_attr, bias_attr)

    def forward(self, x: Any) -> Any:
        """The convolved sequences."""
        axis = 1 if self._last else 2
        out = F.conv2d(
            unsqueeze(x, axis),
            unsqueeze(self.weight, 2),
            self.bias,
            groups=self._groups,
            data_format="NHWC" if self._last else "NCHW",
            **self._options,
        )
        return squeeze(out, axis)


def _each(what: str, given: Any, count: int) -> tuple[int, ...]:
    """A number for every dimension."""
    numbers = numbers_in(what, given)
    numbers = numbers * count if len(numbers) == 1 else numbers
    if len(numbers) != count:
        raise ArgumentError(f"expected {what} to be a number, or {count}, got {given!r}")
    return numbers
