"""Modules that change the size of images, and what stands around them."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .functional.windows import each
from .module import FunctionModule, Module


class Upsample(FunctionModule):
    """Lines, images or volumes of another size.

    Args:
        size, scale_factor, mode, align_corners: as of ``functional.interpolate``.
    """

    function = staticmethod(F.interpolate)

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode, align_corners)


class UpsamplingNearest2d(FunctionModule):
    """Images of another size, each element the nearest one."""

    function = staticmethod(F.interpolate)

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(FunctionModule):
    """Images of another size, whose outermost elements stay where they are."""

    function = staticmethod(F.interpolate)

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class Unfold(FunctionModule):
    """The windows of images, a column each."""

    function = staticmethod(F.unfold)

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)


class Fold(FunctionModule):
    """The images that windows make, summed where they overlap."""

    function = staticmethod(F.fold)

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__(output_size, kernel_size, dilation, padding, stride)


class PixelShuffle(FunctionModule):
    """[N, C r r, H, W] as [N, C, H r, W r]."""

    function = staticmethod(F.pixel_shuffle)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__(upscale_factor)


class _Unpool(Module):
    """Zeros, and the largest elements of windows where they were.

    Args:
        kernel_size, stride, padding: as of the pool.
    """

    function: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """What the pool was given, as far as it is known."""
        window = (self.kernel_size, self.stride, self.padding)
        return type(self).function(input, indices, *window, output_size)


class MaxUnpool1d(_Unpool):
    """Zeros, and the largest elements of windows of lines where they were."""

    function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_Unpool):
    """Zeros, and the largest elements of windows of images where they were."""

    function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_Unpool):
    """Zeros, and the largest elements of windows of volumes where they were."""

    function = staticmethod(F.max_unpool3d)


class _Padding(FunctionModule):
    """Further elements around lines, images or volumes.

    Args:
        padding: how many on each side, or a number for each side, of the last dimension first.
    """

    function = staticmethod(F.pad)
    dimensions = 2
    mode = "constant"

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        sides = each("padding", padding, 2 * self.dimensions)
        super().__init__(tuple(sides), self.mode, value)


class ConstantPad1d(_Padding):
    """A number around lines."""

    dimensions = 1

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__(padding, value)


class ConstantPad2d(_Padding):
    """A number around images."""

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__(padding, value)


class ConstantPad3d(_Padding):
    """A number around volumes."""

    dimensions = 3

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__(padding, value)


class ZeroPad2d(_Padding):
    """Zeros around images."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad1d(_Padding):
    """Lines mirrored at their ends, without the last element."""

    dimensions, mode = 1, "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad2d(_Padding):
    """Images mirrored at their edges, without the last element."""

    mode = "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad1d(_Padding):
    """The last elements of lines repeated."""

    dimensions, mode = 1, "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad2d(_Padding):
    """The last elements of images repeated."""

    mode = "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
