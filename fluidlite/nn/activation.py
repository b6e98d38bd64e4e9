"""Layers without parameters: a function, and the options that it is called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from ..errors import ShapeError
from ..ground.fields import from_fields, options_of
from ..initializer import Constant
from ..modules.calling import FunctionCaller
from ..param_attr import Attr
from . import functional as F
from .layer import TensorLayer


class FunctionLayer(FunctionCaller, TensorLayer):
    """A layer that is a function, and the options of its calls, which a subclass takes as its
    constructor.
    """

    _functions = F.__name__

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the options that are not as by default.

        Args:
            given: options by name; ``name`` stands in the names of programs' variables.
        """
        TensorLayer.__init__(self, given.pop("name", None))
        self._options = self._unusual(given)

    def extra_repr(self) -> str:
        fields, options = type(self)._fields, self._options
        shown = [n for n in fields if n in options and options[n] is not fields[n][0].default]
        return ", ".join(f"{name}={options[name]!r}" for name in shown)


class TrainedFunction(FunctionLayer):
    """A layer whose function is told whether it trains."""

    _shown: ClassVar[tuple[str, ...]] = ("p",)  #: the options in its ``repr``

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self, given.pop("name"))
        for name in self._shown:
            setattr(self, name, given[name])
        self._options = given

    def forward(self, *inputs: Any) -> Any:
        """What the function gives."""
        return type(self).function(*inputs, training=self.training, **self._options)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={self._options[name]}" for name in self._shown)


class ReLU(FunctionLayer):
    """The larger of x and 0.

    >>> fluid.nn.ReLU()(fluid.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    @options_of(F.relu)
    def __init__(self) -> None: ...


class ReLU6(FunctionLayer):
    @options_of(F.relu6)
    def __init__(self) -> None: ...


class ELU(FunctionLayer):
    @options_of(F.elu)
    def __init__(self) -> None: ...


class CELU(FunctionLayer):
    @options_of(F.celu)
    def __init__(self) -> None: ...


class SELU(FunctionLayer):
    @options_of(F.selu)
    def __init__(self) -> None: ...


class GELU(FunctionLayer):
    @options_of(F.gelu)
    def __init__(self) -> None: ...


class LeakyReLU(FunctionLayer):
    @options_of(F.leaky_relu)
    def __init__(self) -> None: ...


class Sigmoid(FunctionLayer):
    @options_of(F.sigmoid)
    def __init__(self) -> None: ...


class LogSigmoid(FunctionLayer):
    @options_of(F.log_sigmoid)
    def __init__(self) -> None: ...


class Tanh(FunctionLayer):
    @options_of(F.tanh)
    def __init__(self) -> None: ...


class Tanhshrink(FunctionLayer):
    @options_of(F.tanhshrink)
    def __init__(self) -> None: ...


class Softmax(FunctionLayer):
    """Exponentials divided by their sum along ``axis``.

    >>> fluid.nn.Softmax()(fluid.zeros([1, 2])).tolist()
    [[0.5, 0.5]]
    """

    @options_of(F.softmax)
    def __init__(self) -> None: ...


class LogSoftmax(FunctionLayer):
    @options_of(F.log_softmax)
    def __init__(self) -> None: ...


class Softplus(FunctionLayer):
    @options_of(F.softplus)
    def __init__(self) -> None: ...


class Softsign(FunctionLayer):
    @options_of(F.softsign)
    def __init__(self) -> None: ...


class Softshrink(FunctionLayer):
    @options_of(F.softshrink)
    def __init__(self) -> None: ...


class Hardshrink(FunctionLayer):
    @options_of(F.hardshrink)
    def __init__(self) -> None: ...


class Hardsigmoid(FunctionLayer):
    @options_of(F.hardsigmoid)
    def __init__(self) -> None: ...


class Hardswish(FunctionLayer):
    @options_of(F.hardswish)
    def __init__(self) -> None: ...


class Hardtanh(FunctionLayer):
    @options_of(F.hardtanh)
    def __init__(self) -> None: ...


class Silu(FunctionLayer):
    @options_of(F.silu)
    def __init__(self) -> None: ...


class Swish(FunctionLayer):
    @options_of(F.swish)
    def __init__(self) -> None: ...


class Mish(FunctionLayer):
    @options_of(F.mish)
    def __init__(self) -> None: ...


class ThresholdedReLU(FunctionLayer):
    @options_of(F.thresholded_relu)
    def __init__(self) -> None: ...


class Maxout(FunctionLayer):
    @options_of(F.maxout)
    def __init__(self) -> None: ...


class GLU(FunctionLayer):
    @options_of(F.glu)
    def __init__(self) -> None: ...


class PReLU(TensorLayer):
    """x where it is positive, else x times a learned slope.

    Args:
        num_parameters: one slope, or one for each channel.
        init: the slopes at first.
        weight_attr: of the slopes.
        data_format: where the channels are.
        name: stands in the names of parameters.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Attr = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._data_format = data_format
        self.weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The activated input."""
        return F.prelu(x, self.weight, self._data_format)


@from_fields
class RReLU(TrainedFunction):
    """x where it is not negative, else times a slope that is drawn in training:
    :func:`~fluidlite.nn.functional.rrelu`.

    >>> layer = fluid.nn.RReLU(0.25, 0.75)
    >>> layer.eval()
    >>> layer(fluid.to_tensor([-4.0, 2.0])).tolist()
    [-2.0, 2.0]
    """

    lower: float = 1.0 / 8.0
    upper: float = 1.0 / 3.0
    name: str | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.rrelu)
    _shown = ("lower", "upper")


class Softmax2D(TensorLayer):
    """The softmax of the channels of images, [N, C, H, W] or [C, H, W].

    Args:
        name: stands in the names of programs' variables.

    >>> fluid.nn.Softmax2D()(fluid.zeros([1, 2, 1, 1])).flatten().tolist()
    [0.5, 0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)

    def forward(self, x: Tensor) -> Tensor:
        """The softmax along the third dimension from the end."""
        if len(x.shape) not in (3, 4):
            raise ShapeError(f"expected x of 3 or 4 dimensions, got shape {list(x.shape)}")
        return F.softmax(x, -3)
