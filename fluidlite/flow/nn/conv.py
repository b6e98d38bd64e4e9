"""Convolutions, as modules."""

from __future__ import annotations

import functools
from typing import Any

from ...eager.engine import located
from ...errors import ArgumentError
from . import functional as F
from .dense import near_zero, uniform_parameter
from .functional.windows import each
from .module import Module


class _Convolution(Module):
    """Filters, a bias, and how they are moved.

    Args:
        in_channels, out_channels: of the input and the output.
        kernel_size: sizes of a filter: a number, or one for each dimension.
        stride, padding, dilation, groups: as of the function.
        bias: whether there is one.
        padding_mode: "zeros"; or "reflect", "replicate" or "circular", which repeat elements.
        device: the CPU, or None.
        dtype: element type of the parameters.

    Raises:
        ArgumentError: the groups do not divide the channels, or there is no such mode.
    """

    dimensions = 2
    function: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _need_groups(in_channels, out_channels, groups)
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise located(ArgumentError(f"there is no padding_mode {padding_mode!r:.60}"))
        if padding_mode != "zeros" and isinstance(padding, str):
            raise located(ArgumentError(f"padding_mode {padding_mode!r} needs padding in numbers"))
        sizes = each("kernel_size", kernel_size, self.dimensions)
        bound = near_zero(in_channels // groups, *sizes)
        made = functools.partial(uniform_parameter, bound, dtype, device)
        self.weight = made(out_channels, in_channels // groups, *sizes)
        self.register_parameter("bias", made(out_channels) if bias else None)
        self._padding, self._padding_mode = padding, padding_mode
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.padding_mode = sizes, padding_mode
        self.stride = each("stride", stride, self.dimensions)
        self.dilation = each("dilation", dilation, self.dimensions)
        named = isinstance(padding, str)
        self.padding = padding if named else each("padding", padding, self.dimensions)
        self._moved = dict(stride=stride, dilation=dilation, groups=groups)

    def forward(self, input: Any) -> Any:
        """The convolved input."""
        padding = self._padding
        if self._padding_mode != "zeros":
            sides = each("padding", padding, self.dimensions)
            around = [n for side in reversed(sides) for n in (side, side)]
            input, padding = F.pad(input, around, self._padding_mode), 0
        function = type(self).function
        return function(input, self.weight, self.bias, padding=padding, **self._moved)

    def extra_repr(self) -> str:
        return _shown(self)


class Conv1d(_Convolution):
    """Sequences convolved with filters, plus a bias.

    >>> fluid.flow.nn.Conv1d(3, 8, 5, padding="same")(fluid.flow.ones(2, 3, 10)).shape
    [2, 8, 10]
    """

    dimensions = 1
    function = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """Images convolved with filters, plus a bias; see :class:`Conv1d`."""

    function = staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """Volumes convolved with filters, plus a bias; see :class:`Conv1d`."""

    dimensions = 3
    function = staticmethod(F.conv3d)


def _shown(module: Any) -> str:
    """What a convolution shows of itself."""
    lines = [f"{module.in_channels}, {module.out_channels}", f"kernel_size={module.kernel_size}"]
    lines.append(f"stride={module.stride}")
    plain = {"padding": 0, "dilation": 1, "output_padding": 0}
    for name, usual in plain.items():
        value = getattr(module, name, (usual,))
        if isinstance(value, str) or any(n != usual for n in value):
            lines.append(f"{name}={value}")
    lines += [f"groups={module.groups}"] * (module.groups != 1)
    lines += ["bias=False"] * (module.bias is None)
    mode = getattr(module, "padding_mode", "zeros")
    return ", ".join([*lines, *[f"padding_mode={mode}"] * (mode != "zeros")])


class _Transposed(Module):
    """The adjoint of a convolution, plus a bias.

    Args:
        in_channels, out_channels: of the input and the output.
        kernel_size: sizes of a filter: a number, or one for each dimension.
        stride, padding, output_padding, groups, dilation: as of the function.
        bias: whether there is one.
        device: the CPU, or None.
        dtype: element type of the parameters.

    Raises:
        ArgumentError: the groups do not divide the channels.
    """

    dimensions = 2
    function: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _need_groups(in_channels, out_channels, groups)
        sizes = each("kernel_size", kernel_size, self.dimensions)
        bound = near_zero(out_channels // groups, *sizes)
        made = functools.partial(uniform_parameter, bound, dtype, device)
        self.weight = made(in_channels, out_channels // groups, *sizes)
        self.register_parameter("bias", made(out_channels) if bias else None)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = sizes
        self.stride = each("stride", stride, self.dimensions)
        self.padding = each("padding", padding, self.dimensions)
        self.output_padding = each("output_padding", output_padding, self.dimensions)
        self.dilation = each("dilation", dilation, self.dimensions)
        self._moved = dict(
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            dilation=dilation,
        )

    def forward(self, input: Any) -> Any:
        """The enlarged input."""
        return type(self).function(input, self.weight, self.bias, **self._moved)

    def extra_repr(self) -> str:
        return _shown(self)


class ConvTranspose1d(_Transposed):
    """The adjoint of a convolution of sequences, plus a bias."""

    dimensions = 1
    function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """The adjoint of a convolution of images, plus a bias."""

    function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_Transposed):
    """The adjoint of a convolution of volumes, plus a bias."""

    dimensions = 3
    function = staticmethod(F.conv_transpose3d)


def _need_groups(in_channels: int, out_channels: int, groups: int) -> None:
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise located(
            ArgumentError(
                f"expected groups to divide {in_channels} and {out_channels} channels, got "
                f"{groups!r:.60}"
            )
        )
