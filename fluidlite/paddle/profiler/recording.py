"""Profilers of steps, events that scripts name, and files of what was recorded."""

from __future__ import annotations

import functools
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from enum import IntEnum
from typing import Any, TypeVar

from ...eager.recording import measure
from ...errors import ArgumentError, UnsupportedError, UsageError
from ...ground.callsite import warn
from ...ground.console import say
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from ...profiler import Profile, active, clock
from .schedule import ProfilerState, ProfilerTarget, Schedule, schedule_of
from .summary import SortedKeys, SummaryView, summary
from .timing import StepTimes

Self = TypeVar("Self", bound="Profiler")
_RECORDS = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


class TracerEventType(IntEnum):
    """What an event is."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14


class RecordEvent(Described, ContextDecorator):
    """An event that a script names, from ``begin`` to ``end``: a guard, and a decorator.

    It is recorded while a profiler records.

    Args:
        name: its name.
        event_type: what it is.

    Raises:
        ArgumentError: ``name`` is no text.

    >>> from fluidlite import paddle
    >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
    ...     with paddle.profiler.RecordEvent("mine"):
    ...         x = paddle.ones([2]) * 2.0
    >>> profiler.summary(views=[paddle.profiler.SummaryView.UDFView])
    User-defined, in ms
    name                           calls ...
    mine                               1 ...
    """

    def __init__(
        self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined
    ) -> None:
        if not isinstance(name, str):
            raise ArgumentError(f"RecordEvent: expected a name, got {name!r:.60}")
        self.name = name
        self.event_type = event_type
        self._began: int | None = None

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def begin(self) -> None:
        """Begin."""
        self._began = clock()

    def end(self) -> None:
        """End; nothing where it has not begun."""
        began, self._began = self._began, None
        profile = active.get()
        if profile is not None and began is not None:
            profile.span(self.name, TracerEventType(self.event_type).name, began, clock())


class Profiler(Described):
    """Records what the steps of a training take, their events and operators.

    Between ``start`` and ``stop``, or as a guard, a script calls ``step`` behind each step.

    Args:
        targets: what is measured; the CPU is there.
        scheduler: says by the number of a step what is done; or the first step that is recorded,
            and the first that is not any more; all are when None.
        on_trace_ready: called with the profiler when there are results; writes a file for
            ``chrome://tracing`` to ``./profiler_log`` when None.
        record_shapes, profile_memory, emit_nvtx, custom_device_types, with_flops: accepted.
        timer_only: only the times of steps are measured.

    Raises:
        ArgumentError: an argument is something else.

    >>> from fluidlite import paddle
    >>> results = []
    >>> with paddle.profiler.Profiler(scheduler=(1, 3), on_trace_ready=results.append) as profiler:
    ...     for _ in range(4):
    ...         x = paddle.ones([2]) * 2.0
    ...         profiler.step()
    >>> len(results), profiler.current_state.name
    (1, 'CLOSED')
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Schedule | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], object] | None = None,
        record_shapes: bool | None = False,
        profile_memory: bool | None = False,
        timer_only: bool | None = False,
        emit_nvtx: bool | None = False,
        custom_device_types: Sequence[str] | None = (),
        with_flops: bool | None = False,
    ) -> None:
        if targets is not None and not isinstance(targets, (list, tuple, set, frozenset)):
            raise ArgumentError(f"Profiler: expected targets to be a list, got {targets!r:.60}")
        for target in targets or ():
            if target is not ProfilerTarget.CPU:
                warn(f"there is no {target!r:.40} to be measured: programs run on the CPU", None)
        self.targets = [ProfilerTarget.CPU]
        self.timer_only: bool = bool(timer_only)
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        #: what was recorded last
        self.profiler_result: Profile | None = None
        self._schedule = schedule_of(scheduler)
        self._ready = on_trace_ready or export_chrome_tracing("./profiler_log")
        self._times = StepTimes()
        self._profile: Profile | None = None
        self._step_began = 0

    def __enter__(self: Self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        self._times.begin()
        self._enter(self._schedule(self.step_num))

    def step(self, num_samples: int | None = None) -> None:
        """End a step, and begin the next one.

        Args:
            num_samples: how many samples it had.
        """
        self._times.step(num_samples)
        self._end_step()
        self.step_num += 1
        self._enter(self._schedule(self.step_num))

    def stop(self) -> None:
        """Record no more; give what was recorded, and print the times of steps."""
        self._end_step()
        self._enter(ProfilerState.CLOSED)
        if self.timer_only:
            say(self._times.summary())

    def step_info(self, unit: str | None = None) -> str:
        """Averages of the steps since this was asked last: their time, and how many in a second.

        Args:
            unit: what samples are called.
        """
        return self._times.info(unit)

    def export(self, path: Path = "", format: str = "json") -> None:
        """Write what was recorded, for ``chrome://tracing``.

        Args:
            path: the file.
            format: "json".

        Raises:
            UnsupportedError: another format.
            UsageError: nothing has been recorded.
            FileError: the file cannot be written.
        """
        if format != "json":
            raise UnsupportedError(f"Profiler.export: expected format to be 'json', got {format!r}")
        self._result().save(path)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | Sequence[SummaryView] | None = None,
    ) -> None:
        """Print tables of what was recorded.

        Args:
            sorted_by: what comes first.
            op_detail, thread_sep: accepted.
            time_unit: "s", "ms", "us" or "ns".
            views: which tables; all when None.

        Raises:
            ArgumentError: there is no such unit.
            UsageError: nothing has been recorded.
        """
        chosen = [views] if isinstance(views, SummaryView) else views
        say(summary(self._result().spans, sorted_by, time_unit, chosen))

    def _result(self) -> Profile:
        if self.profiler_result is None:
            raise UsageError("the profiler has recorded nothing: call it behind stop()")
        return self.profiler_result

    def _end_step(self) -> None:
        """Note the step that ends."""
        if self._profile is not None:
            name = f"ProfileStep#{self.step_num}"
            self._profile.span(name, "ProfileStep", self._step_began, clock())

    def _enter(self, state: ProfilerState) -> None:
        """Begin a step in a state."""
        was, self.current_state = self.current_state, state
        ends = was is ProfilerState.RECORD_AND_RETURN or state not in _RECORDS
        if self._profile is not None and ends:
            self.profiler_result, self._profile = self._profile, None
            active.switch(None)
            measure(None)
            self._ready(self)
        if state in _RECORDS and not self.timer_only:
            if self._profile is None:
                self._profile = Profile()
                active.switch(self._profile)
                measure(functools.partial(_timed, self._profile))
            self._step_began = clock()


def _timed(profile: Profile, type: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose calls are noted."""

    def timed(*arrays: Any) -> Any:
        began = clock()
        try:
            return kernel(*arrays)
        finally:
            profile.span(type, "operator", began, clock())

    return timed


def export_chrome_tracing(
    dir_name: str, worker_name: str | None = None
) -> Callable[[Profiler], None]:
    """What writes each result of a profiler to a file of a folder, for ``chrome://tracing``.

    Args:
        dir_name: the folder; it is made.
        worker_name: what the files' names begin with; the machine and the process when None.

    Returns:
        a function for ``on_trace_ready``.
    """

    def write(profiler: Profiler) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        moment = time.strftime("%Y_%m_%d_%H_%M_%S")
        file = f"{name}_time_{moment}_step_{profiler.step_num}.paddle_trace.json"
        profiler.export(os.path.join(dir_name, file))

    return write


list_public_names(globals())
api_boundaries(globals(), but=("TracerEventType",))
