"""Symbolic arrays: what the kernels of operators compute with each element, as expressions.

A kernel is written against an array namespace.  Run on symbols with :data:`XP` it gives an
expression; so a generated kernel is derived from the definition of the operator, and from nothing
else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ...ground.shaped import Shaped

Shape = tuple[int, ...]


class Untraceable(Exception):
    """A kernel does something that has no expression."""


class Expression:
    """An expression: a function of others, of a shape and an element type.

    Args:
        function: the name of a function of elements; ``"input"``, ``"number"``, ``"index"`` (the
            position along the last dimension), ``"view"`` (the same elements in another shape),
            ``"stretch"`` (repeated along dimensions of size 1), ``"sum"`` and ``"max"`` (over the
            dimensions in ``data``), ``"check"`` (the first argument; what it may be is ``data``),
            ``"part"`` (which begins at ``data``), ``"concat"`` (along the dimension ``data``).
        arguments: expressions.
        shape, dtype: of the result.
        data: what else the function takes.
    """

    __slots__ = ("arguments", "data", "dtype", "function", "serial", "shape", "size")
    _count = itertools.count()

    def __init__(
        self,
        function: str,
        arguments: Sequence[Expression],
        shape: Shape,
        dtype: Any,
        data: Any = None,
    ) -> None:
        self.function: str = function
        self.arguments: tuple[Expression, ...] = tuple(arguments)
        self.shape: Shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.data: Any = data
        self.size: int = prod(shape)
        self.serial: int = next(Expression._count)

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(repr, self.arguments))})"


#: ufuncs of NumPy that have a function of one element in C
_FUNCTIONS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "negative",
        "absolute",
        "exp",
        "log",
        "sqrt",
        "tanh",
        "maximum",
        "minimum",
        "square",
        "sign",
        "floor",
        "ceil",
        "rint",
        "reciprocal",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "equal",
        "not_equal",
        "logical_and",
        "logical_or",
        "logical_not",
        "isfinite",
        "isnan",
        "log1p",
        "expm1",
    ]
)
#: other names for them
_SAME = {"true_divide": "divide", "abs": "absolute", "fabs": "absolute"}


def _call(name: str, *values: Any) -> Any:
    """A function of the namespace."""
    return getattr(XP, name)(*values)


def _operator(name: str) -> tuple[Any, Any]:
    """Methods for one of Python's operators, and for the same with its operands swapped."""
    return (lambda x, y: _call(name, x, y)), (lambda x, y: _call(name, y, x))


class ArraySymbol(Shaped):
    """An array that does not exist yet: an expression that looks like an array.

    What is written to it in place changes which expression it stands for.
    """

    __array_ufunc__ = None

    def __init__(self, node: Expression) -> None:
        self.node = node

    @property
    def shape(self) -> Shape:
        """The sizes."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.node.dtype

    constant: ClassVar[Any] = None

    def __bool__(self) -> bool:
        raise Untraceable("a decision by a value")

    def __getitem__(self, _: Any) -> Any:
        raise Untraceable("a part of a value")

    __iter__ = None

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("a function of NumPy itself")

    def reshape(self, *shape: Any) -> ArraySymbol:
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def astype(self, dtype: Any, **_: Any) -> ArraySymbol:
        return cast(self, dtype)

    def copy(self) -> ArraySymbol:
        return ArraySymbol(self.node)

    def ravel(self) -> ArraySymbol:
        return reshape(self, (self.size,))

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ArraySymbol:
        return total(self, axis, dtype, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> ArraySymbol:
        return mean(self, axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> ArraySymbol:
        return largest(self, axis, keepdims=keepdims)

    def __pow__(self, exponent: Any) -> ArraySymbol:
        return power(self, exponent)

    def __neg__(self) -> ArraySymbol:
        return _call("negative", self)

    def __abs__(self) -> ArraySymbol:
        return _call("absolute", self)

    def __invert__(self) -> ArraySymbol:
        return _call("logical_not", self)


#: Python's methods of two values -> NumPy's function
_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "and": "logical_and",
    "or": "logical_or",
}
#: the same of methods whose reflection is another one
_COMPARISONS = {
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
}
for _name, _function in (*_BINARY.items(), *_COMPARISONS.items()):
    setattr(ArraySymbol, f"__{_name}__", _operator(_function)[0])
for _name, _function in _BINARY.items():
    setattr(ArraySymbol, f"__r{_name}__", _operator(_function)[1])


def _sample(value: Any) -> Any:
    """A small array, or the number itself, from which NumPy says what the result's type is."""
    if isinstance(value, ArraySymbol):
        return np.ones((1,) * value.ndim, value.dtype)
    return value


