"""Convolutions, as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.arguments import DTypeLike
from ...ground.fields import from_fields
from ...modules.convolution import Ints, filter_shape, need_groups, taken_around
from ..devices import DeviceLike
from ..tensor import Tensor
from . import functional as F
from .dense import PARAMETERS, Learned
from .functional.windows import each
from .module import Module

CONVOLUTIONS = PARAMETERS.extended(
    {
        "in_channels": "of the input.",
        "out_channels": "of the output.",
        "kernel_size": "sizes of a filter: a number, or one for each dimension.",
        **dict.fromkeys(
            ["stride", "padding", "output_padding", "dilation", "groups"], "as of the function."
        ),
        "padding_mode": '"zeros"; or "reflect", "replicate" or "circular", which repeat elements.',
    },
    raises="ArgumentError: the groups do not divide the channels, or there is no such mode.",
)
#: options that ``repr`` shows where they are others
_PLAIN = {"padding": 0, "dilation": 1, "output_padding": 0}


@from_fields
class _Filters(Learned):
    """Filters, a bias, and how they are moved."""

    in_channels: int
    out_channels: int
    kernel_size: Ints
    stride: Ints = 1
    padding: Ints | str = 0
    dimensions: ClassVar[int] = 2
    function: ClassVar[Callable[..., Any]]
    transposed: ClassVar[bool] = False

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        Module.__init__(self)
        names = ("in_channels", "out_channels", "kernel_size", "bias", "device", "dtype")
        channels, filters, size, *options = (given.pop(name) for name in names)
        groups = given["groups"]
        need_groups(channels, filters, groups)
        sizes = each("kernel_size", size, self.dimensions)
        shape = filter_shape(channels, filters, groups, sizes, self.transposed)
        self._make(shape, filters, *options)
        self.kernel_size, self._moved = sizes, given
        self.in_channels, self.out_channels, self.groups = channels, filters, groups
        for name in {"stride", "dilation", "padding", "output_padding"} & {*given}:
            named = isinstance(given[name], str)
            value = given[name] if named else each(name, given[name], self.dimensions)
            setattr(self, name, value)

    def extra_repr(self) -> str:
        shown = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}"]
        shown.append(f"stride={self.stride}")
        for name, usual in _PLAIN.items():
            value = getattr(self, name, (usual,))
            if isinstance(value, str) or any(n != usual for n in value):
                shown.append(f"{name}={value}")
        shown += [f"groups={self.groups}"] * (self.groups != 1)
        shown += ["bias=False"] * (self.bias is None)
        mode = getattr(self, "padding_mode", "zeros")
        return ", ".join([*shown, *[f"padding_mode={mode}"] * (mode != "zeros")])


@from_fields
class _Convolution(_Filters):
    """What is convolved with filters."""

    dilation: Ints = 1
    groups: int = 1
    bias: bool = True
    padding_mode: str = "zeros"
    device: DeviceLike = None
    dtype: DTypeLike = None

    def begin(self, given: dict[str, Any]) -> None:
        padding, mode = given["padding"], given["padding_mode"]
        if mode not in ("zeros", "reflect", "replicate", "circular"):
            raise located(ArgumentError, f"there is no padding_mode {mode!r:.60}")
        if mode != "zeros" and isinstance(padding, str):
            raise located(ArgumentError, f"padding_mode {mode!r} needs padding in numbers")
        around, _ = taken_around(given, each, self.dimensions)
        super().begin(given)
        self._around, self.padding_mode = around, mode
        if around:
            self.padding = each("padding", padding, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The convolved input."""
        if self._around:
            input = F.pad(input, self._around, self.padding_mode)
        return type(self).function(input, self.weight, self.bias, **self._moved)


@CONVOLUTIONS
class Conv1d(_Convolution):
    """Sequences convolved with filters, plus a bias.

    >>> fluid.flow.nn.Conv1d(3, 8, 5, padding="same")(fluid.flow.ones(2, 3, 10)).shape
    [2, 8, 10]
    """

    dimensions = 1
    function = staticmethod(F.conv1d)


@CONVOLUTIONS
class Conv2d(_Convolution):
    """Images convolved with filters, plus a bias; see :class:`Conv1d`."""

    function = staticmethod(F.conv2d)


@CONVOLUTIONS
class Conv3d(_Convolution):
    """Volumes convolved with filters, plus a bias; see :class:`Conv1d`."""

    dimensions = 3
    function = staticmethod(F.conv3d)


@from_fields
class _Transposed(_Filters):
    """The adjoint of a convolution, plus a bias."""

    output_padding: Ints = 0
    groups: int = 1
    bias: bool = True
    dilation: Ints = 1
    device: DeviceLike = None
    dtype: DTypeLike = None
    transposed = True

    def forward(self, input: Tensor) -> Tensor:
        """The enlarged input."""
        return type(self).function(input, self.weight, self.bias, **self._moved)


@CONVOLUTIONS
class ConvTranspose1d(_Transposed):
    """The adjoint of a convolution of sequences, plus a bias."""

    dimensions = 1
    function = staticmethod(F.conv_transpose1d)


@CONVOLUTIONS
class ConvTranspose2d(_Transposed):
    """The adjoint of a convolution of images, plus a bias."""

    function = staticmethod(F.conv_transpose2d)


@CONVOLUTIONS
class ConvTranspose3d(_Transposed):
    """The adjoint of a convolution of volumes, plus a bias."""

    dimensions = 3
    function = staticmethod(F.conv_transpose3d)
