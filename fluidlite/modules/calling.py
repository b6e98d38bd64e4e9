"""Modules that are a function, and the options that it is called with."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from ..ground.docstrings import Family, arguments_of, prose_of
from ..ground.fields import takes_options, usual_options


class FunctionCaller:
    """A module without parameters.

    A subclass takes the options of a function as its constructor, or lists fields and says in
    ``function`` which one it calls.  What its docstring leaves out, the function's says.
    """

    function: ClassVar[Callable[..., Any]]
    _functions: ClassVar[str]  #: the module that has the public functions
    _fields: ClassVar[Mapping[str, tuple[Any, Any]]] = {}  #: what constructors of fields take
    _options: dict[str, Any]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        function, own = takes_options(cls), vars(cls)
        if function is not None and "function" not in own:
            cls.function = staticmethod(function)
        if "function" in own and cls.function.__doc__:
            options = own.get("__annotations__", ()) if function is None else own["_fields"]
            cls.__doc__ = _documented(cls, options)

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


def _documented(cls: type[FunctionCaller], options: Iterable[str]) -> str:
    """The docstring of a class, with what its function says of its options."""
    name, said = cls.function.__name__, inspect.cleandoc(cls.function.__doc__ or "")
    text = vars(cls).get("__doc__")
    if text is None:
        known = getattr(sys.modules[cls._functions], name, None) is cls.function
        text = prose_of(said)
        text += f"\n\nComputed by :func:`~{cls._functions}.{name}`." if known else ""
    return Family(arguments_of(said)).completed(text, name, options)
