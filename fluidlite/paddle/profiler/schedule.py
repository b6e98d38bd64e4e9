"""When a profiler records: the states that it has in the steps of a training."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries


class ProfilerState(Enum):
    """What a profiler does in a step; after ``RECORD_AND_RETURN`` it gives its results."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class ProfilerTarget(Enum):
    """What is measured; the CPU is there."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


Schedule = Callable[[int], ProfilerState]


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Schedule:
    """A function of the number of a step: so many steps are left out, waited for, and recorded.

    Args:
        closed: steps that are left out.
        ready: steps before those that are recorded.
        record: steps that are recorded; results are given behind the last.
        repeat: how often; without end when 0.
        skip_first: steps before all of that.

    Raises:
        ArgumentError: a number is negative, or nothing is recorded.

    >>> from fluidlite import paddle
    >>> state = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
    >>> [state(step).name for step in range(5)]
    ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    if min(closed, ready, repeat, skip_first) < 0 or record < 1:
        raise ArgumentError(
            f"make_scheduler: expected numbers of steps, of which one or more are recorded, got "
            f"closed={closed}, ready={ready}, record={record}, repeat={repeat}, "
            f"skip_first={skip_first}"
        )
    period = closed + ready + record

    def state(step: int) -> ProfilerState:
        if step < 0:
            raise ArgumentError(f"expected the number of a step, got {step}")
        behind = step - skip_first
        if behind < 0 or (repeat and behind >= repeat * period):
            return ProfilerState.CLOSED
        place = behind % period
        if place < closed:
            return ProfilerState.CLOSED
        if place < closed + ready:
            return ProfilerState.READY
        last = place == period - 1
        return ProfilerState.RECORD_AND_RETURN if last else ProfilerState.RECORD

    return state


def schedule_of(given: Schedule | tuple[int, int] | None) -> Schedule:
    """The function that the argument ``scheduler`` of a profiler means.

    Args:
        given: a function; the first step that is recorded, and the first that is not any more; or
            None for all.

    Raises:
        ArgumentError: it is something else.
    """
    if given is None:
        return lambda step: ProfilerState.RECORD
    if callable(given):
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not given[1] > given[0]:
        raise ArgumentError(
            f"Profiler: expected scheduler to be a function, or two numbers of steps of which the "
            f"second is larger, got {given!r:.60}"
        )
    begin, end = max(given[0], 0), given[1]
    closed, ready = (begin - 1, 1) if begin else (0, 0)
    return make_scheduler(closed=closed, ready=ready, record=end - begin, repeat=1)


list_public_names(globals())
api_boundaries(globals(), but=("ProfilerState", "ProfilerTarget"))
