"""How much memory the values of a program take while it runs, operator by operator."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ..errors import ArgumentError
from ..ground.files import write_text
from ..ground.quoting import escaping, markup
from ..ir.costs import as_bytes, bytes_of
from ..ir.liveness import held_while
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.plan import Plan
from .stepping import place

_WIDTH, _HEIGHT = 760, 240
_LEFT, _BOTTOM, _TOP = 70, 34, 14
_NAMED = 8  # variables at the peak
_BARS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_LONGEST_LINE = 60  # bars


@dataclass(frozen=True)
class Moment:
    """While an operator runs."""

    op: Operator
    live: int  #: bytes of all values that are held, its outputs included
    written: int  #: of its outputs
    freed: int  #: let go of after it


@dataclass(frozen=True)
class Timeline:
    """How much memory values take while a program runs.

    >>> y = fluid.layers.relu(fluid.data("x", [8, 4]))
    >>> timeline = fluid.inspect.memory_timeline(fluid.default_main_program())
    """

    moments: tuple[Moment, ...]
    kept: int  #: bytes of parameters and what else stays between runs; not part of the moments
    everything: int  #: bytes of all values, had nothing been let go of
    at_peak: tuple[tuple[str, int], ...]  #: the largest values there
    batch_size: int

    @property
    def peak(self) -> Moment | None:
        """The moment that takes most; None in an empty program."""
        return max(self.moments, key=lambda moment: moment.live, default=None)

    @property
    def total(self) -> int:
        """Bytes at the peak and of what stays between runs: what a budget of memory bounds."""
        return self.kept + (0 if self.peak is None else self.peak.live)

    @escaping
    def __str__(self) -> str:
        peak = self.peak
        if peak is None:
            return "the program has no operators: it takes no memory"
        share = f"{100 * peak.live / self.everything:.0f} %" if self.everything else "all"
        number = self.moments.index(peak)
        lines = [
            f"memory of values at batch size {self.batch_size}, beside {as_bytes(self.kept)} "
            f"that stay between runs",
            f"  {self._bars()}",
            f"  peak {as_bytes(peak.live)} ({share} of keeping everything), in operator {number} "
            f"of {len(self.moments)}: {peak.op.type}{place(peak.op)}",
            *(f"    {as_bytes(size):>9}  {name}" for name, size in self.at_peak),
        ]
        return "\n".join(lines)

    def _bars(self) -> str:
        """The timeline as a line of bars."""
        live = [moment.live for moment in self.moments]
        if len(live) > _LONGEST_LINE:
            cuts = [k * len(live) // _LONGEST_LINE for k in range(_LONGEST_LINE + 1)]
            live = [max(live[a:b]) for a, b in pairwise(cuts)]
        most = max(live) or 1
        return "".join(_BARS[-(-n * (len(_BARS) - 1) // most)] for n in live)

    def to_svg(self) -> str:
        """A picture: the memory over the operators, with the peak marked."""
        peak = self.peak
        most = max(1, 0 if peak is None else peak.live)
        count = max(1, len(self.moments))
        inner_width, inner_height = _WIDTH - _LEFT - 10, _HEIGHT - _TOP - _BOTTOM
        floor = _TOP + inner_height
        step = inner_width / count

        def y(size: float) -> float:
            return floor - inner_height * size / most

        path = [f"M{_LEFT},{floor}"]
        for k, moment in enumerate(self.moments):
            height = round(y(moment.live), 1)
            path.append(f"V{height}H{round(_LEFT + (k + 1) * step, 1)}")
        path.append(f"V{floor}Z")
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
            f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        ]
        for part in (0.0, 0.5, 1.0):
            at = round(y(most * part), 1)
            parts.append(
                f'<path d="M{_LEFT},{at}H{_WIDTH - 10}" stroke="#ddd"/>'
                f'<text x="{_LEFT - 6}" y="{at + 4}" text-anchor="end">'
                f"{as_bytes(most * part)}</text>"
            )
        parts.append(
            f'<path d="{"".join(path)}" fill="#0072b2" fill-opacity=".35" stroke="#0072b2"/>'
        )
        if peak is not None:
            x = round(_LEFT + (self.moments.index(peak) + 0.5) * step, 1)
            anchor = "end" if x > _WIDTH / 2 else "start"
            shift = -6 if anchor == "end" else 6
            parts.append(
                f'<path d="M{x},{_TOP}V{floor}" stroke="#c2500a" stroke-dasharray="4 3"/>'
                f'<text x="{x + shift}" y="{_TOP + 12}" text-anchor="{anchor}" fill="#c2500a">'
                f"peak: {markup(peak.op.type)}</text>"
            )
        parts.append(
            f'<text x="{_LEFT + inner_width / 2}" y="{_HEIGHT - 8}" text-anchor="middle">'
            f"operators, in order ({len(self.moments)})</text></svg>\n"
        )
        return "".join(parts)

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file.

        Args:
            path: ends with ``.svg``.

        Raises:
            ArgumentError: it does not.
        """
        if Path(path).suffix.lower() != ".svg":
            raise ArgumentError(f"a timeline is drawn as .svg, got {str(path)!r}")
        write_text(path, self.to_svg())

    def _repr_html_(self) -> str:
        return f"{self.to_svg()}<pre>{markup(str(self))}</pre>"


def memory_timeline(
    plan: Plan | Program, batch_size: int = 1, fetch_list: Iterable[Variable | str] = ()
) -> Timeline:
    """How much memory the values of a program take while it is interpreted, from declared shapes:
    what an operator writes is held until the last one that reads it has run.

    A compiled plan shares buffers between values, and takes less.

    Args:
        plan: a plan, or a program, for which one is made.
        batch_size: what sizes of -1 are taken for.
        fetch_list: what is held to the end; of a program only.

    Raises:
        ArgumentError: the first argument is neither a plan nor a program.

    >>> x = fluid.data("x", [None, 1000], "float32")
    >>> y = fluid.layers.relu(fluid.layers.relu(fluid.layers.relu(x)))
    >>> timeline = fluid.inspect.memory_timeline(fluid.default_main_program(), batch_size=10)
    >>> [moment.live for moment in timeline.moments]
    [80000, 80000, 80000]
    """
    if isinstance(plan, Program):
        names = [v if isinstance(v, str) else v.name for v in fetch_list]
        plan = Plan(plan, names)
    if not isinstance(plan, Plan):
        raise ArgumentError(f"expected a Plan or a Program, got {type(plan).__name__}")
    sizes, stays = {}, 0
    for name in dict.fromkeys([*plan.needs, *plan.written]):
        variable = plan.block.find_var_recursive(name)
        size = 0 if variable is None else bytes_of(variable, batch_size)
        if name in plan.persistable:
            stays += size
        else:
            sizes[name] = size
    held = {name: sizes[name] for name in plan.needs if name in sizes}
    everything = sum(held.values())
    moments, at_peak, most = [], [], -1
    steps = [(step.writes, step.free) for step in plan.steps]
    for step, (live, written, freed) in zip(plan.steps, held_while(steps, held, sizes)):
        everything += written
        if live > most:
            most = live
            largest = sorted(held.items(), key=lambda item: -item[1])
            at_peak = [(name, size) for name, size in largest[:_NAMED] if size]
        moments.append(Moment(step.op, live, written, freed))
    return Timeline(tuple(moments), stays, everything, tuple(at_peak), batch_size)
