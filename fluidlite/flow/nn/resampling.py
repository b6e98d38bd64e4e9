"""Modules that change the size of images, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...eager.engine import located
from ...errors import ArgumentError, ShapeError
from ...ground.fields import from_fields, options_of
from . import functional as F
from .functional.windows import each
from .module import FunctionModule, Module

if TYPE_CHECKING:
    from ...functions.arguments import Integers, Numbers
    from ..tensor import Tensor


class _Resized(FunctionModule):
    """Images of another size."""

    def extra_repr(self) -> str:
        factor = self._options["scale_factor"]
        shown = f"size={self._options['size']}" if factor is None else f"scale_factor={factor}"
        return f"{shown}, mode={self._options['mode']}"


@from_fields
class Upsample(_Resized):
    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)


@from_fields
class UpsamplingNearest2d(_Resized):
    """Images of another size, each element the nearest one."""

    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)

    def begin(self, given: dict[str, Any]) -> None:
        super().begin({**given, "mode": "nearest"})


@from_fields
class UpsamplingBilinear2d(_Resized):
    """Images of another size, whose outermost elements stay where they are.

    >>> fluid.flow.nn.UpsamplingBilinear2d(scale_factor=2)(fluid.flow.ones(1, 1, 2, 2)).shape
    oneflow.Size([1, 1, 4, 4])
    """

    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)

    def begin(self, given: dict[str, Any]) -> None:
        super().begin({**given, "mode": "bilinear", "align_corners": True})


class Unfold(FunctionModule):
    @options_of(F.unfold)
    def __init__(self) -> None: ...


class Fold(FunctionModule):
    @options_of(F.fold)
    def __init__(self) -> None: ...


class PixelShuffle(Module):
    """Channels laid out as rectangles of pixels.

    Args:
        upscale_factor: the side of squares; or, by their names, the sides of rectangles.
        h_upscale_factor, w_upscale_factor: the height and the width of rectangles.

    Raises:
        ArgumentError: neither the side of squares nor both of rectangles are given.

    >>> fluid.flow.nn.PixelShuffle(2)(fluid.flow.ones(1, 8, 2, 2)).shape
    oneflow.Size([1, 2, 4, 4])
    """

    def __init__(
        self,
        upscale_factor: int | None = None,
        h_upscale_factor: int | None = None,
        w_upscale_factor: int | None = None,
    ) -> None:
        super().__init__()
        sides = (h_upscale_factor or upscale_factor, w_upscale_factor or upscale_factor)
        if not all(isinstance(side, int) and side > 0 for side in sides):
            raise located(ArgumentError, f"expected factors from 1 on, got {sides}")
        self.h_upscale_factor: Any = sides[0]
        self.w_upscale_factor: Any = sides[1]

    def forward(self, input: Tensor) -> Tensor:
        """The channels laid out."""
        high, wide = self.h_upscale_factor, self.w_upscale_factor
        n, channels, rows, columns = input.shape
        if channels % (high * wide):
            raise located(
                ShapeError, f"expected channels in groups of {high * wide}, got {channels}"
            )
        parts = input.reshape(n, channels // (high * wide), high, wide, rows, columns)
        return parts.permute(0, 1, 4, 2, 5, 3).reshape(n, -1, rows * high, columns * wide)

    def extra_repr(self) -> str:
        return f"w_upscale_factor={self.w_upscale_factor}, h_upscale_factor={self.h_upscale_factor}"


class _Unpool(Module):
    """Zeros, and the largest elements of windows where they were.

    Args:
        kernel_size, stride, padding: as of the pool.
    """

    function: Any

    def __init__(
        self, kernel_size: Integers, stride: Integers | None = None, padding: Integers = 0
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """What the pool was given, as far as it is known."""
        window = (self.kernel_size, self.stride, self.padding)
        return type(self).function(input, indices, *window, output_size)


class MaxUnpool1d(_Unpool):
    """Zeros, and the largest elements of windows of lines where they were.

    >>> x = fluid.flow.tensor([[[1.0, 3.0, 4.0, 2.0]]])
    >>> values, indices = fluid.flow.nn.MaxPool1d(2, return_indices=True)(x)
    >>> fluid.flow.nn.MaxUnpool1d(2)(values, indices).tolist()
    [[[0.0, 3.0, 4.0, 0.0]]]
    """

    function: Any = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_Unpool):
    """Zeros, and the largest elements of windows of images where they were.

    >>> x = fluid.flow.tensor([[[[1.0, 3.0], [4.0, 2.0]]]])
    >>> values, indices = fluid.flow.nn.MaxPool2d(2, return_indices=True)(x)
    >>> fluid.flow.nn.MaxUnpool2d(2)(values, indices).tolist()
    [[[[0.0, 0.0], [4.0, 0.0]]]]
    """

    function: Any = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_Unpool):
    """Zeros, and the largest elements of windows of volumes where they were.

    >>> x = fluid.flow.ones(1, 1, 2, 2, 2)
    >>> values, indices = fluid.flow.nn.MaxPool3d(2, return_indices=True)(x)
    >>> fluid.flow.nn.MaxUnpool3d(2)(values, indices).shape
    oneflow.Size([1, 1, 2, 2, 2])
    """

    function: Any = staticmethod(F.max_unpool3d)


@from_fields
class _Padding(FunctionModule):
    """Further elements around lines, images or volumes.

    Args:
        padding: how many on each side, or a number for each side, of the last dimension first.
    """

    padding: Integers
    function: ClassVar[Callable[..., Any]] = staticmethod(F.pad)
    dimensions: ClassVar[int] = 2
    mode: ClassVar[str] = "constant"

    def extra_repr(self) -> str:
        return "" if self.mode == "constant" else str(self._options["pad"])

    def begin(self, given: dict[str, Any]) -> None:
        sides = each("padding", given.pop("padding"), 2 * self.dimensions)
        super().begin({"pad": tuple(sides), "mode": self.mode, "value": 0.0, **given})


@from_fields
class ConstantPad1d(_Padding):
    """A number around lines.

    >>> fluid.flow.nn.ConstantPad1d(1, 9.0)(fluid.flow.tensor([[[1.0, 2.0]]])).tolist()
    [[[9.0, 1.0, 2.0, 9.0]]]
    """

    value: float = 0.0
    dimensions: ClassVar[int] = 1


@from_fields
class ConstantPad2d(_Padding):
    """A number around images.

    >>> x = fluid.flow.tensor([[[[1.0, 2.0]]]])
    >>> fluid.flow.nn.ConstantPad2d((1, 0, 0, 0), 9.0)(x).tolist()
    [[[[9.0, 1.0, 2.0]]]]
    """

    value: float = 0.0


@from_fields
class ConstantPad3d(_Padding):
    """A number around volumes.

    >>> fluid.flow.nn.ConstantPad3d(1, 9.0)(fluid.flow.ones(1, 1, 2, 2, 2)).shape
    oneflow.Size([1, 1, 4, 4, 4])
    """

    value: float = 0.0
    dimensions: ClassVar[int] = 3


class ZeroPad2d(_Padding):
    """Zeros around images.

    >>> fluid.flow.nn.ZeroPad2d((1, 0, 0, 0))(fluid.flow.tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[0.0, 1.0, 2.0]]]]
    """


class ReflectionPad1d(_Padding):
    """Lines mirrored at their ends, without the last element.

    >>> fluid.flow.nn.ReflectionPad1d(1)(fluid.flow.tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    """

    dimensions: ClassVar[int] = 1
    mode: ClassVar[str] = "reflect"


class ReflectionPad2d(_Padding):
    """Images mirrored at their edges, without the last element.

    >>> fluid.flow.nn.ReflectionPad2d(1)(fluid.flow.ones(1, 1, 2, 2)).shape
    oneflow.Size([1, 1, 4, 4])
    """

    mode = "reflect"


class ReplicationPad1d(_Padding):
    """The last elements of lines repeated.

    >>> fluid.flow.nn.ReplicationPad1d(1)(fluid.flow.tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 3.0, 3.0]]]
    """

    dimensions: ClassVar[int] = 1
    mode: ClassVar[str] = "replicate"


class ReplicationPad2d(_Padding):
    """The last elements of images repeated.

    >>> fluid.flow.nn.ReplicationPad2d(1)(fluid.flow.ones(1, 1, 2, 2)).shape
    oneflow.Size([1, 1, 4, 4])
    """

    mode = "replicate"
