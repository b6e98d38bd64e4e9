"""Tensors from nothing: from Python's values, filled with a number, or with random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.engine import located
from ..eager.held_values import HoldsValues
from ..eager.prepared import generator
from ..eager.recording import TensorRecord, eager
from ..eager.tensor import Tensor
from ..eager.tensor_core import TensorCore
from ..errors import ArgumentError, DTypeError, ShapeError
from ..ground.arguments import integer, refused
from ..ground.dtypes import DType, as_dtype
from ..ground.seeding import reseed
from ..ground.values import LoDTensor
from ..opdef.operand import Operand, appends
from ..opdef.redefinition import redefinitions
from .arithmetic import add, cast_to, less_than, multiply
from .mixing import complex_of, default_float
from .noise import normal_like, uniform_like
from .shaping import numbers_in

if TYPE_CHECKING:
    from .arguments import ArrayLike, DTypeLike, Numbers


def to_tensor(
    data: ArrayLike,
    dtype: DTypeLike = None,
    place: object | None = None,
    stop_gradient: bool = True,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor with a copy of some values.

    Args:
        data: a number, a list, an array, or a tensor: no gradient flows to that.
        dtype: the element type; when None, that of an array, int64 for integers, bool for truth
            values, and the default type for fractions.
        place: accepted for old scripts; there is one place.
        stop_gradient: False: it gets a gradient; none flows to integers and truth values.
        requires_grad: the same, the other way round: torch's word.

    Raises:
        ArgumentError: NumPy makes no array of numbers of it.

    >>> fluid.to_tensor([[1, 2], [3, 4]])
    Tensor(shape=[2, 2], dtype=int64, place=Place(cpu), stop_gradient=True,
           [[1, 2],
            [3, 4]])
    """
    if not isinstance(stop_gradient, (bool, np.bool_)):
        raise located(ArgumentError, f"expected stop_gradient to be a bool, got {stop_gradient!r}")
    if requires_grad is not None:
        if not isinstance(requires_grad, (bool, np.bool_)):
            raise located(
                ArgumentError, f"expected requires_grad to be a bool, got {requires_grad!r}"
            )
        stop_gradient = not requires_grad
    return Tensor(array_of(data, dtype), stop=bool(stop_gradient))


def array_of(data: ArrayLike, dtype: DTypeLike = None) -> Any:
    """A new array with some values; see ``to_tensor``."""
    wanted = None if dtype is None else as_dtype(dtype).dtype
    if isinstance(data, (TensorRecord, LoDTensor)):
        return np.array(data, dtype=wanted)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.array(data, dtype=wanted)
    else:
        array = _array_from_python(data)
        if wanted is not None:
            array = array.astype(wanted, copy=False)
        elif array.dtype == np.float64:
            array = array.astype(default_float())
        elif array.dtype == np.complex128:
            array = array.astype(complex_of(default_float()))
        elif array.dtype.kind == "i":
            array = array.astype("int64", copy=False)
    try:
        as_dtype(array.dtype)
    except DTypeError:
        raise located(
            ArgumentError, f"expected numbers or truth values, got {data!r:.60} of {array.dtype}"
        ) from None
    return array


def _array_from_python(data: Any) -> np.ndarray[Any, Any]:
    try:
        return np.array(_without_tensors(data))
    except (ValueError, Warning):  # NumPy 1.23 warns
        raise located(
            ArgumentError, f"expected lists of the same length within each other, got {data!r:.60}"
        ) from None


def _without_tensors(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_without_tensors(each) for each in data]
    return data.numpy() if isinstance(data, TensorRecord) else data  # type: ignore[attr-defined]


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes = numbers_in("shape", shape)
    if any(n < 0 for n in sizes):
        raise located(ShapeError, f"expected sizes of at least 0, got {list(sizes)}")
    return sizes


def _number(function: str, what: str, value: Any) -> Any:
    """A number, also of a tensor of one element, or of a text."""
    if isinstance(value, Operand):
        return value.array.item()
    try:
        if value is not None and (function == "full" or not isinstance(value, complex)):
            return float(value) if isinstance(value, str) else value
    except ValueError:
        pass
    raise refused(function, what, "a number", value) from None


