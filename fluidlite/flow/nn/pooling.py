"""Pooling, as modules: arguments are those of the functions."""

from __future__ import annotations

from ...ground.fields import options_of
from . import functional as F
from .functional.windows import each
from .module import FunctionModule


class _Windows(FunctionModule):
    """What is computed of windows."""

    def extra_repr(self) -> str:
        options = self._options
        dimensions = int(type(self).__name__[-2])
        stride = options["kernel_size"] if options["stride"] is None else options["stride"]
        shown = {**options, "stride": stride}
        names: list[str] = [name for name in ("kernel_size", "stride", "padding") if name in shown]
        names += ["dilation"] * ("dilation" in shown and dimensions > 1)
        parts = [f"{name}={each(name, shown[name], dimensions)}" for name in names]
        ceil = [] if "dilation" in shown else [f"ceil_mode={shown['ceil_mode']}"]
        return ", ".join([*parts, *ceil])


class MaxPool1d(_Windows):
    @options_of(F.max_pool1d)
    def __init__(self) -> None: ...


class MaxPool2d(_Windows):
    @options_of(F.max_pool2d)
    def __init__(self) -> None: ...


class MaxPool3d(_Windows):
    @options_of(F.max_pool3d)
    def __init__(self) -> None: ...


class AvgPool1d(_Windows):
    @options_of(F.avg_pool1d)
    def __init__(self) -> None: ...


class AvgPool2d(_Windows):
    @options_of(F.avg_pool2d)
    def __init__(self) -> None: ...


class AvgPool3d(_Windows):
    @options_of(F.avg_pool3d)
    def __init__(self) -> None: ...


class _Mean(FunctionModule):
    shows = ()


class _Largest(FunctionModule):
    shows = ("output_size",)


class AdaptiveAvgPool1d(_Mean):
    @options_of(F.adaptive_avg_pool1d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool1d(_Largest):
    @options_of(F.adaptive_max_pool1d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool2d(_Mean):
    @options_of(F.adaptive_avg_pool2d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool2d(_Largest):
    @options_of(F.adaptive_max_pool2d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool3d(_Mean):
    @options_of(F.adaptive_avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool3d(_Largest):
    @options_of(F.adaptive_max_pool3d)
    def __init__(self) -> None: ...
