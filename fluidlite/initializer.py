"""First values of parameters: each initializer adds an operator to the startup program.

Operators are put at the front of the block, so that a startup program lists the last parameter
first.  An initializer is a plain record of its arguments; called with a variable and a block it
gives the variable its value there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from . import unique_name
from .errors import ArgumentError, DTypeError, ShapeError
from .ground.dtypes import DType
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ir.block import Block
from .ir.callsite import warn
from .ir.operator import Operator
from .ir.variable import Variable


class Initializer(Described):
    """The base of all initializers: called with a variable and the block that gives it its value.

    A subclass says what to compute in ``operator``.
    """

    #: the stem of the variable that holds the value before it is cast to float16
    stem = "init"
    prepends: ClassVar[bool] = True  #: whether its operators go to the front of the block

    def __call__(self, var: Variable, block: Block) -> Operator:
        """Add the operator that gives a variable its first value.

        Args:
            var: a variable of the block, its shape and element type known.
            block: block 0 of a startup program.

        Returns:
            the operator.

        Raises:
            ArgumentError: an argument is of another kind.
            ShapeError, DTypeError: the initializer does not make values of that shape or type.
        """
        if not isinstance(var, Variable) or not isinstance(block, Block):
            raise ArgumentError(
                f"an initializer takes a variable and a block, got {var!r:.60} and {block!r:.60}"
            )
        if var.dtype is not DType.FP16:
            return self._put(block, *self.operator(var, block, var.dtype), var)
        kind, attrs = self.operator(var, block, DType.FP32)
        wide = block.create_var(
            name=unique_name.generate(f"{self.stem}.{var.name}.tmp"),
            shape=var.shape,
            dtype=DType.FP32,
        )
        casts = {"in_dtype": DType.FP32, "out_dtype": DType.FP16}
        if self.prepends:
            block.prepend_op("cast", inputs={"X": wide}, outputs={"Out": var}, attrs=casts)
            return self._put(block, kind, attrs, wide)
        made = self._put(block, kind, attrs, wide)
        block.append_op("cast", inputs={"X": wide}, outputs={"Out": var}, attrs=casts)
        return made

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        """Type and attributes of the operator that makes the value.

        Args:
            var: gives the shape.
            block: whose program's ``random_seed`` counts where the initializer has none.
            dtype: the element type to make.
        """
        raise NotImplementedError

    def _put(self, block: Block, kind: str, attrs: dict[str, Any], out: Variable) -> Operator:
        put = block.prepend_op if self.prepends else block.append_op
        return put(kind, outputs={"Out": out}, attrs=attrs)


@dataclass(frozen=True)
class Constant(Initializer):
    """One number everywhere.

    Args:
        value: the number.
        force_cpu: kept in the operator; there is one place.

    Raises:
        ArgumentError: ``value`` is no number.

    >>> fluid.initializer.Constant(0.5)
    Constant(value=0.5, force_cpu=False)
    """

    value: float = 0.0
    force_cpu: bool = False
    stem = "constant_init"

    def __post_init__(self) -> None:
        _need_numbers("Constant", value=self.value)

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        return "fill_constant", {
            "shape": var.shape,
            "dtype": dtype,
            "value": float(self.value),
            "force_cpu": bool(self.force_cpu),
        }


@dataclass(frozen=True)
class Uniform(Initializer):
    """Numbers that are equally likely everywhere in [low, high).

    Args:
        low, high: the bounds.
        seed: fixes the numbers; 0 takes the seed of the program.
        diag_num: how many elements, the first and then every ``diag_step`` + 1, are ``diag_val``.
        diag_step, diag_val: see there.

    Raises:
        ArgumentError: an argument is no number, or ``low`` is above ``high``.

    >>> fluid.initializer.Uniform(-0.1, 0.1).high
    0.1
    """

    low: float = -1.0
    high: float = 1.0
    seed: int = 0
    diag_num: int = 0
    diag_step: int = 0
    diag_val: float = 1.0
    stem = "uniform_random"

    def __post_init__(self) -> None:
        _need_numbers("Uniform", low=self.low, high=self.high, diag_val=self.diag_val)
        _need_counts("Uniform", seed=self.seed, diag_num=self.diag_num, diag_step=self.diag_step)
        if self.high < self.low:
            raise ArgumentError(
                f"Uniform: expected low to be at most high, got low={self.low} and high={self.high}"
            )

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        kind, attrs = _uniform(var, block, dtype, float(self.low), float(self.high), self.seed)
        attrs["diag_num"] = int(self.diag_num)
        attrs["diag_step"] = int(self.diag_step)
        attrs["diag_val"] = float(self.diag_val)
        return kind, attrs


@dataclass(frozen=True)
class Normal(Initializer):
    """Normally distributed numbers.

    Args:
        loc: their expectation.
        scale: their standard deviation.
        seed: fixes the numbers; 0 takes the seed of the program.

    Raises:
        ArgumentError: an argument is no number, or ``scale`` is negative.

    >>> fluid.initializer.Normal(scale=0.02).scale
    0.02
    """

    loc: float = 0.0
    scale: float = 1.0
    seed: int = 0
    stem = "gaussian_random"  # the operator's type, too

    def __post_init__(self) -> None:
        name = type(self).__name__
        _need_numbers(name, loc=self.loc, scale=self.scale)
        _need_counts(name, seed=self.seed)
        if self.scale < 0:
            raise ArgumentError(
                f"{name}: expected scale, a standard deviation, of at least 0, got {self.scale}"
            )

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        mean, deviation = float(self.loc), float(self.scale)
        return _normal(var, block, dtype, mean, deviation, self.seed, self.stem)


@dataclass(frozen=True)
class TruncatedNormal(Normal):
    """Normally distributed numbers, drawn again where they are farther than two ``scale`` from
    ``loc``.

    Args:
        loc: the middle.
        scale: the standard deviation before numbers are drawn again.
        seed: fixes the numbers; 0 takes the seed of the program.

    Raises:
        ArgumentError: an argument is no number, or ``scale`` is negative.

    >>> fluid.initializer.TruncatedNormal(scale=2.0)
    TruncatedNormal(loc=0.0, scale=2.0, seed=0)
    """

    stem = "truncated_gaussian_random"


@dataclass(frozen=True)
class Xavier(Initializer):
    """Random numbers of variance 2 / (fan_in + fan_out), which keeps the size of activations and of
    gradients from layer to layer where activations are about linear.

    Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks,
    AISTATS 2010.

    Args:
        uniform: whether the numbers are equally likely between bounds, or normally distributed.
        fan_in: how many numbers one output is made of; None takes it from the variable's shape.
        fan_out: how many outputs one number goes into; None takes it from the variable's shape.
        seed: fixes the numbers; 0 takes the seed of the program.

    Raises:
        ArgumentError: an argument is no number, or a fan is not positive.

    >>> fluid.initializer.Xavier(uniform=False).uniform
    False
    """

    uniform: bool = True
    fan_in: float | None = None
    fan_out: float | None = None
    seed: int = 0
    stem = "xavier_init"

    def __post_init__(self) -> None:
        _need_counts("Xavier", seed=self.seed)
        _need_fans("Xavier", fan_in=self.fan_in, fan_out=self.fan_out)

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        of_shape = fans(var)
        fan_in = of_shape[0] if self.fan_in is None else self.fan_in
        fan_out = of_shape[1] if self.fan_out is None else self.fan_out
        variance = 2.0 / (fan_in + fan_out)
        return _of_variance(variance, self.uniform, var, block, dtype, self.seed)


@dataclass(frozen=True)
class MSRA(Initializer):
    """Random numbers of variance 2 / fan_in, which keeps the size of activations from layer to
    layer where activations are rectified.

    He, Zhang, Ren and Sun, Delving deep into rectifiers, ICCV 2015.

    Args:
        uniform: whether the numbers are equally likely between bounds, or normally distributed.
        fan_in: how many numbers one output is made of; None takes it from the variable's shape.
        seed: fixes the numbers; 0 takes the seed of the program.

    Raises:
        ArgumentError: an argument is no number, or ``fan_in`` is not positive.

    >>> fluid.initializer.MSRA(fan_in=8).fan_in
    8
    """

    uniform: bool = True
    fan_in: float | None = None
    seed: int = 0
    stem = "masra_init"  # spelt as in fluid's programs

    def __post_init__(self) -> None:
        _need_counts("MSRA", seed=self.seed)
        _need_fans("MSRA", fan_in=self.fan_in)

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        fan_in = fans(var)[0] if self.fan_in is None else self.fan_in
        return _of_variance(2.0 / fan_in, self.uniform, var, block, dtype, self.seed)


class _Written(Initializer):
    """Values that stand in the program, element by element."""

    #: per element type: the attribute, and the Python type of its elements
    _lists: ClassVar = {
        DType.BOOL: ("bool_values", bool),
        DType.FP32: ("fp32_values", float),
        DType.INT32: ("int32_values", int),
        DType.INT64: ("int64_values", int),
    }

    def values(self, var: Variable) -> np.ndarray[Any, Any]:
        """The values, in the variable's shape."""
        raise NotImplementedError

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        if dtype not in self._lists:
            known = ", ".join(map(str, (*self._lists, DType.FP16)))
            raise DTypeError(
                f"{type(self).__name__}: values can be written into a program as {known}; "
                f"{var.name!r} is {dtype}"
            )
        values = self.values(var)
        if not np.can_cast(values.dtype, dtype.dtype, "same_kind"):
            raise DTypeError(
                f"{type(self).__name__}: values of {values.dtype} would be changed in "
                f"{var.name!r}, which is {dtype}; convert the array first"
            )
        attribute, element = self._lists[dtype]
        listed = values.astype(dtype.dtype).reshape(-1).tolist()
        return "assign_value", {
            "shape": values.shape,
            "dtype": dtype,
            attribute: [element(value) for value in listed],
        }


