"""What the Python code of a step depends on: the functions that ran, and the values that they find
by name.

A step may be replayed without its Python code as long as all that is as it was.  So what cannot be
watched, or changes while the step runs, is a reason not to replay it.
"""

from __future__ import annotations

import collections
import dis
import enum
import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..eager.recording import TensorRecord
from ..eager.source import SourceLine, located_line
from ..ground.dtypes import DType
from ..ground.object_caches import ObjectCache
from ..optimizer.eager import EagerSteps
from ..optimizer.optimizer import Optimizer

MOST_WATCHED = 20_000  #: objects
_PLAIN = (
    bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range,
    slice, enum.Enum, np.dtype, np.generic, DType,
)  # fmt: skip
_CODE = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.GetSetDescriptorType, types.MemberDescriptorType, property,
    staticmethod, classmethod, operator.itemgetter, operator.attrgetter, operator.methodcaller,
)  # fmt: skip
#: functions of C that a step may call: they read and change nothing but their arguments
_PURE = frozenset(
    {abs, all, any, callable, chr, divmod, getattr, hasattr, hash, id, isinstance, issubclass, iter,
     len, max, min, ord, pow, repr, round, sorted, sum}
)  # fmt: skip
_PURE_MODULES = frozenset({"math", "cmath", "_operator"})
_PURE_TYPES = (str, bytes, int, float, complex, tuple, frozenset, range)
#: types whose methods change them alone, which shows
_SEEN_TYPES = (list, dict, set, collections.OrderedDict, collections.deque)
#: modules of Python whose functions only call others
_QUIET = frozenset(
    {"contextlib", "functools", "collections", "collections.abc", "abc", "enum", "typing",
     "operator", "_collections_abc", "types"}
)  # fmt: skip
#: libraries that this package calls; "": source that it has written
_LIBRARIES = frozenset({"numpy", "scipy", "networkx", "threadpoolctl", "ml_dtypes", ""})
_NAMES = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
#: what optimizers look at of a parameter
_OF_STEPS = frozenset({"optimize_attr", "regularizer", "need_clip", "gradient_clip_attr"})
_MISSING = object()


def is_packages(module: str) -> bool:
    """Whether a module is this package's, or one of its names."""
    return module.partition(".")[0] in ("fluidlite", "paddle", "oneflow")


