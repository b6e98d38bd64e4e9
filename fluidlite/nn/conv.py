"""Convolutions of sequences, images and volumes, and their adjoints."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..initializer import Normal
from . import functional as F
from .functional.windows import each
from .layer import TensorLayer, checked

CONVOLUTIONS = Family(
    {
        "in_channels": "how many come in.",
        "out_channels": "how many come out.",
        "kernel_size": "of the filters: a number, or one for every dimension.",
        "stride": "as of the function.",
        "padding": "as of the function.",
        "output_padding": "as of the function.",
        "dilation": "as of the function.",
        "groups": "as of the function.",
        "padding_mode": "zeros; or reflect or replicate, where ``padding`` is a number, or one for "
        "every dimension.",
        "weight_attr": "of the filters.",
        "bias_attr": "of the bias; False for none.",
        "data_format": "ends in C where the channels come last.",
    },
    raises="ArgumentError: an argument is out of range.",
)


class _Conv(TensorLayer):
    """What convolutions have in common."""

    _formats: tuple[str, ...] = ("NCHW", "NHWC")
    _transposed = False

    def _make(
        self,
        channels: tuple[int, int],
        kernel_size: Any,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str | None,
        options: dict[str, Any],
    ) -> None:
        form = data_format or self._formats[0]
        checked("data_format", form, *self._formats)
        self._options: dict[str, Any] = {**options, "data_format": form}
        sizes = each("kernel_size", kernel_size, len(form) - 2)
        given, made = channels
        groups = options["groups"]
        if given % groups or made % groups:
            raise ArgumentError(
                f"expected groups to divide {given} and {made} channels, got {groups}"
            )
        first = [given, made // groups] if self._transposed else [made, given // groups]
        std = sqrt(2.0 / (given * prod(sizes)))
        default = None if self._transposed else Normal(0.0, std)
        self.weight = self.create_parameter(
            [*first, *sizes], weight_attr, default_initializer=default
        )
        self.bias = self.create_parameter([made], bias_attr, is_bias=True)

    def extra_repr(self) -> str:
        return f"weight {list(self.weight.shape)}"


class _Convolution(_Conv):
    """What is convolved with learned filters."""

    _function: Any = staticmethod(F.conv2d)

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
        data_format: str | None = None,
    ) -> None:
        super().__init__()
        self._padding_mode = checked("padding_mode", padding_mode, "zeros", "reflect", "replicate")
        self._around: list[int] = []
        if padding_mode != "zeros":
            around = each("padding", padding, len(self._formats[0]) - 2)
            self._around, padding = [n for n in reversed(around) for _ in range(2)], 0
        options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        channels = in_channels, out_channels
        self._make(channels, kernel_size, weight_attr, bias_attr, data_format, options)

    def forward(self, x: Any) -> Any:
        """What is convolved."""
        if self._around:
            form = self._options["data_format"]
            x = F.pad(x, self._around, self._padding_mode, data_format=form)
        return self._function(x, self.weight, self.bias, **self._options)


@CONVOLUTIONS
class Conv1D(_Convolution):
    """Sequences convolved with learned filters: :func:`~fluidlite.nn.functional.conv1d`.

    >>> fluid.nn.Conv1D(2, 4, 3)(fluid.ones([1, 2, 8])).shape
    [1, 4, 6]
    """

    _formats = ("NCL", "NLC")
    _function = staticmethod(F.conv1d)


@CONVOLUTIONS
class Conv2D(_Convolution):
    """Images convolved with learned filters: :func:`~fluidlite.nn.functional.conv2d`.

    >>> fluid.nn.Conv2D(1, 4, 3, padding=1)(fluid.ones([2, 1, 8, 8])).shape
    [2, 4, 8, 8]
    """


@CONVOLUTIONS
class Conv3D(_Convolution):
    """Volumes convolved with learned filters: :func:`~fluidlite.nn.functional.conv3d`.

    >>> fluid.nn.Conv3D(1, 2, 3, padding=1)(fluid.ones([1, 1, 4, 4, 4])).shape
    [1, 2, 4, 4, 4]
    """

    _formats = ("NCDHW", "NDHWC")
    _function = staticmethod(F.conv3d)


class _Adjoint(_Conv):
    """The adjoint of a convolution, with learned filters."""

    _transposed = True
    _function: Any = staticmethod(F.conv2d_transpose)

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
        data_format: str | None = None,
    ) -> None:
        super().__init__()
        options = {
            "stride": stride,
            "padding": padding,
            "output_padding": output_padding,
            "dilation": dilation,
            "groups": groups,
        }
        channels = in_channels, out_channels
        self._make(channels, kernel_size, weight_attr, bias_attr, data_format, options)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """What comes out, of that size where it is given."""
        return self._function(x, self.weight, self.bias, output_size=output_size, **self._options)


@CONVOLUTIONS
class Conv1DTranspose(_Adjoint):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv1d_transpose`.

    Args:
        weight_attr: of the filters, [in_channels, out_channels / groups, length].

    >>> fluid.nn.Conv1DTranspose(2, 1, 2, stride=2)(fluid.ones([1, 2, 3])).shape
    [1, 1, 6]
    """

    _formats = ("NCL", "NLC")
    _function = staticmethod(F.conv1d_transpose)


@CONVOLUTIONS
class Conv2DTranspose(_Adjoint):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv2d_transpose`.

    >>> fluid.nn.Conv2DTranspose(4, 1, 2, stride=2)(fluid.ones([2, 4, 3, 3])).shape
    [2, 1, 6, 6]
    """


@CONVOLUTIONS
class Conv3DTranspose(_Adjoint):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv3d_transpose`.

    >>> fluid.nn.Conv3DTranspose(2, 1, 2, stride=2)(fluid.ones([1, 2, 2, 2, 2])).shape
    [1, 1, 4, 4, 4]
    """

    _formats = ("NCDHW", "NDHWC")
    _function = staticmethod(F.conv3d_transpose)
