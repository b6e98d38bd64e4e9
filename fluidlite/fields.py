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
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**told: Any) -> Any:
        """What tells type checkers that a decorator makes constructors."""
        return lambda decorator: decorator


T = TypeVar("T", bound=type)
_NONE: Any = object()


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
    found: dict[str, tuple[_Field, Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found.update(vars(base).get("_fields", {}))
    for name, annotation in cls.__annotations__.items():
        if not str(annotation).startswith("ClassVar"):
            value = vars(cls).get(name, _NONE)
            own = value if isinstance(value, _Field) else _Field(value, False)
            found[name] = own, annotation
            if value is not _NONE:
                delattr(cls, name)
    named = [name for name, (each, _) in found.items() if each.kw_only]
    placed = [name for name in found if name not in named]
    names = (*placed, *named)
    made = _template(len(placed), len(named))(names)
    code = made.__code__
    made.__code__ = code.replace(co_varnames=("self", *names, *code.co_varnames[len(names) + 1 :]))
    defaults = {name: each.default for name, (each, _) in found.items()}
    made.__defaults__ = tuple(defaults[n] for n in placed if defaults[n] is not _NONE)
    made.__kwdefaults__ = {n: defaults[n] for n in named if defaults[n] is not _NONE}
    made.__annotations__ = {**{name: found[name][1] for name in names}, "return": "None"}
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    kind: Any = cls
    kind._fields, kind.__init__ = found, made
    return cls


def fields_of(kind: type) -> dict[str, str]:
    """The fields of a class, and their types as they stand in its source."""
    return {name: str(told) for name, (_, told) in getattr(kind, "_fields", {}).items()}


@functools.cache
def _template(placed: int, named: int) -> Callable[[tuple[str, ...]], FunctionType]:
    """What makes a constructor of so many fields, of which some are given by name only."""
    words = [f"p{k}" for k in range(placed + named)]
    told = ", ".join(["self", *words[:placed], *["*"] * bool(named), *words[placed:]])
    text = (
        f"def make(names):\n"
        f"    def __init__({told}):\n"
        f"        self.begin(dict(zip(names, ({', '.join(words)},))))\n"
        f"    return __init__\n"
    )
    scope: dict[str, Any] = {}
    exec(compile(text, __file__, "exec", dont_inherit=True), scope)
    maker: Callable[[tuple[str, ...]], FunctionType] = scope["make"]
    return maker