class CallWatch:
    """The functions of the user's that run, and why what they call cannot be left out."""

    def __init__(self) -> None:
        self.codes: dict[types.CodeType, dict[str, Any]] = {}  #: with their global names
        self.owners: dict[int, Any] = {}  #: objects whose methods ran
        self.reason: tuple[str, SourceLine | None] | None = None

    @contextmanager
    def on(self) -> Iterator[None]:
        """A guard under which the calls of this thread are watched."""
        before = sys.getprofile()
        sys.setprofile(self._seen)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _seen(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_call"):
            return
        names = frame.f_globals
        module = names.get("__name__") or ""
        if is_packages(module) or module in _QUIET or _is_called_by_package(frame):
            return
        if event == "c_call":
            if not _is_pure(argument) and argument is not _STOP:
                name = getattr(argument, "__qualname__", repr(argument))
                self._refuse(f"{name}() is called", frame)
            return
        code = frame.f_code
        if code not in self.codes:
            self.codes[code] = names
        if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
            owner = frame.f_locals.get(code.co_varnames[0])
            self.owners[id(owner)] = owner

    def _refuse(self, what: str, frame: types.FrameType) -> None:
        if self.reason is None:
            while _is_library(frame) and frame.f_back is not None:
                frame = frame.f_back
            self.reason = what, located_line(frame.f_code, frame.f_lasti)


_STOP = sys.setprofile


def _is_library(frame: types.FrameType) -> bool:
    """Whether a function is one of Python's library, of NumPy, or was written by this package."""
    module = frame.f_globals.get("__name__") or ""
    root = module.partition(".")[0]
    is_known = root in sys.stdlib_module_names or root in _LIBRARIES
    return module != "__main__" and (is_known or module.startswith("namedtuple_"))


def _is_called_by_package(frame: types.FrameType | None) -> bool:
    """Whether Python's library, or NumPy, was called by this package, not by the user."""
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    return frame is not None and is_packages(frame.f_globals.get("__name__") or "")


def _is_pure(function: Any) -> bool:
    if function in _PURE or getattr(function, "__module__", None) in _PURE_MODULES:
        return True
    owner = getattr(function, "__self__", None)
    if owner is None:  # a method of a class
        owner = getattr(function, "__objclass__", None)
        return owner in _PURE_TYPES or owner in _SEEN_TYPES or owner in (object, type)
    if isinstance(owner, type):
        return owner in _PURE_TYPES
    if isinstance(owner, types.ModuleType):
        return False
    is_own = is_packages(type(owner).__module__) and function.__name__.startswith("__")
    return is_own or isinstance(owner, (*_PURE_TYPES, *_SEEN_TYPES, TensorRecord))


class Unwatchable(Exception):
    """Something that Python code reads cannot be watched."""


def _is_same(value: Any, before: Any) -> bool:
    """Whether code that read a value does the same with another one."""
    if value is before:
        return True
    if type(value) is not type(before):
        return False
    if isinstance(value, tuple):
        return len(value) == len(before) and all(map(_is_same, value, before))
    if isinstance(value, float):
        return value.hex() == before.hex()
    return isinstance(value, _PLAIN) and bool(value == before)


class _Names:
    """Some entries of a dictionary, or all of them."""

    __slots__ = ("_held", "_keys", "_values", "_what", "_whole")

    def __init__(self, held: Any, keys: list[Any] | None, what: str) -> None:
        self._held = held
        self._whole = keys is None
        self._keys = list(held) if keys is None else keys
        self._values = [held[key] for key in self._keys]
        self._what = what

    def difference(self) -> str | None:
        """What is otherwise now; None if nothing is."""
        held = self._held
        if self._whole:
            if len(held) == len(self._values) and all(
                map(operator.is_, held.values(), self._values)
            ):
                return None
            if list(held) != self._keys:
                return f"{self._what} has other entries"
        for k, key in enumerate(self._keys):
            value = held.get(key, _MISSING)
            if value is not self._values[k]:
                if not _is_same(value, self._values[k]):
                    return f"{key!s:.40} of {self._what} is another"
                self._values[k] = value
        return None


class _Items:
    """The elements of a list, a set or another container."""

    __slots__ = ("_held", "_values", "_what")

    def __init__(self, held: Any, what: str) -> None:
        self._held, self._values, self._what = held, list(held), what

    def difference(self) -> str | None:
        """What is otherwise now; None if nothing is."""
        held = self._held
        if len(held) == len(self._values) and all(map(_is_same, held, self._values)):
            return None
        return f"{self._what} has other elements"


class _Cell:
    """A variable of a function around."""

    __slots__ = ("_cell", "_value", "_what")

    def __init__(self, cell: Any, what: str) -> None:
        self._cell, self._value, self._what = cell, cell.cell_contents, what

    def difference(self) -> str | None:
        """What is otherwise now; None if nothing is."""
        value = self._cell.cell_contents
        if value is not self._value:
            if not _is_same(value, self._value):
                return f"{self._what} is another"
            self._value = value
        return None


class Surroundings:
    """What some functions find where they run.

    Args:
        step: the function that calls the others.
        ran: what ran.
        updates: the steps of optimizers that it makes.

    Raises:
        Unwatchable: something that they find may change, and nobody would see it.
    """

    def __init__(self, step: Callable[..., Any], ran: CallWatch, updates: Sequence[Any]) -> None:
        self._codes = ran.codes
        self._seen: dict[int, Any] = {}
        self._known: set[types.CodeType] = set()
        self._watched: list[Any] = []
        self._todo: list[tuple[Any, str]] = [(step, "the step")]
        for update in updates:
            self._todo.append((update.steps._optimizer, "an optimizer"))
            self._todo.append((update.steps.groups, "the groups of an optimizer"))
            for param in update.params:
                held = vars(param)
                kept = [name for name in held if name in _OF_STEPS]
                self._watched.append(_Names(held, kept, param.name))
                self._todo += [(held[name], f"{name} of {param.name}") for name in kept]
        self._follow()
        for code, names in ran.codes.items():
            if code not in self._known:
                if code.co_freevars:
                    raise Unwatchable(f"variables around {code.co_name} cannot be watched")
                self._code(code, names)
        self._follow()

    def difference(self) -> str | None:
        """What is otherwise now; None if nothing is."""
        for each in self._watched:
            if (found := each.difference()) is not None:
                return str(found)
        return None

    def has(self, value: Any) -> bool:
        """Whether an object is watched."""
        return id(value) in self._seen

    def _follow(self) -> None:
        while self._todo:
            value, what = self._todo.pop()
            if isinstance(value, (*_PLAIN, *_CODE, TensorRecord)) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > MOST_WATCHED:
                raise Unwatchable(f"{what} leads to more than {MOST_WATCHED} objects")
            self._look(value, what)

    def _look(self, value: Any, what: str) -> None:
        todo = self._todo
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            todo += [(value.__func__, what), (value.__self__, what)]
        elif isinstance(value, functools.partial):
            todo += [(value.func, what), (value.args, what), (value.keywords, what)]
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, (tuple, frozenset)):
            todo += [(each, what) for each in value]
        elif isinstance(value, ObjectCache):
            pass  # it says nothing of what a step does
        elif isinstance(value, (dict, types.MappingProxyType)):
            self._watched.append(_Names(value, None, what))
            todo += [(each, f"{key!s:.40} of {what}") for key, each in value.items()]
        elif isinstance(value, (list, set, collections.deque)):
            self._watched.append(_Items(value, what))
            todo += [(each, f"an element of {what}") for each in value]
        elif isinstance(value, (types.ModuleType, EagerSteps)):
            pass  # of which only some names count; what a tracer watches
        elif isinstance(value, np.ndarray):
            raise Unwatchable(
                f"{what} is an array of NumPy, which may be written; make it a tensor"
            )
        elif "cython" in type(value).__name__:
            raise Unwatchable(f"{what}, a function of C, cannot be watched")
        elif hasattr(value, "__wrapped__"):
            todo.append((value.__wrapped__, what))
        elif hasattr(value, "__dict__"):
            self._class(type(value))
            held = vars(value)
            if isinstance(value, Optimizer):  # whose rate is what a program is fed with
                kept = [name for name in held if name != "_learning_rate"]
                self._watched.append(_Names(held, kept, what))
                todo += [(held[name], f"{name} of {what}") for name in kept]
            else:
                todo.append((held, what))
        elif not is_packages(type(value).__module__):
            raise Unwatchable(f"{what}, a {type(value).__name__}, cannot be watched")

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self._todo.append((wrapped, code.co_name))
        if code not in self._codes and wrapped is None:
            return
        self._code(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            if code in self._codes and cell_is_full(cell):
                self._watched.append(_Cell(cell, name))
            if cell_is_full(cell):
                self._todo.append((cell.cell_contents, name))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        self._todo += [(each, f"a default of {code.co_name}") for each in defaults]

    def _class(self, kind: type) -> None:
        for base in kind.__mro__:
            module = base.__module__
            if module == "builtins" or is_packages(module) or module in _QUIET:
                continue
            if id(base) in self._seen and base is not kind:
                continue
            self._seen[id(base)] = base
            entries = {
                name: value
                for name, value in vars(base).items()
                if not (name.startswith("__") and name.endswith("__"))
                or isinstance(value, types.FunctionType)
            }
            self._watched.append(_Names(vars(base), list(entries), base.__name__))
            for name, value in entries.items():
                if isinstance(value, (staticmethod, classmethod)):
                    value = value.__func__
                elif isinstance(value, property):
                    self._todo += [(f, name) for f in (value.fget, value.fset) if f is not None]
                if not name.startswith("_abc_"):
                    self._todo.append((value, f"{name} of {base.__name__}"))

    def _code(self, code: types.CodeType, names: dict[str, Any]) -> None:
        if code in self._known or code not in self._codes:
            return
        self._known.add(code)
        loaded = {i.argval for i in dis.get_instructions(code) if i.opname in _NAMES}
        found = [name for name in loaded if name in names]
        if found:
            self._watched.append(_Names(names, found, f"the global names of {code.co_name}"))
        for name in found:
            value = names[name]
            if isinstance(value, types.ModuleType):
                self._module(value, name, code)
            self._todo.append((value, name))
        for nested in code.co_consts:
            if isinstance(nested, types.CodeType):
                self._code(nested, names)

    def _module(self, module: types.ModuleType, name: str, code: types.CodeType) -> None:
        root = module.__name__.partition(".")[0]
        if root == "numpy":
            _need_plain(module, name, code)
        if is_packages(root) or root == "numpy" or root in sys.stdlib_module_names:
            return
        held = vars(module)
        found = [name for name in code.co_names if name in held]
        self._watched.append(_Names(held, found, module.__name__))
        self._todo += [(held[name], f"{module.__name__}.{name}") for name in found]


def _need_plain(module: types.ModuleType, name: str, code: types.CodeType) -> None:
    """Refuse code that takes more of NumPy than types, numbers and functions of elements: a profile
    does not see its other functions.
    """
    instructions = list(dis.get_instructions(code))
    for loaded, following in itertools.pairwise(instructions):
        if loaded.opname in _NAMES and loaded.argval == name:
            value = getattr(module, str(following.argval), None)
            if not isinstance(value, (type, *_PLAIN, np.ufunc)):
                raise Unwatchable(f"{module.__name__}.{following.argval} cannot be watched")


def cell_is_full(cell: Any) -> bool:
    """Whether a variable of a function around has a value."""
    try:
        return cell.cell_contents is not _MISSING
    except ValueError:
        return False
