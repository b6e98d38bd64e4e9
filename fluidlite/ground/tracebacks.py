"""Tracebacks that show the user's lines: the package's own frames are cut out.

An **API boundary** is a function that users call.  Where an error leaves it, the frames of
fluidlite and the causes that lie within it are taken out of the traceback; lines of the user's that
were called back from inside stay.  ``FLUIDLITE_TRACEBACK=full`` in the environment leaves all.

An error that is no :class:`FluidError`, and comes from fluidlite's own lines, is a fault of these:
it keeps its traceback.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np

from ..errors import ArgumentError, EOFException, FluidError
from .arguments import refused, said

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

#: set to "full", it leaves tracebacks as they are
SWITCH = "FLUIDLITE_TRACEBACK"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: what plans are compiled as, and what the boundaries are
_MADE = ("<compiled plan>", _PACKAGE + "<API boundary>")
#: the files of functions that only call another one
BOUNDARIES = (
    __file__,
    _MADE[1],
    os.path.join(_PACKAGE, "ground", "protected.py"),
    os.path.join(_PACKAGE, "flow", "views.py"),
    os.path.join(os.path.dirname(os.__file__), "contextlib.py"),
)
_STANDARD = os.path.dirname(os.__file__) + os.sep
_LIBRARIES = (_STANDARD, os.path.dirname(np.__file__) + os.sep, "<frozen ")


#: a name in a boundary's frame for what takes back what the call has changed where an error leaves
UNDO = "(undo)"


def cut(error: BaseException) -> ArgumentError | None:
    """Take the frames of fluidlite, and the causes within it, out of an error's traceback.

    Called where the error leaves a boundary, with ``raise`` behind it.

    Args:
        error: what is being handled; stays as it is where its traceback is a fault's.

    Returns:
        the error to raise in its place, where an argument lacks what a tensor has.
    """
    around = sys._getframe(1).f_locals
    undo = around.get(UNDO)
    if isinstance(around, dict):  # before Python 3.13 the frame keeps it, and with it the error
        around.clear()
    if undo is not None:
        undo()
    if os.environ.get(SWITCH) == "full":
        return None
    head = error.__traceback__
    frames = list(_frames(head))
    shown = _users(frames)
    if not isinstance(error, (FluidError, EOFException)):
        called_wrongly = isinstance(error, TypeError) and all(map(_only_calls, frames))
        if not called_wrongly and frames[-1:] != shown[-1:]:
            return _of_wrong_argument(error, frames)
    _quiet_causes(error, set())
    made = _chained(shown)
    if head is not None:
        head.tb_next = made  # Python 3.10 raises the old one again: the boundary's line stays
    error.__traceback__ = made
    return None


def _of_wrong_argument(error: BaseException, frames: list[TracebackType]) -> ArgumentError | None:
    """The error that a user's argument is of another kind: where its class lacks an attribute, or
    Python or NumPy names its class.
    """
    if not isinstance(error, (AttributeError, TypeError, ValueError)):
        return None
    ours = (f.tb_frame for f in frames if f.tb_frame.f_code.co_filename.startswith(_PACKAGE))
    called = next((f for f in ours if f.f_code.co_filename not in BOUNDARIES), None)
    if called is None:
        return None
    function, text = called.f_code.co_name, str(error)
    for name, value in _arguments(called):
        for operand in (value, *(value if isinstance(value, (list, tuple)) else ())):
            kind = type(operand)
            if _is_ours(kind):
                continue
            what = name if operand is value else f"all of {name}"
            if isinstance(error, AttributeError):
                text_of = isinstance(operand, (str, bytes)) and type(error.obj) in (str, int)
                if error.obj is operand or (text_of and error.obj in operand):
                    lacking = getattr(error, "name", "")
                    lacks = f"something with {lacking!r}"
                    wanted = "a tensor or a variable" if lacking in _OF_TENSORS else lacks
                    return refused(function, what, wanted, operand)
            elif kind not in _USUAL and (kind.__name__ in text or repr(operand) in text):
                return ArgumentError(f"{function}: {what} is {said(operand)}, and {text}")
    return None


def _arguments(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The arguments of a call, as they are by now."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    for name in code.co_varnames[:count]:
        if name in frame.f_locals:
            yield name, frame.f_locals[name]


#: kinds that functions take, so that something else is wrong
_USUAL = frozenset([bool, int, float, list, tuple, np.ndarray])
#: attributes that what is no tensor lacks
_OF_TENSORS = frozenset(
    ["appends", "array", "block", "dtype", "program", "shape", "stop_gradient", "type"]
    + ["write", "write_shape", "write_type"]
)


def api_boundary(target: T, *, quick: bool = False) -> T:
    """Make a boundary of a function, or of the public methods of a class.

    Args:
        target: a function that users call; or a class: its methods without an underscore in front,
            its constructor, ``__call__`` and the like, and what sets its properties.
        quick: as of :func:`quick_api_boundary`.
    """
    if isinstance(target, type):
        if target not in _are_boundaries:
            for name, member in list(vars(target).items()):
                if name in _METHODS or (name[:1] != "_" and name != "forward"):
                    made = _boundary_of_member(member, quick)
                    if made is not member:
                        setattr(target, name, made)
            is_boundary(target)
        return target
    found: Any = _api_boundary(target, quick)
    return found


def quick_api_boundary(target: T) -> T:
    """A boundary that costs one call, without tuples and dictionaries: it is written for the
    parameters of the function, or of each method of the class.

    Args:
        target: as of :func:`api_boundary`.
    """
    return api_boundary(target, quick=True)


def api_boundaries(
    namespace: dict[str, Any],
    *,
    quick: bool = False,
    imported: bool = False,
    but: Collection[str] = (),
) -> None:
    """Make boundaries of what a module gives to users: functions and classes of the package.

    Functions called from within the package stay what they are; classes change, and so do those of
    the package that they derive from.

    Args:
        namespace: of the module: what ``globals()`` gives at its end.  Its ``__all__`` says what is
            given; where it has none, what it defines is.
        quick: as of :func:`quick_api_boundary`.
        imported: what it imports is given, too.
        but: names that are left as they are.
    """
    exported = namespace.get("__all__")
    for name, value in list(namespace.items()):
        if name[:1] == "_" or name in but or not _is_ours(value):
            continue
        if (
            not imported
            and value.__module__ != namespace["__name__"]
            and name not in (exported or ())
        ):
            continue
        if isinstance(value, FunctionType):
            made = namespace[name] = _api_boundary(value, quick)
            if made is not value and made.__name__ == name:
                made.__module__ = namespace["__name__"]  # where pickle finds it
        elif isinstance(value, type) and not issubclass(value, BaseException):
            for each in filter(_is_ours, value.__mro__):
                api_boundary(each, quick=quick)


def _is_ours(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.startswith(_NAME)


_NAME = __name__.partition(".")[0] + "."
_METHODS = frozenset(
    ["__bool__", "__call__", "__enter__", "__float__", "__getitem__", "__index__", "__init__"]
    + ["__int__", "__iter__", "__len__", "__next__", "__setitem__"]
)


def _boundary_of_member(member: Any, quick: bool) -> Any:
    if isinstance(member, FunctionType):
        return _api_boundary(member, quick)
    if isinstance(member, (classmethod, staticmethod)):
        made = _api_boundary(member.__func__, quick)
        return member if made is member.__func__ else type(member)(made)
    if type(member) is property and member.fset is not None:
        return member.setter(_api_boundary(member.fset, quick))
    return member


def _api_boundary(function: Any, quick: bool) -> Any:
    """A function that calls another one, and cuts what that raises."""
    if not isinstance(function, FunctionType) or function in _are_boundaries:
        return function
    known = _boundary_of.get(function)
    boundary = None if known is None else known()
    if boundary is None:
        if function.__code__.co_filename == "<string>":  # written by ``dataclass``
            function.__code__ = function.__code__.replace(co_filename=_MADE[1])
        boundary = _quick_boundary(function) if quick else _plain_boundary(function)
        functools.update_wrapper(boundary, function)
        is_boundary(boundary)
        _boundary_of[function] = ref(boundary)
    return boundary


def is_boundary(function: T) -> T:
    """Say that a function cuts what it raises itself."""
    _are_boundaries.add(function)
    return function


_are_boundaries: WeakSet[Any] = WeakSet()
#: function -> the boundary that was made of it, which holds the function
_boundary_of: WeakKeyDictionary[Any, ref[Any]] = WeakKeyDictionary()


def _plain_boundary(function: Any) -> Any:
    if inspect.isgeneratorfunction(function):

        def generating(*args: Any, **kwargs: Any) -> Any:
            try:
                return (yield from function(*args, **kwargs))
            except Exception as error:
                better = cut(error)
                if better is None:
                    raise
            try:
                raise better
            finally:
                del better  # this frame is in its traceback

        return generating

    def boundary(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            better = cut(error)
            if better is None:
                raise
        try:
            raise better
        finally:
            del better  # this frame is in its traceback

    return boundary


def boundary_followed(function: F, then: Callable[..., Any], of_all: bool = False) -> F:
    """A boundary of a function whose result another function takes, with its first argument.

    Args:
        function: has parameters of its own, and no ``**kwargs``.
        then: takes the result and the first argument, and gives the result in its place.
        of_all: it takes a tuple of the others, too, as far as they may be given by place.
    """
    plain: Any = function
    end = "_then({}, {}, {})" if of_all else "_then({}, {})"
    made = functools.update_wrapper(_quick_boundary(plain, end, then), plain)
    return cast("F", is_boundary(made))


def _quick_boundary(function: FunctionType, end: str = "{}", then: Any = None) -> Any:
    """A boundary with the parameters of a function, which gives what ``end`` says."""
    code = function.__code__
    if code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _STARS:
        shown, given, placed = _parameters(function)
        boundary = _written(shown, given, placed, end, function, then)
    else:  # one is written for each number of parameters, and their names are put in
        count = code.co_argcount
        names = code.co_varnames[:count]
        placed = [f"p{k}" for k in range(count)]
        listed = ", ".join(placed)
        boundary = _written(listed, listed, placed, end, function, then)
        here = (*names, *boundary.__code__.co_varnames[count:])
        boundary.__code__ = boundary.__code__.replace(co_varnames=here, co_name=function.__name__)
    boundary.__defaults__, boundary.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return boundary


def _parameters(function: FunctionType) -> tuple[str, str, list[str]]:
    """How a function's parameters are declared, how they are given on, and those given by place."""
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    declared = [p.replace(annotation=p.empty, default=p.empty) for p in parameters]
    shown = str(inspect.Signature(declared))[1:-1]
    given = [_GIVEN[p.kind].format(p.name) for p in parameters]
    placed = [g for p, g in zip(parameters, given) if p.kind <= inspect.Parameter.VAR_POSITIONAL]
    return shown, ", ".join(given), placed


