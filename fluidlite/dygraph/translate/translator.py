"""Functions of eager tensors as programs: ``declarative`` and ``ProgramTranslator``."""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, UnsupportedError
from ...ground import state
from ...ground.docstrings import Family
from ...ground.protected import answers_protected
from ...ground.reprs import Described
from ...ir.program import Program
from ...ir.variable import Variable
from ..capture import capturing
from ..layer import RUNS_HOOKS, Layer
from ..traced import SavesProgram, TracedLayer
from .building import Built, key_of
from .calls import FALLS_BACK
from .functions import DECORATED, Functions, bare
from .running import Runner

PROGRAMS_KEPT = 256


#: what makes programs of functions
FUNCTIONS = Family(
    {
        "dygraph_func": "a function of tensors, a method or a layer.",
        "args": "what it is called with: tensors, arrays and anything else.",
        "kwargs": "likewise, by name.",
    },
    raises="ArgumentError: ``dygraph_func`` cannot be called.",
)


class ProgramCache:
    """The programs of functions, by the form of the arguments."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, list[tuple[Built, Runner]]] = OrderedDict()
        self._refused: OrderedDict[Any, None] = OrderedDict()  #: what no program could be made of
        self._last: Built | None = None

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def last(self) -> Any:
        """The program that was used last.

        Raises:
            ArgumentError: there is none.
        """
        if self._last is None:
            raise ArgumentError("no function has been made a program of yet; call one first")
        return self._last

    def known_or_new(
        self, function: Any, translated: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Built, Runner]:
        """The same as :meth:`of`, without another try where there could be none.

        Raises:
            UnsupportedError: there could be none.
        """
        if (function, key_of(args), key_of(kwargs)) in self._refused:
            raise UnsupportedError("no program could be made of this call")
        return self.of(function, translated, args, kwargs)

    def of(
        self, function: Any, translated: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Built, Runner]:
        """The program of a call, built if there is none.

        Args:
            function: the user's.
            translated: its translated form.
            args, kwargs: what it is called with.
        """
        key = (function, key_of(args), key_of(kwargs))
        ways = self._kept.setdefault(key, [])
        self._kept.move_to_end(key)
        for built, runner in ways:
            if built.fits():
                self._last = built
                return built, runner
        try:
            built = Built(translated, args, kwargs)
        except BaseException:
            if not ways:
                del self._kept[key]
            self._refused[key] = None
            while len(self._refused) > PROGRAMS_KEPT:
                self._refused.popitem(last=False)
            raise
        ways.append((built, Runner(built)))
        while len(self._kept) > PROGRAMS_KEPT:
            self._kept.popitem(last=False)
        self._last = built
        return ways[-1]


@answers_protected
class ProgramTranslator(SavesProgram, Described):
    """Makes programs of functions of tensors: their branches, loops and lists become operators
    where they depend on tensors.  There is one translator.

    >>> @fluid.dygraph.declarative
    ... def halved(x):
    ...     while fluid.layers.reduce_max(x) > 1.0:
    ...         x = x / 2.0
    ...     return x
    >>> with fluid.dygraph.guard():
    ...     halved(fluid.dygraph.to_variable(np.array([3.0, 6.0], "float32"))).numpy()
    array([0.375, 0.75 ], dtype=float32)
    """

    _only: ProgramTranslator | None = None
    enabled: bool
    functions: Functions
    _cache: ProgramCache

    def __new__(cls) -> ProgramTranslator:
        if cls._only is None:
            made = super().__new__(cls)
            made.enabled, made.functions, made._cache = True, Functions(), ProgramCache()
            cls._only = made
        return cls._only

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        """The translator."""
        return cls()

    @classmethod
    def reset(cls) -> None:
        """Forget all programs, and translate from now on."""
        made = cls()
        made.enabled, made._cache = True, ProgramCache()

    def enable(self, enable_declarative: bool) -> None:
        """Say whether functions are translated, or run at once as they are.

        Args:
            enable_declarative: True to translate.
        """
        self.enabled = bool(enable_declarative)

    @FUNCTIONS
    def get_output(self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What the program of a function computes.

        Returns:
            what the function gives, with tensors.
        """
        return self.output_or(None, dygraph_func, args, kwargs)[0]

    def output_or(
        self,
        otherwise: Callable[..., Any] | None,
        dygraph_func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[Any, Built | None]:
        """What the program of a function computes, or what another function gives.

        Args:
            otherwise: takes the same arguments, and is called where no program can be made; None
                where that is an error.
            dygraph_func, args, kwargs: as of :meth:`get_output`.

        Returns:
            what the function gives, and the program; None if there is none.
        """
        function, args = _checked(dygraph_func, "get_output", args)
        if not self.enabled:
            return function(*args, **kwargs), None
        translated = self.functions.translated(function)
        if capturing() is not None or _is_building(args, kwargs):
            return translated(*args, **kwargs), None
        if otherwise is not None and self.functions.is_unreadable(function):
            return otherwise(*args, **kwargs), None
        args, kwargs = _named(function, args, kwargs)
        if otherwise is None:
            built, runner = self._cache.of(function, translated, args, kwargs)
        else:
            try:
                with FALLS_BACK.guard(True):
                    built, runner = self._cache.known_or_new(function, translated, args, kwargs)
            except Exception:  # whatever a function does to what has no value yet
                return otherwise(*args, **kwargs), None
        return runner(_fed(args, kwargs)), built

    @FUNCTIONS
    def get_func(self, dygraph_func: Callable[..., Any]) -> Callable[..., Any]:
        """A function that appends to the default program what another one does.

        >>> def positive(x):
        ...     return x if fluid.layers.reduce_sum(x) > 0 else -x
        >>> x = fluid.data("x", [2], "float32")
        >>> y = fluid.dygraph.ProgramTranslator().get_func(positive)(x)
        >>> fluid.Executor().run(feed={"x": np.array([1, -3], "float32")}, fetch_list=[y])
        [array([-1.,  3.], dtype=float32)]
        """
        function, _ = _checked(dygraph_func, "get_func", ())
        if not self.enabled:
            return function
        if isinstance(dygraph_func, types.MethodType):
            return types.MethodType(self.functions.translated(function), dygraph_func.__self__)
        found: Callable[..., Any] = self.functions.translated(function)
        return found

    @FUNCTIONS
    def get_program(
        self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Program, Program, list[Variable], list[Variable]]:
        """The program of a function for arguments of one form.

        Returns:
            the main program, the startup program, the inputs and the outputs.
        """
        function, args = _checked(dygraph_func, "get_program", args)
        if not self.enabled:
            return function(*args, **kwargs)
        translated = self.functions.translated(function)
        args, kwargs = _named(function, args, kwargs)
        built, _ = self._cache.of(function, translated, args, kwargs)
        return built.main, built.startup, built.inputs, built.outputs

    @FUNCTIONS
    def get_code(self, dygraph_func: Callable[..., Any]) -> str:
        """The source of a translated function."""
        function, _ = _checked(dygraph_func, "get_code", ())
        if isinstance(function, functools.partial):  # the call of a layer
            function = bare(getattr(function.args[0], "__func__", function.args[0]))
        return self.functions.code(function)

    def _traced(self) -> TracedLayer:
        built: Built = self._cache.last()
        names = [each.name for each in built.inputs]
        return TracedLayer(built.main, built.capture.scope(), names, built.outputs)

    def get_program_cache(self) -> ProgramCache:
        """The programs that there are."""
        return self._cache


def _called(forward: Any, layer: Layer, *inputs: Any, **kwargs: Any) -> Any:
    """The call of a layer whose ``forward`` is another one by now."""
    if isinstance(forward, types.MethodType):  # of the layer, or of the one that it is a copy of
        plain, translator = forward.__func__, ProgramTranslator()
        own = translator.functions.translated(plain) if translator.enabled else plain
        forward = types.MethodType(own, layer)
    return layer.call_with(forward, *inputs, **kwargs)


def _checked(function: Any, what: str, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A function and its arguments, the object of a method first."""
    if not callable(function):
        raise ArgumentError(f"expected a function for {what}, got {function!r:.60}")
    if isinstance(function, Layer):
        function = function.forward
    if isinstance(function, types.MethodType):
        return bare(function.__func__), (function.__self__, *args)
    return bare(function), args


def _named(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in their places, so that one call has one form."""
    if not kwargs:
        return args, kwargs
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs  # which the call will refuse
    return bound.args, bound.kwargs


def _is_building(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call is one of a program that the user builds."""
    found = [*args, *kwargs.values()]
    return not state.in_dygraph_mode() and any(isinstance(each, Variable) for each in found)


def _fed(*structures: Any) -> list[Any]:
    """The tensors and arrays among arguments, in the order of the inputs of their program."""
    leaves: list[Any] = []
    for structure in structures:
        if isinstance(structure, (list, tuple)):
            leaves += _fed(*structure)
        elif isinstance(structure, dict):
            leaves += _fed(*structure.values())
        elif isinstance(structure, np.ndarray) or (
            isinstance(structure, TensorRecord) and not getattr(structure, "persistable", False)
        ):
            leaves.append(structure)
    return leaves


def declarative(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs as a program: what it does with tensors becomes operators, once for each
    form of its arguments.

    Loops and branches that depend on tensors become operators; what else is Python runs once, while
    the program is made.  Parameters of layers that it calls get their gradients.

    Args:
        func: a function of tensors, or the ``forward`` of a layer; or a layer, which is given back,
            and whose calls run as programs from then on, its hooks among them.

    Raises:
        ArgumentError: ``func`` cannot be called.

    >>> @fluid.dygraph.jit.declarative
    ... def clipped(x, limit=3.0):
    ...     total = fluid.layers.reduce_sum(x)
    ...     if total > limit:
    ...         x = x * (limit / total)
    ...     return x
    >>> with fluid.dygraph.guard():
    ...     clipped(fluid.dygraph.to_variable(np.array([2.0, 4.0], "float32"))).numpy()
    array([1., 2.], dtype=float32)
    """
    if not callable(func):
        raise ArgumentError(f"expected a function to decorate, got {func!r:.60}")
    if isinstance(func, Layer):
        call = declarative(functools.partial(_called, func.forward))
        setattr(call, RUNS_HOOKS, True)
        call.__name__ = "forward"  # by which pickles find the function of the class
        func.forward = types.MethodType(call, func)  # type: ignore[method-assign]
        return func

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        return ProgramTranslator().get_output(func, *args, **kwargs)

    setattr(run, DECORATED, func)
    return run


@FUNCTIONS
def dygraph_to_static_func(dygraph_func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that appends what another one does to the default program, where that builds.

    >>> @fluid.dygraph.dygraph_to_static_func
    ... def double(x):
    ...     return 2 * x
    >>> double(fluid.data("x", [None, 3])).shape
    (-1, 3)
    """
    if not callable(dygraph_func):
        raise ArgumentError(f"expected a function to decorate, got {dygraph_func!r:.60}")

    @functools.wraps(dygraph_func)
    def run(*args: Any, **kwargs: Any) -> Any:
        translator = ProgramTranslator()
        if state.in_dygraph_mode() or not translator.enabled:
            warnings.warn(
                f"{dygraph_func.__name__} runs at once within dygraph.guard(): "
                f"dygraph_to_static_func is for programs; use declarative here",
                stacklevel=2,
            )
            return dygraph_func(*args, **kwargs)
        return translator.functions.translated(dygraph_func)(*args, **kwargs)

    setattr(run, DECORATED, dygraph_func)
    return run
