"""What every thread decides for itself: whether operators are remembered, and how NumPy takes
infinities.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

import numpy as np

from ..errors import ArgumentError
from ..ground.reprs import Described

F = TypeVar("F", bound=Callable[..., Any])


class Thread(threading.local):
    """The state of one thread.

    ``recording`` says whether operators are remembered, ``anomaly`` whether gradients are searched
    for values that are no numbers, ``packing`` what is done with values that are kept.
    ``run(function, *arguments)`` calls a function with NumPy's warnings about infinities switched
    off: infinities are values like others.
    """

    recording = True
    anomaly = False
    packing: Callable[..., None] | None = None

    def __init__(self) -> None:
        self.run: Callable[..., Any] = _quiet()


def _quiet() -> Callable[..., Any]:
    """A way to call functions without NumPy's warnings that costs next to nothing.

    Where NumPy keeps its error state in a context variable, a context is set up once.
    """
    before = np.geterr()
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    if np.geterr() == before:
        return context.run
    np.seterr(**before)
    return _quietly


def _quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*arguments)


thread: Thread = Thread()


class RecordingGuard:
    """Switches recording while a ``with`` block or a decorated function runs, in its thread alone.

    A decorated generator is guarded while its body runs, not while it waits for its caller.

    Args:
        recording: what to switch to.
    """

    def __init__(self, recording: bool) -> None:
        self._recording = recording
        self._before: list[bool] = []

    def __enter__(self) -> RecordingGuard:
        self._before.append(thread.recording)
        thread.recording = self._recording
        return self

    def __exit__(self, *error: object) -> None:
        thread.recording = self._before.pop()

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise ArgumentError(f"expected a function to decorate, got {function!r:.60}")
        recording = self._recording
        wrapped: Any

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Iterator[Any]:
                return _guarded(function(*args, **kwargs), recording)
        else:

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                with RecordingGuard(recording):
                    return function(*args, **kwargs)

        return wrapped


def _guarded(generator: Any, recording: bool) -> Any:
    """A generator whose body runs with recording switched."""
    advance, argument = generator.send, None
    while True:
        try:
            with RecordingGuard(recording):
                item = advance(argument)
        except StopIteration as end:
            return end.value
        try:
            advance, argument = generator.send, (yield item)
        except GeneratorExit:
            with RecordingGuard(recording):
                generator.close()
            raise
        except BaseException as error:
            advance, argument = generator.throw, error


class _Switched(RecordingGuard):
    """A guard that has switched already when it is made."""

    def __init__(self, recording: bool) -> None:
        super().__init__(recording)
        self._first: bool | None = thread.recording
        thread.recording = recording

    def __enter__(self) -> RecordingGuard:
        if self._first is None:
            return super().__enter__()
        self._before.append(self._first)
        self._first = None
        return self

    def __call__(self, function: F) -> F:
        if self._first is not None:
            thread.recording, self._first = self._first, None
        return super().__call__(function)


@overload
def no_grad(func: None = None) -> RecordingGuard: ...
@overload
def no_grad(func: F) -> F: ...
def no_grad(func: F | None = None) -> RecordingGuard | F:
    """A guard under which operators are not remembered: results stop gradients.

    Args:
        func: what to guard; without one, the result is a context manager and a decorator.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> with fluid.no_grad():
    ...     y = x * x
    >>> y.stop_gradient
    True
    """
    guard = RecordingGuard(False)
    return guard if func is None else guard(func)


@overload
def enable_grad(func: None = None) -> RecordingGuard: ...
@overload
def enable_grad(func: F) -> F: ...
def enable_grad(func: F | None = None) -> RecordingGuard | F:
    """A guard under which operators are remembered, inside of ``no_grad``, too.

    Args:
        func: what to guard; without one, the result is a context manager and a decorator.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> with fluid.no_grad(), fluid.enable_grad():
    ...     y = x * x
    >>> y.stop_gradient
    False
    """
    guard = RecordingGuard(True)
    return guard if func is None else guard(func)


def set_grad_enabled(mode: bool) -> RecordingGuard:
    """Switch recording, at once; as a context manager the result switches back.

    Args:
        mode: whether operators are remembered from now on, in this thread.

    >>> with fluid.set_grad_enabled(False):
    ...     fluid.is_grad_enabled()
    False
    >>> fluid.is_grad_enabled()
    True
    """
    if not isinstance(mode, (bool, np.bool_, int)):
        raise ArgumentError(f"set_grad_enabled: expected mode to be a bool, got {mode!r:.60}")
    return _Switched(bool(mode))


def is_grad_enabled() -> bool:
    """Whether operators are remembered in this thread.

    >>> with fluid.no_grad():
    ...     fluid.is_grad_enabled()
    False
    """
    return thread.recording


class detect_anomaly(Described):
    """A guard under which ``backward`` and ``grad`` fail at the first operator whose gradient holds
    a value that is no number, and say where that operator was called.

    >>> x = fluid.to_tensor([0.0], stop_gradient=False)
    >>> y = fluid.sqrt(x) * 0.0
    >>> with fluid.autograd.detect_anomaly():
    ...     y.backward()
    Traceback (most recent call last):
    ...
    fluidlite.errors.NonFiniteError: ...
    """

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> detect_anomaly:
        self._before.append(thread.anomaly)
        thread.anomaly = True
        return self

    def __exit__(self, *error: object) -> None:
        thread.anomaly = self._before.pop()
