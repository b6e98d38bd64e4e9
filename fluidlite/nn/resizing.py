"""Layers that make images larger, rearrange them, or cut them into windows."""

from __future__ import annotations

from typing import Any

from ..ground.fields import options_of
from . import functional as F
from .activation import FunctionLayer


class Upsample(FunctionLayer):
    """Images or volumes of another size: :func:`~fluidlite.nn.functional.interpolate`.

    >>> fluid.nn.Upsample(scale_factor=2)(fluid.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """

    @options_of(F.upsample)
    def __init__(self) -> None: ...


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

    @options_of(function)
    def __init__(self) -> None: ...


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

    @options_of(function)
    def __init__(self) -> None: ...


class PixelShuffle(FunctionLayer):
    """Channels laid out as pixels: :func:`~fluidlite.nn.functional.pixel_shuffle`."""

    @options_of(F.pixel_shuffle)
    def __init__(self) -> None: ...


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

    @options_of(function)
    def __init__(self) -> None: ...


class PixelUnshuffle(FunctionLayer):
    """Pixels laid out as channels: :func:`~fluidlite.nn.functional.pixel_unshuffle`."""

    @options_of(F.pixel_unshuffle)
    def __init__(self) -> None: ...


class ChannelShuffle(FunctionLayer):
    """Channels of groups dealt out: :func:`~fluidlite.nn.functional.channel_shuffle`."""

    @options_of(F.channel_shuffle)
    def __init__(self) -> None: ...


class Fold(FunctionLayer):
    """Images of columns, added up where they overlap: :func:`~fluidlite.nn.functional.fold`."""

    @staticmethod
    def function(
        x: Any,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> Any:
        """The images."""
        return F.fold(x, output_sizes, kernel_sizes, strides, paddings, dilations)

    @options_of(function)
    def __init__(self) -> None: ...
