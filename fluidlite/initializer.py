"""First values of parameters: each initializer adds an operator to the startup program.

Operators are put at the front of the block, so that a startup program lists the last parameter
first.  An initializer is a plain record of its arguments; called with a variable and a block it
gives the variable its value there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from . import unique_name
from .errors import ArgumentError, DTypeError, ShapeError
from .ground import state
from .ground.arguments import Check, finite, instance_of, integer, or_none, positive, refused
from .ground.callsite import warn
from .ground.docstrings import Family
from .ground.dtypes import DType
from .ground.extension import ExtensionPoint
from .ground.missing_names import answer
from .ground.protected import HasProtectedArguments
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ir.block import Block
from .ir.operator import Operator
from .ir.variable import Variable, is_tensor

INITIALIZERS = Family(
    {
        "value": "the number.",
        "loc": "their expectation.",
        "scale": "their standard deviation.",
        "seed": "fixes the numbers; 0 takes the seed of the program.",
        "uniform": "equally likely numbers between bounds, or normally distributed ones.",
        "fan_in": "how many numbers one output is made of; by the variable's shape when None.",
        "fan_out": "how many outputs one number goes into; by the variable's shape when None.",
        "name": "accepted.",
    },
    raises="ArgumentError: an argument is of another kind, or out of range.",
)


#: gives tensors first values
FILLER: ExtensionPoint[Any] = ExtensionPoint("values of tensors")


def _number(owner: object, what: str, value: Any) -> None:
    if (type(value) is not float and not isinstance(value, (Real, np.bool_))) or math.isnan(value):
        raise refused(owner, what, "a number", value)


def _from_zero(owner: object, what: str, value: Any) -> None:
    integer(owner, what, value, 0)


#: the type of an argument -> what it has to be
_CHECKS: Mapping[Any, Check] = {
    "float": _number,
    "int": _from_zero,
    "float | None": or_none(finite),
    "np.ndarray[Any, Any]": instance_of(np.ndarray, "a NumPy array"),
}


@cache
def _checks_of(kind: Any) -> list[tuple[str, Check]]:
    """The arguments of a class of initializers that are checked, and how."""
    return [(field.name, _CHECKS[field.type]) for field in fields(kind) if field.type in _CHECKS]


class Initializer(HasProtectedArguments, Described):
    """The base of all initializers: called with a variable and the block that gives it its value.

    A subclass says what to compute in ``operator``.

    >>> isinstance(fluid.initializer.Constant(1.0), fluid.initializer.Initializer)
    True
    """

    #: the stem of the variable that holds the value before it is cast to float16
    stem = "init"
    prepends: ClassVar[bool] = True  #: whether its operators go to the front of the block
    #: element types that values are cast to -> those that operators make
    made_as: ClassVar[Mapping[DType, DType]] = {DType.FP16: DType.FP32}
    protected: ClassVar[Mapping[str, str]] = {"_mean": "loc", "_std_dev": "scale"}
    #: gives the value of a parameter where no operator makes it
    array: ClassVar[Any] = None
    #: whether a user's class says in ``__call__`` or ``forward`` what a parameter gets
    is_called: ClassVar[bool] = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.is_called = cls.is_called or bool({"__call__", "forward"} & {*vars(cls)})

    def __post_init__(self) -> None:
        for name, check in _checks_of(type(self)):  # type: ignore[arg-type]  # of a class
            check(self, name, getattr(self, name))

    @property
    def _goes_first(self) -> bool:
        return self.prepends and not state.builds.get()  # paddle 2 has none of these

    def _compute_fans(self, var: Variable) -> tuple[int, int]:
        return fans(var)

    def __call__(self, var: Variable, block: Block | None = None) -> Operator | None:
        """What ``forward`` does; arguments as of that."""
        return self.forward(var, block)

    def forward(self, var: Variable, block: Block | None = None) -> Operator | None:
        """Add the operator that gives a variable its first value.

        Args:
            var: a variable of the block, its shape and element type known; or a tensor, which gets
                other elements.
            block: block 0 of a startup program; the variable's program's when None.

        Returns:
            the operator; None for a tensor.

        Raises:
            ArgumentError: an argument is of another kind.
            ShapeError, DTypeError: the initializer does not make values of that shape or type.
        """
        if block is None and is_tensor(var):
            FILLER.get().fill(self, var)
            return None
        if block is None and isinstance(var, Variable):
            block = var.program.global_block()
        if not isinstance(var, Variable) or not isinstance(block, Block):
            raise ArgumentError(
                f"an initializer takes a variable and a block, got {var!r:.60} and {block!r:.60}"
            )
        dtype = self.made_as.get(var.dtype)
        if dtype is None:
            return self._put(block, *self.operator(var, block, var.dtype), var)
        kind, attrs = self.operator(var, block, dtype)
        wide = block.create_var(
            name=unique_name.generate(f"{self.stem}.{var.name}.tmp"), shape=var.shape, dtype=dtype
        )
        casts = {"in_dtype": dtype, "out_dtype": var.dtype}
        if self._goes_first:
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
        put = block.prepend_op if self._goes_first else block.append_op
        return put(kind, outputs={"Out": out}, attrs=attrs)


@INITIALIZERS
@dataclass(frozen=True)
class Constant(Initializer):
    """One number everywhere.

    Args:
        force_cpu: kept in the operator; there is one place.

    >>> fluid.initializer.Constant(0.5)
    Constant(value=0.5, force_cpu=False)
    """

    value: float = 0.0
    force_cpu: bool = False
    stem = "constant_init"

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        return "fill_constant", {
            "shape": var.shape,
            "dtype": dtype,
            "value": float(self.value),
            "force_cpu": bool(self.force_cpu),
            **({"str_value": str(float(self.value))} if state.builds.get() else {}),
        }


@INITIALIZERS
@dataclass(frozen=True)
class Uniform(Initializer):
    """Numbers that are equally likely everywhere in [low, high).

    Args:
        low, high: the bounds.
        diag_num: how many elements, the first and then every ``diag_step`` + 1, are ``diag_val``.
        diag_step, diag_val: see there.

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
        super().__post_init__()
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