def _written(
    shown: str, given: str, placed: list[str], end: str, function: FunctionType, then: Any
) -> Any:
    scope: dict[str, Any] = {}
    first, *others = placed or [""]
    result = end.format(f"_behind_it({given})", first, f"({''.join(f'{e}, ' for e in others)})")
    exec(_compiled(_TEXT.format(shown, result)), function.__globals__, scope)
    return scope["_make"](function, cut, then)


@functools.lru_cache(None)
def _compiled(text: str) -> CodeType:
    return compile(text, _MADE[1], "exec", dont_inherit=True)


_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_GIVEN = {
    inspect.Parameter.POSITIONAL_ONLY: "{}",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "{}",
    inspect.Parameter.VAR_POSITIONAL: "*{}",
    inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
    inspect.Parameter.VAR_KEYWORD: "**{}",
}
_TEXT = """
def _make(_behind_it, _cut, _then):
    def boundary({}):
        try:
            return {}
        except Exception as _error:
            _better = _cut(_error)
            if _better is None:
                raise
        try:
            raise _better
        finally:
            del _better
    return boundary
"""


# -- tracebacks ------------------------------------------------------------------------------------


def _frames(found: TracebackType | None) -> Iterator[TracebackType]:
    while found is not None:
        yield found
        found = found.tb_next


