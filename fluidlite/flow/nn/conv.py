"""Convolutions, as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.arguments import DTypeLike, Integers
from ...ground.spellings import Spelling
from ...modules.convolution import filter_shape, need_groups, taken_around
from ..devices import DeviceLike
from ..tensor import Tensor
from . import functional as F
from .dense import PARAMETERS, Learned
from .functional.windows import each

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


class _Filters(Learned):
    """Filters, a bias, and how they are moved."""

    dimensions: ClassVar[int] = 2
    function: ClassVar[Callable[..., Any]]
    transposed: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Integers,
        stride: Integers = 1,
        padding: Integers | str = 0,
        dilation: Integers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        output_padding: Integers | None = None,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise located(ArgumentError, f"there is no padding_mode {padding_mode!r:.60}")
        if padding_mode != "zeros" and isinstance(padding, str):
            raise located(ArgumentError, f"padding_mode {padding_mode!r} needs padding in numbers")
        need_groups(in_channels, out_channels, groups)
        self.kernel_size: tuple[int, ...] = each("kernel_size", kernel_size, self.dimensions)
        shape = filter_shape(in_channels, out_channels, groups, self.kernel_size, self.transposed)
        self._make(shape, out_channels, bias, device, dtype)
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.groups: int = groups
        moved: dict[str, Any] = dict(stride=stride, padding=padding, dilation=dilation)
        moved |= {} if output_padding is None else {"output_padding": output_padding}
        for name, value in moved.items():
            numbers = value if isinstance(value, str) else each(name, value, self.dimensions)
            setattr(self, name, numbers)
        self._moved: dict[str, Any] = {**moved, "groups": groups}
        self.padding_mode = padding_mode
        self._around = taken_around(self._moved, padding_mode, each, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The input, convolved or enlarged."""
        if self._around:
            input = F.pad(input, self._around, self.padding_mode)
        return type(self).function(input, self.weight, self.bias, **self._moved)

    def extra_repr(self) -> str:
        shown = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}"]
        shown.append(f"stride={self.stride}")
        for name, usual in _PLAIN.items():
            value = getattr(self, name, (usual,))
            if isinstance(value, str):
                sizes = zip(self.kernel_size, self.dilation)
                value = [d * (n - 1) // 2 * (value == "same") for n, d in sizes]
                shown.append(f"{name}={value}")
            elif any(n != usual for n in value):
                shown.append(f"{name}={value}")
        shown += [f"groups={self.groups}"] * (self.groups != 1)
        shown += ["bias=False"] * (self.bias is None)
        shown += [f"padding_mode={self.padding_mode}"] * (self.padding_mode != "zeros")
        return ", ".join(shown)


class _Convolution(_Filters):
    """What is convolved with filters."""

    __init__: Callable[..., None] = Spelling({})(_Filters.__init__, fixed={"output_padding": None})


@CONVOLUTIONS
class Conv1d(_Convolution):
    """Sequences convolved with filters, plus a bias.

    >>> fluid.flow.nn.Conv1d(3, 8, 5, padding="same")(fluid.flow.ones(2, 3, 10)).shape
    oneflow.Size([2, 8, 10])
    """

    dimensions = 1
    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv1d)


@CONVOLUTIONS
class Conv2d(_Convolution):
    """Images convolved with filters, plus a bias; see :class:`Conv1d`.

    >>> fluid.flow.nn.Conv2d(3, 8, 3, padding=1)(fluid.flow.ones(1, 3, 4, 4)).shape
    oneflow.Size([1, 8, 4, 4])
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv2d)


@CONVOLUTIONS
class Conv3d(_Convolution):
    """Volumes convolved with filters, plus a bias; see :class:`Conv1d`.

    >>> fluid.flow.nn.Conv3d(3, 8, 3, padding=1)(fluid.flow.ones(1, 3, 4, 4, 4)).shape
    oneflow.Size([1, 8, 4, 4, 4])
    """

    dimensions = 3
    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv3d)


class _Transposed(_Filters):
    """The adjoint of a convolution, plus a bias."""

    transposed = True

    __init__: Callable[..., None] = Spelling({}, types={" | str": "", " | None": ""})(
        _Filters.__init__,
        order="self, in_channels, out_channels, kernel_size, stride, padding, output_padding, "
        "groups, bias, dilation, device, dtype",
        fixed={"padding_mode": "zeros"},
        defaults={"output_padding": 0},
    )


@CONVOLUTIONS
class ConvTranspose1d(_Transposed):
    """The adjoint of a convolution of sequences, plus a bias.

    >>> fluid.flow.nn.ConvTranspose1d(3, 8, 2, stride=2)(fluid.flow.ones(1, 3, 4)).shape
    oneflow.Size([1, 8, 8])
    """

    dimensions = 1
    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv_transpose1d)


@CONVOLUTIONS
class ConvTranspose2d(_Transposed):
    """The adjoint of a convolution of images, plus a bias.

    >>> fluid.flow.nn.ConvTranspose2d(3, 8, 2, stride=2)(fluid.flow.ones(1, 3, 4, 4)).shape
    oneflow.Size([1, 8, 8, 8])
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv_transpose2d)


@CONVOLUTIONS
class ConvTranspose3d(_Transposed):
    """The adjoint of a convolution of volumes, plus a bias.

    >>> fluid.flow.nn.ConvTranspose3d(3, 8, 2, stride=2)(fluid.flow.ones(1, 3, 4, 4, 4)).shape
    oneflow.Size([1, 8, 8, 8, 8])
    """

    dimensions = 3
    function: ClassVar[Callable[..., Any]] = staticmethod(F.conv_transpose3d)
