"""Activations, as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...functions import creation
from ...functions.arguments import DTypeLike
from ...ground.fields import from_fields, options_of
from ..devices import DeviceLike, need_cpu
from ..tensor import Tensor
from . import functional as F
from .module import FunctionModule, Module, Parameter


@from_fields
class _InPlace(FunctionModule):
    """A function whose result may be written to its input."""

    inplace: bool = False


@from_fields
class _AlongDim(FunctionModule):
    """A function along a dimension."""

    dim: int | None = None


class ReLU(FunctionModule):
    @options_of(F.relu)
    def __init__(self) -> None: ...


class ReLU6(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.relu6)


@from_fields
class Hardtanh(FunctionModule):
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    function: ClassVar[Callable[..., Any]] = staticmethod(F.hardtanh)


@from_fields
class LeakyReLU(FunctionModule):
    negative_slope: float = 0.01
    inplace: bool = False
    function: ClassVar[Callable[..., Any]] = staticmethod(F.leaky_relu)


@from_fields
class ELU(FunctionModule):
    alpha: float = 1.0
    inplace: bool = False
    function: ClassVar[Callable[..., Any]] = staticmethod(F.elu)


class SELU(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.selu)


@from_fields
class CELU(FunctionModule):
    alpha: float = 1.0
    inplace: bool = False
    function: ClassVar[Callable[..., Any]] = staticmethod(F.celu)


class GELU(FunctionModule):
    shows = ()

    @options_of(F.gelu)
    def __init__(self) -> None: ...


class QuickGELU(FunctionModule):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.quick_gelu)


class SiLU(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.silu)


class Mish(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.mish)


class Softplus(FunctionModule):
    @options_of(F.softplus)
    def __init__(self) -> None: ...


class Softsign(FunctionModule):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.softsign)


class Sigmoid(FunctionModule):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.sigmoid)


class Tanh(FunctionModule):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.tanh)


class LogSigmoid(FunctionModule):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.logsigmoid)


class Hardsigmoid(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.hardsigmoid)


class Hardswish(_InPlace):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.hardswish)


class Hardshrink(FunctionModule):
    @options_of(F.hardshrink)
    def __init__(self) -> None: ...


class Softshrink(FunctionModule):
    @options_of(F.softshrink)
    def __init__(self) -> None: ...


@from_fields
class Threshold(FunctionModule):
    shows = ()
    threshold: float
    value: float
    inplace: bool = False
    function: ClassVar[Callable[..., Any]] = staticmethod(F.threshold)


class GLU(FunctionModule):
    shows = ()

    @options_of(F.glu)
    def __init__(self) -> None: ...


class Softmax(_AlongDim):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.softmax)


class LogSoftmax(_AlongDim):
    function: ClassVar[Callable[..., Any]] = staticmethod(F.log_softmax)


class PReLU(Module):
    """x, or a learned slope times x where x is negative.

    Args:
        num_parameters: one slope, or one for each channel.
        init: the first slope.
        device: the CPU, or None.
        dtype: element type of the slopes.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        need_cpu(device)
        self.weight: Parameter = Parameter(creation.full([num_parameters], init, dtype))

    def forward(self, input: Tensor) -> Tensor:
        """The activated input."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.weight.array.size}"