def _node(value: Any, dtype: Any = None) -> Expression:
    """The expression that something stands for.

    Raises:
        Untraceable: it is an array of several elements.
    """
    if isinstance(value, ArraySymbol):
        return value.node
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise Untraceable(f"{type(value).__name__} as a part of an expression")
    kind = array.dtype if dtype is None else np.dtype(dtype)
    return Expression("number", (), array.shape, kind, array.reshape(()).astype(kind).item())


def _stretched(node: Expression, shape: Shape) -> Expression:
    if node.shape == shape:
        return node
    return Expression("stretch", (node,), shape, node.dtype)


def cast(value: Any, dtype: Any) -> ArraySymbol:
    """A value in another element type."""
    node, kind = _node(value), np.dtype(dtype)
    if kind.kind not in "biuf" or kind.itemsize not in (1, 4, 8):
        raise Untraceable(f"the element type {kind}")
    return ArraySymbol(
        node if node.dtype == kind else Expression("cast", (node,), node.shape, kind)
    )


def _elementwise(name: str) -> Callable[..., ArraySymbol]:
    ufunc = getattr(np, name)
    function = _SAME.get(name, name)

    def run(*values: Any, out: Any = None) -> ArraySymbol:
        return _applied(function, ufunc, values, out)

    return run


def _applied(function: str, kernel: Any, values: Sequence[Any], out: Any = None) -> ArraySymbol:
    """A function of elements applied to values, with the type that NumPy's result has."""
    operands = [_like(value) for value in values]
    try:
        if None in operands:
            dtype, common = _types(function, kernel, [_sample(value) for value in values])
        else:
            dtype, common = _known_types(function, kernel, *operands)
    except (TypeError, ValueError) as error:
        raise Untraceable(str(error)) from None
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise Untraceable(f"the element type {dtype}")
    nodes = [_node(v, None if isinstance(v, ArraySymbol) else _kind_of(v, common)) for v in values]
    if function.startswith("logical"):
        common = np.dtype(bool)
    if function in ("isfinite", "isnan"):
        common = nodes[0].dtype
    try:
        shape = np.broadcast_shapes(*(n.shape for n in nodes))
    except ValueError as error:
        raise Untraceable(str(error)) from None
    given = [_stretched(cast(ArraySymbol(n), common).node, shape) for n in nodes]
    expression = Expression(function, given, shape, dtype)
    if out is not None:
        if not isinstance(out, ArraySymbol) or out.shape != shape:
            raise Untraceable("a result in a given array")
        out.node = cast(ArraySymbol(expression), out.dtype).node
        return out
    return ArraySymbol(expression)


def _like(value: Any) -> tuple[Any, ...] | None:
    """What decides, of a symbol or one of Python's numbers, which type a result has; None for
    others.
    """
    if isinstance(value, ArraySymbol):
        return ArraySymbol, value.dtype, min(value.ndim, 1)
    return (type(value), value) if type(value) in (int, float, bool) else None


def _types(function: str, kernel: Any, samples: Sequence[Any]) -> tuple[Any, Any]:
    """The type of NumPy's result, and the one in which it is computed."""
    with np.errstate(all="ignore"):
        dtype = kernel(*samples).dtype
    compares = dtype.kind == "b" and function != "logical_not"
    return dtype, np.result_type(*samples) if compares else dtype


