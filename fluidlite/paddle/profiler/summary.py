"""Tables of what a profiler has recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...profiler import Span


class SortedKeys(Enum):
    """What a table is sorted by; there is no GPU, so its times are the order of names."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """The tables; those of devices, kernels of a GPU, and memory have nothing to show."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
#: table -> its title, and the kinds of events that it has; None for all kinds, one line each
_TABLES: dict[SummaryView, tuple[str, Sequence[str] | None]] = {
    SummaryView.OverView: ("Overview", None),
    SummaryView.ModelView: ("Model", ("Dataloader", "Forward", "Backward", "Optimization")),
    SummaryView.DistributedView: ("Distributed", ("Communication",)),
    SummaryView.OperatorView: ("Operators", ("Operator", "operator")),
    SummaryView.UDFView: ("User-defined", ("UserDefined", "PythonUserDefined")),
}


@dataclass
class _Line:
    """All events of one name: how many, and their times."""

    name: str
    times: list[int]

    def key(self, by: SortedKeys) -> tuple[float, str]:
        """By what lines are sorted."""
        total = sum(self.times)
        each = (total, total / len(self.times), max(self.times), min(self.times), *[0] * 4)
        return -each[by.value], self.name


def summary(
    spans: Iterable[Span], by: SortedKeys, unit: str, views: Iterable[SummaryView] | None
) -> str:
    """The tables of what was recorded.

    Args:
        spans: what was recorded.
        by: what tables are sorted by.
        unit: "s", "ms", "us" or "ns".
        views: the tables; all when None.

    Raises:
        ArgumentError: there is no such unit.
    """
    if unit not in UNITS:
        raise ArgumentError(f"expected time_unit to be one of {', '.join(UNITS)}, got {unit!r}")
    events = [*spans]
    tables = []
    for view in _TABLES if views is None else views:
        title, kinds = _TABLES.get(view, ("", ()))
        lines: dict[str, _Line] = {}
        for event in events:
            if kinds is None or event.kind in kinds:
                name = event.kind if kinds is None else event.name
                lines.setdefault(name, _Line(name, [])).times.append(event.end - event.begin)
        if lines:
            tables.append(_table(f"{title}, in {unit}", [*lines.values()], by, UNITS[unit]))
    return "\n\n".join(tables)


def _table(title: str, lines: list[_Line], by: SortedKeys, scale: float) -> str:
    width = max(24, *(len(line.name) for line in lines))
    heads = "".join(f"{head:>12}" for head in ("calls", "total", "avg", "max", "min"))
    told = [title, f"{'name':<{width}}{heads}"]
    for line in sorted(lines, key=lambda line: line.key(by)):
        total, calls = sum(line.times), len(line.times)
        numbers = (total, total / calls, max(line.times), min(line.times))
        shown = "".join(f"{number / scale:>12.4f}" for number in numbers)
        told.append(f"{line.name:<{width}}{calls:>12}{shown}")
    return "\n".join(told)


list_public_names(globals())
api_boundaries(globals(), but=("SortedKeys", "SummaryView", "summary"))
