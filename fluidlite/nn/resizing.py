"""Layers that make images larger, rearrange them, or cut them into windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..errors import ArgumentError
from ..functions.arguments import Integers, Numbers
from ..ground.fields import from_fields, options_of
from . import functional as F
from .activation import FunctionLayer
from .layer import format_of


class Upsample(FunctionLayer):
    """Images or volumes of another size: :func:`~fluidlite.nn.functional.interpolate`.

    >>> fluid.nn.Upsample(scale_factor=2)(fluid.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """

    _shown = "scale_factor? size? mode align_corners align_mode data_format name?"

    @options_of(F.upsample)
    def __init__(self) -> None: ...


@from_fields
class _Upsampling(FunctionLayer):
    """Images of another size, by one mode."""

    size: Numbers | None = None
    scale_factor: float | Sequence[float] | None = None
    data_format: str = "NCHW"
    name: str | None = None
    _fixed: ClassVar[dict[str, Any]]
    _shown: ClassVar[str] = "scale_factor? size? data_format name?"
    function: ClassVar[Callable[..., Any]] = staticmethod(F.interpolate)

    def begin(self, given: dict[str, Any]) -> None:
        super().begin({**given, **self._fixed})


class UpsamplingNearest2D(_Upsampling):
    """Images of another size, of the nearest elements.

    >>> fluid.nn.UpsamplingNearest2D(scale_factor=2)(fluid.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """

    _fixed: ClassVar = {"mode": "nearest"}


class UpsamplingBilinear2D(_Upsampling):
    """Images of another size, by bilinear interpolation between corners that stay.

    >>> fluid.nn.UpsamplingBilinear2D(scale_factor=2)(fluid.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """

    _fixed: ClassVar = {"mode": "bilinear", "align_corners": True}


class _Rearranging(FunctionLayer):
    """What channels and places are exchanged by, a whole number."""

    def begin(self, given: dict[str, Any]) -> None:
        number = next(iter(given))
        if not isinstance(given[number], int):
            raise ArgumentError(f"expected {number} to be an integer, got {given[number]!r}")
        if given[number] < 1:
            raise ArgumentError(f"expected {number} of at least 1, got {given[number]}")
        format_of(given["data_format"], ("NCHW", "NHWC"))
        super().begin(given)


class PixelShuffle(_Rearranging):
    _shown = "upscale_factor data_format? name?"

    @options_of(F.pixel_shuffle)
    def __init__(self) -> None: ...


@from_fields
class _Windows(FunctionLayer):
    """What deals with what lies under a window."""

    kernel_sizes: Integers
    dilations: Integers = 1
    paddings: Integers = 0
    strides: Integers = 1
    name: str | None = None
    _inputs: ClassVar[tuple[str, ...]] = ("input",)
    _shown: ClassVar[str] = (
        "kernel_sizes:kernel_size dilations:dilation paddings:padding strides:stride name?"
    )


@from_fields
class _Sized:
    output_sizes: Integers


@from_fields
class Unfold(_Windows):
    """What lies under a window, as columns: :func:`~fluidlite.nn.functional.unfold`."""

    function: ClassVar[Callable[..., Any]] = staticmethod(F.unfold)


class PixelUnshuffle(_Rearranging):
    _shown = "downscale_factor data_format? name?"

    @options_of(F.pixel_unshuffle)
    def __init__(self) -> None: ...


class ChannelShuffle(_Rearranging):
    _shown = "groups data_format? name?"

    @options_of(F.channel_shuffle)
    def __init__(self) -> None: ...


@from_fields
class Fold(_Windows, _Sized):
    """Images of columns, added up where they overlap: :func:`~fluidlite.nn.functional.fold`."""

    function: ClassVar[Callable[..., Any]] = staticmethod(F.fold)
