"""The package ``six``, which came with paddle 1.8: where it is not installed, this is served.

It has what code that ran on Python 2 and 3 asks for; on Python 3 most of it is a name.
"""

from __future__ import annotations

import builtins
import io
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any, NoReturn, TypeVar

_Class = TypeVar("_Class", bound=type)

PY2, PY3, PY34 = False, True, True
MAXSIZE = sys.maxsize
string_types, integer_types, class_types = (str,), (int,), (type,)
text_type, binary_type = str, bytes
unichr, int2byte, byte2int = (
    chr,
    operator.methodcaller("to_bytes", 1, "big"),
    operator.itemgetter(0),
)
indexbytes, iterbytes = operator.getitem, iter
StringIO, BytesIO = io.StringIO, io.BytesIO
next = advance_iterator = builtins.next
callable, print_, exec_ = builtins.callable, builtins.print, builtins.exec

#: names of ``six.moves`` -> MODULE:NAME, or a module
_MOVES = {
    **{name: f"builtins:{name}" for name in ("filter", "input", "map", "range", "zip")},
    "xrange": "builtins:range",
    "reduce": "functools:reduce",
    "intern": "sys:intern",
    "getcwd": "os:getcwd",
    "reload_module": "importlib:reload",
    "zip_longest": "itertools:zip_longest",
    "filterfalse": "itertools:filterfalse",
    "shlex_quote": "shlex:quote",
    "StringIO": "io:StringIO",
    "cStringIO": "io:StringIO",
    "UserDict": "collections:UserDict",
    "UserList": "collections:UserList",
    "UserString": "collections:UserString",
    "cPickle": "pickle",
    "copyreg": "copyreg",
    "builtins": "builtins",
    "configparser": "configparser",
    "queue": "queue",
    "socketserver": "socketserver",
    "urllib": "urllib",
    "urllib_parse": "urllib.parse",
    "http_client": "http.client",
    "http_cookies": "http.cookies",
    "html_parser": "html.parser",
    "_thread": "_thread",
}
_URLLIB = ("error", "parse", "request", "response", "robotparser")


class Moves(ModuleType):
    """``six.moves``: what has another place in Python 3, imported at its first use."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name not in _MOVES:
            raise AttributeError(f"module 'six.moves' has no attribute {name!r}", name=name)
        module, _, attribute = _MOVES[name].partition(":")
        moved: Any = import_module(module)
        if name == "urllib":
            for part in _URLLIB[:-2]:
                import_module(f"urllib.{part}")
        moved = getattr(moved, attribute) if attribute else moved
        setattr(self, name, moved)
        return moved


moves: Moves = Moves("six.moves")


class SixFinder:
    """Finds ``six`` and what is below it, behind all other finders: where nothing else does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of ``six``, ``six.moves`` or a module in it; None for any other."""
        begin, _, name = fullname.partition("six.moves.")
        if fullname not in ("six", "six.moves"):
            head, _, part = name.partition(".")
            is_part = head == "urllib" and part in _URLLIB
            if begin or not (is_part or (not part and name in _MOVES)):
                return None
        loader: Any = self  # as of AliasFinder
        return ModuleSpec(fullname, loader, origin="fluidlite", is_package=fullname == "six")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that stands behind a name."""
        if spec.name == "six":
            made = ModuleType("six", __doc__)
            vars(made).update({n: v for n, v in globals().items() if n in __all__})
            return made
        if spec.name == "six.moves":
            return moves
        name = spec.name.removeprefix("six.moves.")
        if name.startswith("urllib."):
            return import_module(name)
        found: ModuleType = getattr(moves, name)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: modules are made whole."""


def forget() -> None:
    """Take what is served out of the modules that are imported."""
    if isinstance(sys.modules.get("six.moves"), Moves) or (
        getattr(sys.modules.get("six"), "moves", None) is moves
    ):
        for name in [n for n in sys.modules if n == "six" or n.startswith("six.")]:
            del sys.modules[name]


def iteritems(d: Mapping[Any, Any], **more: Any) -> Iterator[Any]:
    """The pairs of a dictionary, one after the other."""
    return iter(d.items(**more))


def iterkeys(d: Mapping[Any, Any], **more: Any) -> Iterator[Any]:
    """The keys of a dictionary."""
    return iter(d.keys(**more))


def itervalues(d: Mapping[Any, Any], **more: Any) -> Iterator[Any]:
    """The values of a dictionary."""
    return iter(d.values(**more))


def iterlists(d: Any, **more: Any) -> Iterator[Any]:
    """The lists of a dictionary of lists."""
    return iter(d.lists(**more))


viewkeys, viewvalues, viewitems = (
    operator.methodcaller(name) for name in ("keys", "values", "items")
)


def b(s: str) -> bytes:
    """A text as bytes of Latin 1."""
    return s.encode("latin-1")


def u(s: str) -> str:
    """A text as it is."""
    return s


def ensure_binary(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """A text as bytes; bytes as they are."""
    return s.encode(encoding, errors) if isinstance(s, str) else s


def ensure_str(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Bytes as a text; a text as it is."""
    return s.decode(encoding, errors) if isinstance(s, bytes) else s