@INITIALIZERS
@dataclass(frozen=True)
class Normal(Initializer):
    """Normally distributed numbers.

    >>> fluid.initializer.Normal(scale=0.02).scale
    0.02
    """

    loc: float = 0.0
    scale: float = 1.0
    seed: int = 0
    stem = "gaussian_random"  # the operator's type, too

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale < 0:
            raise ArgumentError(
                f"{type(self).__name__}: expected scale, a standard deviation, of at least 0, got "
                f"{self.scale}"
            )

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        numbers = {"mean": float(self.loc), "std": float(self.scale)}
        return _drawn(self.stem, var, block, dtype, self.seed, **numbers)


@INITIALIZERS
@dataclass(frozen=True)
class TruncatedNormal(Normal):
    """Normally distributed numbers, drawn again where they are farther than two ``scale`` from
    ``loc``.

    Args:
        loc: the middle.
        scale: the standard deviation before numbers are drawn again.

    >>> fluid.initializer.TruncatedNormal(scale=2.0)
    TruncatedNormal(loc=0.0, scale=2.0, seed=0)
    """

    stem = "truncated_gaussian_random"


class _Spread(Initializer):
    """Random numbers around 0, whose variance follows from the variable's shape."""

    uniform: bool
    seed: int

    def variance(self, var: Variable) -> float:
        """The variance of a variable's values."""
        raise NotImplementedError

    def operator(self, var: Variable, block: Block, dtype: DType) -> tuple[str, dict[str, Any]]:
        variance = self.variance(var)
        if self.uniform:
            limit = math.sqrt(3.0 * variance)
            return _uniform(var, block, dtype, -limit, limit, self.seed)
        numbers = {"mean": 0.0, "std": math.sqrt(variance)}
        return _drawn("gaussian_random", var, block, dtype, self.seed, **numbers)


@INITIALIZERS
@dataclass(frozen=True)
class Xavier(_Spread):
    """Random numbers of variance 2 / (fan_in + fan_out), which keeps the size of activations and of
    gradients from layer to layer where activations are about linear.

    Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks,
    AISTATS 2010.

    >>> fluid.initializer.Xavier(uniform=False).uniform
    False
    """

    uniform: bool = True
    fan_in: float | None = None
    fan_out: float | None = None
    seed: int = 0
    stem = "xavier_init"

    def variance(self, var: Variable) -> float:
        of_shape = fans(var)
        fan_in = of_shape[0] if self.fan_in is None else self.fan_in
        fan_out = of_shape[1] if self.fan_out is None else self.fan_out
        return 2.0 / positive(self, "fan_in + fan_out", fan_in + fan_out)


@INITIALIZERS
@dataclass(frozen=True)
class MSRA(_Spread):
    """Random numbers of variance 2 / fan_in, which keeps the size of activations from layer to
    layer where activations are rectified.

    He, Zhang, Ren and Sun, Delving deep into rectifiers, ICCV 2015.

    >>> fluid.initializer.MSRA(fan_in=8).fan_in
    8
    """

    uniform: bool = True
    fan_in: float | None = None
    seed: int = 0
    stem = "masra_init"  # spelt as in fluid's programs
    #: what fan_in counts
    share: ClassVar[float] = 1.0

    def variance(self, var: Variable) -> float:
        fan_in = fans(var)[0] if self.fan_in is None else self.fan_in
        return 2.0 / (positive(self, "fan_in", fan_in) / self.share)


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
        flat = values.astype(dtype.dtype).reshape(-1)
        listed = flat if element is float else [element(value) for value in flat.tolist()]
        return "assign_value", {"shape": values.shape, "dtype": dtype, attribute: listed}


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


@INITIALIZERS
@dataclass(frozen=True, eq=False, repr=False)
class NumpyArrayInitializer(_Written):
    """The values of an array.

    Args:
        value: a NumPy array.

    >>> fluid.initializer.NumpyArrayInitializer(np.zeros([2, 3], "float32")).value.shape
    (2, 3)
    """

    value: np.ndarray[Any, Any]
    stem = "numpy_array_init"

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
    return fans_of(var.shape)


def fans_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """:func:`fans`, of the shape of a weight.

    >>> fluid.initializer.fans_of((4, 3, 5, 5))
    (75, 100)
    """
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def force_init_on_cpu() -> bool:
    """Whether initializers have to work on the CPU: False, there is one place.

    >>> fluid.initializer.force_init_on_cpu()
    False
    """
    return False


def _uniform(
    var: Variable, block: Block, dtype: DType, low: float, high: float, seed: int
) -> tuple[str, dict[str, Any]]:
    return _drawn("uniform_random", var, block, dtype, seed, min=low, max=high)


def _drawn(
    kind: str, var: Variable, block: Block, dtype: DType, seed: int, **numbers: float
) -> tuple[str, dict[str, Any]]:
    """The operator that draws a variable's values."""
    seed = int(seed) or block.program.random_seed
    return kind, {"shape": var.shape, "dtype": dtype, **numbers, "seed": seed}


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
