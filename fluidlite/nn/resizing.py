"""Layers that pad images, make them larger, rearrange them, or cut them into windows."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .activation import FunctionLayer
from .layer import TensorLayer


class _Pad(TensorLayer):
    """What the paddings have in common."""

    _rank = 1

    def __init__(
        self, padding: Any, mode: str, value: float, data_format: str, name: str | None
    ) -> None:
        super().__init__(name)
        one = isinstance(padding, int)
        self._amounts = [padding] * (2 * self._rank) if one else list(padding)
        self._options: dict[str, Any] = {"mode": mode, "value": value, "data_format": data_format}

    def forward(self, x: Any) -> Any:
        """The padded input."""
        return F.pad(x, self._amounts, **self._options)

    def extra_repr(self) -> str:
        return f"padding={self._amounts}, mode={self._options['mode']}"


class Pad1D(_Pad):
    """Sequences, [N, C, L], with further elements at their ends.

    Args:
        padding: how many at each end; or two numbers.
        mode: constant, reflect, or replicate, which repeats the ends.
        value: what ``constant`` adds.
        data_format: NCL or NLC.
        name: stands in the names of programs' variables.

    >>> fluid.nn.Pad1D(1)(fluid.ones([1, 1, 2])).tolist()
    [[[0.0, 1.0, 1.0, 0.0]]]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(_Pad):
    """Images, [N, C, H, W], with further rows and columns.

    Args:
        padding: how many on each side; or four numbers: left, right, top, bottom.
        mode: constant, reflect, or replicate, which repeats the edge.
        value: what ``constant`` adds.
        data_format: NCHW or NHWC.
        name: stands in the names of programs' variables.
    """

    _rank = 2

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(_Pad):
    """Volumes, [N, C, D, H, W], with further planes.

    Args:
        padding: how many on each side; or six: left, right, top, bottom, front, back.
        mode: constant, reflect, or replicate, which repeats the edge.
        value: what ``constant`` adds.
        data_format: NCDHW or NDHWC.
        name: stands in the names of programs' variables.
    """

    _rank = 3

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ZeroPad2D(FunctionLayer):
    """Images with zeros around them: :func:`~fluidlite.nn.functional.zeropad2d`."""

    function = staticmethod(F.zeropad2d)


class Upsample(FunctionLayer):
    """Images or volumes of another size: :func:`~fluidlite.nn.functional.interpolate`.

    >>> fluid.nn.Upsample(scale_factor=2)(fluid.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """

    function = staticmethod(F.upsample)


class UpsamplingNearest2D(FunctionLayer):
    """Images of another size, of the nearest elements."""

    @staticmethod
    def function(
        x: Any,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> Any:
        """The images in the other size."""
        return F.interpolate(x, size, scale_factor, "nearest", data_format=data_format)


class UpsamplingBilinear2D(FunctionLayer):
    """Images of another size, by bilinear interpolation between corners that stay."""

    @staticmethod
    def function(
        x: Any,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> Any:
        """The images in the other size."""
        return F.interpolate(x, size, scale_factor, "bilinear", True, data_format=data_format)


class PixelShuffle(FunctionLayer):
    """Channels laid out as pixels: :func:`~fluidlite.nn.functional.pixel_shuffle`."""

    function = staticmethod(F.pixel_shuffle)


class Unfold(FunctionLayer):
    """What lies under a window, as columns: :func:`~fluidlite.nn.functional.unfold`."""

    @staticmethod
    def function(
        x: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> Any:
        """The columns."""
        return F.unfold(x, kernel_sizes, strides, paddings, dilations)
