"""Layers without parameters: a function, and the options that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.fields import belongs, defaults_of, options_of
from ..initializer import Constant
from . import functional as F
from .layer import TensorLayer


class FunctionLayer(TensorLayer):
    """A layer that is a function, and the options of its calls, which a subclass takes as its
    constructor.
    """

    function: ClassVar[Callable[..., Any]]
    _usual: ClassVar[Mapping[str, Any]]  #: the options that have a default

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        constructor: Any = vars(cls).get("__init__")
        if hasattr(constructor, "function"):
            belongs(constructor, cls)
            cls._usual = defaults_of(constructor)
            if "function" not in vars(cls):
                cls.function = staticmethod(constructor.function)

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the options that are not as by default.

        Args:
            given: options by name; ``name`` stands in the names of programs' variables.
        """
        TensorLayer.__init__(self, given.pop("name", None))
        usual = type(self)._usual
        self._options = {n: value for n, value in given.items() if value is not usual.get(n, self)}

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

    @options_of(F.relu)
    def __init__(self) -> None: ...


class ReLU6(FunctionLayer):
    """x cut to [0, 6]."""

    @options_of(F.relu6)
    def __init__(self) -> None: ...


class ELU(FunctionLayer):
    """x where it is positive, else ``alpha (e^x - 1)``."""

    @options_of(F.elu)
    def __init__(self) -> None: ...


class CELU(FunctionLayer):
    """x where it is positive, else ``alpha (e^(x / alpha) - 1)``."""

    @options_of(F.celu)
    def __init__(self) -> None: ...


class SELU(FunctionLayer):
    """``scale`` times x where it is positive, else times ``alpha (e^x - 1)``."""

    @options_of(F.selu)
    def __init__(self) -> None: ...


class GELU(FunctionLayer):
    """x times the probability that a normal number is smaller."""

    @options_of(F.gelu)
    def __init__(self) -> None: ...


class LeakyReLU(FunctionLayer):
    """x where it is positive, else x times ``negative_slope``."""

    @options_of(F.leaky_relu)
    def __init__(self) -> None: ...


class Sigmoid(FunctionLayer):
    """1 / (1 + e^-x)."""

    @options_of(F.sigmoid)
    def __init__(self) -> None: ...


class LogSigmoid(FunctionLayer):
    """The logarithm of the sigmoid."""

    @options_of(F.log_sigmoid)
    def __init__(self) -> None: ...


class Tanh(FunctionLayer):
    """The hyperbolic tangent."""

    @options_of(F.tanh)
    def __init__(self) -> None: ...


class Tanhshrink(FunctionLayer):
    """x - tanh(x)."""

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
    """The logarithm of the softmax."""

    @options_of(F.log_softmax)
    def __init__(self) -> None: ...


class Softplus(FunctionLayer):
    """log(1 + e^(beta x)) / beta."""

    @options_of(F.softplus)
    def __init__(self) -> None: ...


class Softsign(FunctionLayer):
    """x / (1 + |x|)."""

    @options_of(F.softsign)
    def __init__(self) -> None: ...


class Softshrink(FunctionLayer):
    """x moved towards 0 by ``threshold``, and not beyond it."""

    @options_of(F.softshrink)
    def __init__(self) -> None: ...


class Hardshrink(FunctionLayer):
    """x where its size is above ``threshold``, else 0."""

    @options_of(F.hardshrink)
    def __init__(self) -> None: ...


class Hardsigmoid(FunctionLayer):
    """x / 6 + 1/2, cut to [0, 1]."""

    @options_of(F.hardsigmoid)
    def __init__(self) -> None: ...


class Hardswish(FunctionLayer):
    """x times its hard sigmoid."""

    @options_of(F.hardswish)
    def __init__(self) -> None: ...


class Hardtanh(FunctionLayer):
    """x cut to [min, max]."""

    @options_of(F.hardtanh)
    def __init__(self) -> None: ...


class Silu(FunctionLayer):
    """x times its sigmoid."""

    @options_of(F.silu)
    def __init__(self) -> None: ...


class Swish(FunctionLayer):
    """x times its sigmoid."""

    @options_of(F.swish)
    def __init__(self) -> None: ...


class Mish(FunctionLayer):
    """x tanh(softplus(x))."""

    @options_of(F.mish)
    def __init__(self) -> None: ...


class ThresholdedReLU(FunctionLayer):
    """x where it is above ``threshold``, else 0."""

    @options_of(F.thresholded_relu)
    def __init__(self) -> None: ...


class Maxout(FunctionLayer):
    """The largest of ``groups`` channels each."""

    @options_of(F.maxout)
    def __init__(self) -> None: ...


class GLU(FunctionLayer):
    """The first half of x along ``axis``, times the sigmoid of the other half."""

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
