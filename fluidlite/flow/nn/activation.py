"""Activations, as modules."""

from __future__ import annotations

from typing import Any

from ...functions import creation
from ...ground.fields import from_fields, options_of
from ..devices import need_cpu
from . import functional as F
from .module import FunctionModule, Module, Parameter


class ReLU(FunctionModule):
    """max(x, 0)."""

    @options_of(F.relu)
    def __init__(self) -> None: ...


@from_fields
class ReLU6(FunctionModule):
    """min(max(x, 0), 6)."""

    inplace: bool = False
    function = staticmethod(F.relu6)


@from_fields
class Hardtanh(FunctionModule):
    """x, kept in [min_val, max_val]."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    function = staticmethod(F.hardtanh)


@from_fields
class LeakyReLU(FunctionModule):
    """x, or negative_slope x where x is negative."""

    negative_slope: float = 0.01
    inplace: bool = False
    function = staticmethod(F.leaky_relu)


@from_fields
class ELU(FunctionModule):
    """x, or alpha (e^x - 1) where x is negative."""

    alpha: float = 1.0
    inplace: bool = False
    function = staticmethod(F.elu)


@from_fields
class SELU(FunctionModule):
    """An elu whose scale and alpha keep mean and variance."""

    inplace: bool = False
    function = staticmethod(F.selu)


@from_fields
class CELU(FunctionModule):
    """x, or alpha (e^(x / alpha) - 1) where x is negative."""

    alpha: float = 1.0
    inplace: bool = False
    function = staticmethod(F.celu)


class GELU(FunctionModule):
    """x times the probability of a normal number below x."""

    @options_of(F.gelu)
    def __init__(self) -> None: ...


@from_fields
class SiLU(FunctionModule):
    """x sigmoid(x)."""

    inplace: bool = False
    function = staticmethod(F.silu)


@from_fields
class Mish(FunctionModule):
    """x tanh(softplus(x))."""

    inplace: bool = False
    function = staticmethod(F.mish)


class Softplus(FunctionModule):
    """log(1 + e^(beta x)) / beta; x where beta x is above the threshold."""

    @options_of(F.softplus)
    def __init__(self) -> None: ...


@from_fields
class Softsign(FunctionModule):
    """x / (1 + |x|)."""

    function = staticmethod(F.softsign)


@from_fields
class Sigmoid(FunctionModule):
    """1 / (1 + e^-x)."""

    function = staticmethod(F.sigmoid)


@from_fields
class Tanh(FunctionModule):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


@from_fields
class LogSigmoid(FunctionModule):
    """log(sigmoid(x))."""

    function = staticmethod(F.logsigmoid)


@from_fields
class Hardsigmoid(FunctionModule):
    """min(max(x / 6 + 1 / 2, 0), 1)."""

    inplace: bool = False
    function = staticmethod(F.hardsigmoid)


@from_fields
class Hardswish(FunctionModule):
    """x min(max(x + 3, 0), 6) / 6."""

    inplace: bool = False
    function = staticmethod(F.hardswish)


class Hardshrink(FunctionModule):
    """x, or 0 where x lies in [-lambd, lambd]."""

    @options_of(F.hardshrink)
    def __init__(self) -> None: ...


class Softshrink(FunctionModule):
    """x moved towards 0 by lambd, and 0 where x lies in [-lambd, lambd]."""

    @options_of(F.softshrink)
    def __init__(self) -> None: ...


@from_fields
class Threshold(FunctionModule):
    """x where it is above the threshold, and the value elsewhere."""

    threshold: float
    value: float
    inplace: bool = False
    function = staticmethod(F.threshold)


class GLU(FunctionModule):
    """The first half along a dimension, times the sigmoid of the second."""

    @options_of(F.glu)
    def __init__(self) -> None: ...


@from_fields
class Softmax(FunctionModule):
    """e^x divided by the sum of those along a dimension."""

    dim: int
    function = staticmethod(F.softmax)


@from_fields
class LogSoftmax(FunctionModule):
    """The logarithm of the softmax along a dimension."""

    dim: int
    function = staticmethod(F.log_softmax)


class PReLU(Module):
    """x, or a learned slope times x where x is negative.

    Args:
        num_parameters: one slope, or one for each channel.
        init: the first slope.
        device: the CPU, or None.
        dtype: element type of the slopes.
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        need_cpu(device)
        self.weight = Parameter(creation.full([num_parameters], init, dtype))

    def forward(self, input: Any) -> Any:
        """The activated input."""
        return F.prelu(input, self.weight)
