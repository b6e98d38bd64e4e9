"""Constructors that are made of fields: a class lists names, types and defaults, in order.

>>> @from_fields
... class Point:
...     x: float
...     y: float = 0.0
...
...     def begin(self, given):
...         self.place = tuple(given.values())
>>> Point(1.0).place, Point(y=2.0, x=3.0).place
((1.0, 0.0), (3.0, 2.0))

They are what data classes have, but for what is done with the arguments: the class says it in
``begin``.  Constructors are written once for each number of fields, not for each class.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**told: Any) -> Any:
        """What tells type checkers that a decorator makes constructors."""
        return lambda decorator: decorator


T = TypeVar("T", bound=type)
P = ParamSpec("P")
_NONE: Any = object()
_PACKAGE = __name__.partition(".")[0]
#: what constructors are compiled as: a file of the package, whose frames users do not see
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_WRITTEN = os.path.join(_FOLDER, "<constructor>")
WRITTEN_METHOD = os.path.join(_FOLDER, "<method>")  #: the same for methods


class _Field(NamedTuple):
    """A field that is more than a type and a default."""

    default: Any
    kw_only: bool


def field(*, default: Any = _NONE, kw_only: bool = False) -> Any:
    """A field that is given by name only.

    Args:
        default: its value where it is not given.
        kw_only: whether it has to be named.
    """
    return _Field(default, kw_only)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def from_fields(cls: T) -> T:
    """Give a class a constructor that takes its fields, and those of its bases, and calls ``begin``
    with a dictionary of them.

    Args:
        cls: the class; names with an annotation are its fields, but ``ClassVar``.
    """
    fields: dict[str, tuple[_Field, Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(vars(base).get("_fields", {}))
    for name, annotation in cls.__annotations__.items():
        if not str(annotation).startswith("ClassVar"):
            value = vars(cls).get(name, _NONE)
            own = value if isinstance(value, _Field) else _Field(value, False)
            fields[name] = own, annotation
            if value is not _NONE:
                delattr(cls, name)
    kind: Any = cls
    kind._fields, kind.__init__ = fields, _constructor(fields)
    belongs(kind.__init__, cls)
    return cls


@overload
def options_of(
    function: Callable[Concatenate[Any, P], Any], inputs: Literal[1] = 1
) -> Callable[[Any], Callable[Concatenate[Any, P], None]]: ...
@overload
def options_of(
    function: Callable[Concatenate[Any, Any, P], Any], inputs: Literal[2]
) -> Callable[[Any], Callable[Concatenate[Any, P], None]]: ...
@overload
def options_of(
    function: Callable[Concatenate[Any, Any, Any, P], Any], inputs: Literal[3]
) -> Callable[[Any], Callable[Concatenate[Any, P], None]]: ...
def options_of(function: Callable[..., Any], inputs: int = 1) -> Any:
    """Have a constructor take what a function does behind its inputs, and call ``begin`` with a
    dictionary of that.

    Args:
        function: what objects of the class call; they find it in ``__init__.function``.
        inputs: how many of its parameters are given by that call.

    >>> from fluidlite.ground.fields import options_of
    >>> class Power:
    ...     @options_of(lambda x, exponent, scale=1.0: scale * x**exponent)
    ...     def __init__(self): ...
    ...
    ...     def begin(self, given):
    ...         self.options = given
    >>> Power(2).options
    {'exponent': 2, 'scale': 1.0}
    """
    plain: Any = inspect.unwrap(function)
    names = plain.__code__.co_varnames[inputs : plain.__code__.co_argcount]
    defaults = plain.__defaults__ or ()
    given = dict(zip(reversed(names), reversed(defaults)))
    fields = {
        n: (_Field(given.get(n, _NONE), False), plain.__annotations__.get(n, "Any")) for n in names
    }
    made: Any = _constructor(fields)
    made.function, made.fields, made.inputs = function, fields, inputs
    return lambda unwritten: made


def takes_options(cls: Any) -> Callable[..., Any] | None:
    """The function whose options a class takes by :func:`options_of`; None for another class, or
    one whose base does that.
    """
    constructor: Any = vars(cls).get("__init__")
    if not hasattr(constructor, "function"):
        return None
    belongs(constructor, cls)
    cls._fields = constructor.fields
    function: Callable[..., Any] = constructor.function
    return function


def usual_options(cls: Any) -> dict[str, Any]:
    """The defaults of fields that ``cls.function`` has, too."""
    plain: Any = inspect.unwrap(cls.function)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    defaults = dict(zip(reversed(names), reversed(plain.__defaults__ or ())))
    known = ((name, each.default) for name, (each, _) in cls._fields.items())
    return {name: value for name, value in known if defaults.get(name, _NONE) is value}


def inputs_taken(cls: type) -> int:
    """How many parameters of the function of a class are given by calls, and not as options."""
    count: int = getattr(vars(cls).get("__init__"), "inputs", 1)
    return count


def own_constructor(cls: Any) -> None:
    """Give a class that inherits a constructor of fields this one under its own name, which
    messages say.
    """
    of_base = cls.__init__
    if "__init__" in vars(cls) or of_base.__code__.co_filename != _WRITTEN:
        return
    own = FunctionType(
        *(of_base.__code__, of_base.__globals__, of_base.__name__),
        *(of_base.__defaults__, of_base.__closure__),
    )
    own.__kwdefaults__, own.__annotations__ = of_base.__kwdefaults__, of_base.__annotations__
    belongs(own, cls)
    cls.__init__ = own


def belongs(function: Any, cls: type, name: str = "__init__") -> None:
    """Let messages and ``help`` say whose a constructor, or another method, is."""
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    function.__module__ = cls.__module__


def _constructor(fields: Mapping[str, tuple[_Field, Any]]) -> FunctionType:
    """A constructor that takes these fields."""
    named = [name for name, (each, _) in fields.items() if each.kw_only]
    placed = [name for name in fields if name not in named]
    names = (*placed, *named)
    constructor = _template(len(placed), len(named))(names, begin)
    code = constructor.__code__
    constructor.__code__ = code.replace(
        co_varnames=("self", *names, *code.co_varnames[len(names) + 1 :])
    )
    defaults = {name: each.default for name, (each, _) in fields.items()}
    constructor.__defaults__ = tuple(defaults[n] for n in placed if defaults[n] is not _NONE)
    constructor.__kwdefaults__ = {n: defaults[n] for n in named if defaults[n] is not _NONE}
    constructor.__annotations__ = {**{name: fields[name][1] for name in names}, "return": "None"}
    return constructor


def begin(owner: Any, given: dict[str, Any]) -> None:
    """Call ``begin`` of the first class of the package, or with fields; what users call so in
    classes that derive from it is theirs.

    Args:
        owner: the object.
        given: the fields by name.
    """
    for kind in type(owner).__mro__:
        own = vars(kind)
        if "begin" in own and ("_fields" in own or _is_own(kind)):
            own["begin"](owner, given)
            return
    owner.begin(given)


def _is_own(kind: type) -> bool:
    """Whether a class is one of the package."""
    return str(kind.__module__).partition(".")[0] == _PACKAGE


def fields_of(kind: Any) -> Mapping[str, str]:
    """The fields of a class, and their types as they stand in its source."""
    return _told(kind)


@functools.cache
def _told(kind: Any) -> Mapping[str, str]:
    return {name: str(told) for name, (_, told) in getattr(kind, "_fields", {}).items()}


@functools.cache
def _template(placed: int, named: int) -> Callable[..., FunctionType]:
    """What makes a constructor of so many fields, of which some are given by name only."""
    words = [f"p{k}" for k in range(placed + named)]
    told = ", ".join(["self", *words[:placed], *["*"] * bool(named), *words[placed:]])
    text = (
        f"def make(names, begin):\n"
        f"    def __init__({told}):\n"
        f"        begin(self, dict(zip(names, [{', '.join(words)}])))\n"
        f"    return __init__\n"
    )
    return maker_of(text, _WRITTEN)


def is_written(function: FunctionType) -> bool:
    """Whether a method was made of a text, so that there is no source of it."""
    return function.__code__.co_filename == WRITTEN_METHOD


def maker_of(text: str, file: str) -> Callable[..., FunctionType]:
    """The function ``make`` of a text, whose lines tracebacks show as those of a file."""
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    maker: Callable[..., FunctionType] = scope["make"]
    return maker
