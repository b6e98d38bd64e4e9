"""Functions of eager tensors on variables of programs.

A variable stands in such a function as a :class:`Symbol`: a tensor whose array has a shape and an
element type, and no elements.  An operator on it is appended to the variable's program, and gives
symbols.  So the methods of variables are those of tensors, and the layers of ``fluid.nn``
take both.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NoReturn, cast

import numpy as np

from . import state
from .dtypes import as_dtype
from .errors import ArgumentError
from .imperative.methods import Methods
from .imperative.parameter import Parameter
from .imperative.recording import Handle
from .imperative.selection import where
from .imperative.tensor import Tensor
from .initializer import NumpyArrayInitializer
from .ir.program import default_startup_program
from .ir.variable import Variable
from .layers.layer import LayerBuilder
from .opdef.definition import Op, lookup
from .quiet import door

#: operators of eager tensors -> those that fluid 1.8 has for the same
_IN_PROGRAMS = {
    "amax": "reduce_max",
    "amin": "reduce_min",
    "maximum": "elementwise_max",
    "minimum": "elementwise_min",
    "remainder": "elementwise_mod",
    "reshape": "reshape2",
    "transpose": "transpose2",
}
#: outputs that an operator writes over an input
_UPDATED = {"batch_norm": {"MeanOut": "Mean", "VarianceOut": "Variance"}}


class UnknownSize(int):
    """A size that is known when the program runs: -1, with which nothing can be computed."""

    def _unknown(self, *others: Any) -> NoReturn:
        raise ArgumentError(
            "a size of the variable is unknown (-1, or None, where it was declared), and the "
            "function computes with it; declare the size, or use a function of fluid.layers"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pos__ = _unknown
    __truediv__ = __floordiv__ = __mod__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __eq__ = int.__eq__
    __hash__ = int.__hash__


class SymbolShape(tuple[int, ...]):
    """A shape that is no key of anything that is kept for a shape of an array."""

    def __hash__(self) -> int:
        return hash(("symbol", *self))

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) if isinstance(other, tuple) else False

    def __ne__(self, other: object) -> bool:
        return not self == other


class SymbolArray:
    """What stands in the place of a symbol's array.

    Args:
        variable: of the program.
    """

    __slots__ = ("variable",)

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    @property
    def shape(self) -> SymbolShape:
        """The declared sizes."""
        sizes = (UnknownSize(-1) if n < 0 else n for n in self.variable.shape)
        return SymbolShape(sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The declared element type."""
        return self.variable.dtype.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.variable.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return functools.reduce(lambda a, b: a * b, self.shape, 1)

    def _no_value(self) -> NoReturn:
        raise ArgumentError(
            f"variable {self.variable.name!r} has no elements before the program runs, and the "
            f"function looks at them; use a function of fluid.layers, or fetch the variable"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._no_value()

    def __array__(self, *arguments: Any, **named: Any) -> Any:
        self._no_value()

    def _refused(self, *others: Any) -> Any:
        self._no_value()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refused
    __hash__ = object.__hash__


class Symbol(Tensor):
    """A variable of a program, where functions of tensors expect a tensor.

    Args:
        given: a variable; an array becomes a constant of the current program.
        port, stop: as of tensors; nothing is remembered of symbols.
    """

    def __init__(self, given: Any, port: Any = None, stop: bool = True) -> None:
        if isinstance(given, SymbolArray):
            array = given
        else:
            array = SymbolArray(given if isinstance(given, Variable) else _constant(given))
        Handle.__init__(self, array, None, True)

    @property
    def variable(self) -> Variable:
        """The variable."""
        found: Variable = self.array.variable
        return found

    @property
    def name(self) -> str:
        """The variable's name."""
        return self.variable.name

    @name.setter
    def name(self, value: str) -> None:
        raise ArgumentError(f"variable {self.name!r} of a program keeps its name")

    @property
    def stop_gradient(self) -> bool:
        """Whether gradients stop at the variable."""
        return self.variable.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.variable.stop_gradient = bool(value)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Refused: there are no elements before the program runs."""
        return self.variable.numpy()

    def detach(self) -> Any:
        """The same value, at which gradients stop."""
        made = Symbol(_builder().assign(self.variable))
        made.variable.stop_gradient = True
        return made

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        if isinstance(other, Symbol):
            other = other.variable
        elif isinstance(other, (Handle, np.ndarray)) and not np.isscalar(other):
            other = _variable(other)
        return Symbol(self.variable._combine(method, operator, other, reflected))

    def __getitem__(self, item: Any) -> Any:
        items = item if isinstance(item, tuple) else (item,)
        if all(isinstance(each, (int, slice, type(...))) for each in items):
            return Symbol(self.variable[item])
        return super().__getitem__(item)

    def __repr__(self) -> str:
        return f"Symbol({self.variable!r})"

    @staticmethod
    def appends(op: Op, ins: Mapping[str, Any]) -> dict[str, Any]:
        """Append an operator; symbols of its outputs."""
        given = {
            slot: [_variable(each) for each in value]
            if isinstance(value, (list, tuple))
            else _variable(value)
            for slot, value in ins.items()
            if value is not None
        }
        f = _builder()
        made = _in_programs(op)
        updated = _UPDATED.get(made.type)
        if updated is None:
            outs = f.apply(made, given)
        else:
            outs = {
                slot.name: given[updated[slot.name]] if slot.name in updated else f.new_variable()
                for slot in made.outputs
                if not slot.optional
            }
            f.append(made, given, outs)
        return {
            slot: [Symbol(each) for each in out] if isinstance(out, list) else Symbol(out)
            for slot, out in outs.items()
        }


def _builder() -> LayerBuilder:
    return LayerBuilder("tensor", None)


def _in_programs(op: Op) -> Op:
    """An operator as programs have it: no results without dimensions, and fluid's types."""
    attrs = op.attr_values()
    if attrs.get("zero_d"):
        attrs["zero_d"] = False
    if op.type in ("reshape", "reshape2") and not tuple(attrs.get("shape") or ()):
        attrs["shape"] = (1,)
    wanted = lookup(_IN_PROGRAMS.get(op.type, op.type))
    return wanted({name: value for name, value in attrs.items() if name in wanted.attributes})


def _variable(value: Any) -> Variable:
    """The variable of a symbol, a parameter, another tensor, or an array."""
    if isinstance(value, Symbol):
        return value.variable
    if isinstance(value, Variable):
        return value
    if isinstance(value, SymbolArray):
        return value.variable
    if isinstance(value, Handle) and getattr(value, "persistable", False):
        return _kept(value)
    if isinstance(value, Handle) and not value.stop:
        raise ArgumentError(
            "a tensor that was computed from parameters outside of the program would be a constant "
            "in it; read parameters from attributes of the layer, within its forward()"
        )
    return _constant(value.array if isinstance(value, Handle) else np.asarray(value))


def _kept(tensor: Any) -> Variable:
    """The parameter, or another variable that stays, that a program has for a tensor: under its
    name, with its value at first.
    """
    f = _builder()
    block = f.block.program.global_block()
    found = block.vars.get(tensor.name)
    if found is not None:
        return found
    array, dtype = tensor.array, as_dtype(tensor.array.dtype)
    start = NumpyArrayInitializer(array)
    if not isinstance(tensor, Parameter):
        made = block.create_var(
            name=tensor.name, shape=array.shape, dtype=dtype, persistable=True, stop_gradient=True
        )
    else:
        made = block.create_parameter(
            array.shape,
            dtype,
            tensor.name,
            trainable=tensor.trainable,
            stop_gradient=not tensor.trainable,
            optimize_attr=dict(tensor.optimize_attr),
            regularizer=tensor.regularizer,
            gradient_clip_attr=tensor.gradient_clip_attr,
        )
    there = default_startup_program().global_block()
    if tensor.name not in there.vars:
        twin = there.create_var(name=tensor.name, shape=array.shape, dtype=dtype, persistable=True)
        start(twin, there)
    return made


def _constant(array: Any) -> Variable:
    """A variable with the elements of an array."""
    f = _builder()
    type, attrs = NumpyArrayInitializer(np.asarray(array)).operator(
        cast(Variable, _Shaped(np.asarray(array))), f.block, as_dtype(np.asarray(array).dtype)
    )
    made: Variable = getattr(f, type)(**attrs)
    made.stop_gradient = True
    return made


class _Shaped:
    """What an initializer asks of a variable."""

    name = "a constant"

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype = array.shape, as_dtype(array.dtype)


_appending: state.StateSlot[bool] = state.slot("layers append", bool)


def appending() -> AbstractContextManager[bool]:
    """A guard under which layers read their parameters as symbols."""
    return _appending.guard(True)


def in_program(value: Any) -> Any:
    """A parameter or a buffer of a layer; a symbol of it where the layer appends to a program."""
    if isinstance(value, Handle) and value.appends is None and _appending.get():
        return Symbol(_variable(value))
    return value


# -- methods of variables --------------------------------------------------------------------------


def as_symbols(value: Any) -> Any:
    """Symbols in the place of variables, in lists, tuples and dictionaries, too."""
    return _mapped(value, Variable, Symbol)


def as_variables(value: Any) -> Any:
    """Variables in the place of symbols, in lists, tuples and dictionaries, too."""
    return _mapped(value, Symbol, lambda symbol: symbol.variable)


def _mapped(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_mapped(each, kind, change) for each in value)
    if isinstance(value, dict):
        return {key: _mapped(each, kind, change) for key, each in value.items()}
    return value


def on_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors as one of variables."""

    @functools.wraps(function)
    def applied(*args: Any, **kwargs: Any) -> Any:
        return as_variables(function(*as_symbols(args), **as_symbols(kwargs)))

    return applied


def _is_close(
    x: Any,
    y: Any,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
    name: Any = None,
) -> Any:
    near = (x - y).abs().less_equal(y.abs() * rtol + atol).logical_and(y.isfinite())
    close = near.logical_or(x.equal(y))
    return close.logical_or(x.isnan().logical_and(y.isnan())) if equal_nan else close


def _are_close(
    x: Any,
    y: Any,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
    name: Any = None,
) -> Any:
    return _is_close(x, y, rtol, atol, equal_nan).all()


def _are_equal(x: Any, y: Any, name: Any = None) -> Any:
    return x.equal(y).all()


def _places(x: Any, as_tuple: bool = False) -> Any:
    found = Symbol(_builder().where_index(x.variable.astype("bool")))
    if not as_tuple:
        return found
    return tuple(found[:, axis : axis + 1].reshape([-1]) for axis in range(x.ndim))


def _where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    return _places(condition, True) if x is None and y is None else where(condition, x, y)


def _number_of_elements(x: Any, name: Any = None) -> Any:
    return Symbol(_builder().size(x.variable))


#: methods whose functions look at elements, in operators
_IN_OPERATORS: dict[str, Callable[..., Any]] = {
    "allclose": _are_close,
    "equal_all": _are_equal,
    "isclose": _is_close,
    "nonzero": _places,
    "numel": _number_of_elements,
    "where": _where,
}


def _table() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name, function in vars(Methods).items():
        if isinstance(function, types.FunctionType):
            made = on_variables(_IN_OPERATORS.get(name, function))
            found[name] = door(functools.update_wrapper(made, function))
    return found


#: the methods that variables have because tensors have them
METHODS = _table()
