"""Modules that are a function, and the options that it is called with."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from ..ground.docstrings import Family, arguments_of, prose_of
from ..ground.examples import called_as_layer, respelled
from ..ground.fields import (
    WRITTEN_METHOD,
    belongs,
    inputs_taken,
    maker_of,
    takes_options,
    usual_options,
)


class FunctionCaller:
    """A module without parameters.

    A subclass takes the options of a function as its constructor, or lists fields and says which
    one it ``calls``.  What its docstring leaves out, the function's says.
    """

    function: ClassVar[Callable[..., Any]]
    _functions: ClassVar[str]  #: the module that has the public functions
    _fields: ClassVar[Mapping[str, tuple[Any, Any]]] = {}  #: what constructors of fields take
    _options: dict[str, Any]

    _inputs: ClassVar[tuple[str, ...]] = ()  #: their names, where not those of the function
    #: what the function is given behind its inputs, where calls may name these
    _told: ClassVar[str | None] = None

    def __init_subclass__(cls, calls: Callable[..., Any] | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if calls is not None:
            cls.function = staticmethod(calls)
        function, own = takes_options(cls), vars(cls)
        if function is not None and "function" not in own:
            cls.function = staticmethod(function)
        if "function" in own and "forward" not in own and cls._told is not None:
            cls.forward = _forward(cls, cls._told)  # type: ignore[method-assign]
        if "function" in own and cls.function.__doc__:
            cls.__doc__ = _documented(cls, (*cls._fields, *own.get("__annotations__", ())))

    def _unusual(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options that are not as by default."""
        own: Any = type(self)
        if "_usual" not in vars(own):
            own._usual = usual_options(own)
        usual = own._usual
        return {n: value for n, value in options.items() if value is not usual.get(n, self)}

    def forward(self, *inputs: Any) -> Any:
        """What the function gives."""
        return type(self).function(*inputs, **self._options)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self._options.items())


def _inputs_of(cls: type[FunctionCaller]) -> tuple[str, ...]:
    """The names of what a module is called with."""
    if cls._inputs:
        return cls._inputs
    plain: Any = inspect.unwrap(cls.function)
    return tuple(plain.__code__.co_varnames[: inputs_taken(cls)])


def _forward(cls: type[FunctionCaller], told: str) -> Any:
    """What calls the function of a class with inputs that have names."""
    forward = _maker(_inputs_of(cls), told)(cls.function)
    belongs(forward, cls, "forward")
    return forward


@functools.cache
def _maker(names: tuple[str, ...], told: str) -> Callable[..., Any]:
    listed = ", ".join(names)
    return maker_of(
        f"def make(function):\n"
        f"    def forward(self, {listed}):\n"
        f"        'What the function gives.'\n"
        f"        return function({listed}, {told})\n"
        f"    return forward\n",
        WRITTEN_METHOD,
    )


def _documented(cls: type[FunctionCaller], options: Iterable[str]) -> str:
    """The docstring of a class, with what its function says of its options."""
    name, said = cls.function.__name__, inspect.cleandoc(cls.function.__doc__ or "")
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    if not text or text.startswith(">>> "):
        known = getattr(sys.modules[cls._functions], name, None) is cls.function
        more = f"Computed by :func:`~{cls._functions}.{name}`." if known else ""
        text = "\n\n".join(filter(None, [prose_of(said), more, text]))
    example = "" if cls.__name__.startswith("_") or ">>> " in text else _example(cls, said)
    return Family(arguments_of(said), example=example).completed(text, name, options)


def _example(cls: type[FunctionCaller], said: str) -> str:
    """The example of the function, as a call of an object of the class; empty if it has none."""
    example = next((block for block in said.split("\n\n") if block.startswith(">>> ")), "")
    modules = cls._functions.removeprefix("fluidlite.").removesuffix("functional")
    caller = called_as_layer(f"fluid.{modules}{cls.__name__}", len(_inputs_of(cls)))
    return respelled(example, cls.function.__name__, caller)
