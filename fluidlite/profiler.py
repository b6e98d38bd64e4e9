"""Time and memory of the operators of programs that run, by the user's lines; the functions have
the names of fluid 1.8.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from .errors import ArgumentError
from .ground import state as slots
from .ground.callsite import warn
from .ground.console import say
from .ground.files import Transaction
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.quoting import escaping
from .ground.tracebacks import api_boundaries
from .ir.operator import Operator

__all__ = [
    "Profile", "cuda_profiler", "profiler", "reset_profiler", "start_profiler", "stop_profiler",
]  # fmt: skip

STATES = ("CPU", "GPU", "All")
OPTIONS = ("Default", "OpDetail", "AllOpDetail")

EVENTS_KEPT = 1_000_000  # for the trace file; the table counts all of them
SORTED_BY = {
    "calls": "number of calls",
    "total": "total time",
    "max": "longest call",
    "min": "shortest call",
    "ave": "average call",
}

clock: Callable[[], int] = time.perf_counter_ns


class Span(NamedTuple):
    """Something that took time: between two moments of the clock, in a thread."""

    name: str
    kind: str
    begin: int
    end: int
    thread: int
    about: dict[str, Any]


@dataclass
class Row:
    """All calls of the operators of one type that one line made; times in microseconds.

    ``memory`` is what a call writes, in bytes.
    """

    type: str
    line: str
    calls: int = 0
    total: float = 0.0
    min: float = float("inf")
    max: float = 0.0
    memory: int = 0

    @property
    def ave(self) -> float:
        """The average call."""
        return self.total / self.calls if self.calls else 0.0

    def count(self, spent: float, memory: int) -> None:
        """Add a call."""
        self.calls += 1
        self.total += spent
        self.min, self.max = min(self.min, spent), max(self.max, spent)
        self.memory = max(self.memory, memory)


class Profile:
    """What was measured of programs that ran: a table when printed, and a trace file.

    Operators that drive blocks count with what runs inside, which has rows of its own.  In a
    compiled plan an operator is the sum of its kernels; one that needs none (because it is known
    beforehand, or computed elsewhere already) has no row.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.reduce_sum(fluid.layers.tanh(x))
    >>> exe = fluid.Executor(profile=True)
    >>> for _ in range(4):
    ...     _ = exe.run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
    >>> [(row.type, row.calls) for row in exe.profile.rows("calls")]
    [('tanh', 4), ('reduce_sum', 4)]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        with self._lock:
            self._rows: dict[tuple[str, str], Row] = {}
            self._events: list[Span] = []
            self._dropped = 0
            self._threads: dict[int, int] = {}
            #: how many programs ran; microseconds of that, and of making plans
            self.runs: int = 0
            self.run_time: float = 0.0
            self.planning: float = 0.0

    # -- what the runtime tells --------------------------------------------------------------------

    def add(self, op: Operator, begin: int, end: int, memory: int) -> None:
        """Count a call of an operator, by the clock's begin and end, which wrote so many bytes."""
        line = _line(op)
        with self._lock:
            self._row(op.type, line).count((end - begin) / 1e3, memory)
            self._note(op.type, "operator", begin, end, {"line": line, "bytes": memory})

    def add_kernels(
        self, begin: int, ends: Iterable[tuple[int, int]], kernels: Sequence[Any]
    ) -> None:
        """Count what the kernels of a compiled plan took: their numbers, and when each ended."""
        spent: dict[int, list[Any]] = {}
        with self._lock:
            for index, end in ends:
                kernel = kernels[index]
                op, memory = kernel.origin.op, sum(v.nbytes for v in kernel.results)
                about = {"line": _line(op), "kernel": kernel.op.type, "bytes": memory}
                self._note(op.type, "operator", begin, end, about)
                found = spent.setdefault(id(kernel.origin), [op, 0.0, 0])
                found[1] += (end - begin) / 1e3
                found[2] += memory
                begin = end
            for op, total, memory in spent.values():
                self._row(op.type, _line(op)).count(total, memory)

    def add_planning(self, begin: int, end: int) -> None:
        """Count what it took to make a compiled plan."""
        with self._lock:
            self.planning += (end - begin) / 1e3
            self._note("plan", "plan", begin, end, {})

    @contextmanager
    def run(self, name: str) -> Iterator[None]:
        """Count a run of a program."""
        begin = clock()
        try:
            yield
        finally:
            end = clock()
            with self._lock:
                self.runs += 1
                self.run_time += (end - begin) / 1e3
                self._note(name, "run", begin, end, {})

    def span(self, name: str, kind: str, begin: int, end: int) -> None:
        """Note something else that took time, by the clock's begin and end."""
        with self._lock:
            self._note(name, kind, begin, end, {})

    @property
    def spans(self) -> list[Span]:
        """What took time, one by one."""
        with self._lock:
            return list(self._events)

    def _row(self, type: str, line: str) -> Row:
        found = self._rows.get((type, line))
        if found is None:
            found = self._rows[type, line] = Row(type, line)
        return found

    def _note(self, name: str, kind: str, begin: int, end: int, about: dict[str, Any]) -> None:
        if len(self._events) >= EVENTS_KEPT:
            self._dropped += 1
            return
        thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
        self._events.append(Span(name, kind, begin, end, thread, about))

    # -- what the user gets ------------------------------------------------------------------------

    def rows(self, sorted_key: str | None = None) -> list[Row]:
        """What is in the table.

        Args:
            sorted_key: "calls", "total", "max", "min" or "ave": the largest first; None for the
                order in which the operators were first run.

        Raises:
            ArgumentError: another key.
        """
        key = checked_choice(sorted_key, (None, *SORTED_BY), "sorted_key")
        with self._lock:
            found = list(self._rows.values())
        return found if key is None else sorted(found, key=lambda r: -float(getattr(r, key)))

    def table(self, sorted_key: str | None = "total") -> str:
        """A table of operators; times in microseconds.

        Args:
            sorted_key: as of :meth:`rows`.
        """
        rows = self.rows(sorted_key)
        heading = ("operator", "line", "calls", "total", "share", "min", "max", "ave", "writes")
        whole = self.run_time - self.planning or sum(row.total for row in rows) or 1.0
        lines = [
            (
                row.type,
                row.line.rpartition(os.sep)[2],
                f"{row.calls:,}",
                f"{row.total:,.1f}",
                f"{row.total / whole:.1%}",
                *(f"{n:,.1f}" for n in (row.min, row.max, row.ave)),
                _size(row.memory),
            )
            for row in rows
        ]
        widths = [max(len(line[i]) for line in [heading, *lines]) for i in range(len(heading))]

        def laid_out(cells: Sequence[str]) -> str:
            left = [cell.ljust(w) for cell, w in zip(cells[:2], widths)]
            return "  ".join([*left, *(c.rjust(w) for c, w in zip(cells[2:], widths[2:]))])

        order = "in the order of their first calls"
        order = order if sorted_key is None else f"by {SORTED_BY[sorted_key]}"
        head = f"{self.runs:,} runs of programs, {self.run_time:,.1f} us"
        head += f" ({self.planning:,.1f} of them to make plans)" if self.planning else ""
        head += f"; operators {order}, in us"
        rule = "-" * len(laid_out(heading))
        return "\n".join([head, "", laid_out(heading), rule, *map(laid_out, lines)])

    def chrome_trace(self) -> dict[str, Any]:
        """The calls one by one, as ``chrome://tracing`` and https://ui.perfetto.dev show them."""
        with self._lock:
            events, threads = list(self._events), dict(self._threads)
            dropped = self._dropped
        pid = os.getpid()
        trace_events: list[dict[str, Any]] = [
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": "fluidlite"}}
        ]
        for number in threads.values():
            about = {"name": f"thread {number}"}
            trace_events.append(
                {"name": "thread_name", "ph": "M", "pid": pid, "tid": number, "args": about}
            )
        start = min((event.begin for event in events), default=0)
        # what contains others comes before them
        for name, kind, begin, end, thread, about in sorted(
            events, key=lambda e: (e.begin, -e.end)
        ):
            trace_events.append(
                {
                    "name": name,
                    "cat": kind,
                    "ph": "X",
                    "ts": (begin - start) / 1e3,
                    "dur": (end - begin) / 1e3,
                    "pid": pid,
                    "tid": thread,
                    "args": about,
                }
            )
        trace: dict[str, Any] = {"traceEvents": trace_events, "displayTimeUnit": "ms"}
        if dropped:
            trace["otherData"] = {"events left out": dropped}
        return trace

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`chrome_trace` to a file."""
        import json

        with Transaction() as transaction:
            transaction.write(path, json.dumps(self.chrome_trace()).encode())

    @escaping
    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Profile: {self.runs} runs, {len(self._rows)} operators>"


def _line(op: Operator) -> str:
    return "" if op.callsite is None else str(op.callsite)


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def checked_choice(given: Any, allowed: Sequence[Any], what: str) -> Any:
    """A value that is one of those allowed.

    Raises:
        ArgumentError: it is not.
    """
    if given not in allowed:
        listed = ", ".join(repr(each) for each in allowed)
        raise ArgumentError(f"expected {what} to be one of {listed}, got {given!r:.60}")
    return given


#: what all executors record to
active: slots.StateSlot[Profile | None] = slots.slot("profile", lambda: None)
#: what ``start_profiler`` lets executors record to
_next: slots.StateSlot[Profile] = slots.slot("next profile", Profile)


def _default_path() -> str:
    import tempfile

    return os.path.join(tempfile.gettempdir(), "profile")


def start_profiler(state: str, tracer_option: str = "Default") -> None:
    """Measure every program that runs from now on.

    Args:
        state: "CPU", "GPU" or "All"; what is on the CPU is measured.
        tracer_option: "Default", "OpDetail" or "AllOpDetail"; all give the same.

    Raises:
        ArgumentError: something else.

    >>> import contextlib, io
    >>> y = fluid.layers.relu(fluid.data("x", [2]))
    >>> fluid.profiler.start_profiler("CPU")
    >>> out = fluid.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    >>> with contextlib.redirect_stdout(io.StringIO()) as table:
    ...     fluid.profiler.stop_profiler(profile_path="profile")
    >>> "relu" in table.getvalue()
    True
    """
    checked_choice(state, STATES, "state")
    checked_choice(tracer_option, OPTIONS, "tracer_option")
    active.switch(_next.get())


def stop_profiler(sorted_key: str | None = None, profile_path: str | None = None) -> None:
    """Measure no more; print the table, and write a trace file for ``chrome://tracing``.

    Args:
        sorted_key: "calls", "total", "max", "min" or "ave": the largest first; None for the order
            in which operators were first run.
        profile_path: the file; ``profile`` in the folder for temporary files when None.

    Raises:
        ArgumentError: another key.
        FileError: the file cannot be written.

    >>> import contextlib, io, os
    >>> y = fluid.layers.scale(fluid.data("x", [2]))
    >>> fluid.profiler.start_profiler("CPU")
    >>> out = fluid.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    >>> with contextlib.redirect_stdout(io.StringIO()) as table:
    ...     fluid.profiler.stop_profiler("total", os.devnull)
    >>> "scale" in table.getvalue()
    True
    """
    checked_choice(sorted_key, (None, *SORTED_BY), "sorted_key")
    profile = active.get()
    if profile is None:
        return
    active.switch(None)
    say(profile.table(sorted_key))
    profile.save(_default_path() if profile_path is None else profile_path)
    _next.switch(Profile())


def reset_profiler() -> None:
    """Forget what has been measured so far.

    >>> fluid.profiler.start_profiler("CPU")
    >>> fluid.profiler.reset_profiler()
    >>> fluid.profiler.stop_profiler(profile_path="profile")
    0 runs of programs, 0.0 us; operators in the order of their first calls, in us
    <BLANKLINE>
    operator  line  calls  total  share  min  max  ave  writes
    ----------------------------------------------------------
    """
    _next.get().reset()


def profiler(
    state: str,
    sorted_key: str | None = None,
    profile_path: str | None = None,
    tracer_option: str = "Default",
) -> AbstractContextManager[Profile]:
    """Measure every program that runs inside a ``with`` block; then print the table, and write a
    trace file.

    Args:
        state, tracer_option: as of :func:`start_profiler`.
        sorted_key, profile_path: as of :func:`stop_profiler`.

    Raises:
        ArgumentError: a value is none of those.

    >>> import os, tempfile
    >>> y = fluid.layers.fill_constant([2], "float32", 1.0)
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> with fluid.profiler.profiler("CPU", "total", path):
    ...     _ = fluid.Executor().run(fetch_list=[y])
    1 runs of programs, ...
    """
    checked_choice(state, STATES, "state")
    checked_choice(sorted_key, (None, *SORTED_BY), "sorted_key")
    checked_choice(tracer_option, OPTIONS, "tracer_option")
    return _profiling(state, sorted_key, profile_path, tracer_option)


@contextmanager
def _profiling(
    state: str, sorted_key: str | None, profile_path: str | None, tracer_option: str
) -> Iterator[Profile]:
    start_profiler(state, tracer_option)
    try:
        yield _next.get()
    finally:
        stop_profiler(sorted_key, profile_path)


@contextmanager
def cuda_profiler(
    output_file: str, output_mode: str | None = None, config: Sequence[str] | None = None
) -> Iterator[None]:
    """Run a ``with`` block as it is: there is no CUDA to be measured, and no file is written.

    Args:
        output_file, output_mode, config: not read.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     with fluid.profiler.cuda_profiler("trace.txt"):
    ...         pass
    >>> len(said)
    1
    """
    warn("there is no CUDA: cuda_profiler measures nothing; use profiler.profiler", None)
    yield


list_public_names(globals())
api_boundaries(globals())
answer(globals())
