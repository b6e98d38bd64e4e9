"""Layers without parameters: a function, and the options that it is called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from ..errors import ShapeError
from ..initializer import Constant
from . import functional as F
from .layer import TensorLayer


class FunctionLayer(TensorLayer):
    """A layer that is a function, and the options of its calls.

    Args:
        options, named: those of the function, behind its first parameter.
        name: stands in the names of programs' variables.

    Raises:
        TypeError: the function has no such option.
    """

    function: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "function" in vars(cls):
            given = inspect.signature(cls.function)
            options = list(given.parameters.values())[cls._inputs :]
            cls.__signature__ = given.replace(parameters=options, return_annotation=None)

    _inputs: ClassVar[int] = 1  #: how many parameters of the function the call gives
    __signature__: ClassVar[inspect.Signature]

    def __init__(self, *options: Any, **named: Any) -> None:
        bound = type(self).__signature__.bind(*options, **named)
        super().__init__(bound.arguments.pop("name", None))
        self._options = dict(bound.arguments)

    def forward(self, *inputs: Any) -> Any:
        """What the function gives."""
        return type(self).function(*inputs, **self._options)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self._options.items())


class ReLU(FunctionLayer):
    """The larger of x and 0.

    >>> fluid.nn.ReLU()(fluid.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    function = staticmethod(F.relu)


class ReLU6(FunctionLayer):
    """x cut to [0, 6]."""

    function = staticmethod(F.relu6)


class ELU(FunctionLayer):
    """x where it is positive, else ``alpha (e^x - 1)``."""

    function = staticmethod(F.elu)


class CELU(FunctionLayer):
    """x where it is positive, else ``alpha (e^(x / alpha) - 1)``."""

    function = staticmethod(F.celu)


class SELU(FunctionLayer):
    """``scale`` times x where it is positive, else times ``alpha (e^x - 1)``."""

    function = staticmethod(F.selu)


class GELU(FunctionLayer):
    """x times the probability that a normal number is smaller."""

    function = staticmethod(F.gelu)


class LeakyReLU(FunctionLayer):
    """x where it is positive, else x times ``negative_slope``."""

    function = staticmethod(F.leaky_relu)


class Sigmoid(FunctionLayer):
    """1 / (1 + e^-x)."""

    function = staticmethod(F.sigmoid)


class LogSigmoid(FunctionLayer):
    """The logarithm of the sigmoid."""

    function = staticmethod(F.log_sigmoid)


class Tanh(FunctionLayer):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class Tanhshrink(FunctionLayer):
    """x - tanh(x)."""

    function = staticmethod(F.tanhshrink)


class Softmax(FunctionLayer):
    """Exponentials divided by their sum along ``axis``.

    >>> fluid.nn.Softmax()(fluid.zeros([1, 2])).tolist()
    [[0.5, 0.5]]
    """

    function = staticmethod(F.softmax)


class LogSoftmax(FunctionLayer):
    """The logarithm of the softmax."""

    function = staticmethod(F.log_softmax)


class Softplus(FunctionLayer):
    """log(1 + e^(beta x)) / beta."""

    function = staticmethod(F.softplus)


class Softsign(FunctionLayer):
    """x / (1 + |x|)."""

    function = staticmethod(F.softsign)


class Softshrink(FunctionLayer):
    """x moved towards 0 by ``threshold``, and not beyond it."""

    function = staticmethod(F.softshrink)


class Hardshrink(FunctionLayer):
    """x where its size is above ``threshold``, else 0."""

    function = staticmethod(F.hardshrink)


class Hardsigmoid(FunctionLayer):
    """x / 6 + 1/2, cut to [0, 1]."""

    function = staticmethod(F.hardsigmoid)


class Hardswish(FunctionLayer):
    """x times its hard sigmoid."""

    function = staticmethod(F.hardswish)


class Hardtanh(FunctionLayer):
    """x cut to [min, max]."""

    function = staticmethod(F.hardtanh)


class Silu(FunctionLayer):
    """x times its sigmoid."""

    function = staticmethod(F.silu)


class Swish(FunctionLayer):
    """x times its sigmoid."""

    function = staticmethod(F.swish)


class Mish(FunctionLayer):
    """x tanh(softplus(x))."""

    function = staticmethod(F.mish)


class ThresholdedReLU(FunctionLayer):
    """x where it is above ``threshold``, else 0."""

    function = staticmethod(F.thresholded_relu)


class Maxout(FunctionLayer):
    """The largest of ``groups`` channels each."""

    function = staticmethod(F.maxout)


class GLU(FunctionLayer):
    """The first half of x along ``axis``, times the sigmoid of the other half."""

    function = staticmethod(F.glu)


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
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._data_format = data_format
        self.weight = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Any) -> Any:
        """The activated input."""
        return F.prelu(x, self.weight, self._data_format)


class RReLU(TensorLayer):
    """x where it is not negative, else times a slope that is drawn in training:
    :func:`~fluidlite.nn.functional.rrelu`.

    Args:
        lower, upper: the bounds of the slopes.
        name: stands in the names of programs' variables.

    >>> layer = fluid.nn.RReLU(0.25, 0.75)
    >>> layer.eval()
    >>> layer(fluid.to_tensor([-4.0, 2.0])).tolist()
    [-2.0, 2.0]
    """

    def __init__(
        self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.lower, self.upper = lower, upper

    def forward(self, x: Any) -> Any:
        """What the function gives."""
        return F.rrelu(x, self.lower, self.upper, self.training)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}"


class Softmax2D(TensorLayer):
    """The softmax of the channels of images, [N, C, H, W] or [C, H, W].

    Args:
        name: stands in the names of programs' variables.

    >>> fluid.nn.Softmax2D()(fluid.zeros([1, 2, 1, 1])).flatten().tolist()
    [0.5, 0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)

    def forward(self, x: Any) -> Any:
        """The softmax along the third dimension from the end."""
        if len(x.shape) not in (3, 4):
            raise ShapeError(f"expected x of 3 or 4 dimensions, got shape {list(x.shape)}")
        return F.softmax(x, -3)
