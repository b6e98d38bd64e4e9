"""``paddle.profiler`` of paddle 2.6: what steps, events and operators take."""

from __future__ import annotations

from ...ground.missing_names import answer_of_paddle_2
from ...ground.public_names import list_given_names
from ..holders import hold
from .recording import Profiler, RecordEvent, TracerEventType, export_chrome_tracing
from .schedule import ProfilerState, ProfilerTarget, make_scheduler
from .summary import SortedKeys, SummaryView

list_given_names(globals())
answer_of_paddle_2(globals())
hold(globals())