def _points(function: str, num: Any) -> int:
    """How many numbers there are to be."""
    return integer(function, "num", int(_number(function, "num", num)), least=1)


def _type(dtype: Any, default: Any = None) -> np.dtype[Any]:
    if dtype is not None:
        if type(dtype) is int or isinstance(dtype, np.integer):
            raise located(
                ArgumentError,
                f"expected dtype to be an element type, such as 'float32', got {dtype!r}; "
                f"sizes are given as one list: [2, 3]",
            )
        return as_dtype(dtype).dtype
    return default_float() if default is None else default


def zeros(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """A tensor of zeros.

    >>> fluid.zeros([2, 3]).shape
    [2, 3]
    """
    return Tensor(np.zeros(_sizes(shape), _type(dtype)))


def ones(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """A tensor of ones.

    >>> fluid.ones([2, 2]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return Tensor(np.ones(_sizes(shape), _type(dtype)))


def full(
    shape: Numbers, fill_value: float | Tensor, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """A tensor of one number.

    Args:
        shape: sizes.
        fill_value: a number, or a tensor of one element.
        dtype: the element type; the default type of fractions when None.

    >>> fluid.full([2], 3).tolist()
    [3.0, 3.0]
    """
    value = _number("full", "fill_value", fill_value)
    kind = _type(dtype, complex_of(default_float()) if isinstance(value, complex) else None)
    return Tensor(np.full(_sizes(shape), value, kind))


def filled(
    shape: Numbers, fill_value: float | Tensor, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """A tensor of one number, which is bool or int64 where the number is of such a type.

    Args:
        shape, fill_value, name: see :func:`full`.
        dtype: the element type; when None, that of the number.
    """
    value = fill_value.array.item() if isinstance(fill_value, Operand) else fill_value
    kind = {bool: np.dtype("bool"), int: np.dtype("int64")}.get(type(value))
    return full(shape, value, _type(dtype, kind))


def empty(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """A tensor of zeros; nothing is ever left uninitialised.

    >>> fluid.empty([2, 3]).shape
    [2, 3]
    """
    return zeros(shape, dtype)


def zeros_like(x: Tensor, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Zeros in the shape and element type of x.

    >>> fluid.zeros_like(fluid.to_tensor([1.5, 2.5])).tolist()
    [0.0, 0.0]
    """
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Ones in the shape and element type of x.

    >>> fluid.ones_like(fluid.to_tensor([1.5, 2.5])).tolist()
    [1.0, 1.0]
    """
    return full_like(x, 1, dtype)


def full_like(
    x: Tensor, fill_value: float | Tensor, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """One number in the shape and element type of x.

    >>> fluid.full_like(fluid.to_tensor([1.0, 2.0]), 7.0).tolist()
    [7.0, 7.0]
    """
    kind = _type(dtype, x.array.dtype)
    if x.appends is not None:
        return eager.fill_any_like(x, value=float(fill_value), dtype=as_dtype(kind))
    return x.results(np.full(x.array.shape, fill_value, kind))


def empty_like(x: Tensor, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Zeros in the shape and element type of x; nothing is ever left uninitialised.

    >>> fluid.empty_like(fluid.to_tensor([1.0, 2.0])).shape
    [2]
    """
    return zeros_like(x, dtype)


def eye(
    num_rows: int, num_columns: int | None = None, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Ones where row and column are the same, zeros elsewhere.

    >>> fluid.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    for count in (num_rows, num_columns):
        if count is not None and (not isinstance(count, (int, np.integer)) or count < 0):
            raise ArgumentError(f"eye: expected an integer from 0, got {count!r}")
    return Tensor(np.eye(num_rows, num_columns, dtype=_type(dtype)))


def arange(
    start: float | Tensor = 0,
    end: float | Tensor | None = None,
    step: float | Tensor = 1,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """start, start + step, start + 2 step, ... as long as they lie before end.

    Args:
        start: a number; 0 where it is the only one, which is ``end`` then.
        end: a number.
        step: a number other than 0.
        dtype: the element type; when None, int64 where all are integers, else the default type.

    >>> fluid.arange(3).tolist(), fluid.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    if end is None:
        start, end = 0, start
    bounds = start, end, step
    if appends(bounds) is not None:
        return _range_in_run(*bounds, dtype)
    first, last, stride = (
        _number("arange", what, v) for what, v in zip(("start", "end", "step"), bounds)
    )
    if not stride:
        raise ArgumentError("arange: expected a step other than 0")
    whole = all(isinstance(v, (int, np.integer)) for v in (first, last, stride))
    kind = _type(dtype, np.dtype("int64") if whole else None)
    return Tensor(np.arange(first, last, stride).astype(kind))


def _range_in_run(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    """:func:`arange` of numbers some of which a program computes."""
    bounds = start, end, step
    like = next(v for v in bounds if appends([v]) is not None)
    types = [v.array.dtype if isinstance(v, Operand) else np.asarray(v).dtype for v in bounds]
    kinds = {dtype.kind for dtype in types}
    kind = _type(dtype, np.dtype("int64") if kinds <= {"i", "u"} else like.array.dtype)
    ends = [
        cast_to(v, kind) if isinstance(v, Operand) else like.results(np.asarray([v], kind))
        for v in bounds
    ]
    return eager.range(*ends)


def linspace(
    start: float | Tensor,
    stop: float | Tensor,
    num: int | Tensor,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from start to stop, both included, at equal distances.

    >>> fluid.linspace(0.0, 1.0, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    first, last = _number("linspace", "start", start), _number("linspace", "stop", stop)
    return Tensor(np.linspace(first, last, _points("linspace", num)).astype(_type(dtype)))


def assign(x: ArrayLike, output: Tensor | None = None) -> Tensor:
    """A copy of a tensor that gradients flow through, or a tensor of other values.

    Args:
        x: a tensor, or what ``to_tensor`` takes; a number makes a vector of one, and an array of
            float64 float32.
        output: a tensor to write to.

    >>> fluid.assign([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    made = eager.assign(x) if isinstance(x, Operand) else to_tensor(_assigned(x))
    if output is None:
        return made
    output._overwrite(made)
    return output


def _assigned(x: Any) -> Any:
    if isinstance(x, (bool, int, float)):
        return [x]
    return x.astype("float32") if isinstance(x, np.ndarray) and x.dtype == "float64" else x


# -- random numbers --------------------------------------------------------------------------------


def seed(seed: int) -> None:
    """Start all random numbers from a seed: those of eager tensors, of programs, start values among
    them, and the order of samples where readers and data loaders shuffle.

    A program's own ``random_seed`` wins.  Without a call they are others in every process.

    Args:
        seed: the same numbers come behind the same seed.

    >>> fluid.seed(7)
    >>> a = fluid.rand([2])
    >>> fluid.seed(7)
    >>> bool((a == fluid.rand([2])).all())
    True
    """
    generator.get().restart(int(seed))
    reseed(int(seed))
    redefinitions.count += 1  # plans hold what they draw from


def rand(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Random numbers, equally likely everywhere in [0, 1).

    >>> x = fluid.rand([1000])
    >>> x.shape, bool((x >= 0).all()), bool((x < 1).all())
    ([1000], True, True)
    """
    return uniform(shape, dtype, 0.0, 1.0)


def uniform(
    shape: Numbers,
    dtype: DTypeLike = None,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers, equally likely everywhere in [min, max).

    >>> x = fluid.uniform([1000], min=2.0, max=3.0)
    >>> x.shape, bool((x >= 2).all()), bool((x < 3).all())
    ([1000], True, True)
    """
    kind = _type(dtype)
    drawn = generator.get().fractions(_sizes(shape), kind, seed)
    return Tensor((min + drawn * (max - min)).astype(kind))


def randn(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and deviation 1.

    >>> fluid.randn([2, 3]).shape
    [2, 3]
    """
    kind = _type(dtype)
    return Tensor(generator.get().normal(_sizes(shape), kind).astype(kind))


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    shape: Numbers | None = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution.

    Args:
        mean, std: numbers, or tensors of one shape.
        shape: sizes; those of ``mean`` or ``std`` when None.

    >>> fluid.normal(mean=0.0, std=1.0, shape=[2, 3]).shape
    [2, 3]
    """
    like: Any = next((v for v in (mean, std) if appends([v]) is not None), None)
    if like is not None:
        return add(multiply(normal_like(like), std), mean)
    centre, wide = (v.array if isinstance(v, TensorRecord) else np.asarray(v) for v in (mean, std))
    sizes = np.broadcast_shapes(centre.shape, wide.shape) if shape is None else _sizes(shape)
    drawn = centre + wide * generator.get().normal(sizes, default_float())
    return Tensor(np.asarray(drawn).astype(default_float()))


def randint(
    low: int = 0,
    high: int | None = None,
    shape: Numbers = (1,),
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """Random integers in [low, high); in [0, low) where ``high`` is None.

    >>> x = fluid.randint(0, 5, [1000])
    >>> x.shape, x.min().item(), x.max().item()
    ([1000], 0, 4)
    """
    if high is None:
        low, high = 0, low
    if not low < high:
        raise located(
            ArgumentError, f"randint: expected low below high, got low={low!r} and high={high!r}"
        )
    drawn = generator.get()().integers(low, high, _sizes(shape))
    return Tensor(np.asarray(drawn).astype(_type(dtype, np.dtype("int64"))))


def randperm(n: int, dtype: DTypeLike = "int64", name: str | None = None) -> Tensor:
    """The integers from 0 to n - 1 in random order.

    >>> sorted(fluid.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    if not isinstance(n, Operand):
        n = integer("randperm", "n", n, least=0)
    return Tensor(generator.get()().permutation(n).astype(_type(dtype)))


def bernoulli(x: Tensor, name: str | None = None) -> Tensor:
    """1 with the probabilities in x, 0 otherwise.

    >>> fluid.bernoulli(fluid.to_tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    if x.appends is not None:
        return cast_to(less_than(uniform_like(x), x), x.array.dtype)
    drawn = generator.get().fractions(x.array.shape, x.array.dtype) < x.array
    return x.results(drawn.astype(x.array.dtype))


def tril_indices(
    row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64"
) -> Tensor:
    """The places on and below a diagonal of a matrix: a row of rows, and a row of columns.

    >>> fluid.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return to_tensor(np.stack(np.tril_indices(row, offset, row if col is None else col)), dtype)


def triu_indices(
    row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64"
) -> Tensor:
    """The places on and above a diagonal of a matrix: a row of rows, and a row of columns.

    >>> fluid.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return to_tensor(np.stack(np.triu_indices(row, offset, row if col is None else col)), dtype)


def standard_normal(shape: Numbers, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """Normally distributed numbers; the same as ``randn``.

    >>> fluid.standard_normal([2, 3]).shape
    [2, 3]
    """
    return randn(shape, dtype)


def logspace(
    start: float | Tensor,
    stop: float | Tensor,
    num: int | Tensor,
    base: float = 10.0,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """Powers of a base whose exponents are at equal distances.

    >>> fluid.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    first, last = _number("logspace", "start", start), _number("logspace", "stop", stop)
    powers = np.logspace(first, last, _points("logspace", num), base=base)
    return to_tensor(powers, _type(dtype))


def is_tensor(x: object) -> bool:
    """Whether something is an eager tensor, or a sparse one.

    >>> fluid.is_tensor(fluid.to_tensor([1.0])), fluid.is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, (TensorCore, HoldsValues))


float16: DType = DType.FP16
float32: DType = DType.FP32
float64: DType = DType.FP64
bfloat16: DType = DType.BF16
complex64: DType = DType.COMPLEX64
complex128: DType = DType.COMPLEX128
int8: DType = DType.INT8
int16: DType = DType.INT16
int32: DType = DType.INT32
int64: DType = DType.INT64
uint8: DType = DType.UINT8
bool_ = DType.BOOL
