"""Variables and parameters: names with a kind, an element type and a shape."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import ArgumentError, DTypeError, ExplainedError, suggestion
from ..ground import advice, state
from ..ground.advice import Advice
from ..ground.callsite import warn
from ..ground.copies import shallow_copy
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.protected import answers_protected, raise_refused
from ..ground.quoting import printable
from ..ground.tracebacks import api_boundary
from ..opdef.arithmetic import UFUNCS, Arithmetic
from ..opdef.attribute import whole_number
from ..opdef.operand import Operand
from ..opdef.spec import RANK_TABLE, Shape, SizeNames, Spec
from .abstract import APPENDER, AbstractArray
from .descriptions import VarDesc
from .display_hooks import VIEWS
from .kept_values import KEPT_VALUES
from .message_text import ProgramTexts, texts, variable_message
from .readable_text import readable_variable

if TYPE_CHECKING:
    from ..clip import ErrorClipBase
    from ..functions.arguments import ArrayLike
    from ..functions.mixing import Promotion
    from ..ground.dtypes import DTypeLike
    from ..ground.values import LoDTensor
    from ..scope import Scope
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable_methods import VariableMethods
else:
    VariableMethods = Arithmetic

#: operators of Python that spellings round, or give shapes, differently
_ROUNDED = frozenset(f"__{r}{name}__" for r in ("", "r") for name in ("floordiv", "mod", "matmul"))
#: those that make fractions of integers, in spellings other than fluid's
_FRACTIONS = frozenset({"__truediv__", "__rtruediv__", "__pow__", "__rpow__"})


@answers_protected
class Variable(VariableMethods, Operand):
    """A name in a block.  Made by :meth:`Block.create_var`.

    Python's operators append operators, and so does ``==``: compare names, or use ``is``.

    >>> fluid.data("x", [None, 3]).shape
    (-1, 3)
    """

    __slots__ = (
        "__dict__",  # scripts keep notes there
        "__weakref__",
        "_dtype",
        "_shape",
        "block",
        "carried",
        "elements",
        "error_clip",
        "is_data",
        "kind",
        "lod_level",
        "name",
        "need_check_feed",
        "persistable",
        "size_names",
        "stop_gradient",
    )

    def __init__(
        self,
        block: Block,
        name: str,
        *,
        kind: Kind = Kind.LOD_TENSOR,
        shape: Iterable[int] | None = None,
        dtype: DTypeLike = None,
        lod_level: int = 0,
        persistable: bool = False,
        stop_gradient: bool = False,
        is_data: bool = False,
        need_check_feed: bool = False,
        error_clip: ErrorClipBase | None = None,
        size_names: SizeNames = (),
    ) -> None:
        self.block: Block = block
        self.name: str = name
        self.kind: Kind = kind
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._shape = None if shape is None else as_shape(shape, name)
        self.lod_level: int = lod_level
        self.persistable: bool = persistable
        self.stop_gradient: bool = stop_gradient
        self.is_data: bool = is_data
        self.need_check_feed: bool = need_check_feed
        self.error_clip: Any = error_clip
        #: names of unknown sizes, of which equal ones are equal; None for a size without one
        self.size_names: SizeNames = size_names
        #: what a reader gives: of each variable of a batch
        self.elements: tuple[Spec, ...] = ()
        #: what a program file says of it that has no field here; ``proto/`` keeps it
        self.carried: Any = None

    def copy_to(self, block: Block) -> Variable:
        """The same variable for another block; it is not yet declared there."""
        made = shallow_copy(self)
        made.block = block
        return made

    @property
    def type(self) -> Kind:
        """What the variable holds; fluid's name for ``kind``."""
        return self.kind

    @property
    def shape(self) -> Shape:
        """The sizes; -1 where unknown."""
        return self._shape or ()

    @property
    def dtype(self) -> DType:
        """The element type; float32 until one is known."""
        return DType.FP32 if self._dtype is None else self._dtype

    def declare(self, shape: Iterable[int] | None = None, dtype: DTypeLike = None) -> None:
        """Say anew what the variable is.

        Args:
            shape: sizes, -1 where unknown; as they are when None.
            dtype: element type; as it is when None.

        Raises:
            ArgumentError: a size is no integer.
        """
        if shape is not None:
            self._shape = as_shape(shape, self.name)
            self.size_names = ()
        if dtype is not None:
            self._dtype = as_dtype(dtype)
        self.block.program.touch()

    def forget_shape(self) -> None:
        """Say that the number of sizes is not known either."""
        self._shape = None
        self.size_names = ()
        self.block.program.touch()

    @property
    def has_shape(self) -> bool:
        """Whether a shape has been declared or inferred."""
        return self._shape is not None

    @property
    def has_dtype(self) -> bool:
        """Whether an element type has been declared or inferred."""
        return self._dtype is not None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def spec(self) -> Spec | None:
        """What is known about the value; None without a shape."""
        if self._shape is None:
            return None if self.kind is not Kind.LOD_RANK_TABLE else RANK_TABLE
        return tuple.__new__(Spec, (self._shape, self.dtype, self.kind, self.lod_level))

    def take_spec(self, spec: Spec) -> None:
        """Declare what was inferred."""
        self._shape = spec.shape
        self.size_names = ()
        self._dtype = spec.dtype
        self.lod_level = spec.lod_level

    def redeclare(self, shape: Sequence[int] | None = None, dtype: DType | None = None) -> None:
        """Declare another shape or element type than was inferred.

        Args:
            shape: the sizes, -1 where unknown; None for those that are declared.
            dtype: the element type, likewise.
        """
        if shape is not None:
            self._shape = tuple(shape)
            self.size_names = ()
        self._dtype = self._dtype if dtype is None else dtype

    @property
    def program(self) -> Program:
        """The program that the variable belongs to."""
        return self.block.program

    @property
    def is_parameter(self) -> bool:
        """Whether optimizers update it."""
        return isinstance(self, Parameter)

    @property
    def takes_gradient(self) -> bool:
        """Whether backward computes a gradient of the variable by default."""
        return not self.stop_gradient and self.dtype.is_continuous

    @property
    def desc(self) -> VarDesc:
        """What callbacks and old scripts call the variable's description."""
        return VarDesc(self)

    # -- as functions of tensors see it ------------------------------------------------------------

    origin = None
    stop = True  #: nothing is remembered of variables
    version = 0

    @property
    def array(self) -> AbstractArray:
        """The declared shape and element type, where tensors have their elements."""
        return AbstractArray(self)

    @property
    def appends(self) -> Callable[..., dict[str, Any]]:
        """What appends operators that are applied to the variable."""
        return partial(APPENDER.get().append, self)

    @property
    def results(self) -> Callable[..., Variable]:
        """What makes variables where functions make tensors of arrays."""
        return partial(APPENDER.get().result, self)

    @property
    def promotion(self) -> Promotion:
        """How element types are chosen for functions of variables."""
        return APPENDER.get().promotion()

    #: whether it was made for an optimizer: nothing asks
    belong_to_optimizer = False

    @property
    def _stop_gradient(self) -> bool:
        return self.stop_gradient

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What pickling keeps: all but who made the variable for what object of this process."""
        reduced: Any = super().__reduce_ex__(max(int(protocol), 2))
        function, arguments, (notes, slots), *rest = reduced
        if notes and "info" in notes:
            told = {k: v for k, v in notes["info"].items() if not isinstance(v, weakref.ref)}
            notes = {**notes, "info": told}
        return function, arguments, (notes, slots), *rest

    def _set_info(self, key: str, value: Any) -> None:
        self.__dict__.setdefault("info", {})[key] = value

    def _get_info(self, key: str) -> Any:
        return self.__dict__.get("info", {}).get(key)

    def _set_error_clip(self, error_clip: Any) -> None:
        """Set how the variable's gradient is clipped; so fluid 1.8's scripts do it."""
        self.error_clip = error_clip

    @property
    def op(self) -> Operator | None:
        """The last operator of the variable's block that writes it, None when there is none."""
        name = self.name
        return next((op for op in reversed(self.block.ops) if op.writes(name)), None)

    @property
    def grad_name(self) -> str:
        """The name of the variable's gradient."""
        return self.name + "@GRAD"

    @api_boundary
    def get_value(self, scope: Scope | None = None) -> LoDTensor:
        """What a scope holds, as a tensor that shows it.

        Args:
            scope: the global scope when None.

        Raises:
            UnknownVariableError: it has no value there.
        """
        found: LoDTensor = KEPT_VALUES.get().get_value(self, scope)
        return found

    def set_value(self, value: ArrayLike, scope: Scope | None = None) -> None:
        """Have a scope hold another value.

        Args:
            value: a tensor or an array.
            scope: the global scope when None.

        Raises:
            UnknownVariableError: the variable has no value there.
            ShapeError: that one has another shape.
        """
        KEPT_VALUES.get().set_value(self, value, scope)

    def astype(self, dtype: DTypeLike) -> Variable:
        """The variable cast to another element type, by a ``cast`` operator."""
        f = self._builder()
        return f.cast(self, in_dtype=self.dtype, out_dtype=as_dtype(dtype))

    @api_boundary
    def numpy(self) -> NoReturn:
        """Refused: a variable of a program has no value."""
        raise ArgumentError(
            f"variable {self.name!r} of a program has no value of its own; "
            f"{advice.FETCHED.about(self.name)}"
        )

    if not TYPE_CHECKING:  # checkers know the methods one by one

        @api_boundary
        def __getattr__(self, name: str) -> Any:
            """The methods of tensors: ``x.sum()``, ``x.reshape([2, 3])``."""
            if name.startswith("_"):
                raise_refused(type(self), name)
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            method = APPENDER.get().methods().get(name)
            if method is None:
                raise NoAttributeError(_why_not, self, name, state.reader.get(), name=name)
            return method.__get__(self, type(self))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *APPENDER.get().methods()})

    def __repr__(self) -> str:
        if texts.get() is ProgramTexts.READABLE:
            return readable_variable(self)
        shape = "?" if self._shape is None else list(self._shape)
        marks = [
            mark for mark in ("persistable", "stop_gradient", "is_data") if getattr(self, mark)
        ]
        kind = "" if self.kind is Kind.LOD_TENSOR else f"{self.kind.name} "
        lod = f" lod={self.lod_level}" if self.lod_level else ""
        text = " ".join([f"{kind}{self.dtype}{shape}{lod}", *marks])
        maker = self.op
        made = f" at {maker.callsite}" if maker is not None and maker.callsite else ""
        return f"<{type(self).__name__} {printable(self.name)}: {text}{made}>"

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The variable in one line; under the alias the text of its message, as in fluid 1.8."""
        return (
            repr(self) if texts.get() is ProgramTexts.OWN else variable_message(self, with_details)
        )

    def __str__(self) -> str:
        return variable_message(self) if texts.get() is ProgramTexts.MESSAGES else repr(self)

    def _builder(self) -> Any:
        """The interpreter that appends to the current block; names results ``tmp_<n>``."""
        return self.block.program.current_block().builder("tmp")

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Variable:
        if getattr(other, "__array_ufunc__", False) is None:  # arrays, too, leave it to such ones
            return NotImplemented
        if not isinstance(other, (Variable, int, float)) and APPENDER.get().is_operand(other):
            other = APPENDER.get().beside(self, other)
        unlike = isinstance(other, Variable) and other.dtype != self.dtype
        fractional = isinstance(other, float) or method in _FRACTIONS or self.dtype == DType.BOOL
        if unlike or method in _ROUNDED or (fractional and not self.dtype.is_continuous):
            chosen = APPENDER.get().mixed(self, method, other, reflected)
            if chosen is not None:
                return chosen
        return self._builder().combine(self, method, operator, other, reflected)

    @api_boundary
    def __neg__(self) -> Variable:
        return self.neg() if self.dtype == DType.BOOL else self._builder().scale(self, scale=-1.0)

    @api_boundary
    def __getitem__(self, item: Any) -> Variable:
        return APPENDER.get().item(self, item)

    @api_boundary
    def __setitem__(self, item: Any, value: Any) -> None:
        APPENDER.get().put_item(self, item, value)

    @api_boundary
    def __abs__(self) -> Variable:
        return self._builder().abs(self)

    @api_boundary
    def __invert__(self) -> Variable:
        return self.bitwise_not()

    @api_boundary
    def __and__(self, other: Any) -> Variable:
        return self.bitwise_and(other)

    @api_boundary
    def __or__(self, other: Any) -> Variable:
        return self.bitwise_or(other)

    @api_boundary
    def __xor__(self, other: Any) -> Variable:
        return self.bitwise_xor(other)

    @api_boundary
    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **more: Any) -> Any:
        """NumPy's functions of variables, and ``array + variable``, append operators."""
        name = function.__name__
        python = UFUNCS.get(name, ())
        if method == "__call__" and not more:
            if len(inputs) == 2 and python:
                first, second = inputs
                if isinstance(first, Variable):
                    return getattr(first, python[0])(second)
                return getattr(second, python[1])(first)
            found = APPENDER.get().methods().get({"absolute": "abs"}.get(name, name))
            if len(inputs) == 1 and found is not None:
                return found(*inputs)
        raise self._no_array(name)

    @api_boundary
    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        """NumPy's functions of shapes; others compute with elements, and are refused."""
        if function.__name__ not in ("ndim", "shape") or args != (self,):
            raise self._no_array(function.__name__)
        return getattr(self, function.__name__)

    def _no_array(self, function: str) -> ArgumentError:
        known = APPENDER.get().methods()
        here = f"use {self.name}.{function}(...)"
        use = here if function in known else str(advice.FUNCTIONS)
        return ArgumentError(
            f"numpy.{function} computes with arrays, and variable {self.name!r} has none before "
            f"the program runs; {use}, or {advice.FETCHED.about(self.name)}"
        )

    def _no_number(self, *_: Any) -> NoReturn:
        raise DTypeError(
            f"variable {self.name!r} is no number before the program runs; "
            f"{advice.FETCHED.about(self.name)}"
        )

    @api_boundary
    def __format__(self, form: str) -> str:
        return self._no_number() if form else str(self)

    @api_boundary
    def __len__(self) -> int:
        raise DTypeError(
            f"variable {self.name!r} has no length before the program runs; its shape is "
            f"{list(self.shape)}, and {advice.SIZED.about(self.name)}"
        )

    @api_boundary
    def __bool__(self) -> bool:
        warn(
            f"variable {self.name!r} has no truth value before the program runs: it is always "
            f"true, for if, while, and, or, not, and in; {advice.CHOSEN}; `is None` asks whether "
            f"there is one, and `is` whether two are the same",
            None,
        )
        return True  # as in fluid

    @api_boundary
    def __iter__(self) -> Any:
        rows = self.shape[0] if self.shape else -1
        if rows > 0 and APPENDER.get().iterates():  # as paddle 2 and OneFlow have it
            return iter([self[k] for k in range(rows)])
        raise DTypeError(
            f"variable {self.name!r} cannot be iterated over: it has no value before the program "
            f"runs; {advice.ROWS.about(self.name)}"
        )


