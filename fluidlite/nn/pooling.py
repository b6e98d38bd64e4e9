"""Windows that move along sequences, over images and through volumes."""

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


class MaxPool1D(FunctionLayer):
    """The largest element under a window: :func:`~fluidlite.nn.functional.max_pool1d`."""

    function = staticmethod(F.max_pool1d)


class AvgPool1D(FunctionLayer):
    """The average under a window: :func:`~fluidlite.nn.functional.avg_pool1d`."""

    function = staticmethod(F.avg_pool1d)


class AdaptiveAvgPool1D(FunctionLayer):
    """Averages of so many parts of a sequence:
    :func:`~fluidlite.nn.functional.adaptive_avg_pool1d`.
    """

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveMaxPool1D(FunctionLayer):
    """The largest elements of so many parts of a sequence:
    :func:`~fluidlite.nn.functional.adaptive_max_pool1d`.
    """

    function = staticmethod(F.adaptive_max_pool1d)


class MaxPool3D(FunctionLayer):
    """The largest element under a window: :func:`~fluidlite.nn.functional.max_pool3d`."""

    function = staticmethod(F.max_pool3d)


class AvgPool3D(FunctionLayer):
    """The average under a window: :func:`~fluidlite.nn.functional.avg_pool3d`."""

    function = staticmethod(F.avg_pool3d)


class AdaptiveAvgPool3D(FunctionLayer):
    """Averages of so many parts of a volume:
    :func:`~fluidlite.nn.functional.adaptive_avg_pool3d`.
    """

    function = staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool3D(FunctionLayer):
    """The largest elements of so many parts of a volume:
    :func:`~fluidlite.nn.functional.adaptive_max_pool3d`.
    """

    function = staticmethod(F.adaptive_max_pool3d)


class MaxUnPool1D(FunctionLayer):
    """Max pooling of sequences undone: :func:`~fluidlite.nn.functional.max_unpool1d`."""

    _inputs = 2
    function = staticmethod(F.max_unpool1d)


class MaxUnPool2D(FunctionLayer):
    """Max pooling of images undone: :func:`~fluidlite.nn.functional.max_unpool2d`."""

    _inputs = 2
    function = staticmethod(F.max_unpool2d)


class MaxUnPool3D(FunctionLayer):
    """Max pooling of volumes undone: :func:`~fluidlite.nn.functional.max_unpool3d`."""

    _inputs = 2
    function = staticmethod(F.max_unpool3d)
