"""Activations, as modules."""

from __future__ import annotations

from typing import Any

from ...imperative import creation
from ..devices import need_cpu
from . import functional as F
from .module import FunctionModule, Module, Parameter


class ReLU(FunctionModule):
    """max(x, 0)."""

    function = staticmethod(F.relu)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class ReLU6(FunctionModule):
    """min(max(x, 0), 6)."""

    function = staticmethod(F.relu6)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardtanh(FunctionModule):
    """x, kept in [min_val, max_val]."""

    function = staticmethod(F.hardtanh)

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class LeakyReLU(FunctionModule):
    """x, or negative_slope x where x is negative."""

    function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class ELU(FunctionModule):
    """x, or alpha (e^x - 1) where x is negative."""

    function = staticmethod(F.elu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class SELU(FunctionModule):
    """An elu whose scale and alpha keep mean and variance."""

    function = staticmethod(F.selu)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class CELU(FunctionModule):
    """x, or alpha (e^(x / alpha) - 1) where x is negative."""

    function = staticmethod(F.celu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class GELU(FunctionModule):
    """x times the probability of a normal number below x."""

    function = staticmethod(F.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)


class SiLU(FunctionModule):
    """x sigmoid(x)."""

    function = staticmethod(F.silu)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Mish(FunctionModule):
    """x tanh(softplus(x))."""

    function = staticmethod(F.mish)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Softplus(FunctionModule):
    """log(1 + e^(beta x)) / beta; x where beta x is above the threshold."""

    function = staticmethod(F.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Softsign(FunctionModule):
    """x / (1 + |x|)."""

    function = staticmethod(F.softsign)


class Sigmoid(FunctionModule):
    """1 / (1 + e^-x)."""

    function = staticmethod(F.sigmoid)


class Tanh(FunctionModule):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class LogSigmoid(FunctionModule):
    """log(sigmoid(x))."""

    function = staticmethod(F.logsigmoid)


class Hardsigmoid(FunctionModule):
    """min(max(x / 6 + 1 / 2, 0), 1)."""

    function = staticmethod(F.hardsigmoid)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardswish(FunctionModule):
    """x min(max(x + 3, 0), 6) / 6."""

    function = staticmethod(F.hardswish)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardshrink(FunctionModule):
    """x, or 0 where x lies in [-lambd, lambd]."""

    function = staticmethod(F.hardshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Softshrink(FunctionModule):
    """x moved towards 0 by lambd, and 0 where x lies in [-lambd, lambd]."""

    function = staticmethod(F.softshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Threshold(FunctionModule):
    """x where it is above the threshold, and the value elsewhere."""

    function = staticmethod(F.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class GLU(FunctionModule):
    """The first half along a dimension, times the sigmoid of the second."""

    function = staticmethod(F.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Softmax(FunctionModule):
    """e^x divided by the sum of those along a dimension."""

    function = staticmethod(F.softmax)

    def __init__(self, dim: int) -> None:
        super().__init__(dim=dim)


class LogSoftmax(FunctionModule):
    """The logarithm of the softmax along a dimension."""

    function = staticmethod(F.log_softmax)

    def __init__(self, dim: int) -> None:
        super().__init__(dim=dim)


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
