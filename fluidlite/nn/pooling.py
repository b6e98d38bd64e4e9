"""Windows that move over images."""

from __future__ import annotations

from . import functional as F
from .activation import FunctionLayer


class MaxPool2D(FunctionLayer):
    """The largest element under a window: :func:`~fluidlite.nn.functional.max_pool2d`.

    >>> fluid.nn.MaxPool2D(2)(fluid.ones([1, 1, 4, 4])).shape
    [1, 1, 2, 2]
    """

    function = staticmethod(F.max_pool2d)


class AvgPool2D(FunctionLayer):
    """The average under a window: :func:`~fluidlite.nn.functional.avg_pool2d`."""

    function = staticmethod(F.avg_pool2d)


class AdaptiveAvgPool2D(FunctionLayer):
    """Averages of so many parts of an image:
    :func:`~fluidlite.nn.functional.adaptive_avg_pool2d`.
    """

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveMaxPool2D(FunctionLayer):
    """The largest elements of so many parts of an image:
    :func:`~fluidlite.nn.functional.adaptive_max_pool2d`.
    """

    function = staticmethod(F.adaptive_max_pool2d)
