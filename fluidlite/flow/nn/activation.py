"""Activations, as modules."""

from __future__ import annotations

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


@from_fields
class _Shrink(FunctionModule):
    """A function that takes small numbers for 0."""

    lambd: float = 0.5
    inplace: bool = False


class _Unshown(FunctionModule):
    shows = ()


class ReLU(FunctionModule):
    @options_of(F.relu)
    def __init__(self) -> None: ...


class ReLU6(_InPlace, calls=F.relu6): ...


@from_fields
class Hardtanh(FunctionModule, calls=F.hardtanh):
    min_val: float = -1
    max_val: float = 1
    inplace: bool = False


@from_fields
class LeakyReLU(FunctionModule, calls=F.leaky_relu):
    negative_slope: float = 0.01
    inplace: bool = False

    def forward(self, x: Tensor) -> Tensor:
        """The result, perhaps written to the input."""
        return F.leaky_relu(x, self._options["negative_slope"], self._inplace)


@from_fields
class ELU(FunctionModule, calls=F.elu):
    alpha: float = 1.0
    inplace: bool = False


class SELU(_InPlace, calls=F.selu): ...


@from_fields
class CELU(FunctionModule, calls=F.celu):
    alpha: float = 1.0
    inplace: bool = False


class GELU(_Unshown):
    @options_of(F.gelu)
    def __init__(self) -> None: ...


class QuickGELU(FunctionModule, calls=F.quick_gelu): ...


class SiLU(_InPlace, calls=F.silu): ...


class Mish(_InPlace, calls=F.mish): ...


class Softplus(FunctionModule):
    @options_of(F.softplus)
    def __init__(self) -> None: ...


class Softsign(FunctionModule, calls=F.softsign): ...


class Sigmoid(FunctionModule, calls=F.sigmoid): ...


class Tanh(FunctionModule, calls=F.tanh): ...


class LogSigmoid(FunctionModule, calls=F.logsigmoid): ...


class Hardsigmoid(_InPlace, calls=F.hardsigmoid): ...


class Hardswish(_InPlace, calls=F.hardswish): ...


class Hardshrink(_Shrink, calls=F.hardshrink): ...


class Softshrink(_Shrink, calls=F.softshrink): ...


@from_fields
class Threshold(FunctionModule, calls=F.threshold):
    shows = ()
    threshold: float
    value: float
    inplace: bool = False


class GLU(_Unshown):
    @options_of(F.glu)
    def __init__(self) -> None: ...


class Softmax(_AlongDim, calls=F.softmax): ...


class LogSoftmax(_AlongDim, calls=F.log_softmax): ...


class PReLU(Module):
    """x, or a learned slope times x where x is negative.

    Args:
        num_parameters: one slope, or one for each channel.
        init: the first slope.
        device: the CPU, or None.
        dtype: element type of the slopes.

    >>> fluid.flow.nn.PReLU()(fluid.flow.tensor([-2.0, 2.0])).tolist()
    [-0.5, 2.0]
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
