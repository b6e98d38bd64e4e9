"""First values of parameters, in the spelling of paddle 2.x."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

from .. import initializer as of_fluid
from ..eager.engine import located
from ..eager.prepared import generator
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, ShapeError
from ..functions.arguments import ArrayLike
from ..ground.arguments import finite, instance_of, integer, or_none, refused
from ..ground.dtypes import DType
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..initializer import Bilinear
from ..ir.variable import Variable
from .layer import first_values

__all__ = [
    "Assign", "Bilinear", "Constant", "Dirac", "KaimingNormal", "KaimingUniform", "Normal",
    "Orthogonal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "calculate_gain",
    "set_global_initializer",
]  # fmt: skip


INITIALIZERS = of_fluid.INITIALIZERS
#: programs hold lists of these element types
_IN_PROGRAMS = {DType.FP16: DType.FP32, DType.FP64: DType.FP32}
#: names of arguments here
_NAMES = {"loc": "mean", "scale": "std"}


@INITIALIZERS.like(of_fluid.Constant)
class Constant(of_fluid.Constant):
    """
    >>> fluid.nn.Linear(2, 1, weight_attr=fluid.nn.initializer.Constant(0.5)).weight.tolist()
    [[0.5], [0.5]]
    """

    def __init__(self, value: float = 0.0) -> None:
        super().__init__(value)


@INITIALIZERS.like(of_fluid.Normal, _NAMES)
class Normal(of_fluid.Normal):
    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(mean, std)


@INITIALIZERS.like(of_fluid.TruncatedNormal, _NAMES)
class TruncatedNormal(of_fluid.TruncatedNormal):
    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(mean, std)


@INITIALIZERS.like(of_fluid.Uniform)
class Uniform(of_fluid.Uniform):
    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        super().__init__(low, high)


class _Xavier(of_fluid.Xavier):
    _uniform: bool

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, name: str | None = None
    ) -> None:
        super().__init__(self._uniform, fan_in, fan_out)


@INITIALIZERS
class XavierNormal(_Xavier):
    """Normally distributed numbers of variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010,
    "Understanding the difficulty of training deep feedforward neural networks").
    """

    _uniform = False


@INITIALIZERS
class XavierUniform(_Xavier):
    """Equally likely numbers of variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010,
    "Understanding the difficulty of training deep feedforward neural networks").
    """

    _uniform = True


class _Kaiming(of_fluid.MSRA):
    _uniform: bool

    def __init__(
        self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"
    ) -> None:
        super().__init__(self._uniform, fan_in)
        gain = calculate_gain(nonlinearity, negative_slope)
        object.__setattr__(self, "share", gain * gain / 2.0)


_KAIMING = INITIALIZERS.extended(
    {
        "negative_slope": "of ``leaky_relu``.",
        "nonlinearity": "what follows the layer, which says the gain: as of "
        ":func:`calculate_gain`.",
    }
)


@_KAIMING
class KaimingNormal(_Kaiming):
    """Normally distributed numbers of variance gain^2 / fan_in (He et al. 2015, "Delving deep into
    rectifiers").
    """

    _uniform = False


@_KAIMING
class KaimingUniform(_Kaiming):
    """Equally likely numbers of variance gain^2 / fan_in (He et al. 2015, "Delving deep into
    rectifiers").
    """

    _uniform = True


@INITIALIZERS
class Assign(of_fluid.NumpyArrayInitializer):
    """Given values.

    Args:
        value: an array, a tensor, or a list of numbers, in the shape of the parameter.

    >>> start = fluid.nn.initializer.Assign([[1.0], [2.0]])
    >>> fluid.nn.Linear(2, 1, weight_attr=start).weight.tolist()
    [[1.0], [2.0]]
    """

    def __init__(self, value: ArrayLike, name: str | None = None) -> None:
        if not isinstance(value, (TensorRecord, np.ndarray, list, tuple)):
            raise refused(self, "value", "an array, a tensor or a list of numbers", value)
        super().__init__(value.array if isinstance(value, TensorRecord) else np.asarray(value))

    made_as = _IN_PROGRAMS

    def array(self, var: Variable) -> np.ndarray[Any, Any]:
        """The values of a parameter that is made at once.

        Args:
            var: accepted: it takes the shape of the values, as in paddle 2.
        """
        return self.value


class _Computed(of_fluid.Initializer):
    """Values that are computed when the parameter is made."""

    made_as = _IN_PROGRAMS

    def array(self, var: Variable) -> np.ndarray[Any, Any]:
        """The values of a parameter that is made at once.

        Args:
            var: has its shape.
        """
        return self._values(tuple(var.shape), var.program.random_seed)

    def _values(self, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
        raise NotImplementedError

    def operator(self, var: Any, block: Any, dtype: DType) -> tuple[str, dict[str, Any]]:
        values = self._values(tuple(var.shape), block.program.random_seed)
        return of_fluid.NumpyArrayInitializer(values.astype("float32")).operator(var, block, dtype)


@INITIALIZERS
class Dirac(_Computed):
    """Filters of convolutions that pass on their input: 1 in the middle of one channel each.

    Args:
        groups: the filters of each group begin with the first channel.

    >>> layer = fluid.nn.Conv1D(2, 2, 3, padding=1, weight_attr=fluid.nn.initializer.Dirac())
    >>> layer(fluid.to_tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
    [[[1.0, 2.0], [3.0, 4.0]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        integer(self, "groups", groups)
        self.groups = groups

    def _values(self, shape: tuple[int, ...], seed: int) -> Any:
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise ShapeError(
                f"Dirac: expected a filter [C, D, ...] of 3 to 5 dimensions whose first size "
                f"{self.groups} divides, got {list(shape)}"
            )
        values, group_size = np.zeros(shape), shape[0] // self.groups
        middle = tuple(n // 2 for n in shape[2:])
        for k in range(shape[0]):
            if k % group_size < shape[1]:
                values[(k, k % group_size, *middle)] = 1.0
        return values


@INITIALIZERS
class Orthogonal(_Computed):
    """Matrices whose rows, or columns, are of one length and at right angles (Saxe et al. 2014,
    "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks").

    Args:
        gain: the length.

    >>> w = fluid.nn.Linear(3, 3, weight_attr=fluid.nn.initializer.Orthogonal()).weight.numpy()
    >>> bool(np.abs(w @ w.T - np.eye(3)).max() < 1e-5)
    True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain: float = finite(self, "gain", gain)

    def _values(self, shape: tuple[int, ...], seed: int) -> Any:
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal: expected 2 or more dimensions, got shape {list(shape)}")
        drawn = generator.get()() if not seed else np.random.default_rng(seed)
        return orthogonal(shape, self.gain, drawn)


def orthogonal(shape: tuple[int, ...], gain: float, drawn: Any) -> Any:
    """A matrix, or filters as one, whose rows or columns are of one length and at right angles.

    Args:
        shape: of 2 or more dimensions.
        gain: the length.
        drawn: the generator of random numbers.
    """
    rows, columns = shape[0], prod(shape[1:])
    flat = drawn.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(flat)
    q = q * np.sign(np.diag(r))
    return gain * (q if rows >= columns else q.T).reshape(shape)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much larger weights have to be before a function, so that activations keep their size.

    Args:
        nonlinearity: sigmoid, linear, tanh, relu, leaky_relu, selu, or a convolution.
        param: the slope of ``leaky_relu``; 0.01 when None.

    Raises:
        ArgumentError: the function is unknown.

    >>> fluid.nn.initializer.calculate_gain("tanh")
    1.6666666666666667
    """
    slope = (
        0.01
        if param is None
        else finite("calculate_gain", "param", +param if isinstance(param, bool) else param)
    )
    gains = {
        **dict.fromkeys(("sigmoid", "linear"), 1),
        **{f"conv{n}d{end}": 1 for n in (1, 2, 3) for end in ("", "_transpose")},
        **{f"conv_transpose{n}d": 1 for n in (1, 2, 3)},
        "tanh": 5.0 / 3,
        "relu": sqrt(2.0),
        "leaky_relu": sqrt(2.0 / (1 + slope * slope)),
        "selu": 0.75,
    }
    if nonlinearity not in gains:
        known = ", ".join(gains)
        raise located(
            ArgumentError, f"there is no gain of {nonlinearity!r:.60}, expected one of {known}"
        )
    return gains[nonlinearity]


_an_initializer = or_none(instance_of(of_fluid.Initializer, "an initializer or None"))


def set_global_initializer(
    weight_init: of_fluid.Initializer | None, bias_init: of_fluid.Initializer | None = None
) -> None:
    """Begin parameters of layers that say nothing of it in another way from now on.

    Args:
        weight_init: gives weights their first values; None for the layers' own ways.
        bias_init: the same for biases.

    Raises:
        ArgumentError: one of them is no initializer.

    >>> fluid.nn.initializer.set_global_initializer(fluid.nn.initializer.Constant(2.0))
    >>> fluid.nn.Linear(1, 2).weight.tolist()
    [[2.0, 2.0]]
    >>> fluid.nn.initializer.set_global_initializer(None)
    """
    for what, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        _an_initializer("set_global_initializer", what, given)
    first_values.switch((weight_init, bias_init))


list_public_names(globals())
api_boundaries(globals())
answer(globals())
