"""Pooling, as modules: arguments are those of the functions."""

from __future__ import annotations

from ...ground.fields import options_of
from . import functional as F
from .module import FunctionModule


class MaxPool1d(FunctionModule):
    @options_of(F.max_pool1d)
    def __init__(self) -> None: ...


class MaxPool2d(FunctionModule):
    @options_of(F.max_pool2d)
    def __init__(self) -> None: ...


class MaxPool3d(FunctionModule):
    @options_of(F.max_pool3d)
    def __init__(self) -> None: ...


class AvgPool1d(FunctionModule):
    @options_of(F.avg_pool1d)
    def __init__(self) -> None: ...


class AvgPool2d(FunctionModule):
    @options_of(F.avg_pool2d)
    def __init__(self) -> None: ...


class AvgPool3d(FunctionModule):
    @options_of(F.avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool1d(FunctionModule):
    @options_of(F.adaptive_avg_pool1d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool1d(FunctionModule):
    @options_of(F.adaptive_max_pool1d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool2d(FunctionModule):
    @options_of(F.adaptive_avg_pool2d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool2d(FunctionModule):
    @options_of(F.adaptive_max_pool2d)
    def __init__(self) -> None: ...


class AdaptiveAvgPool3d(FunctionModule):
    @options_of(F.adaptive_avg_pool3d)
    def __init__(self) -> None: ...


class AdaptiveMaxPool3d(FunctionModule):
    @options_of(F.adaptive_max_pool3d)
    def __init__(self) -> None: ...
