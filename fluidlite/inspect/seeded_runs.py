"""Running one program many times, with the same random numbers every time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import backend as backends
from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.definition import Op
from ..opdef.interpreter import Eval
from ..runtime.plan import BlockPlan, Plan
from ..runtime.session import Observer, Session
from ..runtime.step import Step

_PASSES = 3  # of an operator in a loop that are remembered


class OperatorRun(NamedTuple):
    """An operator that was run, and what it was given."""

    op: Operator
    instance: Op
    ins: dict[str, Any]
    want: frozenset[str]
    rng: Any


class SeededRuns:
    """A program as it is now, to be run on different values.

    An executor numbers its runs, and random operators draw other numbers in each; here every run
    is number 0.

    Args:
        program: what to run.
        fetches: the names of the wanted values.
    """

    def __init__(self, program: Program, fetches: Iterable[str]) -> None:
        self._fetches = list(fetches)
        self._plan = Plan(program, self._fetches)
        self._seed = program.random_seed
        self._backend: Any = backends.get("numpy")

    def run(self, values: Mapping[str, Any]) -> list[Any]:
        """The values of the fetches.

        Args:
            values: what is fed, and the persistable variables.
        """
        return self._run(self._session(), values)

    def watch(self, values: Mapping[str, Any]) -> list[OperatorRun]:
        """The operators that are run, those of blocks that are driven included, and what they are
        given; the first passes only of one in a loop.

        Args:
            values: as of :meth:`run`.
        """
        session = self._session()
        session.f = watcher = _Watcher(self._backend, _steps(self._plan))
        self._run(session, values)
        return watcher.seen

    def _session(self) -> Session:
        return Session(self._backend, self._seed, 0, observer=Observer())

    def _run(self, session: Session, values: Mapping[str, Any]) -> list[Any]:
        env = dict(values)
        with np.errstate(all="ignore"):
            session.run(self._plan, env)
        return [env[name] for name in self._fetches]


class _Watcher(Eval):
    """Runs operators, and remembers what those of a program were given."""

    def __init__(self, backend: Any, steps: Iterable[Step]) -> None:
        super().__init__(backend)
        self.seen: list[OperatorRun] = []
        self._steps = {id(step.instance): step for step in steps}
        self._counts: dict[int, int] = {}

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        step = self._steps.get(id(op))
        if step is not None:  # else it is a part of an operator that is a composition
            count = self._counts[id(op)] = self._counts.get(id(op), 0) + 1
            if count <= _PASSES:
                self.seen.append(OperatorRun(step.op, op, dict(ins), step.want, self.rng))
        return super().apply(op, ins, want)


def _steps(plan: BlockPlan) -> Iterator[Step]:
    for step in plan.steps:
        yield step
        if step.body is not None:
            yield from _steps(step.body)
