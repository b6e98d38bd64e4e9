"""Modules that change the size of images, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...ground.fields import from_fields, options_of
from . import functional as F
from .functional.windows import each
from .module import FunctionModule, Module

if TYPE_CHECKING:
    from ...functions.arguments import Integers, Numbers
    from ..tensor import Tensor


@from_fields
class Upsample(FunctionModule):
    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)


@from_fields
class UpsamplingNearest2d(FunctionModule):
    """Images of another size, each element the nearest one."""

    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)

    def begin(self, given: dict[str, Any]) -> None:
        super().begin({**given, "mode": "nearest"})


@from_fields
class UpsamplingBilinear2d(FunctionModule):
    """Images of another size, whose outermost elements stay where they are."""

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


class PixelShuffle(FunctionModule):
    @options_of(F.pixel_shuffle)
    def __init__(self) -> None: ...


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
    """Zeros, and the largest elements of windows of lines where they were."""

    function: Any = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_Unpool):
    """Zeros, and the largest elements of windows of images where they were."""

    function: Any = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_Unpool):
    """Zeros, and the largest elements of windows of volumes where they were."""

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

    def begin(self, given: dict[str, Any]) -> None:
        sides = each("padding", given.pop("padding"), 2 * self.dimensions)
        super().begin({"pad": tuple(sides), "mode": self.mode, "value": 0.0, **given})


@from_fields
class ConstantPad1d(_Padding):
    """A number around lines."""

    value: float = 0.0
    dimensions: ClassVar[int] = 1


@from_fields
class ConstantPad2d(_Padding):
    """A number around images."""

    value: float = 0.0


@from_fields
class ConstantPad3d(_Padding):
    """A number around volumes."""

    value: float = 0.0
    dimensions: ClassVar[int] = 3


class ZeroPad2d(_Padding):
    """Zeros around images."""


class ReflectionPad1d(_Padding):
    """Lines mirrored at their ends, without the last element."""

    dimensions: ClassVar[int] = 1
    mode: ClassVar[str] = "reflect"


class ReflectionPad2d(_Padding):
    """Images mirrored at their edges, without the last element."""

    mode = "reflect"


class ReplicationPad1d(_Padding):
    """The last elements of lines repeated."""

    dimensions: ClassVar[int] = 1
    mode: ClassVar[str] = "replicate"


class ReplicationPad2d(_Padding):
    """The last elements of images repeated."""

    mode = "replicate"