ensure_text = ensure_str


def raise_from(value: BaseException, from_value: BaseException | None) -> NoReturn:
    """Raise an error for which another one is the reason."""
    raise value from from_value


def reraise(
    tp: type[BaseException], value: BaseException | None, tb: TracebackType | None = None
) -> NoReturn:
    """Raise an error with a traceback."""
    raise (tp() if value is None else value).with_traceback(tb)


def wraps(wrapped: Callable[..., Any], *more: Any) -> Callable[..., Any]:
    """``functools.wraps``."""
    decorator: Callable[..., Any] = import_module("functools").wraps(wrapped, *more)
    return decorator


def with_metaclass(meta: type, *bases: type) -> Any:
    """A class to derive from that has a metaclass."""
    return meta("temporary_class", bases, {})


def add_metaclass(metaclass: type) -> Callable[[_Class], Any]:
    """A decorator that makes a class anew, with a metaclass."""

    def decorator(cls: _Class) -> Any:
        left_out = {"__dict__", "__weakref__", *_slots(cls)}
        body = {name: value for name, value in vars(cls).items() if name not in left_out}
        body["__qualname__"] = cls.__qualname__
        return metaclass(cls.__name__, cls.__bases__, body)

    return decorator


def _slots(cls: type) -> Iterable[str]:
    slots = vars(cls).get("__slots__", ())
    return [slots] if isinstance(slots, str) else slots


def python_2_unicode_compatible(klass: _Class) -> _Class:
    """A class as it is."""
    return klass


get_function_code, get_function_globals, get_function_defaults, get_function_closure = (
    operator.attrgetter(f"__{name}__") for name in ("code", "globals", "defaults", "closure")
)
get_method_function, get_method_self = (
    operator.attrgetter("__func__"),
    operator.attrgetter("__self__"),
)

__all__ = [
    "BytesIO", "MAXSIZE", "PY2", "PY3", "PY34", "StringIO", "add_metaclass", "advance_iterator",
    "b", "binary_type", "byte2int", "callable", "class_types", "ensure_binary", "ensure_str",
    "ensure_text", "exec_", "get_function_closure", "get_function_code", "get_function_defaults",
    "get_function_globals", "get_method_function", "get_method_self", "indexbytes", "int2byte",
    "integer_types", "iterbytes", "iteritems", "iterkeys", "iterlists", "itervalues", "moves",
    "next", "print_", "python_2_unicode_compatible", "raise_from", "reraise", "string_types",
    "text_type", "u", "unichr", "viewitems", "viewkeys", "viewvalues", "with_metaclass", "wraps",
]  # fmt: skip
