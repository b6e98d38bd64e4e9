"""Arrays that are only known by shape and element type, and that write down what is done to them.

A kernel is a function of arrays.  Run on these, it appends what NumPy would compute to a graph, by
NumPy's own protocols (NEP 13 and NEP 18), so that an operator needs no second description.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FluidError, UnsupportedError
from ..opdef.spec import Shape, SizeNames, Spec, spec

if TYPE_CHECKING:
    from .graph import OnnxGraph

#: a function of NumPy -> what writes it down: takes the graph and the function's arguments
NUMPY_FORMS: dict[Any, Callable[..., Any]] = {}
#: a function of NumPy -> what writes down its ``reduceat``
REDUCED_AT: dict[Any, Callable[..., Any]] = {}


class SizesNeeded(FluidError):
    """What is written out depends on a size that is not known."""


def form_of(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function writes down what these functions of NumPy compute."""

    def register(form: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            NUMPY_FORMS[function] = form
        return form

    return register


class Cell:
    """What a node makes, an input or a parameter: something with a name in the file."""

    __slots__ = ("constant", "default", "name", "size_names", "spec")

    def __init__(self, name: str = "", constant: Any = None) -> None:
        self.name: str = name  #: chosen when it is written where that is empty
        self.constant: Any = constant  #: the array, where it is known
        self.default: Any = None  #: of an input: what is taken where nothing is fed
        self.spec: Spec | None = None  #: of inputs and outputs of graphs
        self.size_names: SizeNames = ()  #: of inputs and outputs of the model


class TracedArray:
    """A value of a graph, with the interface of a NumPy array.

    Args:
        graph: where what is done to it is appended.
        spec: shape and element type; None where nobody has to know.
        cell: what it stands for; a new one when None.
        offsets: how its rows form sequences.
    """

    __slots__ = ("cell", "graph", "offsets", "spec")
    __array_priority__ = 1000

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __init__(
        self, graph: OnnxGraph, spec: Spec | None, cell: Cell | None = None, offsets: Any = ()
    ) -> None:
        self.graph: OnnxGraph = graph
        self.spec: Spec | None = spec
        self.offsets: Any = offsets
        self.cell: Cell = cell or Cell()

    @property
    def constant(self) -> Any:
        """The array, where it is known."""
        return self.cell.constant

    # -- what is known -----------------------------------------------------------------------------

    @property
    def sizes(self) -> Shape:
        """The shape; -1 for sizes that are not known."""
        if self.spec is None:
            raise SizesNeeded("the shape of an intermediate value is not known")
        return self.spec.shape

    @property
    def shape(self) -> Shape:
        """The shape, all of it.

        Raises:
            SizesNeeded: a size is not known.
        """
        if -1 in self.sizes[self.sizes[:1] == (-1,) and self.graph.top.keeps_batch :]:
            raise SizesNeeded(f"it is written out for sizes that are known, got {list(self.sizes)}")
        return self.sizes

    @property
    def known_dtype(self) -> Any:
        """The element type; None where nobody knows."""
        return None if self.spec is None else self.spec.dtype.dtype

    @property
    def dtype(self) -> Any:
        """The element type."""
        if self.spec is None:
            raise SizesNeeded("the element type of an intermediate value is not known")
        return self.spec.dtype.dtype

    @property
    def kind(self) -> Any:
        """What kind of value it is, as specs say."""
        return self.spec.kind if self.spec else None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """The bytes that the elements take."""
        return self.size * int(self.dtype.itemsize)

    @property
    def data(self) -> TracedArray:
        """The rows without their sequences."""
        return self.bare()

    def bare(self) -> TracedArray:
        """The same value without sequences."""
        return self.having(())

    def having(self, offsets: Any) -> TracedArray:
        """The same value with other sequences."""
        same = tuple(offsets) == tuple(self.offsets)
        return self if same else TracedArray(self.graph, self.spec, self.cell, tuple(offsets))

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.constant is None:
            raise UnsupportedError("it depends on values that are not known before the model runs")
        return np.asarray(self.constant, dtype)

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self).item())

    __index__ = __int__

    def __float__(self) -> float:
        return float(np.asarray(self).item())

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def item(self, *place: int) -> Any:
        """The element, of a value that is known."""
        return np.asarray(self).item(*place)

    def tolist(self) -> Any:
        """The elements, of a value that is known."""
        return np.asarray(self).tolist()

    # -- NumPy's protocols -------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *ins: Any, **named: Any) -> Any:
        out = named.pop("out", None)
        if method == "reduce" and ufunc in _REDUCTIONS:
            result = traced(self.graph, _REDUCTIONS[ufunc], ins[:1], named)
        elif method == "__call__":
            result = traced(self.graph, ufunc, ins, named)
        else:
            result = self.graph.by_method(ufunc, method, ins, named)
        return result if out is None else _into(out[0], result)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        if function in _KNOWN:
            return _KNOWN[function](*args, **named)
        named = dict(named)
        out = named.pop("out", None)
        found = traced(self.graph, function, args, named)
        return found if out is None else _into(out, found)

    def __getitem__(self, item: Any) -> Any:
        return traced(self.graph, operator.getitem, (self, item), {})

    def __setitem__(self, item: Any, value: Any) -> None:
        _into(self, traced(self.graph, operator.setitem, (self, item, value), {}))

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            function = _METHODS[name]
            return lambda *args, **named: function(self, *args, **named)
        raise AttributeError(f"a value that is written out has no {name}")

    @property
    def T(self) -> Any:
        """The transpose."""
        return np.transpose(self)

    def reshape(self, *shape: Any, **named: Any) -> Any:
        """As of arrays."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Any:
        """As of arrays."""
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def astype(self, dtype: Any, **named: Any) -> Any:
        """As of arrays."""
        return self.graph.like(self, np.dtype(dtype))

    def fill(self, value: Any) -> None:
        """As of arrays."""
        self[...] = value


def _into(target: Any, found: Any) -> Any:
    """Let a value that is written in place be what was computed."""
    if not isinstance(target, TracedArray):
        raise UnsupportedError("a kernel writes into an array that it made")
    target.spec, target.cell = found.spec, found.cell
    return target


#: functions of what is known of arrays
_KNOWN: dict[Any, Callable[..., Any]] = {
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.iscomplexobj: lambda x: False,
    np.result_type: lambda *given: np.result_type(
        *(x.dtype if isinstance(x, TracedArray) else x for x in given)
    ),
}
_REDUCTIONS = {
    np.add: np.sum,
    np.maximum: np.max,
    np.minimum: np.min,
    np.multiply: np.prod,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
_METHODS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sum", "mean", "max", "min", "prod", "any", "all")},
    **{name: getattr(np, name) for name in ("argmax", "argmin", "ravel", "swapaxes", "take")},
    **{name: getattr(np, name) for name in ("squeeze", "repeat", "cumsum", "clip", "copy")},
    "flatten": np.ravel,
}
_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
for _name, _ufunc in {**_BINARY, **_COMPARISONS}.items():
    setattr(TracedArray, f"__{_name}__", lambda self, other, u=_ufunc: u(self, other))
    if _name in _BINARY:
        setattr(TracedArray, f"__r{_name}__", lambda self, other, u=_ufunc: u(other, self))
for _name, _ufunc in {"neg": np.negative, "abs": np.absolute, "invert": np.invert}.items():
    setattr(TracedArray, f"__{_name}__", lambda self, u=_ufunc: u(self))


# -- specs of what is computed ---------------------------------------------------------------------


def traced(graph: OnnxGraph, function: Any, args: Any, named: dict[str, Any]) -> Any:
    """Write down what a function of NumPy computes.

    Args:
        graph: takes it, where no argument belongs to a graph inside of it.
        function: the function.
        args: its arguments, some of them traced.
        named: its named arguments.

    Raises:
        UnsupportedError: it has no form here.
    """
    if function is not operator.setitem and all(map(_is_known, _traced_in((args, named)))):
        result = function(*_with_arrays(args), **_with_arrays(named))
        if isinstance(result, (list, tuple)):
            return [graph.constant(each) for each in result]
        return graph.constant(result)
    graph = graph.innermost
    form = graph.form(function)
    specs = _specs_of(function, args, named)
    result = form(graph, *args, **named)
    for value, known in zip(result if isinstance(result, (list, tuple)) else [result], specs):
        if isinstance(value, TracedArray) and value.spec is None:
            value.spec = known
    return result


def _specs_of(function: Any, args: Any, named: dict[str, Any]) -> list[Spec]:
    """Shapes and element types of what a function gives, found by computing it on zeros."""
    if function is np.where or (isinstance(function, np.ufunc) and function.signature is None):
        values = [a for a in args if not isinstance(a, (int, float, bool))]
        small = [_stand_in(a, 1, True) for a in args]
        with np.errstate(all="ignore"):
            dtype = function(*small).dtype
        shapes = [a.sizes if isinstance(a, TracedArray) else np.shape(a) for a in values]
        return [spec(_broadcast(shapes), dtype)]
    results = []
    for size in (7, 11) if _has_unknown((args, named)) else (1,):
        stood = _changed(args, size), _changed(named, size)
        with np.errstate(all="ignore"):
            is_set = function is operator.setitem
            found = stood[0][0] if is_set else function(*stood[0], **stood[1])
        found = found if isinstance(found, (list, tuple)) else [found]
        results.append([np.asarray(each) for each in found])
    return [
        spec([a if a == b else -1 for a, b in zip(one.shape, other.shape)], one.dtype)
        for one, other in zip(results[0], results[-1])
    ]


def _stand_in(value: Any, size: int, small: bool = False) -> Any:
    if isinstance(value, TracedArray):
        if not small and value.constant is not None and value.dtype.kind in "iub":
            return np.asarray(value.constant)  # a mask says how many elements there are
        shape = [1] * value.ndim if small else [size if n == -1 else n for n in value.sizes]
        return np.broadcast_to(np.zeros((), value.dtype), shape)
    if small and isinstance(value, np.ndarray):
        return np.zeros([1] * value.ndim, value.dtype)
    return value


FOLDED = 1024  #: constants of so many elements are computed with; larger ones stay by their names


def _is_known(value: TracedArray) -> bool:
    if value.constant is None or np.size(value.constant) > FOLDED:
        return False
    return not value.cell.name or np.asarray(value.constant).dtype.kind in "iub"


def _traced_in(value: Any) -> list[TracedArray]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in _traced_in(each)]
    return [value] if isinstance(value, TracedArray) else []


def _with_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_arrays(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_arrays(each) for each in value)
    return np.asarray(value.constant) if isinstance(value, TracedArray) else value


def _changed(value: Any, size: int) -> Any:
    if isinstance(value, dict):
        return {key: _changed(each, size) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(each, size) for each in value)
    return _stand_in(value, size)


def _has_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_unknown, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_unknown, value))
    return isinstance(value, TracedArray) and -1 in value.sizes


def _broadcast(shapes: Any) -> list[int]:
    out: list[int] = []
    for k in range(max(map(len, shapes), default=0)):
        sizes = {s[len(s) - 1 - k] for s in shapes if k < len(s)} - {1}
        known = sizes - {-1}
        if len(known) > 1:
            raise ValueError(f"cannot broadcast the shapes {[list(s) for s in shapes]}")
        out.append(known.pop() if known else (-1 if sizes else 1))
    return out[::-1]