@lru_cache(maxsize=4096)
def _known_types(function: str, kernel: Any, *operands: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same for operands that :func:`_like` describes."""
    samples = [np.ones((1,) * how[2], how[1]) if len(how) > 2 else how[1] for how in operands]
    return _types(function, kernel, samples)


def _kind_of(value: Any, common: Any) -> Any:
    """The type of a number: that of the result where it is Python's own."""
    return common if type(value) in (int, float, bool) else np.asarray(value).dtype


def where(condition: Any, yes: Any, no: Any) -> ArraySymbol:
    """One of two values by a condition."""
    dtype = np.where(True, _sample(yes), _sample(no)).dtype
    if type(yes) in (int, float) and isinstance(no, ArraySymbol):
        dtype = np.result_type(_sample(no), yes)
    if type(no) in (int, float) and isinstance(yes, ArraySymbol):
        dtype = np.result_type(_sample(yes), no)
    return _applied_as("where", (cast(condition, bool), cast(yes, dtype), cast(no, dtype)), dtype)


def _applied_as(function: str, values: Sequence[ArraySymbol], dtype: Any) -> ArraySymbol:
    shape = np.broadcast_shapes(*(v.shape for v in values))
    return ArraySymbol(
        Expression(function, [_stretched(v.node, shape) for v in values], shape, dtype)
    )


def erf(value: ArraySymbol) -> ArraySymbol:
    """The error function."""
    return ArraySymbol(Expression("erf", (value.node,), value.shape, value.dtype))


def power(base: Any, exponent: Any, out: Any = None) -> ArraySymbol:
    """A power with a small whole number, or one half, as a product or a root."""
    if out is not None or not isinstance(base, ArraySymbol) or isinstance(exponent, ArraySymbol):
        raise Untraceable("a power")
    number = float(exponent)
    if base.dtype.kind != "f":
        raise Untraceable("a power of whole numbers")
    if number == 0.5:
        return XP.sqrt(base)
    if number not in (1.0, 2.0, 3.0, 4.0):
        raise Untraceable("a power")
    squared = XP.multiply(base, base)
    return {1.0: base, 2.0: squared, 3.0: squared * base, 4.0: squared * squared}[number]


def clip(value: Any, low: Any = None, high: Any = None, out: Any = None) -> ArraySymbol:
    """A value between bounds."""
    # of equal operands the second one is taken: what is at a bound keeps the sign of a zero
    bounded = value if low is None else XP.maximum(low, value)
    bounded = bounded if high is None else XP.minimum(high, bounded)
    if bounded.dtype != value.dtype or out is not None:
        raise Untraceable("bounds of another type")
    return ArraySymbol(bounded.node)


def logaddexp(x: Any, y: Any) -> ArraySymbol:
    """The logarithm of the sum of two powers of e."""
    most = XP.maximum(x, y)
    least = XP.minimum(x, y)
    grown = XP.log1p(XP.exp(least - most))
    same = XP.equal(most, least)  # infinite ones have no difference
    return XP.where(same, most + np.float32(np.log(2)).astype(most.dtype), most + grown)


def reshape(value: Any, shape: Any) -> ArraySymbol:
    """The same elements in another shape."""
    sizes = [int(n) for n in ([shape] if isinstance(shape, (int, np.integer)) else shape)]
    node = _node(value)
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = node.size // max(rest, 1)
    new_shape = tuple(sizes)
    if prod(new_shape) != node.size:
        raise Untraceable("a shape that does not fit")
    return ArraySymbol(
        node if new_shape == node.shape else Expression("view", (node,), new_shape, node.dtype)
    )


def broadcast_to(value: Any, shape: Any) -> ArraySymbol:
    """A value, repeated along dimensions of size 1."""
    new_shape = tuple(int(n) for n in shape)
    node = _node(value)
    if np.broadcast_shapes(node.shape, new_shape) != new_shape:
        raise Untraceable("a shape that does not fit")
    return ArraySymbol(_stretched(node, new_shape))


def concatenate(values: Sequence[Any], axis: int = 0) -> ArraySymbol:
    """Values one after the other along a dimension."""
    if not all(isinstance(value, ArraySymbol) and value.ndim for value in values):
        raise Untraceable("what is put together with arrays")
    first = values[0]
    axis %= first.ndim
    shape = list(first.shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    if any((*v.shape[:axis], shape[axis], *v.shape[axis + 1 :]) != tuple(shape) for v in values):
        raise Untraceable("sizes that do not fit")
    made = np.result_type(*(value.dtype for value in values))
    nodes = [cast(value, made).node for value in values]
    return ArraySymbol(
        nodes[0] if len(nodes) == 1 else Expression("concat", nodes, tuple(shape), made, axis)
    )


#: elements of a matrix up to which its product with a vector is computed with what is around it
SMALL_MATRIX = 1 << 12


class TransposedSymbol:
    """A matrix seen the other way round, which only products take."""

    ndim = 2

    def __init__(self, of: ArraySymbol) -> None:
        self.of = of
        self.shape: Any = of.shape[::-1]


def swapaxes(value: Any, first: int, second: int) -> Any:
    """A matrix with its dimensions swapped."""
    if value.ndim != 2 or first % 2 == second % 2:
        raise Untraceable("dimensions in another order")
    if 1 in value.shape:
        return reshape(value, value.shape[::-1])
    return TransposedSymbol(value)


def matmul(x: Any, y: Any) -> ArraySymbol:
    """The product of a small matrix and a vector, or of a column and a row."""
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise Untraceable("a product of stacks")
    shape = x.shape[0], y.shape[1]
    if x.shape[1] == 1 and isinstance(x, ArraySymbol) and isinstance(y, ArraySymbol):
        return _of_one(XP.multiply(x, y))
    matrix, vector, axis = (x, y, 1) if shape[1] == 1 else (y, x, 0)
    if 1 not in shape or not isinstance(vector, ArraySymbol):
        raise Untraceable("a product of matrices")
    if isinstance(matrix, TransposedSymbol):
        matrix, axis = matrix.of, 1 - axis
    if matrix.size > SMALL_MATRIX or matrix.dtype != np.float32:
        raise Untraceable("a large product")
    lying = reshape(vector, (1, vector.size) if axis else (vector.size, 1))
    return reshape(total(XP.multiply(matrix, lying), axis), shape)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = (axis,) if isinstance(axis, (int, np.integer)) else axis
    return tuple(sorted({int(a) % ndim for a in given}))


def _of_one(value: Any) -> ArraySymbol:
    """The sum of one element: sums begin with zero, so that none is a negative one."""
    made: ArraySymbol = XP.add(value, 0.0)
    return made


def _reduced(function: str, value: ArraySymbol, axis: Any, keepdims: bool) -> ArraySymbol:
    axes, shape = _axes(axis, value.ndim), value.shape
    kept_shape = tuple(1 if i in axes else n for i, n in enumerate(shape))
    if prod(shape[i] for i in axes) == 1:
        reduced: ArraySymbol = reshape(_of_one(value) if function == "sum" else value, kept_shape)
    else:
        reduced = ArraySymbol(Expression(function, (value.node,), kept_shape, value.dtype, axes))
    left = tuple(n for i, n in enumerate(shape) if i not in axes)
    return reduced if keepdims else reshape(reduced, left)


def total(
    value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> ArraySymbol:
    """The sum over some dimensions."""
    if out is not None or not isinstance(value, ArraySymbol):
        raise Untraceable("a sum")
    if dtype is not None:
        value = cast(value, dtype)
    if value.dtype.kind != "f":
        raise Untraceable("a sum of whole numbers")
    return _reduced("sum", value, axis, keepdims)


def mean(value: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ArraySymbol:
    """The mean over some dimensions."""
    count = prod(value.shape[i] for i in _axes(axis, value.ndim))
    if not count:
        raise Untraceable("the mean of nothing")
    added = total(value, axis, dtype, keepdims=keepdims)
    found: ArraySymbol = XP.divide(added, float(count))
    # before NumPy 2 what has no dimensions takes the type of a number; NumPy's mean never does
    return cast(found, added.dtype) if added.dtype.kind == "f" else found


def largest(value: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> ArraySymbol:
    """The largest element along some dimensions."""
    if out is not None or value.dtype.kind != "f" or not value.size:
        raise Untraceable("a maximum")
    return _reduced("max", value, axis, keepdims)


def take_along_axis(value: Any, index: Any, axis: int) -> ArraySymbol:
    """One element of each row: the largest of a row in which the others are below all numbers.
    (A sum would make 0 of -0.)
    """
    if axis % value.ndim != value.ndim - 1 or index.shape != (*value.shape[:-1], 1):
        raise Untraceable("elements along another dimension")
    if value.dtype.kind != "f":
        raise Untraceable("elements of whole numbers")
    here = ArraySymbol(Expression("index", (), (value.shape[-1],), np.int64))
    return _reduced("max", where(XP.equal(here, index), value, -np.inf), -1, True)


def in_range(index: Any, size: int, what: str) -> ArraySymbol:
    """An index that the generated kernel looks at."""
    return ArraySymbol(Expression("check", (index.node,), index.shape, index.dtype, int(size)))


def arange(stop: Any, *rest: Any, dtype: Any = None) -> ArraySymbol:
    """Positions."""
    if rest or not isinstance(stop, (int, np.integer)):
        raise Untraceable("a range")
    here = ArraySymbol(Expression("index", (), (int(stop),), np.int64))
    return here if dtype is None else cast(here, dtype)


def full(shape: Any, value: Any, dtype: Any = np.float64) -> ArraySymbol:
    """One number everywhere."""
    return broadcast_to(cast(ArraySymbol(_node(value, dtype)), dtype).reshape(()), shape)


def _filled(value: Any, like: Any, dtype: Any = None) -> ArraySymbol:
    return full(like.shape, value, like.dtype if dtype is None else dtype)


def _asarray(value: Any, dtype: Any = None) -> ArraySymbol:
    symbol = value if isinstance(value, ArraySymbol) else ArraySymbol(_node(value))
    return symbol if dtype is None else cast(symbol, dtype)


def _added(value: Any, axis: Any = 0, keepdims: bool = False) -> ArraySymbol:
    return total(value, axis, keepdims=keepdims)


def _namespace() -> Any:
    functions = {name: _elementwise(name) for name in sorted(_FUNCTIONS)}
    functions["abs"] = functions["absolute"]
    add: Any = functions["add"]
    add.reduce = _added
    by_name = (
        *(where, erf, power, clip, logaddexp, reshape, broadcast_to, concatenate, matmul, swapaxes),
        *(mean, take_along_axis, in_range, arange, full),
    )
    functions.update((function.__name__, function) for function in by_name)
    own = dict(
        sum=total,
        max=largest,
        amax=largest,
        zeros=lambda shape, dtype=np.float64: full(shape, 0, dtype),
        ones=lambda shape, dtype=np.float64: full(shape, 1, dtype),
        zeros_like=lambda v, dtype=None: _filled(0, v, dtype),
        ones_like=lambda v, dtype=None: _filled(1, v, dtype),
        full_like=lambda v, value, dtype=None: _filled(value, v, dtype),
        asarray=_asarray,
        ascontiguousarray=_asarray,
        float32=np.float32,
        float64=np.float64,
    )
    return SimpleNamespace(**functions, **own)


#: the array namespace of symbols
XP: Any = _namespace()
