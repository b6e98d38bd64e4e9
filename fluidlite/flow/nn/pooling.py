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
    """
    >>> fluid.flow.nn.AvgPool1d(2)(fluid.flow.tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
    [[[2.0, 6.0]]]
    """

    @options_of(F.avg_pool1d)
    def __init__(self) -> None: ...


class AvgPool2d(_Windows):
    """
    >>> fluid.flow.nn.AvgPool2d(2)(fluid.flow.tensor([[[[1.0, 3.0], [5.0, 7.0]]]])).tolist()
    [[[[4.0]]]]
    """

    @options_of(F.avg_pool2d)
    def __init__(self) -> None: ...


class AvgPool3d(_Windows):
    """
    >>> fluid.flow.nn.AvgPool3d(2)(fluid.flow.ones(1, 1, 2, 2, 2)).tolist()
    [[[[[1.0]]]]]
    """

    @options_of(F.avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool1d(FunctionModule):
    """
    >>> fluid.flow.nn.AdaptiveAvgPool1d(2)(fluid.flow.tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
    [[[2.0, 6.0]]]
    """

    shows = ()

    @options_of(F.adaptive_avg_pool1d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool1d(FunctionModule):
    """
    >>> fluid.flow.nn.AdaptiveMaxPool1d(2)(fluid.flow.tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
    [[[3.0, 7.0]]]
    """

    shows = ("output_size",)

    @options_of(F.adaptive_max_pool1d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool2d(FunctionModule):
    """
    >>> x = fluid.flow.tensor([[[[1.0, 3.0], [5.0, 7.0]]]])
    >>> fluid.flow.nn.AdaptiveAvgPool2d(1)(x).tolist()
    [[[[4.0]]]]
    """

    shows = ()

    @options_of(F.adaptive_avg_pool2d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool2d(FunctionModule):
    """
    >>> x = fluid.flow.tensor([[[[1.0, 3.0], [5.0, 7.0]]]])
    >>> fluid.flow.nn.AdaptiveMaxPool2d(1)(x).tolist()
    [[[[7.0]]]]
    """

    shows = ("output_size",)

    @options_of(F.adaptive_max_pool2d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool3d(FunctionModule):
    """
    >>> fluid.flow.nn.AdaptiveAvgPool3d(1)(fluid.flow.ones(1, 1, 2, 2, 2)).tolist()
    [[[[[1.0]]]]]
    """

    shows = ()

    @options_of(F.adaptive_avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool3d(FunctionModule):
    """
    >>> fluid.flow.nn.AdaptiveMaxPool3d(1)(fluid.flow.ones(1, 1, 2, 2, 2)).tolist()
    [[[[[1.0]]]]]
    """

    shows = ("output_size",)

    @options_of(F.adaptive_max_pool3d)
    def __init__(self) -> None: ...