for _name in ("float", "int", "complex", "round"):
    setattr(Variable, f"__{_name}__", api_boundary(Variable._no_number))


class Parameter(Variable):
    """A persistable variable that optimizers update.  Made by :meth:`Block.create_parameter`."""

    __slots__ = (
        "do_model_average",
        "gradient_clip_attr",
        "initializer",
        "is_distributed",
        "need_clip",
        "optimize_attr",
        "regularizer",
        "trainable",
    )

    def __init__(
        self,
        block: Block,
        name: str,
        *,
        shape: Iterable[int],
        dtype: Any,
        trainable: bool = True,
        initializer: Any = None,
        optimize_attr: dict[str, Any] | None = None,
        regularizer: Any = None,
        gradient_clip_attr: Any = None,
        do_model_average: bool | None = None,
        is_distributed: bool = False,
        need_clip: bool = True,
        **more: Any,
    ) -> None:
        sizes = as_shape(shape, name)
        if not sizes or any(n <= 0 for n in sizes):
            raise ArgumentError(
                f"parameter {name!r} needs a shape of positive sizes, got {list(sizes)}"
            )
        more.setdefault("persistable", True)
        super().__init__(block, name, shape=sizes, dtype=dtype, **more)
        self.trainable: bool = trainable
        self.initializer: Any = initializer
        self.optimize_attr: dict[str, Any] = optimize_attr or {"learning_rate": 1.0}
        self.regularizer: Any = regularizer
        self.gradient_clip_attr: Any = gradient_clip_attr
        self.do_model_average: bool | None = do_model_average
        self.is_distributed: bool = is_distributed
        self.need_clip: bool = need_clip

    def copy_to(self, block: Block) -> Variable:
        """The same parameter for another block; it is not yet declared there."""
        made = super().copy_to(block)
        made.optimize_attr = dict(self.optimize_attr)  # type: ignore[attr-defined]
        return made


