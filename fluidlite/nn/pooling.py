"""Windows that move along sequences, over images and through volumes."""

from __future__ import annotations

from ..ground.fields import options_of
from . import functional as F
from .activation import FunctionLayer


class _Windows(FunctionLayer):
    _shown = "kernel_size stride padding"


class _Sized(FunctionLayer):
    _shown = "output_size"


class _LargestOfSize(FunctionLayer):
    _shown = "output_size return_mask"


class MaxPool2D(_Windows):
    """The largest element under a window: :func:`~fluidlite.nn.functional.max_pool2d`.

    >>> fluid.nn.MaxPool2D(2)(fluid.ones([1, 1, 4, 4])).shape
    [1, 1, 2, 2]
    """

    @options_of(F.max_pool2d)
    def __init__(self) -> None: ...


class AvgPool2D(_Windows):
    @options_of(F.avg_pool2d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool2D(_Sized):
    @options_of(F.adaptive_avg_pool2d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool2D(_LargestOfSize):
    @options_of(F.adaptive_max_pool2d)
    def __init__(self) -> None: ...


class MaxPool1D(_Windows):
    _inputs = ("input",)

    @options_of(F.max_pool1d)
    def __init__(self) -> None: ...


class AvgPool1D(_Windows):
    @options_of(F.avg_pool1d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool1D(_Sized):
    _inputs = ("input",)

    @options_of(F.adaptive_avg_pool1d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool1D(_LargestOfSize):
    _inputs = ("input",)

    @options_of(F.adaptive_max_pool1d)
    def __init__(self) -> None: ...


class MaxPool3D(_Windows):
    @options_of(F.max_pool3d)
    def __init__(self) -> None: ...


class AvgPool3D(_Windows):
    @options_of(F.avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool3D(_Sized):
    @options_of(F.adaptive_avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool3D(_LargestOfSize):
    @options_of(F.adaptive_max_pool3d)
    def __init__(self) -> None: ...


class MaxUnPool1D(_Sized):
    """
    >>> x = fluid.to_tensor([[[1.0, 3.0, 4.0, 2.0]]])
    >>> values, indices = fluid.nn.MaxPool1D(2, return_mask=True)(x)
    >>> fluid.nn.MaxUnPool1D(2)(values, indices).tolist()
    [[[0.0, 3.0, 4.0, 0.0]]]
    """

    @options_of(F.max_unpool1d, 2)
    def __init__(self) -> None: ...


class MaxUnPool2D(_Sized):
    """
    >>> x = fluid.to_tensor([[[[1.0, 3.0], [4.0, 2.0]]]])
    >>> values, indices = fluid.nn.MaxPool2D(2, return_mask=True)(x)
    >>> fluid.nn.MaxUnPool2D(2)(values, indices).tolist()
    [[[[0.0, 0.0], [4.0, 0.0]]]]
    """

    @options_of(F.max_unpool2d, 2)
    def __init__(self) -> None: ...


class MaxUnPool3D(_Sized):
    """
    >>> values, indices = fluid.nn.MaxPool3D(2, return_mask=True)(fluid.ones([1, 1, 2, 2, 2]))
    >>> fluid.nn.MaxUnPool3D(2)(values, indices).shape
    [1, 1, 2, 2, 2]
    """

    @options_of(F.max_unpool3d, 2)
    def __init__(self) -> None: ...