@dataclass(frozen=True)
class Bilinear(_Written):
    """The filter of a transposed convolution that enlarges images by bilinear interpolation.

    The filter has shape [C, 1, K, K] or [C, D, K, K].  As in fluid 1.8 the vertical position moves
    on with every element and not with every row: element ``i`` of a filter, counted row by row,
    is ``h(i % K) h(i / K)`` with ``h(t) = 1 - |t / f - c|``, ``f = ceil(K / 2)`` and
    ``c = (2 f - 1 - f % 2) / (2 f)``.

    >>> fluid.initializer.Bilinear()
    Bilinear()
    """

    stem = "bilinear_init"
    prepends: ClassVar[bool] = False

    def values(self, var: Variable) -> np.ndarray[Any, Any]:
        shape = var.shape
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError(
                f"Bilinear: expected a filter of shape [C, D, K, K], {var.name!r} has {list(shape)}"
            )
        size = shape[3]
        factor = math.ceil(size / 2.0)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        i = np.arange(math.prod(shape))
        x, y = i % size, (i / size) % size
        weights = (1 - abs(x / factor - centre)) * (1 - abs(y / factor - centre))
        return weights.astype("float32").reshape(shape)


@dataclass(frozen=True, eq=False, repr=False)
class NumpyArrayInitializer(_Written):
    """The values of an array.

    Args:
        value: a NumPy array.

    Raises:
        ArgumentError: ``value`` is no NumPy array.

    >>> fluid.initializer.NumpyArrayInitializer(np.zeros([2, 3], "float32")).value.shape
    (2, 3)
    """

    value: np.ndarray[Any, Any]
    stem = "numpy_array_init"

    def __post_init__(self) -> None:
        if not isinstance(self.value, np.ndarray):
            raise ArgumentError(
                f"NumpyArrayInitializer: expected a NumPy array, got {self.value!r:.60} of type "
                f"{type(self.value).__name__}"
            )

    def values(self, var: Variable) -> np.ndarray[Any, Any]:
        if self.value.shape != var.shape:
            warn(
                f"NumpyArrayInitializer: {var.name!r} is declared with the shape "
                f"{list(var.shape)}, and gets an array of shape {list(self.value.shape)}: "
                f"operators compute with that one",
                None,
            )
        return self.value


