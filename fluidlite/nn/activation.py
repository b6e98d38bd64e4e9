"""Layers without parameters: a function, and the options that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from ..errors import ShapeError
from ..ground.fields import from_fields, options_of
from ..initializer import Constant
from ..modules.calling import FunctionCaller
from ..param_attr import Attr
from . import functional as F
from .layer import TensorLayer

#: attributes of paddle's layers that are options of other names
_OPTIONS = {"ksize": "kernel_size", "divisor": "divisor_override"}


def _option_of(attribute: str) -> str:
    name = attribute.removeprefix("_")
    return _OPTIONS.get(name, name)


class FunctionLayer(FunctionCaller, TensorLayer):
    """A layer that is a function, and the options of its calls, which a subclass takes as its
    constructor.
    """

    _functions = F.__name__
    _told = "**self._options"

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the options that are not as by default.

        Args:
            given: options by name; ``name`` stands in the names of programs' variables.
        """
        TensorLayer.__init__(self, given.pop("name", None))
        self.__dict__["_options"] = self._unusual(given)

    def __getattr__(self, name: str) -> Any:
        """An option, as it was given or has been set since."""
        option = _option_of(name)
        for known in self._known_options():
            if option in known:
                return known[option]
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        option = _option_of(name)
        if any(option in known for known in self._known_options()):
            self._options = {**self._options, option: value}
        else:
            super().__setattr__(name, value)

    def _known_options(self) -> tuple[Mapping[str, Any], ...]:
        """Those of this layer, and those that are as by default."""
        return self.__dict__.get("_options", {}), vars(type(self)).get("_usual", {})

    #: the options in its ``repr``, by ``option:name`` under another name; one with ``?`` stands
    #: there where it is not as by default; None for all, and ``name?``
    _shown: ClassVar[str | None] = None

    def extra_repr(self) -> str:
        usual = {name: each.default for name, (each, _) in type(self)._fields.items()}
        values, parts = {**usual, **self._options, "name": self._said_name}, []
        words = (
            [*(each for each in usual if each != "name"), "name?"]
            if self._shown is None
            else self._shown.split()
        )
        for word in words:
            option, _, alias = word.rstrip("?").partition(":")
            if word[-1] != "?" or values[option] is not usual.get(option):
                parts.append(f"{alias or option}={values[option]}")
        return ", ".join(parts)


class TrainedFunction(FunctionLayer):
    """A layer whose function takes whether it trains."""

    _told = "training=self.training, **self._options"

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self, given.pop("name"))
        self._options = given


@from_fields
class _Named(FunctionLayer):
    """A function without options, but the name."""

    name: str | None = None


@from_fields
class _Scaled(FunctionLayer):
    """A function of a factor."""

    alpha: float = 1.0
    name: str | None = None


@from_fields
class _Cut(FunctionLayer):
    """A function that changes at a threshold."""

    threshold: float = 0.5
    name: str | None = None


@from_fields
class _Along(FunctionLayer):
    """A function along a dimension."""

    axis: int = -1
    name: str | None = None


class ReLU(_Named, calls=F.relu):
    """The larger of x and 0.

    >>> fluid.nn.ReLU()(fluid.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """


class ReLU6(_Named, calls=F.relu6): ...


class ELU(_Scaled, calls=F.elu): ...


class CELU(_Scaled, calls=F.celu): ...


class SELU(FunctionLayer):
    @options_of(F.selu)
    def __init__(self) -> None: ...

    def extra_repr(self) -> str:
        usual = {name: each.default for name, (each, _) in type(self)._fields.items()}
        factors = "scale={scale:.16f}, alpha={alpha:.16f}".format(**{**usual, **self._options})
        return factors + self._called()


class GELU(FunctionLayer):
    @options_of(F.gelu)
    def __init__(self) -> None: ...


@from_fields
class LeakyReLU(FunctionLayer, calls=F.leaky_relu):
    negative_slope: float = 0.01
    name: str | None = None


class Sigmoid(_Named, calls=F.sigmoid): ...


class LogSigmoid(_Named, calls=F.log_sigmoid): ...


class Tanh(_Named, calls=F.tanh): ...


class Tanhshrink(_Named, calls=F.tanhshrink): ...


class Softmax(_Along, calls=F.softmax):
    """Exponentials divided by their sum along ``axis``.

    >>> fluid.nn.Softmax()(fluid.zeros([1, 2])).tolist()
    [[0.5, 0.5]]
    """


class LogSoftmax(_Along, calls=F.log_softmax): ...


class Softplus(FunctionLayer):
    @options_of(F.softplus)
    def __init__(self) -> None: ...


class Softsign(_Named, calls=F.softsign): ...


class Softshrink(_Cut, calls=F.softshrink): ...


class Hardshrink(_Cut, calls=F.hardshrink): ...


class Hardsigmoid(_Named, calls=F.hardsigmoid): ...


class Hardswish(_Named, calls=F.hardswish): ...


class Hardtanh(FunctionLayer):
    @options_of(F.hardtanh)
    def __init__(self) -> None: ...


class Silu(_Named, calls=F.silu): ...


class Swish(_Named, calls=F.swish): ...


class Mish(_Named, calls=F.mish): ...


@from_fields
class ThresholdedReLU(_Cut, calls=F.thresholded_relu):
    threshold: float = 1.0


class Maxout(FunctionLayer):
    @options_of(F.maxout)
    def __init__(self) -> None: ...


class GLU(_Along, calls=F.glu): ...


class PReLU(TensorLayer):
    """x where it is positive, else x times a learned slope.

    Args:
        num_parameters: one slope, or one for each channel.
        init: the slopes at first.
        weight_attr: of the slopes.
        data_format: where the channels are.
        name: stands in the names of parameters.

    >>> fluid.nn.PReLU()(fluid.to_tensor([-2.0, 2.0])).tolist()
    [-0.5, 2.0]
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
        self._data_format, self._init = data_format, init
        self._num_parameters, self._weight_attr = num_parameters, weight_attr
        self._weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The activated input."""
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        of_slopes = f"num_parameters={self._weight.shape[0]}, data_format={self._data_format}"
        return f"{of_slopes}, init={self._init}, dtype={self._element_type.plain}{self._called()}"


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

    def extra_repr(self) -> str:
        slopes = f"lower={self.lower}, upper={self.upper}"
        return (
            f"{slopes}, training={self.training}, dtype={self._element_type.plain}{self._called()}"
        )


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

    def extra_repr(self) -> str:
        return self._called()[2:]