class NoAttributeError(ExplainedError):
    """A variable has no such attribute; says which was meant, or what does it in programs."""


def _why_not(variable: Variable, name: str, reader: Callable[[Advice], str]) -> str:
    message = f"{type(variable).__name__} has no attribute {name!r}"
    if name not in advice.IN_PROGRAMS:
        return message + suggestion(name, dir(variable))
    with state.reader.guard(reader):
        hint = advice.IN_PROGRAMS[name].about(variable.name)
    return f"{message}; {variable.name!r} is one of a program: {hint}"


def as_shape(shape: Iterable[int], name: str) -> Shape:
    """A shape as a tuple of integers; None stands for an unknown size.

    Raises:
        ArgumentError: an entry is no integer.
    """
    sizes = []
    for n in shape:
        try:
            sizes.append(n if n.__class__ is int else -1 if n is None else whole_number(n))
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(
                f"the shape of variable {name!r} holds {n!r}; expected integers, -1 or None where "
                f"unknown"
            ) from None
    return tuple(sizes)


def variable_like(like: Variable, block: Block, name: str = "", **flags: Any) -> Variable:
    """A variable of a block for the values of another variable, by default under its name."""
    shape = like.shape if like.has_shape else None
    dtype = like.dtype if like.has_dtype else None
    said: dict[str, Any] = dict(kind=like.kind, shape=shape, dtype=dtype, lod_level=like.lod_level)
    if "shape" not in flags:
        said["size_names"] = like.size_names
    return Variable(block, name or like.name, **(said | flags))


def declared_like(like: Variable, block: Block, name: str = "", **flags: Any) -> Variable:
    """The same, declared in the block."""
    variable = variable_like(like, block, name, **flags)
    block.declare(variable)
    return variable


def is_tensor(value: Any) -> bool:
    """Whether a value is an eager tensor, which is no variable."""
    return isinstance(value, Arithmetic) and not isinstance(value, Variable)
