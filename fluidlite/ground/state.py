"""The one place with process-wide state.

Every piece is a :class:`StateSlot`: a default for the whole process, which a guard covers for the
current thread.
"""

from __future__ import annotations

import difflib
import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from ..errors import ArgumentError
from .tracebacks import api_boundary
from .weak_tables import WeakTable

T = TypeVar("T")


class StateSlot(Generic[T]):
    """A value that guards switch.

    Args:
        name: for messages.
        make: makes the process-wide default at its first use.
    """

    def __init__(self, name: str, make: Callable[[], T]) -> None:
        self._make = make
        self._default: T | None = None
        self._covered: ContextVar[T | None] = ContextVar(name, default=None)
        #: whether anybody has set it: until then it is what ``make`` gives, and need not be asked
        self.is_set: bool = False

    def get(self) -> T:
        """The value that the innermost guard of this thread set, else the process-wide default."""
        covered = self._covered.get()
        if covered is not None:
            return covered
        if self._default is None:
            self._default = self._make()
        return self._default

    def switch(self, value: T) -> T:
        """Set the value: the innermost guard's, else the process-wide default.  Returns the old
        one.
        """
        old = self.get()
        self.is_set = True
        if self._covered.get() is not None:
            self._covered.set(value)
        else:
            self._default = value
        return old

    @contextmanager
    def guard(self, value: T) -> Iterator[T]:
        """Cover the value for the current thread."""
        before, self.is_set = self._covered.get(), True
        try:  # an interrupt may come anywhere
            self._covered.set(value)
            yield value
        finally:
            self._covered.set(before)

    def covering(self) -> T | None:
        """The value that the innermost guard of this thread set; None without one."""
        return self._covered.get()

    def cover(self, value: T | None) -> None:
        """Cover the value for the current thread, or with None uncover it."""
        self.is_set = True
        self._covered.set(value)

    @property
    def is_covered(self) -> bool:
        """Whether a guard of this thread covers the default."""
        return self._covered.get() is not None

    def reset(self) -> None:
        """Forget the default, so that it is made anew."""
        self._default = None
        self._covered.set(None)


#: what holds locks that a thread may hold while another one forks
_locking: WeakTable[Any, None] = WeakTable()


def begin_anew_when_forked(holder: Any) -> None:
    """Have the method ``begin_anew`` of an object called in processes that are forked, as long as
    the object is there: it lets go of the locks of threads that such a process does not have.
    """
    _locking.keep(holder, None)


def _forked() -> None:
    for each in list(_locking):
        if (holder := each()) is not None:
            holder.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _Pauses:
    """Who has paused Python's cycle collector."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: set[object] = set()
        self.was_on = False

    def begin_anew(self) -> None:
        """Forget the threads that a forked process does not have."""
        if self.users and self.was_on:
            gc.enable()
        self.lock, self.users = threading.Lock(), set()


_pauses = _Pauses()
begin_anew_when_forked(_pauses)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Python's cycle collector does not run: it would look again and again through many objects
    that are being made, and that are no garbage.  Other threads' garbage waits, too.
    """
    user = object()
    try:  # an interrupt may come anywhere
        with _pauses.lock:
            if not _pauses.users:
                _pauses.was_on = gc.isenabled()
            _pauses.users.add(user)
            gc.disable()
        yield
    finally:
        with _pauses.lock:
            _pauses.users.discard(user)
            if not _pauses.users and _pauses.was_on:
                gc.enable()


_slots: list[StateSlot[object]] = []


def slot(name: str, make: Callable[[], T]) -> StateSlot[T]:
    """A new slot that :func:`reset` knows."""
    made = StateSlot(name, make)
    _slots.append(made)  # type: ignore[arg-type]
    return made


def reset() -> None:
    """Forget all process-wide state: programs, scope, names, flags.  Tests begin with it."""
    for each in _slots:
        each.reset()
    for watcher in _watchers:
        watcher({})
    _tell_of_environment(_watchers)


def switched() -> tuple[Any, ...]:
    """What the slots hold now, None where nobody has looked yet: for comparisons."""
    held = [each._covered.get() for each in _slots]
    return tuple([h if h is not None else each._default for h, each in zip(held, _slots)])


#: the class of tensors that layers make where they run at once; None where they build programs, and
#: False where they do so although a guard around says otherwise
eager: StateSlot[Any] = slot("eager", lambda: None)


#: whether the layer that is running was told to train, not to be tested
training: StateSlot[bool] = slot("training", lambda: True)

#: whether functions of paddle 2 build programs: those without operands append, and results may have
#: no dimensions
builds: StateSlot[bool] = slot("paddle 2 builds programs", lambda: False)

#: whether numbers beside doubles are doubles; fluid's programs round them to single precision
keeps_doubles: StateSlot[bool] = slot("numbers beside doubles are doubles", lambda: False)