def _users(frames: list[TracebackType]) -> list[TracebackType]:
    """The frames that are neither fluidlite's nor those of libraries that it called."""
    shown, within = [], False
    for frame in frames:
        file = frame.tb_frame.f_code.co_filename
        if file.startswith(_PACKAGE) or file in _MADE:
            within = True
        elif not (within and _is_library(file)):
            within = False
            shown.append(frame)
    return shown


def _only_calls(frame: TracebackType) -> bool:
    """Whether a frame only calls what the user called: there wrong arguments are noticed."""
    code = frame.tb_frame.f_code
    return code.co_filename in BOUNDARIES or code.co_name == "wrapped"


def _is_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) and (
        "site-packages" not in file or file.startswith(_LIBRARIES[1])
    )


def _chained(frames: list[TracebackType]) -> TracebackType | None:
    made: TracebackType | None = None
    for frame in reversed(frames):
        made = TracebackType(made, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return made


def _quiet_causes(error: BaseException, seen: set[int]) -> None:
    """Of what an error was raised for, show what has lines of the user's; the rest stays in
    ``__context__``, and is not shown.
    """
    seen.add(id(error))
    first = shown = _shown_cause(error)
    while shown is not None and id(shown) not in seen:
        users = _users(list(_frames(shown.__traceback__)))
        if users or shown.__traceback__ is None:
            _quiet_causes(shown, seen)
            shown.__traceback__ = _chained(users)
            if shown is not first and error.__cause__ is not None:
                error.__cause__ = shown
            elif shown is not first:
                error.__context__ = shown
            return
        seen.add(id(shown))
        shown = _shown_cause(shown)
    if first is not None:
        error.__cause__, error.__context__ = None, first
        error.__suppress_context__ = True


def _shown_cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)