def fans(var: Variable) -> tuple[int, int]:
    """How many numbers one output of a layer is made of, and how many outputs one number goes into.

    A matrix has them as its rows and columns; a filter [C, D, ...] has D and C times the positions
    of its window; a vector has its length for both.

    Args:
        var: the layer's weight.

    >>> w = fluid.default_main_program().global_block().create_var(shape=[8, 4, 3, 3])
    >>> fans(w)
    (36, 72)
    """
    shape = var.shape
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def force_init_on_cpu() -> bool:
    """Whether initializers are told to work on the CPU: False, there is one place."""
    return False


def _of_variance(
    variance: float, uniform: bool, var: Variable, block: Block, dtype: DType, seed: int
) -> tuple[str, dict[str, Any]]:
    """Random numbers around 0: between bounds of +-sqrt(3 variance), or normally distributed."""
    if uniform:
        limit = math.sqrt(3.0 * variance)
        return _uniform(var, block, dtype, -limit, limit, seed)
    return _normal(var, block, dtype, 0.0, math.sqrt(variance), seed)


def _uniform(
    var: Variable, block: Block, dtype: DType, low: float, high: float, seed: int
) -> tuple[str, dict[str, Any]]:
    return "uniform_random", {
        "shape": var.shape,
        "dtype": dtype,
        "min": low,
        "max": high,
        "seed": int(seed) or block.program.random_seed,
    }


def _normal(
    var: Variable,
    block: Block,
    dtype: DType,
    mean: float,
    deviation: float,
    seed: int,
    kind: str = "gaussian_random",
) -> tuple[str, dict[str, Any]]:
    return kind, {
        "shape": var.shape,
        "dtype": dtype,
        "mean": mean,
        "std": deviation,
        "seed": int(seed) or block.program.random_seed,
    }


def _need_numbers(name: str, **values: Any) -> None:
    for what, value in values.items():
        if not isinstance(value, (Real, np.bool_)) or math.isnan(value):
            raise ArgumentError(f"{name}: expected {what} to be a number, got {value!r:.60}")


def _need_counts(name: str, **values: Any) -> None:
    for what, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise ArgumentError(
                f"{name}: expected {what} to be an integer of at least 0, got {value!r:.60}"
            )


def _need_fans(name: str, **values: Any) -> None:
    for what, value in values.items():
        if value is None:
            continue
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
            raise ArgumentError(
                f"{name}: expected {what} to be None or a positive number, got {value!r:.60}"
            )


ConstantInitializer = Constant
UniformInitializer = Uniform
NormalInitializer = Normal
TruncatedNormalInitializer = TruncatedNormal
XavierInitializer = Xavier
MSRAInitializer = MSRA
BilinearInitializer = Bilinear

list_public_names(globals())
api_boundaries(globals())
answer(globals())