#: whether element types and values print as in paddle 2: under the alias, in programs for it
as_paddle_2: StateSlot[bool] = slot("prints as in paddle 2", lambda: False)


#: gives an advice the words of who reads messages, under a guard; empty for a program
reader: StateSlot[Callable[[Any], str]] = slot("reader", lambda: lambda advice: "")


#: whether what is probably a mistake is an error, not a warning
strictness: StateSlot[bool] = slot(
    "strictness", lambda: os.environ.get("FLUIDLITE_STRICT", "") not in ("", "0")
)


class strict:
    """What is probably a mistake is an error from here on, not a warning.

    That is, all warnings of the class ``fluidlite.errors.FluidWarning``.  Used by ``with``, it
    holds for the block; ``FLUIDLITE_STRICT=1`` in the environment has a process begin with it.

    Args:
        on: False: they are warnings again.

    >>> with fluid.strict():
    ...     x = fluid.data("x", [None, 2], "float32")
    ...     y = x * 2.0
    """

    def __init__(self, on: bool = True) -> None:
        self._before = strictness.switch(bool(on))

    def __enter__(self) -> None:
        """It holds already."""

    def __exit__(self, *failure: object) -> None:
        strictness.switch(self._before)

    def __repr__(self) -> str:
        return f"strict({strictness.get()})"


def in_dygraph_mode() -> bool:
    """Whether layers run at once: within ``dygraph.guard()``, or after ``enable_dygraph()``.

    >>> with fluid.dygraph.guard():
    ...     fluid.in_dygraph_mode()
    True
    """
    return bool(eager.get())


def default_flags() -> dict[str, object]:
    """The flags that ``set_flags`` knows, with their defaults, and those of the environment.

    Raises:
        ValueError: a flag of the environment has no truth where it needs one.
    """
    known_flags: dict[str, object] = {"FLAGS_check_nan_inf": False}
    for name, said in os.environ.items():
        if name.startswith("FLAGS_"):
            known_flags[name] = _truth(name, said) if name in known_flags else _plain(said)
    return known_flags


def _truth(name: str, said: str) -> bool:
    if said.lower() not in _TRUTHS:
        raise ValueError(
            f"expected the environment variable {name} to be one of {', '.join(_TRUTHS)}, "
            f"got {said!r}"
        )
    return _TRUTHS[said.lower()]


_YES, _NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")
_TRUTHS = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}


def _plain(said: str) -> object:
    """What a flag of another purpose says: a truth, a number or a text."""
    if said.lower() in ("true", "false"):
        return said.lower() == "true"
    for kind in (int, float):
        try:
            return kind(said)
        except ValueError:
            continue
    return said


flag_values: StateSlot[dict[str, object]] = slot("flags", default_flags)


_watchers: list[Callable[[dict[str, object]], None]] = []


def watch_flags(watcher: Callable[[dict[str, object]], None]) -> None:
    """Tell somebody the flags, now and whenever they are set.

    Args:
        watcher: is called with all flags.
    """
    _watchers.append(watcher)
    _tell_of_environment([watcher])


def _tell_of_environment(watchers: Iterable[Callable[[dict[str, object]], None]]) -> None:
    if any(name.startswith("FLAGS_") for name in os.environ):
        for watcher in watchers:
            with suppress(ValueError):  # readers of the flags get the error
                watcher(flag_values.get())


@api_boundary
def set_flags(flags: dict[str, object]) -> None:
    """Set process-wide flags.

    Args:
        flags: flag -> value.  ``FLAGS_check_nan_inf``: look for values that are not finite in
            what is fetched, in gradients of parameters and in their new values, and in what
            operators make of tensors, and say which operator they come from.
            Flags that steered devices or memory are accepted and ignored.

    Raises:
        ArgumentError: a name is nearly that of a flag that is looked at.

    >>> set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise ArgumentError(
            f"expected a dictionary of flags and values, got {flags!r:.60} of type "
            f"{type(flags).__name__}"
        )
    current = flag_values.get()
    for name in flags.keys() - current.keys():
        if meant := difflib.get_close_matches(name, ["FLAGS_check_nan_inf"], cutoff=0.8):
            raise ArgumentError(f"there is no flag {name!r}; did you mean {meant[0]!r}?")
    current.update(flags)
    for watcher in _watchers:
        watcher(current)


@api_boundary
def get_flags(flags: str | list[str]) -> dict[str, object]:
    """The values of flags, by name.

    >>> fluid.get_flags("FLAGS_check_nan_inf")
    {'FLAGS_check_nan_inf': False}
    """
    asked = [flags] if isinstance(flags, str) else list(flags)
    current = flag_values.get()
    return {name: current.get(name) for name in asked}
